package skillpm

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/advisories"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// OutdatedOptions are the options of [Client.Outdated].
type OutdatedOptions struct {
	Packs    []string // owner/name; none means all that are locked
	Registry string   // look names up here only, for this call
	Offline  bool     // use no network
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// OutdatedReport lists packs with newer or better versions.
type OutdatedReport struct {
	Scope   string         `json:"scope"`
	Root    string         `json:"root"`
	Checked int            `json:"checked"` // the number of examined packs
	Packs   []OutdatedPack `json:"packs"`   // those that are outdated, yanked, or otherwise noteworthy
	// Warnings report advisories that are not current, and packs that an update does not move, although their owner is
	// bound to another registry.
	Warnings []string `json:"warnings"`
}

// OutdatedPack is a locked pack, and the versions that it could have instead.
type OutdatedPack struct {
	Pack       string     `json:"pack"`
	Current    string     `json:"current"`              // as locked
	Wanted     string     `json:"wanted"`               // what an update chooses, "" if nothing requires it
	Latest     string     `json:"latest"`               // the highest release
	Source     string     `json:"source"`               // as in the lockfile
	Direct     bool       `json:"direct"`               // the manifest requires it
	RequiredBy []Requirer `json:"requiredBy"`           // in the lockfile
	HeldBy     []Requirer `json:"heldBy,omitempty"`     // what does not allow the latest version
	Yanked     string     `json:"yanked,omitempty"`     // why the current version was yanked
	Deprecated string     `json:"deprecated,omitempty"` // why not to use the pack
	Withheld   string     `json:"withheld,omitempty"`   // why the latest version is not chosen, apart from ranges
	Edited     bool       `json:"edited,omitempty"`     // it stays because of local edits
	// why its registry or source can't be reached
	Unreachable    string `json:"unreached,omitempty"`
	Moved          string `json:"moved,omitempty"`          // the source that the name has now, if it changed
	Revision       string `json:"revision,omitempty"`       // the branch or tag that moved; "HEAD" for the default one
	WantedResolved string `json:"wantedResolved,omitempty"` // the commit or digest that Revision has now

	Changed    *ContentChange `json:"changed,omitempty"`    // if the current version no longer has its locked content
	Skills     int            `json:"skillCount,omitempty"` // of the locked version, if a policy denies some of them
	PackDenial                // of the locked version

	Advisories []AdvisoryRef `json:"advisories,omitempty"` // about the current version
	// WantedAdvisories are about the wanted version, if it is another one.
	WantedAdvisories []AdvisoryRef `json:"wantedAdvisories,omitempty"`
	// Fixes are the ids of the advisories about the current version that are not about the wanted version.
	Fixes []string `json:"fixes,omitempty"`

	Resolved  string `json:"resolved,omitempty"`        // the locked digest or commit
	Digest    string `json:"latestDigest,omitempty"`    // of the latest version, if its registry lists it
	Published string `json:"latestPublished,omitempty"` // RFC 3339
	Registry  string `json:"registry,omitempty"`        // the registry that answers for the name
	Range     string `json:"range,omitempty"`           // what the manifest requires, or "" if only packs require it
	File      string `json:"file,omitempty"`            // where the manifest requires it, relative to the root
	Line      int    `json:"line,omitempty"`
	// Changes are the files that an update to the latest version changes.
	Changes []string `json:"changes,omitempty"`
	Diff    string   `json:"diff,omitempty"` // the command that shows the changes to the skills

	// whether skillpm compared the capabilities of the wanted version with those of the locked one
	Compared bool `json:"capabilitiesCompared,omitempty"`
	// Capabilities are what the wanted version can do and the locked one could not. New packs that it requires count as
	// a part of it; their skills are named skill@owner/name.
	Capabilities []CapabilityChange `json:"capabilityIncrease,omitempty"`
}

// ContentChange is a locked version whose content is no longer the locked one.
type ContentChange = fetch.Change

// Err returns an error with code [diag.Integrity] if the content of locked versions changed.
func (r *OutdatedReport) Err() error {
	err := &fetch.ChangedError{}
	for _, p := range r.Packs {
		if p.Changed != nil {
			err.Changes = append(err.Changes, p.Changed)
		}
	}
	if len(err.Changes) == 0 {
		return nil
	}
	return err
}

// Requirer is what requires a pack.
type Requirer struct {
	By    string `json:"by"`    // a pack, or skillpm.yaml
	Range string `json:"range"` // or the source, in the format of the lockfile
}

// Outdated reports which locked packs have newer versions, within the ranges and beyond, or were yanked. It asks
// registries and sources, and changes nothing. It fetches packs whose tags moved, and to compare their capabilities new
// versions of packs that are on this machine.
func (c *Client) Outdated(ctx context.Context, o OutdatedOptions) (*OutdatedReport, error) {
	defer c.Progress(Event{Done: true})
	w, err := c.Machine.Open(o.Scope, false)
	if err != nil {
		return nil, err
	}
	if w.LacksLock() {
		return nil, diag.Errorf(diag.NotFound, "skillpm.lock does not exist in %s", w.Scope.Root).
			WithHint("create skillpm.lock with: skillpm install")
	}
	in, err := c.installer(ctx, w, request{
		ChangeOptions: ChangeOptions{Registry: o.Registry, Offline: o.Offline}, skipUnreachable: true,
	})
	if err != nil {
		return nil, err
	}
	ids, err := in.updatedPacks(o.Packs, "outdated")
	if err != nil {
		return nil, err
	}
	denied := c.denials(w)
	s := &survey{installer: in, requirers: in.requirers(), queries: in.versionQueries()}
	s.positions, _ = pack.CheckManifest(w.Scope.Manifest(), w.Manifest.Bytes())
	if err := s.ask(ctx, ids); err != nil {
		return nil, err
	}
	r := &OutdatedReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Packs: []OutdatedPack{}, Warnings: in.stayWarnings(s.missing),
	}
	known, err := c.Advisories(ctx, w, in.Services, o.Offline, feedAge)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, known.Warnings...)
	for _, id := range ids {
		if _, locked := w.Lock.Packs[id]; !locked {
			continue
		}
		r.Checked++
		p, err := s.inspect(ctx, id)
		if err != nil {
			return nil, err
		}
		if denied != nil {
			if p.PackDenial = denied.lockedDenial(id, w.Lock.Packs[id]); len(p.DeniedSkills) > 0 {
				p.Skills = len(w.Lock.Packs[id].Skills)
			}
		}
		s.markAdvisories(ctx, known, id, p)
		if p.isNoteworthy() {
			s.locate(ctx, p)
			r.Packs = append(r.Packs, *p)
		}
	}
	return r, s.compare(ctx, known, r.Packs)
}

