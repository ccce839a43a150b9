package govern

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// approveFlags are the flags of approve.
type approveFlags struct {
	levelFlags
	reason, expires, registry string
	fetch                     bool
}

func newApprove(a *app) *cobra.Command {
	f := &approveFlags{}
	cmd := &cobra.Command{
		Use:     "approve PACK|SKILL",
		Short:   "Approve what a policy wants approved",
		GroupID: "govern",
		Long: `Approve what a skill is able to do, or all skills of a pack. What that is, and where it
shows, is printed; nothing is asked. The approval is for these files and these capabilities:
after a change of either it does not count any more, and what is refused then says what has
changed.

PACK is owner/name, or a place as install takes it; SKILL a name or name@owner/name. What
is not installed is fetched to be looked at, and so is what is, with --fetch: that is what
an update brings.

Approvals of the machine, which its administrator writes, count for every policy, yours for
your own and the project's, and those of the project for the project's alone.`,
		Example: `  skillpm approve acme/deploy --reason "read its scripts"
  skillpm approve deploy@acme/deploy --reason "read its scripts" --expires 90d
  sudo skillpm approve acme/deploy --machine --reason "reviewed"`,
		Args: console.Need(1, 1, "a PACK or SKILL"),
	}
	f.add(cmd, "the approvals")
	flags := cmd.Flags()
	flags.StringVar(&f.reason, "reason", "", "why, in a `TEXT`; it is needed")
	flags.StringVar(&f.expires, "expires", "", "let it end after a `TIME`, as 90d or 2w, or on a day, as 2027-01-31")
	flags.StringVar(&f.registry, "registry", "", "look the pack up in this registry, by `NAME` or address")
	flags.BoolVar(&f.fetch, "fetch", false, "look at what the source has now, and not at what is installed")
	cmd.ValidArgsFunction = a.completeGoverned
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.approve(cmd.Context(), args[0], f) }
	return cmd
}

func (a *app) approve(ctx context.Context, name string, f *approveFlags) error {
	if strings.TrimSpace(f.reason) == "" {
		return diag.Errorf(diag.Usage, "an approval needs a reason").WithHint("say why with --reason")
	}
	word := enforce.Approver{Reason: f.reason}
	l, err := f.level()
	if err != nil {
		return err
	}
	if word.Expires, err = a.later("expires", f.expires); err != nil {
		return err
	}
	if word.By, err = userName(); err != nil {
		return err
	}
	h, err := a.Host(ctx, &console.RuntimeFlags{})
	if err != nil {
		return err
	}
	skills, err := a.findSkills(ctx, h, name, f)
	if err != nil {
		return err
	}
	reviews := make([]enforce.Review, 0, len(skills))
	var names []string
	for _, s := range skills {
		r, err := h.Guard().Review(ctx, s.Skill, s.tree())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(reviews, func(other enforce.Review) bool {
			return other.Skill.Exact() == s.Exact() && other.Digest == r.Digest
		}) {
			continue // a copy with the same files
		}
		reviews, names = append(reviews, r), append(names, s.Exact())
	}
	file, err := a.changePolicy(h, audit.Record{
		Action: audit.Approve, Skill: strings.Join(names, " "),
		Reason: word.Reason,
	}, func() (string, error) {
		return h.Guard().Approve(ctx, l, word, reviews...)
	})
	if err != nil {
		return err
	}
	requiresApproval := func(p *policy.Policy) bool { return p.Level <= l && len(p.Approve) > 0 }
	if l != policy.UserLevel && !slices.ContainsFunc(h.Guard().Policies(), requiresApproval) {
		a.Warn("no policy that approvals of the %s count for wants any", l)
	}
	return a.printApproved(l, file, word, reviews)
}

