package pack

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Validate is the validate section of a manifest: how to check its skills.
type Validate struct {
	Profiles []string // ids of the profiles that the skills are for; empty means the default one
	All      bool     // the skills are for all profiles
	Strict   bool     // warnings are errors
	Rules    []RuleSetting
	Ignore   []Ignore
	Baseline string // the path of a baseline, relative to the manifest; "" for none
	RulesDir string // the directory of a team's rules, relative to the manifest; "" for none
}

// RuleSetting is the severity of the rules that match a pattern.
type RuleSetting struct {
	Pattern      string // the id of a rule, a family as SEC, or the start of an id and a star
	Severity     diag.Severity
	Off          bool // the rules are disabled
	Line, Column int
}

// Ignore lists findings to hide.
type Ignore struct {
	Path         string   // a pattern as [MatchGlob] reads it, of files or directories, relative to the manifest
	Rules        []string // patterns as those of a [RuleSetting]; empty: the path is not checked at all
	Reason       string   // required if there are rules
	Line, Column int
}

var (
	validateKeys = []string{"profiles", "strict", "rules", "ignore", "baseline", "rules-dir"}
	ignoreKeys   = []string{"path", "rules", "reason"}

	rulePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Z]+(?:[0-9]*\*|[0-9]+)?|\*)$`)
	})
	profilePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`) })
)

// validate reads the section. Rules are in order of specificity, so that the last one that matches a rule counts.
func validate(v yamlx.Value) (s Validate) {
	for key, v := range v.Fields(validateKeys...) {
		if v.IsBlank() {
			continue
		}
		switch key {
		case "profiles":
			s.Profiles, s.All = profiles(v)
		case "strict":
			s.Strict = v.Bool()
		case "rules":
			s.Rules = ruleSettings(v)
		case "ignore":
			s.Ignore = ignores(v)
		case "baseline":
			s.Baseline = v.Text(func(s string) error { return checkRelative("baseline", s) })
		case "rules-dir":
			s.RulesDir = v.Text(func(s string) error { return checkRelative("rules-dir", s) })
		}
	}
	return s
}

// profiles reads a list of ids, or the word all.
func profiles(v yamlx.Value) (ids []string, all bool) {
	if v.IsScalar() && v.Node.Value == "all" {
		return nil, true
	}
	ids = v.Texts(checkProfile("list profiles with: skillpm profile list"))
	if slices.Contains(ids, "all") {
		return nil, true
	}
	return ids, false
}

func checkProfile(hint string) func(string) error {
	return func(s string) error {
		if !profilePattern().MatchString(s) {
			return diag.Errorf(diag.Invalid, "invalid profile ID %q", s).WithHint("%s", hint)
		}
		return nil
	}
}

func ruleSettings(v yamlx.Value) []RuleSetting {
	var list []RuleSetting
	for pattern, v := range v.Fields() {
		legal := v.Key().Check(checkRulePattern(pattern))
		l := RuleSetting{Pattern: pattern, Line: v.Key().Line(), Column: v.Key().Node.Column}
		switch text := v.Node.Value; {
		case v.IsScalar() && (text == "off" || text == "false"): // YAML 1.1 reads off as false
			l.Off = true
		case !v.IsScalar() || l.Severity.UnmarshalText([]byte(text)) != nil:
			v.Errorf("", "%s must be error, warning, note, or off", pattern)
			continue
		}
		if legal {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b RuleSetting) int { return cmp.Compare(a.specificity(), b.specificity()) })
	return list
}

// specificity is higher for patterns with more of an id.
func (l RuleSetting) specificity() int {
	literal := strings.TrimSuffix(l.Pattern, "*")
	if strings.ContainsAny(literal, "0123456789") && literal == l.Pattern {
		return 2*len(literal) + 1
	}
	return 2 * len(literal)
}

func checkRulePattern(s string) error {
	if rulePattern().MatchString(s) {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "invalid rule %q", s)
	if upper := strings.ToUpper(s); rulePattern().MatchString(upper) {
		return err.WithHint("write %s", upper)
	}
	return err.WithHint("use a rule such as REF013, a family such as STY, or a prefix with a star such as \"SEC3*\"")
}

// ignores reads a list of patterns, or mappings of a pattern, rules and a reason.
func ignores(v yamlx.Value) []Ignore {
	if !v.IsList() {
		v.Errorf("add a list entry for each pattern, such as - \"vendor/**\"", "ignore must be a list")
		return nil
	}
	var list []Ignore
	for item := range v.Items() {
		i := Ignore{Line: item.Line(), Column: item.Node.Column}
		before := item.Count()
		i.read(item)
		if item.Count() == before {
			list = append(list, i)
		}
	}
	return list
}

func (i *Ignore) read(item yamlx.Value) {
	if !item.IsMapping() {
		i.Path = ignoredPath(item)
		return
	}
	before := item.Count()
	for key, v := range item.Fields(ignoreKeys...) {
		switch key {
		case "path":
			i.Path = ignoredPath(v)
		case "rules":
			if v.IsBlank() || v.IsList() && len(v.Node.Content) == 0 {
				v.Errorf("remove rules to ignore the whole path", "rules is empty")
			} else {
				i.Rules = v.Texts(checkRulePattern)
			}
		default:
			i.Reason = v.Prose()
		}
	}
	switch {
	case item.Count() > before:
	case i.Path == "":
		item.Errorf("add path: \"**\" for all files, or set each rule to off below rules:",
			"the ignore entry does not have a path")
	case i.Rules != nil && strings.TrimSpace(i.Reason) == "":
		item.Errorf("add a reason, such as reason: \"teaches administration\"",
			"the ignore entry lists rules without a reason")
	}
}

func ignoredPath(v yamlx.Value) string {
	s := v.Named("a pattern of ignore").Text(func(s string) error { return checkRelative("pattern", s) })
	return strings.TrimPrefix(s, "./")
}
