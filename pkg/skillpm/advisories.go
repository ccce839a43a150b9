package skillpm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/advisories"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// feedAge is how old an advisory feed may be before commands other than audit and update fetch it again.
const feedAge = time.Hour

// AuditOptions are the options of [Client.Audit].
type AuditOptions struct {
	Scope   string // scope.KindProject or scope.KindUser; "" means the project
	Offline bool   // use only the advisories that this machine has
}

// AuditReport is the result of [Client.Audit].
type AuditReport struct {
	Scope    string            `json:"scope"`
	Root     string            `json:"root"`
	Packs    int               `json:"packs"`    // number of audited packs
	Feeds    []advisories.Feed `json:"feeds"`    // feeds that were compared
	Affected []AffectedPack    `json:"affected"` // packs with advisories, malicious ones first
	Warnings []string          `json:"warnings,omitempty"`

	Lockfile string     `json:"-"` // path of the lockfile
	Lock     *pack.Lock `json:"-"`
	Missing  []string   `json:"missing,omitempty"` // registries whose advisories could not be updated
}

// Unknown returns the registries of which this machine has no advisories, because they could not be fetched or verified.
func (r *AuditReport) Unknown() []string {
	return slices.DeleteFunc(slices.Clone(r.Missing), func(name string) bool {
		return slices.ContainsFunc(r.Feeds, func(f advisories.Feed) bool { return f.Source == name })
	})
}

// AffectedPack is a locked pack that advisories are about.
type AffectedPack struct {
	Pack       string        `json:"pack"`
	Version    string        `json:"version"`    // locked version
	Malicious  bool          `json:"malicious"`  // whether an advisory is about an attack
	Advisories []AdvisoryRef `json:"advisories"` // malicious ones first
}

// AdvisoryRef is an advisory about a pack.
type AdvisoryRef struct {
	ID        string   `json:"id"`                // id of the advisory
	Aliases   []string `json:"aliases,omitempty"` // ids of the same problem in other databases
	Malicious bool     `json:"malicious"`         // whether it is about an attack
	Summary   string   `json:"summary,omitempty"` // problem in one sentence
	Fixed     string   `json:"fixed,omitempty"`   // first later version that is not affected
	URLs      []string `json:"urls,omitempty"`    // pages about it
	Registry  string   `json:"registry"`          // registry whose advisory feed lists the advisory
	// Capabilities are what the affected skills can do, as far as the advisory states it.
	Capabilities []string `json:"capabilities,omitempty"`
}

// Audit compares the locked packs of a scope with the advisories of all feeds.
func (c *Client) Audit(ctx context.Context, o AuditOptions) (*AuditReport, error) {
	defer c.Progress(Event{Done: true})
	w, err := c.Machine.Open(o.Scope, false)
	if err != nil {
		return nil, err
	}
	if w.LacksLock() {
		return nil, diag.Errorf(diag.NotFound, "skillpm.lock does not exist in %s", w.Scope.Root).
			WithHint("create skillpm.lock with: skillpm install")
	}
	known, err := c.advisories(ctx, w, o.Offline, 0)
	if err != nil {
		return nil, err
	}
	r := &AuditReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Packs: len(w.Lock.Packs), Feeds: append([]advisories.Feed{}, known.Feeds...),
		Affected: []AffectedPack{}, Warnings: known.Warnings, Missing: known.Missing, Lockfile: w.Scope.Lock(), Lock: w.Lock,
	}
	if data, err := safefile.ReadOptional(r.Lockfile); err == nil && data != nil { // with the positions of its keys
		r.Lock, _ = pack.CheckLock(r.Lockfile, data)
	}
	for _, malicious := range []bool{true, false} {
		for _, id := range sortedIDs(w.Lock.Packs) {
			if p := affected(known, id, w.Lock.Packs[id]); p != nil && p.Malicious == malicious {
				r.Affected = append(r.Affected, *p)
			}
		}
	}
	return r, nil
}

// advisories returns the advisories for a scope.
func (c *Client) advisories(ctx context.Context, w *workspace.Workspace, offline bool, maxAge time.Duration) (
	*advisories.Set, error,
) {
	in, err := c.installer(ctx, w, request{ChangeOptions: ChangeOptions{Offline: offline}})
	if err != nil {
		return nil, err
	}
	return c.Advisories(ctx, w, in.Services, offline, maxAge)
}

// knownAdvisories returns the advisories that this machine has for a scope. It is for display, so an error means none.
func (c *Client) knownAdvisories(ctx context.Context, w *workspace.Workspace) *advisories.Set {
	if _, err := os.Stat(w.Guard(c.PolicyProject).AdvisoryDir()); err == nil {
		if known, err := c.advisories(ctx, w, true, 0); err == nil {
			return known
		}
	}
	return &advisories.Set{}
}

// currentAdvisories is knownAdvisories for commands that ask registries anyway.
func (c *Client) currentAdvisories(ctx context.Context, w *workspace.Workspace) *advisories.Set {
	known, err := c.advisories(ctx, w, false, feedAge)
	if err != nil {
		return &advisories.Set{}
	}
	return known
}

// offeredTrees returns the tree digests of an offered pack, by skill, as far as its registry states them.
func offeredTrees(p *pack.Pack) map[string]string {
	trees := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree != "" {
			trees[s.Name] = s.Tree
		}
	}
	return trees
}

// subject is what advisories are compared with: a locked pack with the digests of its skills.
func subject(id pack.ID, locked *pack.LockedPack) advisory.Subject {
	return advisory.Subject{
		Pack: id.String(), Version: locked.Version, Trees: slices.Sorted(maps.Values(locked.Skills)),
	}
}

