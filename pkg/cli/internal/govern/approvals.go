package govern

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
)

// revoke removes approvals.
func (a *app) revoke(ctx context.Context, arg string, level levelFlags) error {
	l, h, err := a.open(ctx, level)
	if err != nil {
		return err
	}
	var revoked []enforce.Approved
	name := approvedName(h, l, arg)
	_, err = a.changePolicy(h, audit.Record{Action: audit.Revoke, Skill: name}, func() (string, error) {
		revoked, err = h.Guard().Revoke(ctx, l, name)
		file := ""
		if len(revoked) > 0 {
			file = revoked[0].File
		}
		return file, err
	})
	if err != nil {
		return err
	}
	unlinked, reachable := a.unlinkDenied(ctx, l)
	if err := a.printApprovals(ctx, h, revoked); err != nil || a.JSON {
		return cmp.Or(err, reachable)
	}
	a.Note("Removed %s. Policies now deny skills that need the approval.", textx.Count(len(revoked), "approval"))
	a.noteUnlinked(unlinked)
	return reachable
}

// approvedName returns the full name of an approval: the only approved skill that the name stands for, as in
// [catalog.Catalog.Lookup], else the name itself.
func approvedName(h *runtime.Host, l policy.Level, name string) string {
	base, inPack, qualified := strings.Cut(name, "@")
	owner, owned, _ := strings.Cut(name, "/")
	exact := map[string]bool{}
	all, _ := h.Guard().Approvals() // reported when the file is changed
	for _, x := range all {
		skill, pack, _ := strings.Cut(x.Skill, "@")
		packOwner, packName, _ := strings.Cut(pack, "/")
		switch {
		case x.Level != l:
		case pack == name && pack != "" || x.Skill == name:
			return name
		case skill == name, qualified && skill == base && packName == inPack, packOwner == owner && skill == owned:
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
		a.Note("No approvals. Add one with: skillpm approve SKILL --reason TEXT")
	}
	return damaged
}

// approvalJSON is an approval in the JSON output.
type approvalJSON struct {
	Skill        string              `json:"skill"`
	State        string              `json:"state"` // "matches", "changed", "expired", or "not installed"
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
			x.Skill, state, cmp.Or(words(x.Capabilities), "none"),
			x.By + " (" + x.Level.String() + ")", x.At.Format(time.DateOnly), until, x.Reason,
		})
	}
	if a.JSON {
		return a.PrintJSON(approvalsDocument{list})
	}
	if len(all) == 0 {
		return nil
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	a.Note("%s.", textx.Count(len(rows)-1, "approval"))
	return nil
}

// stateOf reports whether an approval matches the current files.
func (a *app) stateOf(ctx context.Context, h *runtime.Host, x enforce.Approved) (string, error) {
	if x.Expired(a.Now()) {
		return "expired", nil
	}
	skills, err := findNamed(ctx, h, x.Skill)
	if err != nil {
		return "", err
	}
	state := "not installed"
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
