package skillpm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/advisories"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/store"
)

// CapabilityChange is a capability that a skill gains in a new version of its pack, or a restriction that it loses.
type CapabilityChange struct {
	Skill string `json:"skill"`
	capability.Evidence
}

// String returns the position, with the skill's directory, and the reason.
func (c CapabilityChange) String() string { return c.Skill + "/" + c.Evidence.String() }

// Increase is a pack whose new version has more capabilities than the locked version.
type Increase struct {
	Pack string `json:"pack"`
	From string `json:"from,omitempty"` // the locked version, "" for a pack that an update requires
	To   string `json:"to"`             // the new version
	// Capabilities are what the new version adds. The line of a lifted restriction is that in the locked version.
	Capabilities []CapabilityChange `json:"capabilities"`
}

// String describes the update, such as "acme/deploy 1.1.0 in place of 1.0.0".
func (i Increase) String() string {
	if i.From == "" {
		return i.Pack + " " + i.To
	}
	return i.Pack + " " + i.To + " in place of " + i.From
}

// IncreaseError reports that a policy does not allow updates that add capabilities. Nothing was changed.
type IncreaseError struct {
	Increases []Increase // all of the operation

	err error // of the policy
}

// Error returns the reason of the policy.
func (e *IncreaseError) Error() string { return e.err.Error() }

// Unwrap returns the error of the policy, which has the code, and the hint how to accept the update if the policy leaves
// that to the user.
func (e *IncreaseError) Unwrap() error { return e.err }

// updates returns the locked packs whose files a resolution replaces, and the new packs that they require. A pack that
// the manifest newly requires is a first installation.
func (in *installer) updates(res *resolution) (ids []pack.ID) {
	var before []pack.ID
	for id, was := range in.Lock.Packs {
		if now := res.Lock.Packs[id]; now != nil {
			before = append(before, id)
			if !maps.Equal(was.Skills, now.Skills) {
				ids = append(ids, id)
			}
		}
	}
	ids = append(ids, pulledIn(res.manifest, in.Lock, res.Lock, before...)...)
	slices.SortFunc(ids, pack.ID.Compare)
	return ids
}

// pulledIn returns the packs that are new because some packs require them, directly or through other such packs. It
// visits each pack once, because packs are hostile, and so is their graph.
func pulledIn(m *pack.Manifest, before, after *pack.Lock, by ...pack.ID) (found []pack.ID) {
	seen := map[pack.ID]bool{}
	for queue := slices.Clone(by); len(queue) > 0; queue = queue[1:] {
		now := after.Packs[queue[0]]
		if now == nil {
			continue
		}
		for name := range now.Dependencies {
			id, err := pack.ParseID(name)
			if _, direct := m.Dependency(id); err != nil || direct || seen[id] || before.Packs[id] != nil ||
				after.Packs[id] == nil {
				continue
			}
			seen[id] = true
			found, queue = append(found, id), append(queue, id)
		}
	}
	slices.SortFunc(found, pack.ID.Compare)
	return found
}

// increases returns the updates of a resolution that add capabilities. It fetches the new and the locked versions if the
// store lacks them. A locked version that cannot be fetched counts as one without capabilities. In a dry run, new
// versions that cannot be fetched are only a warning.
func (in *installer) increases(ctx context.Context, res *resolution, p *plan) ([]Increase, error) {
	ids := slices.DeleteFunc(in.updates(res), func(id pack.ID) bool { return p.layout.Linked[id] != nil })
	if len(ids) == 0 {
		return nil, nil
	}
	if err := in.fetchNew(ctx, res, ids); err != nil {
		if !in.request.DryRun || ctx.Err() != nil {
			return nil, err
		}
		res.Warnings = append(res.Warnings, "cannot compare the capabilities of the new versions: "+err.Error())
		return nil, nil
	}
	var list []Increase
	all := in.fetchPrevious(ctx, ids)
	for _, id := range ids {
		was, now := in.Lock.Packs[id], res.Lock.Packs[id]
		if all != nil && was != nil {
			if err := in.fetchPrevious(ctx, []pack.ID{id}); err != nil {
				res.Warnings = append(res.Warnings, fmt.Sprintf(
					"skillpm shows all capabilities of %s %s, because it cannot read the locked version %s: %v", id,
					now.Version, was.Version, err))
				was = nil
			}
		}
		changes, err := in.compareCapabilities(ctx, was, now)
		if err != nil {
			return nil, err
		}
		if len(changes) > 0 {
			list = append(list, Increase{
				Pack: id.String(), From: in.lockedVersion(id), To: now.Version, Capabilities: changes,
			})
		}
	}
	return list, nil
}

