package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newVerify(a *app) *cobra.Command {
	var o skillpm.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify installed skills against skillpm.lock",
		Long: `The command hashes every installed skill, compares the digests with skillpm.lock, and checks
the links for agents. The command lists the differences. If there is a difference, the exit
code is 6. Without --fix, the command changes nothing. --signatures also verifies the
signatures of the packs whose signers skillpm.lock records. Without --fix and --signatures,
the command does not use the network.

--fix restores missing and damaged files from the store, from the vendor directory, or from
the locked source. --fix also repairs links and damaged skills in the store. The command keeps and
lists locally edited skills and files that skillpm did not create; --force discards the edits.
The command never changes skillpm.yaml or skillpm.lock.`,
		Example: `  skillpm verify
  skillpm verify --fix
  skillpm verify --store  # also hash the store
  skillpm verify --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Verify(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printVerify(r, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Store, "store", false, "also verify the skills in the store")
	f.BoolVar(&o.Fix, "fix", false, "restore missing and damaged files")
	f.BoolVar(&o.Force, "force", false,
		"with --fix: discard local edits, and remove packs that skillpm.lock does not contain")
	f.BoolVar(&o.Signatures, "signatures", false, "also verify the signatures of packs with a signer in skillpm.lock")
	f.BoolVar(&o.Offline, "offline", false, "with --fix and --signatures: do not use the network")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// printVerify prints the differences and the repaired files. Differences are an integrity error.
func (a *app) printVerify(r *skillpm.VerifyReport, o skillpm.VerifyOptions) error {
	problems := slices.Clone(r.Problems)
	if r.Store != nil {
		problems = append(problems, r.Store.Problems...)
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil || len(problems) == 0 {
			return err
		}
		return console.Reported{Exit: diag.Integrity}
	}
	a.listProblems(problems, r.Fixed, r.Saved)
	if len(problems) == 0 {
		if !a.Quiet {
			a.printRight(r)
		}
		return nil
	}
	err := diag.Errorf(diag.Integrity, "found %s from skillpm.lock", textx.Count(len(problems), "difference"))
	return err.WithHint("%s", restoreHint(problems, o))
}

func (a *app) listProblems(problems, fixed []skillpm.Problem, saved map[string]string) {
	p := a.Palette(a.Stdout)
	if !a.Quiet {
		for _, f := range fixed {
			fmt.Fprintf(a.Stdout, "%s %s: %s\n", p.Green("fixed"), console.Printable(f.Path),
				console.Printable(f.Message))
		}
		for _, path := range slices.Sorted(maps.Keys(saved)) {
			fmt.Fprintf(a.Stdout, "  kept a copy of the edited %s in %s\n", console.Printable(path),
				p.Cyan(console.Printable(saved[path])))
		}
	}
	for _, problem := range problems {
		fmt.Fprintf(a.Stdout, "%s %s: %s\n", p.Red("✗"), console.Printable(problem.Path),
			console.Printable(problem.Message))
		if problem.Want != "" && problem.Got != "" {
			fmt.Fprintf(a.Stdout, "    locked %s\n    found  %s\n", console.Printable(problem.Want),
				console.Printable(problem.Got))
		}
		if problem.Why != "" {
			fmt.Fprintf(a.Stdout, "    kept: %s\n", console.Printable(problem.Why))
		}
	}
}

// printRight prints what matches the lockfile.
func (a *app) printRight(r *skillpm.VerifyReport) {
	what := textx.Count(r.Skills, "skill") + " and " + textx.Count(r.Links, "link")
	if r.Store != nil {
		what = fmt.Sprintf("%s, %s, and %s in the store", textx.Count(r.Skills, "skill"),
			textx.Count(r.Links, "link"), textx.Count(r.Store.Trees, "skill"))
	}
	fmt.Fprintf(a.Stdout, "%s Verified %s\n", a.Palette(a.Stdout).Green("✓"), what)
	for _, s := range r.Signed {
		basis := " according to skillpm.lock"
		if s.Checked {
			basis = ""
		}
		fmt.Fprintf(a.Stdout, "  %s %s signed by %s%s\n", s.Pack, s.Version, s.SignedBy, basis)
	}
	if len(r.Linked) > 0 {
		a.Note("Not compared: %s to a directory (%s).", linkedPacks(len(r.Linked)), strings.Join(r.Linked, ", "))
	}
}

// linkedPacks counts linked packs.
func linkedPacks(n int) string {
	if n == 1 {
		return "1 pack is linked"
	}
	return textx.Count(n, "pack") + " are linked"
}

// restoreHint describes how to fix the differences.
func restoreHint(problems []skillpm.Problem, o skillpm.VerifyOptions) string {
	command := func(text string) string {
		if o.Scope == scope.KindUser {
			return text + " --scope user"
		}
		return text
	}
	has := func(kinds ...string) bool {
		return slices.ContainsFunc(problems, func(p skillpm.Problem) bool { return slices.Contains(kinds, p.Kind) })
	}
	edited := has(skillpm.KindChanged, skillpm.KindStranger)
	var hints []string
	if i := slices.IndexFunc(problems, func(p skillpm.Problem) bool { return p.Kind == skillpm.KindForeign }); i >= 0 {
		hints = append(hints, problems[i].ForeignHint())
	}
	switch {
	case has(skillpm.KindInterrupted):
		return "run \"" + command("skillpm install") + "\""
	case edited && o.Fix && !o.Force:
		hints = append(hints, "copy the edits that you want to keep, and discard all edits with: "+command(
			"skillpm verify --fix --force"))
	case len(hints) > 0:
	case o.Fix:
		return "resolve the remaining differences manually; --fix cannot resolve them"
	case edited:
		return "run \"" + command("skillpm install --force") + "\" to restore the locked files, or \"" +
			command("skillpm verify --fix") + "\" to keep edited files"
	case has(skillpm.KindDamaged, skillpm.KindStray):
		return "run \"" + command("skillpm verify --fix") + "\""
	default:
		return "restore missing files with: " + command("skillpm install")
	}
	return strings.Join(hints, "; ")
}
