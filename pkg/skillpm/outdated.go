package skillpm

import (
	"cmp"
	"context"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// OutdatedOptions says which packs to look at.
type OutdatedOptions struct {
	Packs    []string // owner/name; none means all that are locked
	Registry string   // look names up here only, for this call
	Offline  bool     // use no network
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// OutdatedReport says which packs are not at the version that they could be at.
type OutdatedReport struct {
	Scope   string         `json:"scope"`
	Root    string         `json:"root"`
	Checked int            `json:"checked"` // packs that were looked at
	Packs   []OutdatedPack `json:"packs"`   // those of them that something is to be said of
}

// OutdatedPack is a locked pack, and what could be had instead.
type OutdatedPack struct {
	Pack       string     `json:"pack"`
	Current    string     `json:"current"`              // as locked
	Wanted     string     `json:"wanted"`               // what an update chooses, "" if nothing requires it any more
	Latest     string     `json:"latest"`               // the highest release there is
	Source     string     `json:"source"`               // where it is locked
	Direct     bool       `json:"direct"`               // the manifest asks for it
	RequiredBy []Requirer `json:"requiredBy"`           // as it is locked
	HeldBy     []Requirer `json:"heldBy,omitempty"`     // what does not allow the latest version
	Withdrawn  string     `json:"withdrawn,omitempty"`  // why the current version was withdrawn
	Deprecated string     `json:"deprecated,omitempty"` // why nobody should start to use the pack
	Withheld   string     `json:"withheld,omitempty"`   // why the latest version is not taken, besides ranges
	Edited     bool       `json:"edited,omitempty"`     // it stays because skills of it were edited
	// why nobody could be asked about the pack, so that nothing newer is known
	Unreached string `json:"unreached,omitempty"`
	Denied    string `json:"denied,omitempty"` // why the policies do not let it be used as it is locked
	Moved     string `json:"moved,omitempty"`  // where the name leads by now, if that is another place
}

// Requirer is what requires a pack.
type Requirer struct {
	By    string `json:"by"`    // a pack, or skillpm.yaml
	Range string `json:"range"` // or the place, as a lock writes it
}

// Outdated says which locked packs have newer versions, within the ranges and beyond, or were withdrawn. It asks
// registries and places, downloads no packs and changes nothing.
func (c *Client) Outdated(ctx context.Context, o OutdatedOptions) (*OutdatedReport, error) {
	defer c.Progress(Event{Done: true})
	opened, err := c.Machine.Open(o.Scope, false)
	if err != nil {
		return nil, err
	}
	if opened.LacksLock() {
		return nil, diag.Errorf(diag.NotFound, "%s has no skillpm.lock", opened.Scope.Root).
			WithHint("skillpm install writes it")
	}
	w, err := c.work(ctx, opened, InstallOptions{Registry: o.Registry, Offline: o.Offline})
	if err != nil {
		return nil, err
	}
	ids, err := w.named(o.Packs)
	if err != nil {
		return nil, err
	}
	denied := c.denials(opened)
	s := &survey{work: w, required: w.requirers(), asked: w.asked()}
	s.lost = w.unreached(ctx, w.Lock.IDs(), s.asked)
	if err := s.choose(ctx); err != nil {
		return nil, err
	}
	r := &OutdatedReport{Scope: w.Scope.Kind, Root: w.Scope.Root, Packs: []OutdatedPack{}}
	for _, id := range ids {
		if _, locked := w.Lock.Packs[id]; !locked {
			continue
		}
		r.Checked++
		p, err := s.look(ctx, id)
		if err != nil {
			return nil, err
		}
		if denied != nil {
			p.Denied = denied.locked(id, w.Lock.Packs[id])
		}
		if p.worthSaying() {
			r.Packs = append(r.Packs, *p)
		}
	}
	return r, nil
}

// survey is what is known of the packs of a scope that could be updated.
type survey struct {
	*work
	required map[pack.ID][]Requirer        // who requires each pack, as it is locked
	asked    map[pack.ID]pack.Dependency   // what is required of each, without ranges and tags of releases
	chosen   map[pack.ID]resolve.Selection // what an update would choose
	lost     map[pack.ID]error             // packs about which nobody could be asked
}

// asked returns for every locked pack what has to be asked to learn of all its versions.
func (w *work) asked() map[pack.ID]pack.Dependency {
	asked := map[pack.ID]pack.Dependency{}
	add := func(d pack.Dependency) {
		if _, ok := asked[d.ID]; ok {
			return
		}
		if d.Ref != nil && d.Ref.Rev != "" && releaseTag(d) {
			ref := *d.Ref
			ref.Rev, ref.Digest = "", ""
			d.Ref = &ref
		}
		asked[d.ID] = pack.Dependency{ID: d.ID, Ref: d.Ref}
	}
	for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
		add(d)
	}
	for _, id := range w.Lock.IDs() {
		deps, _ := w.Lock.Packs[id].Requires() // one that can't be read is told when it is solved
		for _, d := range deps {
			add(d)
		}
	}
	return asked
}

// requirers returns who requires each locked pack.
func (w *work) requirers() map[pack.ID][]Requirer {
	by := map[pack.ID][]Requirer{}
	for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
		by[d.ID] = append(by[d.ID], Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, id := range w.Lock.IDs() {
		deps, _ := w.Lock.Packs[id].Requires() // as above
		for _, d := range deps {
			by[d.ID] = append(by[d.ID], Requirer{By: id.String(), Range: requirement(d)})
		}
	}
	return by
}

// choose finds out what an update would choose.
func (s *survey) choose(ctx context.Context) error {
	free := s.free(s.Lock.IDs(), unreachedIDs(s.lost))
	for {
		chosen, err := s.Backend.Choose(ctx, s.Manifest)
		if !s.settle(free, err, func(id pack.ID) string { return chosen[id].Version }) {
			s.chosen = chosen
			return err
		}
	}
}

// look finds out about one pack.
func (s *survey) look(ctx context.Context, id pack.ID) (*OutdatedPack, error) {
	locked := s.Lock.Packs[id]
	_, direct := s.Manifest.Dependency(id)
	p := &OutdatedPack{
		Pack: id.String(), Current: locked.Version, Wanted: s.chosen[id].Version, Source: locked.Source, Direct: direct,
		RequiredBy: s.required[id], Latest: locked.Version,
	}
	if len(p.RequiredBy) == 0 {
		return p, nil
	}
	if err := s.lost[id]; err != nil {
		p.Unreached = err.Error()
		return p, nil
	}
	versions, err := s.Backend.Offered(ctx, s.asked[id])
	if err != nil {
		return nil, err
	}
	if latest, ok := highestOf(versions, locked.Version); ok {
		p.Latest, p.Withheld = latest.Version, latest.Unavailable
	}
	if s.asked[id].Ref == nil {
		if err := s.Backend.CheckVersion(ctx, id); err != nil {
			return nil, err
		}
	}
	if o, ok := s.Backend.Offer(id, locked.Version); ok && o.Yanked {
		if p.Withdrawn = o.Reason; p.Withdrawn == "" {
			p.Withdrawn = "no reason given"
		}
	}
	if o, ok := s.Backend.Offer(id, locked.Version); ok {
		p.Deprecated = o.Deprecated
	}
	if o, ok := s.Backend.Offer(id, p.Wanted); ok && s.asked[id].Ref == nil && o.Source != "" &&
		o.Source != locked.Source &&
		!workspace.Placeless(locked.Source) {
		p.Moved = o.Source
	}
	if p.Latest != p.Wanted && p.Wanted != "" {
		p.HeldBy, err = s.holders(ctx, id, p.Latest)
	}
	return p, err
}

// highestOf returns the highest release of those that are offered, or a higher pre-release for who has one. Where there
// is no order, as between commits, it is what is offered.
func highestOf(versions []resolve.Version, current string) (resolve.Version, bool) {
	var best resolve.Version
	var highest *semver.Version
	now, err := semver.StrictNewVersion(current)
	pre := err == nil && now.Prerelease() != "" && !pinned(current)
	for _, v := range versions {
		parsed, err := semver.StrictNewVersion(v.Version)
		if err != nil || v.Yanked || parsed.Prerelease() != "" && !pre && len(versions) > 1 {
			continue
		}
		if highest == nil || parsed.GreaterThan(highest) {
			best, highest = v, parsed
		}
	}
	return best, highest != nil
}

// holders returns what would require a pack after an update and does not allow a version.
func (s *survey) holders(ctx context.Context, id pack.ID, version string) ([]Requirer, error) {
	var held []Requirer
	if d, ok := s.Manifest.Dependency(id); ok && !allows(d, version) {
		held = append(held, Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, by := range s.chosen[id].By {
		if by.IsZero() {
			continue
		}
		reqs, err := s.Backend.Requirements(ctx, by, s.chosen[by].Source, s.chosen[by].Version)
		if err != nil {
			return nil, err
		}
		for _, r := range reqs {
			if r.Pack == id && !allows(pack.Dependency{ID: id, Constraint: r.Constraint}, version) {
				held = append(held, Requirer{By: by.String(), Range: r.Constraint})
			}
		}
	}
	return held, nil
}

// allows reports whether a requirement allows a version: its range does, and it names no tag or digest.
func allows(d pack.Dependency, version string) bool {
	if d.Ref != nil && (d.Ref.Rev != "" || d.Ref.Digest != "") {
		return false
	}
	ok, err := pack.Allows(d, version)
	return err == nil && ok
}

// worthSaying reports whether a pack is outdated, withdrawn, moved, or nobody's any more.
func (p *OutdatedPack) worthSaying() bool {
	return p.Current != p.Wanted || p.Current != p.Latest || p.Withdrawn != "" || p.Deprecated != "" || p.Moved != "" ||
		p.Unreached != "" || p.Denied != ""
}

// heldBack returns the packs that an update could not move to the newest version, or away from one that was withdrawn,
// and what holds them. Nobody is asked anew.
func (w *work) heldBack(
	ctx context.Context, t *target, ids []pack.ID, o UpdateOptions, io InstallOptions,
) []OutdatedPack {
	held := []OutdatedPack{}
	for _, id := range ids {
		now, locked := t.Lock.Packs[id]
		if !locked {
			continue
		}
		d, direct := t.manifest.Dependency(id)
		p := OutdatedPack{
			Pack: id.String(), Current: now.Version, Wanted: now.Version, Latest: now.Version,
			Source: now.Source, Direct: direct,
		}
		if slices.Contains(io.held, id) {
			p.Edited = true
			held = append(held, p)
			continue
		}
		asked := pack.Dependency{ID: id, Ref: d.Ref}
		if o.Latest && d.Ref != nil && releaseTag(d) {
			ref := *d.Ref
			ref.Rev, ref.Digest = "", ""
			asked.Ref = &ref
		}
		versions, err := w.Backend.Known(ctx, asked)
		if latest, ok := highestOf(versions, now.Version); err == nil && ok && higher(latest.Version, now.Version) {
			p.Latest, p.Withheld = latest.Version, latest.Unavailable
			p.HeldBy = holdersIn(t.manifest, t.Lock, id, latest.Version)
		}
		if offer, ok := w.Backend.Offer(id, now.Version); ok && offer.Yanked {
			p.Withdrawn = cmp.Or(offer.Reason, "no reason given")
		}
		if p.Latest != p.Current || p.Withdrawn != "" {
			held = append(held, p)
		}
	}
	return held
}

// holdersIn returns what requires a locked pack and does not allow a version.
func holdersIn(m *pack.Manifest, l *pack.Lock, id pack.ID, version string) []Requirer {
	var held []Requirer
	if d, ok := m.Dependency(id); ok && !allows(d, version) {
		held = append(held, Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, by := range l.IDs() {
		deps, _ := l.Packs[by].Requires() // one that can't be read was told when it was solved
		for _, d := range deps {
			if d.ID == id && !allows(d, version) {
				held = append(held, Requirer{By: by.String(), Range: requirement(d)})
			}
		}
	}
	return held
}

// higher reports whether a version is a higher release than another. Between commits there is no order.
func higher(version, than string) bool {
	if pinned(version) || pinned(than) {
		return false
	}
	a, errA := semver.StrictNewVersion(version)
	b, errB := semver.StrictNewVersion(than)
	return errA == nil && errB == nil && a.GreaterThan(b)
}
