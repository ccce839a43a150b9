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
		Use:     "verify",
		Short:   "Compare what is installed with skillpm.lock, and mend it",
		GroupID: "use",
		Long: `Hash every installed skill and compare it with skillpm.lock, and check that the
agents' links lead where they should. Nothing is changed and no network is used.
What differs is listed, and the exit code is 6. With --signatures the signatures
of packs are checked again whose signers the lock records.

With --fix, what is missing or wrong is put back: from the store, from the
project's own copy (see skillpm vendor), or from where it is locked. Links of
skillpm's are made right, and trees of the store that are damaged are fetched
again. Skills that somebody edited, and what skillpm did not write, are left as
they are and listed; --force gives those edits up. skillpm.yaml and skillpm.lock
are never changed.`,
		Example: `  skillpm verify
  skillpm verify --store         hash what the store has of them, too
  skillpm verify --fix --offline
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
	f.BoolVar(&o.Store, "store", false, "hash the trees of the store that skillpm.lock names, too")
	f.BoolVar(&o.Fix, "fix", false, "put back what is missing or wrong, in the store as well")
	f.BoolVar(&o.Force, "force", false,
		"with --fix: give up what was edited, and remove what skillpm.lock does not have")
	f.BoolVar(&o.Signatures, "signatures", false, "check the signatures of packs whose signers skillpm.lock records")
	f.BoolVar(&o.Offline, "offline", false, "with --fix and --signatures: use no network")
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
	err := diag.Errorf(diag.Integrity, "%s from skillpm.lock", textx.Count(len(problems), "difference"))
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
			fmt.Fprintf(a.Stdout, "  a copy of the edited %s is %s\n", console.Printable(path),
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
			fmt.Fprintf(a.Stdout, "    left as it is: %s\n", console.Printable(problem.Why))
		}
	}
}

// printRight prints what matches the lockfile.
func (a *app) printRight(r *skillpm.VerifyReport) {
	what := textx.Count(r.Skills, "tree") + " and " + textx.Count(r.Links, "link")
	if r.Store != nil {
		what = fmt.Sprintf("%s, %s, and %s of the store", textx.Count(r.Skills, "tree"),
			textx.Count(r.Links, "link"), textx.Count(r.Store.Trees, "tree"))
	}
	fmt.Fprintf(a.Stdout, "%s %s are as locked\n", a.Palette(a.Stdout).Green("✓"), what)
	for _, s := range r.Signed {
		what := "recorded as signed by"
		if s.Checked {
			what = "signed by"
		}
		fmt.Fprintf(a.Stdout, "  %s %s %s %s\n", s.Pack, s.Version, what, console.Printable(s.SignedBy))
	}
	if len(r.Linked) > 0 {
		a.Note("%s to a directory and not compared: %s", linkedPacks(len(r.Linked)), strings.Join(r.Linked, ", "))
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
		return command("skillpm install")
	case edited && o.Fix && !o.Force:
		hints = append(hints, "copy what you want to keep to a skill of your own; "+command(
			"skillpm verify --fix --force")+" gives edits up")
	case len(hints) > 0:
	case o.Fix:
		return "what is left could not be mended: see above"
	case edited:
		return command("skillpm install --force") + " restores what is locked; " + command("skillpm verify --fix") +
			" leaves what was edited"
	case has(skillpm.KindDamaged, skillpm.KindStray):
		return command("skillpm verify --fix")
	default:
		return command("skillpm install") + " puts back what is missing"
	}
	return strings.Join(hints, "; ")
}
