package lint

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/rulefile"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack"
)

// RuleSet is the rules of a team for the content of skills, which apply in addition to those of skillpm.
type RuleSet struct {
	rules []*scan.Rule
	about []rule.Rule // the same rules, explained
}

// ReadRules reads the rule files of a directory: those whose names end in .yaml or .yml. show converts the name of a
// file for messages. An error has the code Invalid, and names the file, the line, and the rule: for a file that cannot
// be read as a whole, an id that two rules have or that is reserved for skillpm, and an example that a rule gets wrong.
func ReadRules(fsys fs.FS, show func(name string) string) (*RuleSet, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read the rules in %s: %s", show("."), syserr.Reason(err)).
			WithHint("set rules-dir to a directory of the project, or remove it from the validate section")
	}
	set := &RuleSet{}
	files := map[string]string{}
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		data, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "cannot read %s: %s", show(e.Name()), syserr.Reason(err)).
				WithHint("replace it with a regular file that you can read")
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
			set.about = append(set.about, about(r))
		}
	}
	return set, nil
}

// about explains a rule of a team with its first examples.
func about(r *rulefile.Rule) rule.Rule {
	out := rule.Rule{ID: r.ID, Title: r.Title, Severity: r.Severity, Why: r.Why, Fix: r.Fix}
	var shapes []string
	for i, sh := range r.Shapes {
		shapes = append(shapes, sh.About)
		if out.Bad == "" && len(r.Examples[i].Match) > 0 {
			out.Bad = r.Examples[i].Match[0]
		}
		if out.Good == "" && len(r.Examples[i].Pass) > 0 {
			out.Good = r.Examples[i].Pass[0]
		}
	}
	if out.Why == "" {
		out.Why = "The rule finds: " + strings.Join(shapes, "; ") + "."
	}
	return out
}

// Select returns the rules of skillpm and of the set that patterns select, as [rule.Select] does. The set may be nil.
func (s *RuleSet) Select(patterns ...string) ([]rule.Rule, error) {
	var out []rule.Rule
	for _, p := range patterns {
		if err := s.checkPattern(p); err != nil {
			return nil, err
		}
	}
	all := rule.All()
	if s != nil {
		all = append(all, s.about...)
	}
	for _, r := range all {
		if len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return rule.Match(p, r.ID) }) {
			out = append(out, r)
		}
	}
	return out, nil
}

// ProjectRules returns a function that runs rules as [RunRules] does, and also those of the rule files that the
// skillpm.yaml files of projects name. It reads them when it is first called. An error is that rule files cannot be
// read, or that no rule matches a pattern.
func ProjectRules(projects []fs.FS) func(context.Context, fs.FS, []string) ([]diag.Finding, error) {
	read := sync.OnceValues(func() (*RuleSet, error) { return readProjects(projects) })
	return func(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error) {
		set, err := read()
		if err != nil {
			return nil, err
		}
		for _, pattern := range rules {
			if err := set.checkPattern(pattern); err != nil {
				return nil, err
			}
		}
		return set.run(ctx, fsys, rules)
	}
}

// readProjects reads the rules of projects. Of two rules with one id, the first counts.
func readProjects(projects []fs.FS) (*RuleSet, error) {
	all := &RuleSet{}
	for _, fsys := range projects {
		data, err := fs.ReadFile(fsys, pack.ManifestName)
		if err != nil {
			continue // the evaluator reports a project that cannot be read
		}
		m, _ := pack.CheckManifest(pack.ManifestName, data)
		if m == nil || m.Validate.RulesDir == "" {
			continue
		}
		sub, err := fs.Sub(fsys, m.Validate.RulesDir)
		if err != nil {
			return nil, err
		}
		set, err := ReadRules(sub, func(name string) string { return path.Join(m.Validate.RulesDir, name) })
		if err != nil {
			return nil, err
		}
		for i, r := range set.rules {
			if !slices.ContainsFunc(all.rules, func(have *scan.Rule) bool { return have.ID == r.ID }) {
				all.rules, all.about = append(all.rules, r), append(all.about, set.about[i])
			}
		}
	}
	return all, nil
}

// isReserved reports whether the ids of skillpm's rules start with some letters.
func isReserved(letters string) bool {
	return letters == "CA" || rule.IsFamily(letters)
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
