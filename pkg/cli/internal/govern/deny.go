package govern

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
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
in every session and agent: skillpm does not list, link, load, or run the skill. The command
removes the skill's links in this project and in your home directory; in other projects, the
next "skillpm install" removes them. skillpm.lock does not change. If the skill is active in
a session, skillpm denies all tool calls of the session until you deactivate the skill. For
agents without hooks, the command reports what it cannot stop.

SKILL is a name, name@owner/name, or a pattern such as deploy@evil/*. A name alone denies
all skills that have the name anywhere. PACK is owner/name and denies all skills of the pack.
If the policy has "mode: audit", a denial has no effect. Without --anyway, the command then
fails with exit code 5.`,
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
	// Unlinked are the links and copies that were removed, relative to the project, or with ~ to the home directory.
	Unlinked []string `json:"unlinked"`
	// Unconnected are the ids of agents in use without hooks: skillpm cannot stop their sessions that have loaded the
	// skill.
	Unconnected []string `json:"unconnected"`
	Remaining   []string `json:"remaining"` // directories of the skill that skillpm did not create
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
	unlinked, reachable := a.unlinkDenied(ctx, l)
	d.Unlinked = unlinked
	rest, err := a.findUnreached(ctx, h, pattern)
	if err != nil {
		return err
	}
	d.Unconnected, d.Remaining = rest.ids(), append([]string{}, rest.remaining...)
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
		if err := a.PrintJSON(d); err != nil {
			return err
		}
		return a.AfterResult(nil, reachable)
	}
	what := "now denies"
	if !d.Changed {
		what = "already denies"
	}
	fmt.Fprintf(a.Stdout, "%s %s %s\n", d.Policy, what, string(pattern))
	a.noteUnlinked(d.Unlinked)
	for _, x := range d.Active {
		a.Note("%s is active in session %s, so skillpm denies all tool calls of the session. "+
			"Deactivate the skill with: skillpm deactivate %s --session %s", x.Skill, x.Session, x.Skill, x.Session)
	}
	a.warnUnreached(rest)
	return reachable
}

// unlinkDenied removes the links to denied skills in the scopes that the policy of a level applies to: the project, and
// the user's installation. Those of other projects disappear with the next installation there. The administrator writes
// to no user's files. The error is about links that could not be removed: the denial is recorded, but agents may still
// find the skill.
func (a *app) unlinkDenied(ctx context.Context, l policy.Level) (removed []string, reachable error) {
	removed = []string{}
	if l == policy.MachineLevel {
		return removed, nil
	}
	c, err := a.Client()
	if err != nil {
		return removed, err
	}
	for _, s := range []struct{ kind, prefix string }{{scope.KindProject, ""}, {scope.KindUser, "~/"}} {
		if s.kind == scope.KindUser && l == policy.ProjectLevel {
			continue
		}
		u, err := c.UnlinkDenied(ctx, s.kind)
		if _, home := errors.AsType[*scope.HomeError](err); home {
			continue
		}
		if err != nil {
			reachable = cmp.Or[error](reachable, diag.Errorf(diag.CodeOf(err),
				"agents may still find the skill, because its links could not be removed: %w", err).
				WithHint("remove the links with: skillpm install --scope %s", s.kind))
		}
		for _, at := range u.Removed {
			removed = append(removed, s.prefix+at)
		}
		for _, at := range u.Kept {
			a.Warn("agents may still find the skill in %s%s, because the copy has local edits", s.prefix, at)
			a.Hint("remove the copy, and keep the edits in .skillpm/backup, with: skillpm install --force --scope " + s.kind)
		}
	}
	return removed, reachable
}

// noteUnlinked reports removed links.
func (a *app) noteUnlinked(removed []string) {
	if len(removed) > 0 {
		a.Note("Removed %s: %s", textx.Count(len(removed), "link"), textx.FirstAndMore(removed, 5))
	}
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
	pattern, err := deniedPattern(ctx, h, l, name)
	if err != nil {
		return err
	}
	d := denied{
		Pattern: pattern, Level: l.String(), Changed: true, Undone: true, Active: []activeIn{}, Unlinked: []string{},
		Unconnected: []string{}, Remaining: []string{},
	}
	d.Policy, err = a.changePolicy(h, audit.Record{Action: audit.Deny, Skill: string(pattern), Verdict: audit.Allowed},
		func() (string, error) { return h.Guard().Undeny(ctx, l, pattern) })
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(d)
	}
	fmt.Fprintf(a.Stdout, "%s no longer denies %s\n", d.Policy, string(d.Pattern))
	skills, err := findNamed(ctx, h, name)
	if err != nil {
		return nil //nolint:nilerr // the denial is undone; what the catalog has now is only a service
	}
	for _, s := range skills {
		if err := h.Guard().CheckListed(s.Skill); err != nil {
			a.warnDenied(s.Exact(), err)
			return nil
		}
	}
	ofPack := func(s foundSkill) bool { return s.Pack != "" }
	if strings.Contains(string(pattern), "@") || slices.ContainsFunc(skills, ofPack) {
		a.Note("Link the skill again with: skillpm install")
	}
	return nil
}

// deniedPattern returns the pattern in the policy of a level that a name stands for: that pattern itself, the one that
// deny would add for the name, or the only one for skills of this name. What is installed need not be what was
// installed when the skill was denied.
func deniedPattern(ctx context.Context, h *runtime.Host, l policy.Level, name string) (policy.SkillPattern, error) {
	var denied []policy.SkillPattern
	for _, p := range h.Guard().Policies() {
		if p.Level == l {
			denied = append(denied, p.Skills.Deny...)
		}
	}
	exact, _, err := patternOf(ctx, h, name)
	if err != nil {
		exact = policy.SkillPattern(name) // the catalog cannot be read
	}
	for _, pattern := range []policy.SkillPattern{exact, policy.SkillPattern(name)} {
		if slices.Contains(denied, pattern) {
			return pattern, nil
		}
	}
	var named []string
	for _, pattern := range denied {
		if skill, _, ok := strings.Cut(string(pattern), "@"); ok && skill == name {
			named = append(named, string(pattern))
		}
	}
	if len(named) > 1 {
		return "", diag.Errorf(diag.Usage, "the policy denies several skills named %s", name).
			WithHint("use %s", textx.OneOf(named))
	}
	if len(named) == 1 {
		return policy.SkillPattern(named[0]), nil
	}
	return exact, nil // the policy does not deny it
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
	_, pack, exact := strings.Cut(name, "@")
	ofPack := func(s foundSkill) bool { return s.Pack == name }
	switch {
	case strings.Contains(name, "*"), exact && (strings.Contains(pack, "/") || len(skills) == 0):
		return policy.SkillPattern(name), machines, nil
	case exact:
		return policy.SkillPattern(skills[0].Exact()), machines, nil
	case strings.Contains(name, "/") && (len(skills) == 0 || slices.ContainsFunc(skills, ofPack)):
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
