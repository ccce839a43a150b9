package govern

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newDeny(a *app) *cobra.Command {
	var (
		level        levelFlags
		undo, anyway bool
	)
	cmd := &cobra.Command{
		Use:     "deny SKILL|PACK",
		Short:   "Disable a skill everywhere at once",
		GroupID: "govern",
		Long: `Disable a skill: it is added to skills.deny of your policy, or the machine's or the
project's. From the next call on, in every session and every program, it is not listed,
installed, loaded or run, and where it is active no tool may be called until it is ended.

SKILL is a skill's name, name@owner/name, or a pattern as deploy@evil/*; PACK is owner/name
and means all its skills. Comments in the policy stay. A policy that only observes would
disable nothing: the exit code is 5 then, unless --anyway says to write it all the same.`,
		Example: `  skillpm deny deploy
  skillpm deny deploy --undo
  sudo skillpm deny 'deploy@evil/*' --machine`,
		Args: console.Need(1, 1, "a SKILL or PACK"),
	}
	level.add(cmd, "the policy")
	cmd.Flags().BoolVar(&undo, "undo", false, "deny it no more")
	cmd.Flags().BoolVar(&anyway, "anyway", false, "write it into a policy that only observes, too")
	cmd.ValidArgsFunction = a.completeGoverned
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		if undo {
			return a.undeny(cmd.Context(), h, l, args[0])
		}
		return a.deny(cmd.Context(), h, l, args[0], anyway)
	}
	return cmd
}

// denied is the result of "deny".
type denied struct {
	Pattern policy.SkillPattern `json:"pattern"`
	Policy  string              `json:"policy"`
	Level   string              `json:"level"`
	Changed bool                `json:"changed"`
	Undone  bool                `json:"undone,omitempty"`
	Active  []activeIn          `json:"active"` // where the skill is active
}

type activeIn struct {
	Session string `json:"session"`
	Skill   string `json:"skill"`
}

func (a *app) deny(ctx context.Context, h *runtime.Host, l policy.Level, name string, anyway bool) error {
	pattern, machines, err := patternOf(ctx, h, name)
	if err != nil {
		return err
	}
	if err := disables(h, l, anyway); err != nil {
		return err
	}
	installed, err := a.matchesInstalled(ctx, h, pattern)
	if err != nil {
		return err
	}
	d := denied{Pattern: pattern, Level: l.String()}
	record := audit.Record{Action: audit.Deny, Skill: string(pattern), Verdict: audit.Forbidden}
	d.Policy, err = a.changePolicy(h, record,
		func() (file string, err error) {
			file, d.Changed, err = h.Guard().Deny(ctx, l, pattern)
			return file, err
		})
	if err != nil {
		return err
	}
	d.Active = a.activeSkills(h, pattern)
	if machines && l != policy.MachineLevel {
		a.Warn(
			"it is also in the layer that the machine's administrator keeps, where only the machine's policy "+
				"denies it: sudo skillpm deny %s --machine", pattern)
	}
	if !installed {
		a.Warn("no skill here is called %s: it counts for those to come", pattern)
	}
	if _, err := os.Lstat(filepath.Join(h.Paths().Enterprise, skillpm.SyncRecordName)); err == nil &&
		l == policy.MachineLevel {
		a.Warn(
			"skillpm sync keeps this machine in step with a list: if that has a policy, the next sync takes this " +
				"back; deny it in the list, too")
	}
	if a.JSON {
		return a.PrintJSON(d)
	}
	what := "denies"
	if !d.Changed {
		what = "denied already"
	}
	fmt.Fprintf(a.Stdout, "%s %s %s\n", console.Printable(d.Policy), what, console.Printable(string(pattern)))
	for _, x := range d.Active {
		a.Note(
			"%s is active in session %s: no tool may be called there until it is ended, with skillpm deactivate "+
				"%s --session %s", x.Skill, x.Session, x.Skill, x.Session)
	}
	return nil
}

