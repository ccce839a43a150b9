package publish

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkPolicies adds the findings of policies to a report: of those in effect, or of a file. A baseline or an author's
// suppressions do not hide them, because they do not bind the user who installs the skill.
func (j *job) checkPolicies(ctx context.Context, report *lint.Report, o ValidateOptions) error {
	if !o.Policy && o.PolicyFile == "" {
		return nil
	}
	g := j.evaluator(o)
	if err := g.Err(); err != nil {
		if denied, ok := errors.AsType[*policy.DeniedError](err); ok && o.PolicyFile != "" {
			return denied.Err // a trial run does not deny
		}
		return err
	}
	for _, skillPath := range slices.Clone(report.Skills) {
		found, err := j.client.policyFindings(ctx, g, skillPath)
		if err != nil {
			return err
		}
		for _, f := range found {
			if !slices.ContainsFunc(o.Disable, func(pattern string) bool { return rule.Match(pattern, f.Rule) }) {
				report.Add(f)
			}
		}
	}
	return nil
}

// evaluator returns the evaluator of the policies to check against.
func (j *job) evaluator(o ValidateOptions) *enforce.Evaluator {
	g := enforce.Options{Files: j.client.Machine.PolicyFiles(), Now: j.client.Now}
	if j.project.hasManifest {
		g.Projects = []string{j.project.dir}
	}
	g.Lint = lint.ProjectRules(safefile.Dirs(g.Projects))
	if o.PolicyFile != "" {
		g.OnlyPolicy = j.client.Machine.Abs(o.PolicyFile)
	}
	return enforce.Open(g)
}

// policyFindings returns the policies' findings about one skill.
func (c *Client) policyFindings(ctx context.Context, g *enforce.Evaluator, skillPath string) (found []diag.Finding,
	err error,
) {
	dir := c.Machine.Abs(filepath.FromSlash(skillPath))
	if filepath.Base(dir) == skill.File {
		dir, skillPath = filepath.Dir(dir), path.Dir(skillPath)
	}
	s := enforce.Skill{Name: filepath.Base(dir), Pack: packOf(dir), Source: "path", Dir: dir, Trusted: true}
	files := safefile.Dir(dir)
	if doc, _, err := skill.Load(files, "."); err == nil && doc.Name() != s.Name {
		s.Declared = doc.Name()
	}
	for _, r := range g.Explain(ctx, s, files) {
		id := ruleOf(r.Rule)
		if id == "" || r.Verdict != enforce.Denies && r.Verdict != enforce.Observes {
			continue
		}
		found = append(found, finding(id, path.Join(skillPath, skill.File), r.Verdict == enforce.Observes,
			fmt.Sprintf("%s (%s:%d)", r.Why, c.DisplayPath(r.Policy), r.Line), r.Hint))
	}
	review, err := g.Review(ctx, s, files)
	if err != nil {
		return found, err
	}
	for _, p := range g.Policies() {
		found = append(found, c.forbiddenFindings(p, review.Capabilities, skillPath)...)
	}
	for _, w := range review.Required {
		if w.Missing == "" {
			continue
		}
		var names []string
		for _, one := range w.Capabilities {
			names = append(names, string(one))
		}
		message := fmt.Sprintf("%s requires approval for %s (%s:%d): %s", s.Exact(), strings.Join(names, ", "),
			c.DisplayPath(w.Policy), w.Line, w.Missing)
		found = append(found, finding(rule.NeedsApproval, path.Join(skillPath, skill.File), false, message, ""))
	}
	return found, ctx.Err()
}

// forbiddenFindings returns a finding for each use of a capability that a policy forbids.
func (c *Client) forbiddenFindings(p *policy.Policy, can enforce.Capabilities, skillPath string) (
	found []diag.Finding,
) {
	for _, e := range can {
		i := slices.Index(p.Forbid, e.Capability)
		if i < 0 {
			continue
		}
		policyPath := c.DisplayPath(p.Path)
		if line := p.Line("forbid", i); line > 0 {
			policyPath = fmt.Sprintf("%s:%d", policyPath, line)
		}
		f := finding(rule.ForbiddenCapability, path.Join(skillPath, e.Path), p.Mode == policy.Observe,
			fmt.Sprintf("%s forbids the capability %s: %s", policyPath, e.Capability, e.Why), "")
		f.Line = e.Line
		found = append(found, f)
	}
	return found
}

// finding creates a finding. That of a policy in observe mode is a warning.
func finding(id, policyPath string, observed bool, message, fix string) diag.Finding {
	f := diag.Finding{Rule: id, Severity: rule.Severity(id), Path: policyPath, Message: message, Fix: fix}
	if f.Fix == "" {
		f.Fix = rule.Fix(id)
	}
	if observed {
		f.Severity = diag.SeverityWarning
	}
	return f
}

// ruleOf returns the rule for a policy key, or "" if the key has no findings in files.
func ruleOf(key string) string {
	switch {
	case key == "skills.deny":
		return rule.DeniedSkill
	case key == "limits" || strings.HasPrefix(key, "limits."):
		return rule.OverLimit
	case key == "lint.fail_on":
		return rule.FailsPolicy
	}
	return ""
}

// packOf returns the name of the pack that contains a directory, or "".
func packOf(dir string) string {
	for {
		file := filepath.Join(dir, pack.ManifestName)
		if data, err := safefile.ReadOptional(file); err == nil && data != nil {
			if m, _ := pack.CheckManifest(file, data); m != nil && !m.Name.IsZero() {
				return m.Name.String()
			}
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