// fetchNew puts packs of a resolution into the store.
func (in *installer) fetchNew(ctx context.Context, res *resolution, ids []pack.ID) error {
	return in.FetchMissing(ctx, res.manifest, res.Solution, treesOf(packsOf(res.Lock, ids)))
}

// fetchPrevious puts the locked versions of packs into the store.
func (in *installer) fetchPrevious(ctx context.Context, ids []pack.ID) error {
	return in.FetchMissing(ctx, in.Manifest, &solve.Solution{Lock: in.Lock}, treesOf(packsOf(in.Lock, ids)))
}

// packsOf returns those of some packs that a lock has.
func packsOf(l *pack.Lock, ids []pack.ID) map[pack.ID]*pack.LockedPack {
	packs := map[pack.ID]*pack.LockedPack{}
	for _, id := range ids {
		if p := l.Packs[id]; p != nil {
			packs[id] = p
		}
	}
	return packs
}

// compareCapabilities returns the capabilities that the skills of a pack gain between two versions, which the store
// has. All those of a pack without a version before are new.
func (in *installer) compareCapabilities(ctx context.Context, was, now *pack.LockedPack) ([]CapabilityChange, error) {
	s, err := in.client.Machine.Store()
	if err != nil {
		return nil, err
	}
	if was == nil {
		was = &pack.LockedPack{}
	}
	names := slices.Sorted(maps.Keys(now.Skills))
	found := make([][]CapabilityChange, len(names))
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		digest, had := was.Skills[name]
		chosen := was.Partial && was.Version == now.Version && was.Resolved == now.Resolved
		if digest == now.Skills[name] || !had && chosen { // the user installs more skills of the same version
			continue
		}
		group.Go(func() error {
			before, err := capabilitiesOf(ctx, s, digest)
			if err != nil {
				return err
			}
			after, err := capabilitiesOf(ctx, s, now.Skills[name])
			for _, e := range capability.Increase(before, after) {
				found[i] = append(found[i], CapabilityChange{Skill: name, Evidence: e})
			}
			return err
		})
	}
	err = group.Wait()
	return slices.Concat(found...), err
}

// capabilitiesOf returns the capabilities of a skill in the store; none without a digest.
func capabilitiesOf(ctx context.Context, s *store.Store, digest string) (capability.Set, error) {
	if err := ctx.Err(); err != nil || digest == "" {
		return nil, err
	}
	files, err := s.FS(digest)
	if err == nil {
		var set capability.Set
		if set, err = capability.Of(files); err == nil {
			return set, nil
		}
	}
	if !s.Has(digest) { // it was there: another process removed it
		err = fmt.Errorf("%w: %w", workspace.ErrGone, err)
	}
	return nil, err
}