// survey is what registries and sources offer for the packs of a scope.
type survey struct {
	*installer
	requirers   map[pack.ID][]Requirer        // what requires each pack, as it is locked
	queries     map[pack.ID]pack.Dependency   // see versionQueries
	chosen      map[pack.ID]resolve.Selection // what an update would choose
	unreachable map[pack.ID]error             // packs whose registry or source can't be reached
	missing     map[pack.ID]error             // packs that the registry of their owner does not have
	changes     map[pack.ID]*fetch.Change     // versions whose content is no longer the locked one
	positions   *pack.Manifest                // the manifest, with the positions of its keys
}

// ask asks registries and sources about the packs of the scope, and which of the named ones changed.
func (s *survey) ask(ctx context.Context, ids []pack.ID) error {
	moved := s.Lock.IDs()
	if s.request.Registry != "" {
		moved = ids
	}
	unreachable, missing, err := s.moveSources(ctx, moved, s.queries)
	if err != nil {
		return err
	}
	s.missing = missing
	s.unreachable = s.findUnreachable(ctx, s.Lock.IDs(), s.queries)
	maps.Copy(s.unreachable, unreachable)
	if err := s.choose(ctx); err != nil {
		return err
	}
	known := slices.DeleteFunc(slices.Clone(ids), func(id pack.ID) bool {
		_, required := s.chosen[id]
		return s.Lock.Packs[id] == nil || s.unreachable[id] != nil || s.missing[id] != nil || !required
	})
	changes, err := s.Backend.LockedChanges(ctx, known, func(id pack.ID) string { return s.chosen[id].Source })
	s.changes = map[pack.ID]*fetch.Change{}
	for _, c := range changes {
		s.changes[c.Pack] = c
	}
	return err
}

// choose solves for the versions that an update would choose.
func (s *survey) choose(ctx context.Context) error {
	free := s.unlockVersions(s.Lock.IDs(), slices.Concat(sortedIDs(s.unreachable), sortedIDs(s.missing)))
	for {
		chosen, err := s.Backend.Choose(ctx, s.Manifest)
		if !s.dropUnmovable(free, err, func(id pack.ID) string { return chosen[id].Version }) {
			s.chosen = chosen
			return err
		}
	}
}

