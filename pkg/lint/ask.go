package lint

import (
	"context"
	"io/fs"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// Ask returns those findings of the skill at the root of a file system that rules name: ids, families, the start of an
// id and a star. It is for whoever decides whether to use what others wrote: what its author suppressed counts, rules
// count that are off until they are asked for, and so does a finding that is only advice.
func Ask(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	o := Options{Parallel: 1}
	for _, r := range rules {
		o.Settings.Levels = append(o.Settings.Levels, Level{Rules: r, Own: true})
	}
	report, err := Run(ctx, fsys, []string{"."}, o)
	if err != nil {
		return nil, err
	}
	found := report.Findings
	for _, s := range report.Suppressed {
		found = append(found, s.Finding)
	}
	return slices.DeleteFunc(found, func(f diag.Finding) bool {
		return !slices.ContainsFunc(rules, func(pattern string) bool { return rule.Match(pattern, f.Rule) })
	}), nil
}
