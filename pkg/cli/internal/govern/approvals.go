package govern

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
)

func newApprovals(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approvals",
		Short:   "List what was approved",
		GroupID: "govern",
		Long: `List what was approved: by whom, why, until when, and whether the files are still those
that were looked at.`,
		Example: "  skillpm approvals\n  skillpm approvals --json",
		Args:    console.Need(0, 0, "no arguments"),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		h, err := a.Host(cmd.Context(), &console.RuntimeFlags{})
		if err != nil {
			return err
		}
		return a.listApprovals(cmd.Context(), h)
	}
	revoke := newRevoke(a)
	revoke.Args = console.UsageArgs(revoke.Args)
	cmd.AddCommand(revoke)
	return cmd
}

func newRevoke(a *app) *cobra.Command {
	var level levelFlags
	cmd := &cobra.Command{
		Use:   "revoke PACK|SKILL",
		Short: "Take an approval back",
		Long: `Take back what was approved of a skill, given as name@owner/name or as it is called, or of all
skills of a pack, given as owner/name.`,
		Example: "  skillpm approvals revoke deploy@acme/deploy",
		Args:    console.Need(1, 1, "a PACK or SKILL"),
	}
	level.add(cmd, "the approvals")
	cmd.ValidArgsFunction = a.completeApproved
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		var revoked []enforce.Approved
		name := approvedName(h, l, args[0])
		_, err = a.changePolicy(h, audit.Record{Action: audit.Revoke, Skill: name}, func() (string, error) {
			revoked, err = h.Guard().Revoke(cmd.Context(), l, name)
			file := ""
			if len(revoked) > 0 {
				file = revoked[0].File
			}
			return file, err
		})
		if err != nil {
			return err
		}
		if err := a.printApprovals(cmd.Context(), h, revoked); err != nil || a.JSON {
			return err
		}
		a.Note("revoked: what a policy wants approved of it is refused from now on")
		return nil
	}
	return cmd
}

// approvedName returns the full name of an approval: for a name without its pack, that of the only approved skill with
// that name.
func approvedName(h *runtime.Host, l policy.Level, name string) string {
	if strings.ContainsAny(name, "@/") {
		return name
	}
	exact := map[string]bool{}
	all, _ := h.Guard().Approvals() // reported when the file is changed
	for _, x := range all {
		if skill, _, _ := strings.Cut(x.Skill, "@"); x.Level == l && skill == name {
			exact[x.Skill] = true
		}
	}
	if len(exact) == 1 {
		for full := range exact {
			return full
		}
	}
	return name
}

// completeApproved completes the names of approved skills.
func (a *app) completeApproved(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	h := a.CompletionHost(cmd)
	if h == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	all, _ := h.Guard().Approvals() // completion does not report errors
	for _, x := range all {
		names = append(names, cobra.CompletionWithDesc(x.Skill, console.Brief(x.Reason)))
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// listApprovals prints all approvals. It returns the error of an unreadable file after the others.
func (a *app) listApprovals(ctx context.Context, h *runtime.Host) error {
	all, damaged := h.Guard().Approvals()
	if damaged != nil && a.JSON {
		return damaged
	}
	if err := a.printApprovals(ctx, h, all); err != nil {
		return err
	}
	if len(all) == 0 && damaged == nil {
		a.Note("nothing was approved; skillpm approve SKILL --reason TEXT approves what a policy wants approved")
	}
	return damaged
}

// approvalJSON is an approval in the JSON output.
type approvalJSON struct {
	Skill        string              `json:"skill"`
	State        string              `json:"state"` // "matches", "changed", "ended" or "not here"
	Capabilities []policy.Capability `json:"capabilities"`
	Digest       string              `json:"digest"`
	By           string              `json:"by"`
	At           time.Time           `json:"at"`
	Reason       string              `json:"reason"`
	Expires      *time.Time          `json:"expires,omitempty"`
	Level        string              `json:"level"`
	File         string              `json:"file"`
	Line         int                 `json:"line,omitempty"`
}

func (a *app) printApprovals(ctx context.Context, h *runtime.Host, all []enforce.Approved) error {
	list := []approvalJSON{}
	rows := [][]string{{"SKILL", "STATE", "CAPABILITIES", "BY", "ON", "UNTIL", "REASON"}}
	for _, x := range all {
		state, err := a.stateOf(ctx, h, x)
		if err != nil {
			return err
		}
		e := approvalJSON{
			Skill: x.Skill, State: state, Capabilities: x.Capabilities, Digest: x.Digest, By: x.By, At: x.At,
			Reason: x.Reason, Level: x.Level.String(), File: x.File, Line: x.Line,
		}
		until := ""
		if !x.Expires.IsZero() {
			e.Expires, until = &x.Expires, "until "+x.Expires.Format(time.DateOnly)
		}
		list = append(list, e)
		rows = append(rows, []string{
			x.Skill, state, cmp.Or(words(x.Capabilities), "nothing"),
			x.By + " (" + x.Level.String() + ")", x.At.Format(time.DateOnly), until, x.Reason,
		})
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"approvals": list})
	}
	if len(all) == 0 {
		return nil
	}
	return console.Table(a.Stdout, rows)
}

// stateOf reports whether an approval matches the current files.
func (a *app) stateOf(ctx context.Context, h *runtime.Host, x enforce.Approved) (string, error) {
	if x.Expired(a.Now()) {
		return "ended", nil
	}
	skills, err := findNamed(ctx, h, x.Skill)
	if err != nil {
		return "", err
	}
	state := "not here"
	for _, s := range skills {
		if s.Exact() != x.Skill {
			continue
		}
		state = "changed"
		if r, err := h.Guard().Review(ctx, s.Skill, s.tree()); err == nil && r.Digest == x.Digest {
			return "matches", nil
		} else if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return state, nil
}