// inspect describes one pack.
func (s *survey) inspect(ctx context.Context, id pack.ID) (*OutdatedPack, error) {
	locked := s.Lock.Packs[id]
	_, direct := s.Manifest.Dependency(id)
	p := &OutdatedPack{
		Pack: id.String(), Current: locked.Version, Wanted: s.chosen[id].Version, Source: locked.Source, Direct: direct,
		RequiredBy: s.requirers[id], Latest: locked.Version,
	}
	if len(p.RequiredBy) == 0 || s.missing[id] != nil {
		return p, nil
	}
	if err := s.unreachable[id]; err != nil {
		p.Unreachable = err.Error()
		return p, nil
	}
	versions, err := s.Backend.Offered(ctx, s.queries[id])
	if err != nil {
		return nil, err
	}
	if latest, ok := highestOffer(versions, locked.Version); ok {
		p.Latest, p.Withheld = latest.Version, latest.Unavailable
	}
	if s.queries[id].Ref == nil {
		if _, err := s.Backend.CheckVersion(ctx, id); err != nil {
			return nil, err
		}
	}
	p.Changed = s.changes[id]
	if rev, now, ok := s.Backend.Followed(s.chosen[id].Source); ok && now != locked.Resolved {
		p.Revision, p.WantedResolved = rev, now
	}
	if o, ok := s.Backend.Offer(id, locked.Version); ok && o.Yanked {
		p.Yanked = cmp.Or(o.Reason, "no reason given")
	}
	if o, ok := s.Backend.Offer(id, locked.Version); ok {
		p.Deprecated = o.Deprecated
	}
	if o, ok := s.Backend.Offer(id, p.Wanted); ok && s.queries[id].Ref == nil && o.Source != "" &&
		o.Source != locked.Source &&
		!workspace.OmitsDirectory(locked.Source) {
		p.Moved = o.Source
	}
	if p.Latest != p.Wanted && p.Wanted != "" {
		p.HeldBy, err = s.blockers(ctx, id, p.Latest)
	}
	return p, err
}

// locate adds where a pack comes from, and what an update to its latest version changes, for programs that propose the
// update.
func (s *survey) locate(ctx context.Context, p *OutdatedPack) {
	id, err := pack.ParseID(p.Pack)
	if err != nil {
		return
	}
	p.Resolved = s.Lock.Packs[id].Resolved
	if o, ok := s.Backend.Offer(id, p.Latest); ok {
		p.Digest, p.Published = o.Digest, o.Published
	}
	if s.queries[id].Ref == nil && p.Unreachable == "" && len(p.RequiredBy) > 0 {
		if r, err := s.Backend.Find(ctx, id); err == nil { // inspect reported an error
			p.Registry = r.Name()
		}
	}
	if d, ok := s.Manifest.Dependency(id); ok {
		p.File, p.Range = s.Rel(s.Scope.Manifest()), requirement(d)
		for _, section := range []string{"dependencies", "dev-dependencies"} {
			if line, _ := s.positions.Position(section, p.Pack); line > 0 {
				p.Line = line
			}
		}
	}
	if p.Latest == p.Current || p.Unreachable != "" {
		return
	}
	p.Diff = "skillpm diff " + p.Pack + "@" + p.Latest
	lock := s.Rel(s.Scope.Lock())
	switch {
	case p.Latest == p.Wanted:
		p.Changes = []string{lock}
	case p.File != "" && len(p.HeldBy) == 1 && p.HeldBy[0].By == pack.ManifestName && p.Withheld == "":
		p.Changes = []string{p.File, lock}
	}
}

// highestOffer returns the highest release of the offered versions, or a higher pre-release if the current version is
// one. Without an order, as between commits, it is the offered version.
func highestOffer(versions []resolve.Version, current string) (resolve.Version, bool) {
	var best resolve.Version
	var highest *semver.Version
	now, err := semver.StrictNewVersion(current)
	pre := err == nil && now.Prerelease() != "" && !isPinned(current)
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

// blockers returns what would require a pack after an update and does not allow a version.
func (s *survey) blockers(ctx context.Context, id pack.ID, version string) ([]Requirer, error) {
	var list []Requirer
	if d, ok := s.Manifest.Dependency(id); ok && !allows(d, version) {
		list = append(list, Requirer{By: pack.ManifestName, Range: requirement(d)})
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
				list = append(list, Requirer{By: by.String(), Range: r.Constraint})
			}
		}
	}
	return list, nil
}