// findSkills finds the skills to approve: on this machine, or else in the pack's source.
func (a *app) findSkills(ctx context.Context, h *runtime.Host, name string, f *approveFlags) ([]foundSkill, error) {
	if !f.fetch && f.registry == "" {
		if skills, err := findNamed(ctx, h, name); err != nil || len(skills) > 0 {
			return skills, err
		}
	}
	o := skillpm.FetchOptions{Pack: name, Registry: f.registry}
	if skill, pack, ok := strings.Cut(name, "@"); ok && !strings.Contains(skill, "/") {
		o.Pack, o.Skills = pack, []string{skill}
	} else if !strings.Contains(name, "/") {
		return nil, diag.Errorf(diag.NotFound, "there is no skill %q here", name).
			WithHint("skillpm skills --all lists what there is; name@owner/name fetches one of a pack")
	}
	c, err := a.Client()
	if err != nil {
		return nil, err
	}
	packs, err := c.Fetch(ctx, o)
	if err != nil {
		return nil, err
	}
	var list []foundSkill
	for _, p := range packs {
		if !p.Named {
			continue
		}
		for _, s := range p.Skills {
			list = append(list, foundSkill{
				Skill: enforce.Skill{Name: s.Name, Pack: p.Pack, Source: p.Source},
				files: s.Files,
			})
		}
	}
	return list, nil
}

// later parses the time of a flag, which must be in the future; zero for none.
func (a *app) later(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		age, err := console.ParseAge(flag, text)
		if err != nil {
			return time.Time{}, diag.Errorf(diag.Usage, "%w", err).
				WithHint("write how long it lasts, as 90d or 2w, or its last day, as 2027-01-31")
		}
		t = a.Now().Add(age)
	}
	if t = t.UTC().Truncate(time.Second); !t.After(a.Now()) {
		return time.Time{}, diag.Errorf(diag.Usage, "--%s %s is not to come", flag, text).
			WithHint("write how long it lasts, as 90d, or its last day, as 2027-01-31")
	}
	return t, nil
}

// approvedJSON is an approved skill in the JSON output.
type approvedJSON struct {
	Skill        string              `json:"skill"`
	Digest       string              `json:"digest"`
	Capabilities []policy.Capability `json:"capabilities"`
	Evidence     any                 `json:"evidence"`
	Refused      string              `json:"refused,omitempty"` // why it is not allowed despite the approval
}

func (a *app) printApproved(l policy.Level, file string, w enforce.Approver, reviews []enforce.Review) error {
	list := []approvedJSON{}
	for _, r := range reviews {
		e := approvedJSON{
			Skill: r.Skill.Exact(), Digest: r.Digest, Capabilities: r.Capabilities.List(),
			Evidence: r.Capabilities,
		}
		if e.Capabilities == nil {
			e.Capabilities, e.Evidence = []policy.Capability{}, []string{}
		}
		if r.Forbidden != nil {
			e.Refused = r.Forbidden.Error()
			a.Warn("it may not be used all the same: %s", e.Refused)
		}
		list = append(list, e)
	}
	if a.JSON {
		out := map[string]any{"approved": list, "file": file, "level": l.String(), "by": w.By, "reason": w.Reason}
		if !w.Expires.IsZero() {
			out["expires"] = w.Expires
		}
		return a.PrintJSON(out)
	}
	for _, r := range reviews {
		if a.Quiet {
			break
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", console.Printable(r.Skill.Exact()), r.Digest)
		if len(r.Capabilities) == 0 {
			fmt.Fprintln(a.Stdout, "  nothing that a policy can ask about")
		}
		var rows [][]string
		for _, e := range r.Capabilities {
			rows = append(rows, []string{"  " + string(e.Capability), e.String()})
		}
		if err := console.Table(a.Stdout, rows); err != nil {
			return err
		}
	}
	until := ""
	if !w.Expires.IsZero() {
		until = ", until " + w.Expires.Format(time.DateOnly)
	}
	a.Note("approved by %s for the %s%s, in %s", w.By, l, until, file)
	return nil
}
