package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Settings are the project's configuration of the check: severities of rules, and ignored paths.
type Settings struct {
	Root   string   // the directory, in the file system that is checked, that patterns are relative to; "" is its root
	Levels []Level  // of those that match a rule the last counts
	Ignore []Ignore // rules that are not reported
	Strict bool     // warnings are errors, but for facts about what a skill can do and levels that are given
}

// Level overrides the severity of the rules that match a pattern.
type Level struct {
	Rules    string // an id, a family as SEC, or the start of an id and a star
	Severity diag.Severity
	Own      bool // turn the rules on with their own severity
	Off      bool // turn the rules off
}

// Ignore leaves out findings below a path.
type Ignore struct {
	Path   string   // a pattern with *, ** and ?, relative to the settings' root
	Rules  []string // patterns as in Level; none means that the path is not checked at all
	Reason string
}

// NewSettings returns the settings that a manifest has under validate:, with patterns relative to root.
func NewSettings(root string, v pack.Validate) Settings {
	s := Settings{Root: root, Strict: v.Strict}
	for _, l := range v.Rules {
		s.Levels = append(s.Levels, Level{Rules: l.Pattern, Severity: l.Severity, Off: l.Off})
	}
	for _, i := range v.Ignore {
		s.Ignore = append(s.Ignore, Ignore{Path: i.Path, Rules: i.Rules, Reason: i.Reason})
	}
	return s
}

// Severity returns the severity of a rule under the settings; off means that it is not reported.
func (s *Settings) Severity(id string) (_ diag.Severity, off bool) {
	return s.level(id, rule.Severity(id))
}

// level returns the severity of a rule under the settings; off means that it is not reported.
func (s *Settings) level(id string, severity diag.Severity) (_ diag.Severity, off bool) {
	r, _ := rule.Lookup(id)
	if i := s.last(id); i >= 0 {
		if l := s.Levels[i]; !l.Own {
			return l.Severity, l.Off
		}
		r.Off, r.Weak = false, false
	}
	if r.Weak && severity != diag.SeverityError {
		return severity, true
	}
	if s.Strict && severity == diag.SeverityWarning && !r.Capability {
		severity = diag.SeverityError
	}
	return severity, r.Off
}

// last returns the index of the last level that matches a rule, or -1.
func (s *Settings) last(id string) int {
	for i, l := range slices.Backward(s.Levels) {
		if rule.Match(l.Rules, id) {
			return i
		}
	}
	return -1
}

// skipsPath reports whether nothing at a path is checked.
func (s *Settings) skipsPath(name string) bool {
	for _, i := range s.Ignore {
		if len(i.Rules) == 0 && s.match(i.Path, name) {
			return true
		}
	}
	return false
}

// ignored returns the entry that leaves out a rule at a path, or nil.
func (s *Settings) ignored(id, name string) *Ignore {
	for n := range s.Ignore {
		i := &s.Ignore[n]
		for _, pattern := range i.Rules {
			if rule.Match(pattern, id) && s.match(i.Path, name) {
				return i
			}
		}
	}
	return nil
}

// match reports whether a pattern matches a path or a directory above it.
func (s *Settings) match(pattern, name string) bool {
	rel, ok := s.relative(name)
	for ok && rel != "." {
		if pack.MatchGlob(strings.TrimSuffix(pattern, "/"), rel) {
			return true
		}
		rel = path.Dir(rel)
	}
	return false
}

// relative writes a path of the file system relative to the root.
func (s *Settings) relative(name string) (string, bool) {
	if s.Root == "" || s.Root == "." {
		return name, true
	}
	if name == s.Root {
		return ".", true
	}
	return strings.CutPrefix(name, s.Root+"/")
}