// allows reports whether a requirement allows a version: its range does, and it names no tag or digest.
func allows(d pack.Dependency, version string) bool {
	if d.Ref != nil && (d.Ref.Rev != "" || d.Ref.Digest != "") {
		return false
	}
	ok, err := pack.Allows(d, version)
	return err == nil && ok
}

// isNoteworthy reports whether the report should list a pack.
func (p *OutdatedPack) isNoteworthy() bool {
	return p.Current != p.Wanted || p.Current != p.Latest || p.Yanked != "" || p.Deprecated != "" || p.Moved != "" ||
		p.Unreachable != "" || p.Revision != "" || p.Changed != nil || len(p.Advisories) > 0 || !p.IsEmpty()
}

// markAdvisories adds the advisories about the current version of a pack, those about the wanted one, and what the
// wanted one fixes.
func (s *survey) markAdvisories(ctx context.Context, known *advisories.Set, id pack.ID, p *OutdatedPack) {
	if found := affected(known, id, s.Lock.Packs[id]); found != nil {
		p.Advisories = found.Advisories
	}
	if p.Wanted == "" || p.Wanted == p.Current {
		return
	}
	wanted := &pack.LockedPack{Version: p.Wanted}
	if len(p.Advisories) > 0 && s.queries[id].Ref == nil && p.Unreachable == "" {
		if reg, err := s.Backend.Find(ctx, id); err == nil { // inspect reported an error
			if offered, err := reg.Pack(ctx, id, p.Wanted); err == nil {
				wanted.Skills = offeredTrees(offered)
			}
		}
	}
	if found := affected(known, id, wanted); found != nil {
		p.WantedAdvisories = found.Advisories
	}
	for _, a := range known.Matching(subject(id, s.Lock.Packs[id])) {
		// Without digests, the wanted version may contain affected skills.
		if !a.Affects(subject(id, wanted)) && (len(wanted.Skills) > 0 || !a.HasTrees()) {
			p.Fixes = append(p.Fixes, a.ID)
		}
	}
}

// heldBack returns the packs that an update could not move to the newest version, or away from one that was yanked,
// and what holds them. It uses only what the update has learned.
func (in *installer) heldBack(ctx context.Context, res *resolution) []OutdatedPack {
	packs := []OutdatedPack{}
	for _, id := range res.updated {
		now, locked := res.Lock.Packs[id]
		if !locked {
			continue
		}
		d, direct := res.manifest.Dependency(id)
		p := OutdatedPack{
			Pack: id.String(), Current: now.Version, Wanted: now.Version, Latest: now.Version,
			Source: now.Source, Direct: direct,
		}
		if slices.Contains(in.request.edited, id) {
			p.Edited = true
			packs = append(packs, p)
			continue
		}
		query := pack.Dependency{ID: id, Ref: d.Ref}
		if res.latest && d.Ref != nil && releaseTag(d) {
			query = withoutRevision(query)
		}
		versions, err := in.Backend.Known(ctx, query)
		wasNamed := res.exact[id] == now.Version // the user chose the version; nothing holds it back
		if latest, ok := highestOffer(versions, now.Version); err == nil && ok && !wasNamed &&
			isHigher(latest.Version, now.Version) {
			p.Latest, p.Withheld = latest.Version, latest.Unavailable
			p.HeldBy = lockedBlockers(res.manifest, res.Lock, id, latest.Version)
		}
		if offer, ok := in.Backend.Offer(id, now.Version); ok && offer.Yanked {
			p.Yanked = cmp.Or(offer.Reason, "no reason given")
		}
		if p.Latest != p.Current || p.Yanked != "" {
			packs = append(packs, p)
		}
	}
	return packs
}

// lockedBlockers returns what requires a locked pack and does not allow a version.
func lockedBlockers(m *pack.Manifest, l *pack.Lock, id pack.ID, version string) []Requirer {
	var list []Requirer
	if d, ok := m.Dependency(id); ok && !allows(d, version) {
		list = append(list, Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, by := range l.IDs() {
		deps, _ := l.Packs[by].Requires() // one that can't be read was an error of the solver
		for _, d := range deps {
			if d.ID == id && !allows(d, version) {
				list = append(list, Requirer{By: by.String(), Range: requirement(d)})
			}
		}
	}
	return list
}

// isHigher reports whether a version is a higher release than another. Commits have no order.
func isHigher(version, than string) bool {
	if isPinned(version) || isPinned(than) {
		return false
	}
	a, errA := semver.StrictNewVersion(version)
	b, errB := semver.StrictNewVersion(than)
	return errA == nil && errB == nil && a.GreaterThan(b)
}
