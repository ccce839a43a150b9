package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newAudit(a *app) *cobra.Command {
	var o skillpm.AuditOptions
	format := "text"
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check locked packs for known vulnerabilities and malware",
		Long: `The command compares the packs in skillpm.lock with the advisories of all indexes in the
settings, and of the feeds under advisories: in the settings. It needs no installed skills.
The exit code is 3 if an advisory is about a locked pack.

An advisory names versions of a pack, or the digest of a skill, which also finds copies in
other packs. "skillpm install" and "skillpm update" reject malicious packs, and warn about
vulnerable ones. A malicious skill that is already installed can no longer be activated.

skillpm verifies the signature of each feed. If a feed is unreachable or invalid, skillpm
uses the last verified one, with a warning. Without one, the exit code is 8.`,
		Example: `  skillpm audit
  skillpm audit --offline  # with the advisories that this machine has
  skillpm audit --format sarif >audit.sarif`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "sarif" && format != "github" {
				return diag.Errorf(diag.Usage, "unknown --format %q", format).
					WithHint("use text, sarif, github, or --json")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Audit(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printAudit(r, format)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	f.StringVar(&format, "format", format, "print the result as `text|sarif|github`")
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions([]string{"text", "sarif", "github"},
		cobra.ShellCompDirectiveNoFileComp))
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// printAudit prints the affected packs. Affected packs and unknown advisories set the exit code.
func (a *app) printAudit(r *skillpm.AuditReport, format string) error {
	a.Warnings(r.Warnings)
	failed := error(nil)
	switch {
	case len(r.Affected) > 0:
		failed = console.Reported{Exit: diag.Invalid}
	case len(r.Unknown()) > 0:
		failed = console.Reported{Exit: diag.Remote}
	}
	var err error
	switch {
	case a.JSON:
		err = a.PrintJSON(r)
	case format == "sarif":
		err = render.SARIF(a.Stdout, a.auditOutcome(r), auditRules(r))
	case format == "github":
		err = render.GitHub(a.Stdout, a.auditOutcome(r))
	default:
		a.listAffected(r)
	}
	if err != nil {
		return err
	}
	return failed
}

func (a *app) listAffected(r *skillpm.AuditReport) {
	p := a.Palette(a.Stdout)
	for _, one := range r.Affected {
		name := one.Pack + " " + one.Version
		if one.Malicious {
			fmt.Fprintf(a.Stdout, "%s %s is malicious\n", p.Red("✗"), name)
		} else {
			fmt.Fprintf(a.Stdout, "%s %s is vulnerable\n", p.Yellow("!"), name)
		}
		for _, ref := range one.Advisories {
			fmt.Fprintf(a.Stdout, "    %s\n", console.OneLine(advisoryText(ref)))
			for _, url := range ref.URLs {
				fmt.Fprintf(a.Stdout, "      %s\n", console.OneLine(url))
			}
		}
	}
	are := "are"
	if len(r.Affected) == 1 {
		are = "is"
	}
	switch {
	case len(r.Affected) > 0:
		a.Note("%d of %s %s affected. Update packs with \"skillpm update\", and remove malicious ones with: "+
			"skillpm remove PACK", len(r.Affected), textx.Count(r.Packs, "pack"), are)
	case a.Quiet:
	case len(r.Unknown()) > 0:
		a.Note("This machine does not have the advisories of %s.", textx.FirstAndMore(r.Unknown(), 5))
	case len(r.Feeds) == 0:
		a.Note("No advisories: no index in the settings has any. Add a feed with the setting advisories.")
	default:
		fmt.Fprintf(a.Stdout, "%s No advisories about %s\n", p.Green("✓"), textx.Count(r.Packs, "pack"))
	}
}

// advisoryKind returns what an advisory states about a pack.
func advisoryKind(ref skillpm.AdvisoryRef) string {
	if ref.Malicious {
		return "malicious"
	}
	return "vulnerable"
}

// advisoryText describes an advisory on one line.
func advisoryText(ref skillpm.AdvisoryRef) string {
	text := ref.ID
	if len(ref.Aliases) > 0 {
		text += " (" + strings.Join(ref.Aliases, ", ") + ")"
	}
	if ref.Summary != "" {
		text += " " + ref.Summary
	}
	if ref.Fixed != "" {
		text += "; fixed in " + ref.Fixed
	}
	if len(ref.Capabilities) > 0 {
		text += "; capabilities: " + strings.Join(ref.Capabilities, ", ")
	}
	return text
}

// auditOutcome returns the affected packs as findings about the lockfile.
func (a *app) auditOutcome(r *skillpm.AuditReport) render.Outcome {
	dir, err := a.WorkDir()
	if err != nil { // exists, because the command has used it
		dir = a.Dir
	}
	o := render.Outcome{
		Version: console.BuildVersion(a.Version), Dir: dir, Workspace: a.Getenv("GITHUB_WORKSPACE"),
		JobSummary: a.Getenv("GITHUB_STEP_SUMMARY"),
	}
	var findings []diag.Finding
	for _, one := range r.Affected {
		line, column := r.Lock.Position("packs", one.Pack)
		for _, ref := range one.Advisories {
			f := diag.Finding{
				Rule: ref.ID, Path: lockPath(dir, r.Lockfile), Line: line, Column: column,
				Message: fmt.Sprintf("%s %s is malicious: %s", one.Pack, one.Version, ref.Summary),
				Fix:     "remove the pack",
			}
			if !ref.Malicious {
				f.Severity = diag.SeverityWarning
				f.Message = fmt.Sprintf("%s %s is vulnerable: %s", one.Pack, one.Version, ref.Summary)
				f.Fix = "update the pack"
				if ref.Fixed != "" {
					f.Fix = "update the pack to " + ref.Fixed
				}
			}
			findings = append(findings, f)
		}
	}
	o.Report = lint.Report{Findings: findings}
	return o
}

// auditRules returns the advisories as rules of SARIF.
func auditRules(r *skillpm.AuditReport) []rule.Rule {
	var rules []rule.Rule
	known := map[string]bool{}
	for _, one := range r.Affected {
		for _, ref := range one.Advisories {
			if known[ref.ID] {
				continue
			}
			known[ref.ID] = true
			rules = append(rules, rule.Rule{ID: ref.ID, Title: ref.Summary, Why: advisoryText(ref), Fix: "update or remove the pack"})
		}
	}
	return rules
}

// lockPath returns the path of a lockfile relative to a directory, with slashes.
func lockPath(dir, file string) string {
	if rel, ok := pathx.Rel(dir, file); ok {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}
