package install

import (
	"context"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// pickPacks lets the user choose packs for a project without any.
func (a *app) pickPacks(ctx context.Context, c *skillpm.Client, o skillpm.InstallOptions) ([]string, error) {
	if !a.CanAsk() || o.Frozen {
		return nil, nil
	}
	if packs, _ := c.InstalledNames(o.Scope); len(packs) > 0 || c.HasLockConflict(o.Scope) {
		return nil, nil
	}
	offers, err := c.Offers(ctx, skillpm.OfferOptions{Scope: o.Scope, Registry: o.Registry, Offline: o.Offline})
	if err != nil || len(offers.Packs) == 0 {
		return nil, err
	}
	return a.Pick(packList(offers, "Select the packs to install."))
}

// askResolveLock asks whether to resolve merge conflicts in the lockfile.
func (a *app) askResolveLock(c *skillpm.Client, o *skillpm.InstallOptions) error {
	if !a.CanAsk() || o.Frozen || o.ResolveLock || !c.HasLockConflict(o.Scope) {
		return nil
	}
	const resolve = "resolve"
	answer, err := a.PickOne(console.PickList{
		Title: "Resolve the merge conflicts in skillpm.lock?",
		Note:  "skillpm selects the versions anew, and prefers the versions that the two branches have locked.",
		Choices: []console.Choice{
			{Value: resolve, Text: "as skillpm install --resolve-lock does"},
			{Value: "cancel", Text: "keep the conflict markers"},
		},
	})
	o.ResolveLock = answer == resolve
	return err
}

// packList returns the pick list of the packs that can be installed.
func packList(offers *skillpm.Offers, note string) console.PickList {
	list := console.PickList{Title: "Which packs?", Note: note}
	for _, p := range offers.Packs {
		text := p.Description
		if p.Demo {
			text = "(demo) " + text
		}
		if denied := denial(p.PackDenial, p.Skills); denied != "" {
			text = denied
		}
		list.Choices = append(list.Choices, console.Choice{Value: p.Name, Text: text})
	}
	if len(offers.Unlisted) > 0 {
		list.Note += "\nThe list does not contain packs of " + strings.Join(offers.Unlisted, ", ") + "; install them by name."
	}
	return list
}
