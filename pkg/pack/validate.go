package pack

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Validate is what a manifest says under validate: how the skills below it are checked.
type Validate struct {
	Profiles []string // ids of the hosts that the skills are for; empty means the default one
	All      bool     // the skills are for all hosts
	Strict   bool     // warnings are errors
	Rules    []RuleLevel
	Ignore   []Ignore
	Baseline string // the path of a baseline, relative to the manifest; "" for none
}

// RuleLevel says how much rules matter.
type RuleLevel struct {
	Pattern      string // a rule's id, a family as SEC, or the start of an id and a star
	Severity     diag.Severity
	Off          bool // the rules say nothing, whatever the severity
	Line, Column int
}

// Ignore says what is not wanted to be known.
type Ignore struct {
	Path         string   // a pattern as [MatchGlob] reads it, of files or directories, relative to the manifest
	Rules        []string // patterns as those of a [RuleLevel]; empty means that the path is not checked at all
	Reason       string   // why; there is one wherever there are rules
	Line, Column int
}

var (
	validateKeys = []string{"profiles", "strict", "rules", "ignore", "baseline"}
	ignoreKeys   = []string{"path", "rules", "reason"}

	rulePattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Z]+(?:[0-9]*\*|[0-9]+)?|\*)$`) })
	profilePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`) })
)

// validate reads the section. Rules come in order of how exactly they are named, so that of those that match a rule the
// last one counts, wherever it stands.
func (r reader) validate(v *yaml.Node) (Validate, error) {
	var s Validate
	if err := r.mappingOf(v, "validate"); err != nil {
		return s, err
	}
	err := r.fields(v, "validate", validateKeys, func(k, v *yaml.Node) (err error) {
		if isNull(v) && v.Value == "" {
			return nil
		}
		switch k.Value {
		case "profiles":
			s.Profiles, s.All, err = r.profiles(v)
		case "strict":
			s.Strict, err = r.flag(v, "strict")
		case "rules":
			s.Rules, err = r.ruleLevels(v)
		case "ignore":
			s.Ignore, err = r.ignores(v)
		case "baseline":
			if s.Baseline, err = r.text(v, "baseline"); err == nil {
				err = r.at(v, checkRelative("baseline", s.Baseline))
			}
		}
		return err
	})
	return s, err
}

// profiles reads a list of ids, or the word all.
func (r reader) profiles(v *yaml.Node) (ids []string, all bool, err error) {
	if v.Kind == yaml.ScalarNode && v.Value == "all" {
		return nil, true, nil
	}
	ids, err = r.texts(v, "profiles", func(s string) error {
		if !profilePattern().MatchString(s) {
			return diag.Errorf(diag.Invalid, "%q is not the id of a profile", s).WithHint("skillpm validate --help lists them")
		}
		return nil
	})
	if slices.Contains(ids, "all") {
		return nil, true, err
	}
	return ids, false, err
}

func (r reader) ruleLevels(v *yaml.Node) ([]RuleLevel, error) {
	if err := r.mappingOf(v, "rules"); err != nil {
		return nil, err
	}
	var list []RuleLevel
	err := r.fields(v, "rules", nil, func(k, v *yaml.Node) error {
		bad := checkRulePattern(k.Value)
		if err := r.note(r.at(k, bad)); err != nil {
			return err
		}
		l := RuleLevel{Pattern: k.Value, Line: k.Line, Column: k.Column}
		switch {
		case v.Kind == yaml.ScalarNode && (v.Value == "off" || v.Value == "false"): // a reader of YAML 1.1 takes off for false
			l.Off = true
		case v.Kind != yaml.ScalarNode || l.Severity.UnmarshalText([]byte(v.Value)) != nil:
			return r.errorf(v, "%s must be error, warning, advice or off", k.Value)
		}
		if bad == nil {
			list = append(list, l)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b RuleLevel) int { return cmp.Compare(a.exactness(), b.exactness()) })
	return list, err
}

// exactness orders patterns by how much of an id they say.
func (l RuleLevel) exactness() int {
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
	err := diag.Errorf(diag.Invalid, "%q is not a rule", s)
	if upper := strings.ToUpper(s); rulePattern().MatchString(upper) {
		return err.WithHint("write %s", upper)
	}
	return err.WithHint("write an id as REF013, a family as STY, or the start of ids and a star as \"SEC3*\"")
}

// ignores reads a list of patterns, or mappings of a pattern, rules and a reason.
func (r reader) ignores(v *yaml.Node) ([]Ignore, error) {
	if v.Kind != yaml.SequenceNode {
		return nil, r.errorf(v, "ignore must be a list").WithHint("write a line with a hyphen for each pattern, as in - \"vendor/**\"")
	}
	var list []Ignore
	for _, item := range v.Content {
		if r.spoilt(item) {
			continue
		}
		i := Ignore{Line: item.Line, Column: item.Column}
		before := r.noted()
		err := r.ignore(item, &i)
		if err == nil && r.noted() == before {
			list = append(list, i)
		}
		if err := r.note(err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r reader) ignore(item *yaml.Node, i *Ignore) error {
	if item.Kind != yaml.MappingNode {
		return r.ignoredPath(item, i)
	}
	before := r.noted()
	hasRules := false
	err := r.fields(item, "an entry of ignore", ignoreKeys, func(k, v *yaml.Node) (err error) {
		switch k.Value {
		case "path":
			return r.ignoredPath(v, i)
		case "rules":
			hasRules = true
			i.Rules, err = r.ignoredRules(v)
			return err
		default:
			i.Reason, err = r.prose(v, "reason")
			return err
		}
	})
	switch {
	case err != nil || r.noted() > before:
		return err
	case i.Path == "":
		return r.errorf(item, "an entry of ignore needs a path").WithHint("write path: \"**\" for all, or set the rules to off under rules")
	case hasRules && strings.TrimSpace(i.Reason) == "":
		return r.errorf(item, "rules are ignored without a reason").WithHint("say why, as in reason: \"teaches administration\"")
	}
	return nil
}

func (r reader) ignoredPath(v *yaml.Node, i *Ignore) error {
	s, err := r.text(v, "a pattern of ignore")
	if err != nil {
		return err
	}
	i.Path = strings.TrimPrefix(s, "./")
	return r.at(v, checkRelative("pattern", s))
}

func (r reader) ignoredRules(v *yaml.Node) ([]string, error) {
	if isNull(v) || v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		return nil, r.errorf(v, "rules is empty").WithHint("leave it out to ignore the path as a whole")
	}
	return r.texts(v, "rules", checkRulePattern)
}
