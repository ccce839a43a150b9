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
	"github.com/skillpm/skillpm/pkg/internal/textx"
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
	var list, undo bool
	cmd := &cobra.Command{
		Use:   "approve [PACK|SKILL]",
		Short: "Approve skills that a policy restricts",
		Long: `The command prints the capabilities of each skill, and the evidence for each capability.
An approval covers the current files and capabilities of a skill. If the files or the
capabilities change, the approval no longer applies. Policies then deny the skill, and the
error reports the change.

SKILL is a name or name@owner/name. PACK is owner/name or a source, and stands for all
skills of the pack. Write a source as in "skillpm install SOURCE". If a pack is not installed,
skillpm fetches the pack for the review. --fetch reviews the current content of the source
instead of the installed content.

All policies accept the approvals of the machine. The policies of the user and the project
accept approvals of the user. Only the project's policy accepts approvals of the project.
If no policy that requires the approval would accept it, the command changes nothing.

--list shows all approvals, and whether the approved files have changed. --undo removes
approvals.`,
		Example: `  skillpm approve acme/deploy --reason "read its scripts"
  skillpm approve --list
  skillpm approve deploy@acme/deploy --undo
  skillpm approve deploy@acme/deploy --reason "read its scripts" --expires 90d
  sudo skillpm approve acme/deploy --scope machine --reason "reviewed"`,
		Args: console.Need(0, 1, "one PACK or SKILL"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.reason, "reason", "", "record `TEXT` as the reason for the approval (required)")
	flags.StringVar(&f.expires, "expires", "",
		"end the approval after `TIME`, such as 90d or 2w, or on a day, such as 2027-01-31")
	flags.StringVar(&f.registry, "registry", "", "look up packs only in `REGISTRY`")
	flags.BoolVar(&f.fetch, "fetch", false, "review the current content of the source instead of the installed content")
	f.add(a, cmd, "use the approvals of `SCOPE`", "user")
	flags.BoolVar(&list, "list", false, "list the approvals")
	flags.BoolVar(&undo, "undo", false, "remove the approval")
	cmd.ValidArgsFunction = a.completeGoverned
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case list && (undo || len(args) > 0):
			return diag.Errorf(diag.Usage, "--list cannot be used with PACK, SKILL, or --undo")
		case list:
			h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
			if err != nil {
				return err
			}
			return a.listApprovals(cmd.Context(), h)
		case len(args) == 0:
			return diag.Errorf(diag.Usage, "skillpm approve needs a PACK or SKILL").
				WithHint("list the approvals with: skillpm approve --list")
		case undo:
			return a.revoke(cmd.Context(), args[0], f.levelFlags)
		}
		return a.approve(cmd.Context(), args[0], f)
	}
	return cmd
}