// affected returns the advisories about a locked pack, nil if there are none.
func affected(known *advisories.Set, id pack.ID, locked *pack.LockedPack) *AffectedPack {
	about := subject(id, locked)
	found := known.Matching(about)
	if len(found) == 0 {
		return nil
	}
	p := &AffectedPack{Pack: about.Pack, Version: about.Version}
	for _, a := range found {
		ref := AdvisoryRef{
			ID: a.ID, Aliases: a.Aliases, Malicious: a.Malicious(), Summary: a.Summary, Fixed: a.FixedIn(about),
			Capabilities: a.Capabilities(about), Registry: known.SourceOf(a),
		}
		for _, link := range a.References {
			ref.URLs = append(ref.URLs, link.URL)
		}
		p.Malicious = p.Malicious || ref.Malicious
		p.Advisories = append(p.Advisories, ref)
	}
	return p
}

// checkAdvisories refuses malicious packs among those that an operation installs or names, and warns about vulnerable
// ones. It also warns about malicious packs that stay.
func (in *installer) checkAdvisories(ctx context.Context, res *resolution, p *plan) error {
	packs := in.incoming(p.layout, p.change)
	arrives := len(packs) > 0
	for _, id := range res.requested {
		if locked := p.layout.Packs[id]; locked != nil {
			packs[id] = locked
		}
	}
	maps.DeleteFunc(packs, func(id pack.ID, _ *pack.LockedPack) bool { return p.layout.Linked[id] != nil })
	if len(packs) > 0 {
		if err := in.rejectMalicious(ctx, res, packs, arrives); err != nil {
			return err
		}
	}
	staying := maps.Clone(p.layout.Packs)
	maps.DeleteFunc(staying, func(id pack.ID, _ *pack.LockedPack) bool {
		return packs[id] != nil || p.layout.Linked[id] != nil
	})
	warnings, err := in.maliciousPacks(res, staying)
	if err != nil {
		warnings = []string{fmt.Sprintf("cannot check the installed packs against advisories: %v", err)}
	}
	res.Warnings = append(res.Warnings, warnings...)
	return nil
}

// rejectMalicious checks packs against all feeds. It fetches feeds only if something arrives.
func (in *installer) rejectMalicious(ctx context.Context, res *resolution, packs map[pack.ID]*pack.LockedPack,
	arrives bool,
) error {
	maxAge := feedAge
	if in.request.command == commandUpdate {
		maxAge = 0
	}
	policies := in.Gate.Policies
	// A frozen installation needs nothing but what the lockfile names, unless a policy requires more.
	offline := in.request.Offline || in.request.frozen && !policies.RequiresAdvisories() || !arrives
	known, err := in.client.Advisories(ctx, in.Workspace, in.Services, offline, maxAge)
	if err != nil {
		return err
	}
	res.Warnings = append(res.Warnings, known.Warnings...)
	if arrives {
		notes, err := policies.CheckAdvisories(known.NotCurrent(in.client.Now()))
		in.Gate.Note(notes...)
		if err != nil {
			return err
		}
	}
	for _, id := range sortedIDs(packs) {
		found := affected(known, id, packs[id])
		if found == nil {
			continue
		}
		for _, a := range found.Advisories {
			what := fmt.Sprintf("%s %s", found.Pack, found.Version)
			if a.Malicious {
				return &advisory.BlockedError{
					Subject: what, Advisory: &advisory.Advisory{ID: a.ID, Summary: a.Summary},
					Fix: in.maliciousFix(res, id, found.Version, a.Fixed),
				}
			}
			reason := fmt.Sprintf("is vulnerable (advisory %s)", &advisory.Advisory{ID: a.ID, Summary: a.Summary})
			if a.Fixed != "" {
				reason += "; fixed in " + a.Fixed
			}
			notes, err := policies.CheckVulnerable(what, reason)
			in.Gate.Note(notes...)
			if err != nil {
				return err
			}
			res.Warnings = append(res.Warnings, what+" "+reason)
		}
	}
	return nil
}

// maliciousPacks returns a warning about each malicious pack. It reads only the lists of malicious content, so that an
// operation without changes stays fast.
func (in *installer) maliciousPacks(res *resolution, packs map[pack.ID]*pack.LockedPack) (warnings []string, err error) {
	list, err := in.client.Blocked(in.Workspace, in.Services)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	for _, id := range sortedIDs(packs) {
		about := subject(id, packs[id])
		found, err := list.Find(about)
		if err != nil {
			return warnings, err
		}
		if found != nil {
			blocked := &advisory.BlockedError{Subject: about.Pack + " " + about.Version, Advisory: found}
			warnings = append(warnings, blocked.Error()+"; "+in.maliciousFix(res, id, about.Version, found.FixedIn(about)))
		}
	}
	return warnings, nil
}

// maliciousFix returns what to do about a malicious version of a pack.
func (in *installer) maliciousFix(res *resolution, id pack.ID, version, fixed string) string {
	was := in.Lock.Packs[id]
	_, direct := res.manifest.Dependency(id)
	switch {
	case was == nil:
		return fmt.Sprintf("use another pack; show the advisory with: skillpm info %s", id)
	case was.Version != version:
		return fmt.Sprintf("use another version; show the advisory with: skillpm info %s@%s", id, version)
	case fixed != "":
		return fmt.Sprintf("update the pack to %s with: skillpm update %s", fixed, id)
	case direct:
		return fmt.Sprintf("remove the pack with: skillpm remove %s", id)
	}
	return fmt.Sprintf("remove the packs that require it; show them with: skillpm why %s", id)
}
