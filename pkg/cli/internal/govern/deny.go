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
		Use:   "deny SKILL|PACK",
		Short: "Deny a skill in every session",
		Long: `The command adds the skill to skills.deny of the policy. The denial takes effect at once,
in every session and agent: skillpm does not list, install, load, or run the skill. If the
skill is active in a session, skillpm denies all tool calls of the session until you
deactivate the skill.

SKILL is a name, name@owner/name, or a pattern such as deploy@evil/*. PACK is owner/name
and denies all skills of the pack. If the policy has "mode: audit", a denial has no effect.
Without --anyway, the command then fails with exit code 5.`,
		Example: `  skillpm deny deploy
  skillpm deny deploy --undo
  sudo skillpm deny 'deploy@evil/*' --scope machine`,
		Args: console.Need(1, 1, "a SKILL or PACK"),
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the denial")
	cmd.Flags().BoolVar(&anyway, "anyway", false, "add the denial even if the policy has \"mode: audit\"")
	level.add(a, cmd, "change the policy of `SCOPE`", "user")
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
		a.Warn("the skill is also in the enterprise layer, which only the machine's policy governs")
		a.Hint(fmt.Sprintf("deny the skill for the machine, too: sudo skillpm deny %s --scope machine", pattern))
	}
	if !installed {
		a.Warn("no installed skill matches %s, so the denial applies only to skills that are installed later", pattern)
	}
	if _, err := os.Lstat(filepath.Join(h.Paths().Enterprise, skillpm.SyncRecordName)); err == nil &&
		l == policy.MachineLevel {
		a.Warn("the next \"skillpm enterprise sync\" replaces the machine's policy if the fleet list contains a policy")
		a.Hint("deny the skill in the policy of the fleet list, too")
	}
	if a.JSON {
		return a.PrintJSON(d)
	}
	what := "now denies"
	if !d.Changed {
		what = "already denies"
	}
	fmt.Fprintf(a.Stdout, "%s %s %s\n", console.Printable(d.Policy), what, console.Printable(string(pattern)))
	for _, x := range d.Active {
		a.Note(
			"%s is active in session %s, so skillpm denies all tool calls of the session. Deactivate the skill with: "+
				"skillpm deactivate %s --session %s", x.Skill, x.Session, x.Skill, x.Session)
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
		return diag.Errorf(diag.Conflict, "a denial in %s has no effect, because the policy has \"mode: audit\"", p.Path).
			WithHint("set \"mode: enforce\" in the policy, or add the denial with --anyway")
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
		return false, diag.Errorf(diag.Usage, "invalid skill name %q", pattern).
			WithHint("leave out the spaces, or list skills with: skillpm skills --all")
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
	fmt.Fprintf(a.Stdout, "%s no longer denies %s\n", console.Printable(d.Policy),
		console.Printable(string(d.Pattern)))
	if skills, err := findNamed(ctx, h, name); err == nil {
		for _, s := range skills {
			if err := h.Guard().CheckListed(s.Skill); err != nil {
				a.warnDenied(s.Exact(), err)
				break
			}
		}
	}
	return nil
}

// warnDenied warns about a skill that another rule denies.
func (a *app) warnDenied(skill string, why error) {
	a.Warn("%s is still denied: %v", skill, why)
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