func (a *app) approve(ctx context.Context, name string, f *approveFlags) error {
	if strings.TrimSpace(f.reason) == "" {
		return diag.Errorf(diag.Usage, "skillpm approve needs a reason").WithHint("add a reason with --reason TEXT")
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
	if err := a.checkAccepted(h, l, reviews); err != nil {
		return err
	}
	isUnapproved := func(s foundSkill) bool { return h.Guard().CheckApproved(ctx, s.Skill) != nil }
	unlinked := slices.DeleteFunc(slices.Clone(skills), func(s foundSkill) bool {
		return s.Pack == "" || !isUnapproved(s)
	})
	file, err := a.changePolicy(h, audit.Record{
		Action: audit.Approve, Skill: strings.Join(names, " "),
		Reason: word.Reason,
	}, func() (string, error) {
		return h.Guard().Approve(ctx, l, word, reviews...)
	})
	if err != nil {
		return err
	}
	if err := a.printApproved(l, file, word, reviews); err != nil || a.JSON {
		return err
	}
	if len(unlinked) > 0 && !slices.ContainsFunc(unlinked, isUnapproved) {
		a.Note("Link the skill again with: skillpm install")
	}
	return nil
}

// checkAccepted returns an error if no policy that requires an approval of the skills accepts one of a level, and warns
// about policies that do not accept it.
func (a *app) checkAccepted(h *runtime.Host, l policy.Level, reviews []enforce.Review) error {
	var accepted bool
	var refused []string
	name, strongest := "", l
	for _, r := range reviews {
		for _, w := range r.Required {
			switch {
			case w.Accepts(l):
				accepted = true
			case w.By == nil && !slices.Contains(refused, w.Policy):
				refused = append(refused, w.Policy)
				name, strongest = r.Skill.Exact(), max(strongest, w.Level)
			}
		}
	}
	requires := func(p *policy.Policy) bool {
		return p.Level <= l && (len(p.Approve) > 0 || p.Updates.CapabilityIncrease == policy.AskIncrease)
	}
	switch {
	case len(refused) == 0:
		if l != policy.UserLevel && !slices.ContainsFunc(h.Guard().Policies(), requires) {
			a.Warn("the approval has no effect: the policies that accept approvals of the %s do not require any", l)
		}
		return nil
	case accepted:
		a.Warn("the approval does not apply to %s, which also requires one", strings.Join(refused, ", "))
		return nil
	}
	command := "skillpm approve " + name + " --scope " + strongest.String() + " --reason TEXT"
	hint := "approve the skill with: " + strings.Replace(command, " --scope user", "", 1)
	if strongest == policy.MachineLevel {
		hint = "ask the machine's administrator to review and approve the skill with: sudo " + command
	}
	return diag.Errorf(diag.Denied, "an approval of the %s does not apply to %s, which requires the approval",
		l, strings.Join(refused, ", ")).WithHint("%s", hint)
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
		return nil, diag.Errorf(diag.NotFound, "skill %q not found", name).
			WithHint("list skills with \"skillpm skills --all\", or use name@owner/name for a skill that is not installed")
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
				Skill: enforce.Skill{Name: s.Name, Pack: p.Pack, Source: p.Source, Trusted: true},
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
				WithHint("use a duration such as 90d or 2w, or a date such as 2027-01-31")
		}
		t = a.Now().Add(age)
	}
	if t = t.UTC().Truncate(time.Second); !t.After(a.Now()) {
		return time.Time{}, diag.Errorf(diag.Usage, "--%s %s is in the past", flag, text).
			WithHint("use a duration such as 90d or 2w, or a date such as 2027-01-31")
	}
	return t, nil
}

// approvedJSON is an approved skill in the JSON output.
type approvedJSON struct {
	Skill        string               `json:"skill"`
	Digest       string               `json:"digest"`
	Capabilities []policy.Capability  `json:"capabilities"`
	Evidence     enforce.Capabilities `json:"evidence"`
	Refused      string               `json:"refused,omitempty"` // why a policy denies the skill despite the approval
}

func (a *app) printApproved(l policy.Level, file string, w enforce.Approver, reviews []enforce.Review) error {
	list := []approvedJSON{}
	for _, r := range reviews {
		e := approvedJSON{
			Skill: r.Skill.Exact(), Digest: r.Digest, Capabilities: r.Capabilities.List(),
			Evidence: r.Capabilities,
		}
		if e.Capabilities == nil {
			e.Capabilities = []policy.Capability{}
		}
		if e.Evidence == nil {
			e.Evidence = enforce.Capabilities{}
		}
		if r.Forbidden != nil {
			e.Refused = r.Forbidden.Error()
			a.warnDenied(r.Skill.Exact(), r.Forbidden)
		}
		list = append(list, e)
	}
	if a.JSON {
		out := approveDocument{Approved: list, File: file, Level: l.String(), By: w.By, Reason: w.Reason}
		if !w.Expires.IsZero() {
			out.Expires = &w.Expires
		}
		return a.PrintJSON(out)
	}
	for _, r := range reviews {
		if a.Quiet {
			break
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", r.Skill.Exact(), r.Digest)
		if len(r.Capabilities) == 0 {
			fmt.Fprintln(a.Stdout, "  no capabilities")
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
		until = " until " + w.Expires.Format(time.DateOnly)
	}
	a.Note("%s approved %s for the %s%s. The approvals are in %s.", w.By, textx.Count(len(reviews), "skill"), l,
		until, file)
	return nil
}