// compare adds to outdated packs the capabilities that an update adds. It compares the content of packs, not what their
// registries or publishers state. It fetches the wanted versions of packs whose locked version the store has, and the new
// packs that they require, which count as a part of them. A version that cannot be fetched is not compared. The content
// of the others also shows the advisories about it.
func (s *survey) compare(ctx context.Context, known *advisories.Set, packs []OutdatedPack) error {
	store, err := s.client.Machine.Store()
	if err != nil {
		return err
	}
	outdated := map[pack.ID]*OutdatedPack{}
	for i, p := range packs {
		id, err := pack.ParseID(p.Pack)
		if err != nil {
			return err
		}
		if (p.Wanted != p.Current || p.Revision != "") && p.Wanted != "" && p.Unreachable == "" &&
			hasAll(store, s.Lock.Packs[id]) {
			outdated[id] = &packs[i]
		}
	}
	if len(outdated) == 0 {
		return nil
	}
	s.Backend.WarnOfChanges() // the report shows them
	res := &resolution{manifest: s.Manifest}
	if res.Solution, err = s.Backend.Lock(ctx, s.Manifest); err != nil {
		return ctx.Err() // the next command reports it
	}
	if !s.request.Offline {
		_ = s.fetchNew(ctx, res, sortedIDs(outdated)) // those that it did not reach are fetched below
	}
	for _, id := range sortedIDs(outdated) {
		if res.Lock.Packs[id] == nil {
			continue
		}
		arrived := append([]pack.ID{id}, pulledIn(res.manifest, s.Lock, res.Lock, id)...)
		lacks := func(id pack.ID) bool { return !hasAll(store, res.Lock.Packs[id]) }
		if slices.ContainsFunc(arrived, lacks) && (s.request.Offline || s.fetchNew(ctx, res, arrived) != nil) {
			continue
		}
		p := outdated[id]
		added, err := s.compareWith(ctx, res, id, arrived)
		if errors.Is(err, workspace.ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		p.Capabilities, p.Compared = added, true
		if found := affected(known, id, res.Lock.Packs[id]); found != nil {
			p.WantedAdvisories = found.Advisories
		}
	}
	return ctx.Err()
}

// compareWith returns the capabilities that a pack gains together with the packs that it pulls in.
func (s *survey) compareWith(ctx context.Context, res *resolution, id pack.ID, arrived []pack.ID) (
	added []CapabilityChange, err error,
) {
	for _, one := range arrived {
		changes, err := s.compareCapabilities(ctx, s.Lock.Packs[one], res.Lock.Packs[one])
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if one != id {
				c.Skill += "@" + one.String()
			}
			added = append(added, c)
		}
	}
	return added, nil
}

// hasAll reports whether the store has all skills of a pack.
func hasAll(s *store.Store, p *pack.LockedPack) bool {
	for _, digest := range p.Skills {
		if !s.Has(digest) {
			return false
		}
	}
	return true
}

// admitIncreases checks updates that add capabilities against the policies. What a policy leaves to the user, the user
// decides, before anything is written. A dry run only warns about that.
func (in *installer) admitIncreases(ctx context.Context, res *resolution, list []Increase) ([]string, error) {
	var unaccepted *IncreaseError
	for _, increase := range list {
		err := in.admitIncrease(ctx, res, increase)
		if err == nil {
			continue
		}
		e := &IncreaseError{Increases: list, err: err}
		if refused, ok := errors.AsType[*policy.IncreaseError](err); !ok || !refused.Ask {
			return in.policyNotes(), e
		}
		if unaccepted == nil {
			unaccepted = e
		}
	}
	notes := in.policyNotes()
	switch {
	case unaccepted == nil:
		return notes, nil
	case in.request.DryRun:
		return append(notes, unaccepted.Error()), nil
	case in.request.Accept == nil:
		return notes, unaccepted
	}
	in.client.Progress(Event{Done: true}) // the question must not be drawn over
	if !in.request.Accept(list) {
		return notes, unaccepted
	}
	in.accepted = list
	return notes, nil
}

// admitIncrease returns why the policies do not allow an update that adds capabilities.
func (in *installer) admitIncrease(ctx context.Context, res *resolution, increase Increase) error {
	id, err := pack.ParseID(increase.Pack)
	if err != nil {
		return err
	}
	var why []string
	trees := map[string]string{}
	for _, c := range increase.Capabilities {
		if text := c.String(); !slices.Contains(why, text) { // one line may show several capabilities
			why = append(why, text)
		}
		trees[c.Skill+"@"+increase.Pack] = res.Lock.Packs[id].Skills[c.Skill]
	}
	notes, err := in.Admission.Evaluator.CheckIncrease(enforce.Increase{
		What: increase.String(), Why: textx.FirstAndMore(why, 3), Trees: trees, Reference: in.reference(ctx, res, id),
	})
	in.Gate.Note(notes...)
	return err
}

// reference returns what selects the new version of a pack on a command line.
func (in *installer) reference(ctx context.Context, res *resolution, id pack.ID) string {
	version := res.Lock.Packs[id].Version
	if d, direct := res.manifest.Dependency(id); direct && d.Ref != nil {
		if ref, err := in.Backend.Locate(ctx, d, version); err == nil {
			return ref.String()
		}
	}
	return id.String() + "@" + version
}
