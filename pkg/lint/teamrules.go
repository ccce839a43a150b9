package lint

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/rulefile"
)

// RuleSet is the rules of a team for the content of skills, which apply in addition to those of skillpm.
type RuleSet struct{ rules []*scan.Rule }

// ReadRules reads the rule files of a directory: those whose names end in .yaml or .yml. show converts the name of a
// file for messages. An error has the code Invalid, and names the file, the line, and the rule: for a file that cannot
// be read as a whole, an id that two rules have or that is reserved for skillpm, and an example that a rule gets wrong.
func ReadRules(fsys fs.FS, show func(name string) string) (*RuleSet, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read the rules in %s: %s", show("."), reason(err)).
			WithHint("create the directory, or remove rules-dir from the validate section")
	}
	set := &RuleSet{}
	files := map[string]string{}
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		data, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "cannot read %s: %s", show(e.Name()), reason(err))
		}
		rules, err := rulefile.Read(show(e.Name()), data, rulefile.Options{Reserved: isReserved})
		if err != nil {
			return nil, err
		}
		for i := range rules {
			r := &rules[i]
			if first, ok := files[r.ID]; ok {
				return nil, diag.Errorf(diag.Invalid, "%s:%d: rule %s is already in %s", show(e.Name()), r.Line, r.ID, first)
			}
			files[r.ID] = show(e.Name())
			if err := r.CheckExamples(); err != nil {
				return nil, diag.Errorf(diag.Invalid, "%s:%d: %w", show(e.Name()), r.Line, err)
			}
			set.rules = append(set.rules, &r.Rule)
		}
	}
	return set, nil
}

// isReserved reports whether the ids of skillpm's rules start with some letters.
func isReserved(letters string) bool {
	return letters == "CA" || slices.ContainsFunc(rule.Families(), func(f rule.Family) bool { return f.ID == letters })
}

// list returns the rules of a set, which may be nil.
func (s *RuleSet) list() []*scan.Rule {
	if s == nil {
		return nil
	}
	return s.rules
}

// checkPattern is [rule.CheckPattern] for the rules of skillpm and of the set.
func (s *RuleSet) checkPattern(pattern string) error {
	for _, r := range s.list() {
		if rule.Match(pattern, r.ID) || strings.EqualFold(pattern, r.ID) {
			return nil
		}
	}
	return rule.CheckPattern(pattern)
}