// disables returns why a denial in the policy of a level has no effect: the policy only observes. The reader of the
// policy warns about it.
func disables(h *runtime.Host, l policy.Level, anyway bool) error {
	for _, p := range h.Guard().Policies() {
		if p.Level != l || p.Mode != policy.Observe || p.Err() != nil || anyway {
			continue
		}
		return diag.Errorf(diag.Conflict, "%s only observes: what it denies goes on as before", p.Path).
			WithHint("write mode: enforce into it; --anyway denies it there all the same")
	}
	return nil
}

// matchesInstalled reports whether a pattern matches a skill on this machine. An invalid name is an error.
func (a *app) matchesInstalled(ctx context.Context, h *runtime.Host, pattern policy.SkillPattern) (bool, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return false, err
	}
	for _, e := range c.All() {
		if e.Skill != nil && pattern.Matches([]string{e.Name, e.Declared, filepath.Base(e.Dir)}, e.Pack) {
			return true, nil
		}
	}
	if strings.Contains(string(pattern), " ") {
		return false, diag.Errorf(diag.Usage, "no skill is called %q", pattern).
			WithHint("skillpm skills --all lists what there is; a name has no spaces")
	}
	return false, nil
}

// undeny removes a denial: the skill's own, or the one of its bare name.
func (a *app) undeny(ctx context.Context, h *runtime.Host, l policy.Level, name string) error {
	exact, _, err := patternOf(ctx, h, name)
	if err != nil {
		return err
	}
	d := denied{Pattern: exact, Level: l.String(), Changed: true, Undone: true, Active: []activeIn{}}
	d.Policy, err = a.changePolicy(h, audit.Record{Action: audit.Deny, Skill: string(exact), Verdict: audit.Allowed},
		func() (string, error) {
			file, err := h.Guard().Undeny(ctx, l, exact)
			if diag.CodeOf(err) == diag.NotFound && exact != policy.SkillPattern(name) {
				if other, second := h.Guard().Undeny(ctx, l, policy.SkillPattern(name)); second == nil {
					d.Pattern = policy.SkillPattern(name)
					return other, nil
				}
			}
			return file, err
		})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(d)
	}
	fmt.Fprintf(a.Stdout, "%s does not deny %s any more\n", console.Printable(d.Policy),
		console.Printable(string(d.Pattern)))
	if skills, err := findNamed(ctx, h, name); err == nil {
		for _, s := range skills {
			if err := h.Guard().CheckListed(s.Skill); err != nil {
				a.Warn("it is denied all the same: %v", err)
				break
			}
		}
	}
	return nil
}

// patternOf returns the pattern for a name, and whether the machine's administrator manages one of its skills.
func patternOf(
	ctx context.Context, h *runtime.Host, name string,
) (pattern policy.SkillPattern, machines bool, err error) {
	skills, err := findNamed(ctx, h, name)
	if err != nil {
		return "", false, err
	}
	for _, s := range skills {
		machines = machines || s.Machine
	}
	switch {
	case strings.Contains(name, "@"), strings.Contains(name, "*"):
		return policy.SkillPattern(name), machines, nil
	case strings.Contains(name, "/"):
		return policy.SkillPattern("*@" + name), machines, nil
	}
	packs := map[string]bool{}
	for _, s := range skills {
		packs[s.Exact()] = true
	}
	if len(packs) == 1 {
		return policy.SkillPattern(skills[0].Exact()), machines, nil
	}
	return policy.SkillPattern(name), machines, nil // several packs have it, or none: deny the bare name
}

// activeSkills returns where denied skills are active now.
func (a *app) activeSkills(h *runtime.Host, pattern policy.SkillPattern) []activeIn {
	list := []activeIn{}
	sessions, _ := session.List(h.Paths().State) // unreadable sessions are not active
	for _, k := range sessions {
		s, err := session.Open(session.Options{Environment: environ.Environment{Paths: h.Paths(), Now: a.Now}}, k.ID)
		if err != nil || len(k.Active) == 0 {
			continue
		}
		state, _ := s.State()
		for _, x := range state.Active {
			if pattern.Matches([]string{x.Name, filepath.Base(x.Dir)}, x.Pack) {
				list = append(list, activeIn{k.ID, x.Exact()})
			}
		}
	}
	return list
}
