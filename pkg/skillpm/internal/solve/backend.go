// Package solve computes locks: it answers the solver's questions for one scope, and turns a manifest into a lock.
//
// [Backend] answers from the scope's lock, from registries, and from the sources that requirements name. The rules that
// the package keeps:
//
//   - Nobody is asked about locked packs until the lock does not fit any more.
//   - A published pack depends on names; only the root manifest reaches into this machine.
//   - Versions that are younger than the minimum release age, or that a policy does not allow, are withheld.
package solve

import (
	"context"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/firstseen"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// AnyRelease is the range of requirements while an update looks for the latest version.
const AnyRelease = ">=0.0.0"

// SourceText returns the text by which the sources of requirements are compared: "" for a pack that is found by name,
// else the reference with its revision, so that two requirements agree only if they ask for the same thing.
func SourceText(d pack.Dependency) string {
	if d.Ref == nil {
		return ""
	}
	return d.Ref.String()
}

// Options configure a [Backend].
type Options struct {
	Fetcher  *fetch.Fetcher
	Seen     firstseen.Records
	Previous *pack.Lock // the lock of the scope

	// Reference is another lock whose versions must not have other content here, nil for none.
	Reference *pack.Lock
	MinAge    MinAge // of the settings
	Frozen    bool   // ask nobody: what the lock does not have does not exist
}

// Backend answers the solver's questions for one scope. It remembers every pack that it opened.
type Backend struct {
	Options
	sticky   bool                           // a locked pack has its locked version only, and nobody is asked
	onlyWarn bool                           // changed content is a warning
	marks    map[pack.ID]mark               // what the call wants of packs
	refs     map[string]pack.Ref            // sources by their text
	ranged   map[string]bool                // sources of which a range of versions is required
	direct   map[pack.ID]pack.Dependency    // what the manifest requires
	opened   map[openedKey]*pack.Pack       // packs that were opened
	found    map[openedKey]string           // digests of packs that the call names
	complete map[string]*pack.Pack          // see Reuse; by the text of their sources
	lookups  map[lookupKey]*lookup          // questions to registries and sources
	listed   map[pack.ID][]registry.Version // the releases of packs that are required from sources
	// required are the packs that others require by name, with whether one from a built-in registry does.
	required map[pack.ID]bool
	slots    chan struct{} // limits how many are asked at once

	unusable map[openedKey]*git.ReleaseError // releases that could not be opened
}

// mark is what a call wants of a pack besides what the lock has.
type mark struct {
	fresh    bool // the lock does not hold it back
	freed    bool // it was fresh, if only for a while
	fixed    bool // it stays at its locked version
	moved    bool // its locked source does not count
	accepted bool // its locked content does not count
}

type openedKey struct {
	id      pack.ID
	source  string
	version string
}

// New returns a backend.
func New(o Options) *Backend {
	return &Backend{
		Options: o, marks: map[pack.ID]mark{}, refs: map[string]pack.Ref{}, ranged: map[string]bool{},
		direct: map[pack.ID]pack.Dependency{}, opened: map[openedKey]*pack.Pack{}, found: map[openedKey]string{},
		complete: map[string]*pack.Pack{},
		lookups:  map[lookupKey]*lookup{}, listed: map[pack.ID][]registry.Version{},
		required: map[pack.ID]bool{}, slots: make(chan struct{}, parallelLookups),
		unusable: map[openedKey]*git.ReleaseError{},
	}
}

func (b *Backend) mark(id pack.ID, change func(*mark)) {
	m := b.marks[id]
	change(&m)
	b.marks[id] = m
}

// Free forgets what the lock has of a pack, so that the best version is chosen.
func (b *Backend) Free(id pack.ID) { b.mark(id, func(m *mark) { m.fresh, m.freed = true, true }) }

// Unfree takes Free and Move back: the lock counts again, as a preference.
func (b *Backend) Unfree(id pack.ID) {
	if b.marks[id].moved {
		delete(b.lookups, lookupKey{pack: id})
	}
	b.mark(id, func(m *mark) { m.fresh, m.moved = false, false })
}

// Hold keeps a locked pack at its version, whatever else changes.
func (b *Backend) Hold(id pack.ID) { b.mark(id, func(m *mark) { m.fixed = true }) }

// final reports whether the lock decides a pack. A branch, or a tag that moves, offers one version at a time: it stays
// as it is locked until the pack is free.
func (b *Backend) final(id pack.ID, src string) bool {
	return b.sticky || b.Frozen || b.marks[id].fixed || src != "" && !hasReleases(b.refs[src])
}

// hasReleases reports whether a source is named without a revision, so that one of its releases is chosen.
func hasReleases(ref pack.Ref) bool {
	return ref.Rev == "" && ref.Digest == "" && ref.Kind != pack.KindPath && ref.Kind != pack.KindWebsite
}

// atVersion narrows a source that was named without a revision to one of its releases.
func atVersion(ref pack.Ref, version string) pack.Ref {
	if ref.Kind == pack.KindGit {
		ref.Constraint = "=" + version
	} else {
		ref.Rev = version
	}
	return ref
}

// requirements returns dependencies in the solver's form, and remembers their sources.
func (b *Backend) requirements(deps []pack.Dependency) []resolve.Requirement {
	reqs := make([]resolve.Requirement, len(deps))
	for i, d := range deps {
		src := SourceText(d)
		if d.Ref != nil {
			b.refs[src] = *d.Ref
			b.ranged[src] = b.ranged[src] || d.Constraint != ""
		}
		reqs[i] = resolve.Requirement{Pack: d.ID, Constraint: d.Constraint, Source: src}
	}
	return reqs
}

// locked returns what the lock has of a pack, if it comes from the required source.
func (b *Backend) locked(id pack.ID, src string) (*pack.LockedPack, bool) {
	p, ok := b.Previous.Packs[id]
	if m := b.marks[id]; !ok || m.fresh || m.moved || m.accepted {
		return nil, false
	}
	if src == "" {
		return p, true
	}
	ref, ok := b.refs[src]
	return p, ok && p.IsFrom(ref)
}

// lockedVersion is locked for one version, of which the lock's word counts: directories change.
func (b *Backend) lockedVersion(id pack.ID, src, version string) (*pack.LockedPack, bool) {
	p, ok := b.locked(id, src)
	return p, ok && p.Version == version && !fetch.IsDirectory(p.Source)
}

func (b *Backend) isPath(src string) bool { return src != "" && b.refs[src].Kind == pack.KindPath }

// Versions lists the versions of a pack for the solver.
func (b *Backend) Versions(ctx context.Context, id pack.ID, src string) ([]resolve.Version, error) {
	if err := b.checkBinding(ctx, id, src); err != nil {
		return nil, err
	}
	if err := b.checkOrigin(ctx, id, src); err != nil {
		return nil, err
	}
	if p, ok := b.locked(id, src); ok && b.final(id, src) && !fetch.IsDirectory(p.Source) {
		return []resolve.Version{{Version: p.Version}}, nil
	}
	if b.Frozen && !b.isPath(src) {
		return nil, diag.Errorf(diag.Conflict,
			"skillpm.lock does not match skillpm.yaml: it does not contain the required %s", id).
			WithHint("run \"skillpm install\" without --frozen, and commit skillpm.lock")
	}
	versions, err := b.availableVersions(ctx, id, src)
	p, ok := b.locked(id, src)
	if ok && src == "" && diag.CodeOf(err) == diag.NotFound && b.leavesBinding(id, p.Source) {
		b.Hold(id) // a changed binding does not take away what is locked
		return []resolve.Version{{Version: p.Version}}, nil
	}
	return versions, err
}

// checkOrigin ignores what the lock has of a pack that is required by name and locked to a source that no registry
// knows: somebody changed a dependency from a source to a name, or edited the lock.
func (b *Backend) checkOrigin(ctx context.Context, id pack.ID, src string) error {
	p, ok := b.Previous.Packs[id]
	if !ok || src != "" || b.marks[id].moved {
		return nil
	}
	moved := fetch.IsDirectory(p.Source)
	if strings.HasPrefix(p.Source, "git+") && !b.Fetcher.Offline && !b.Frozen { // an index may have it
		_, err := b.Find(ctx, id)
		if code := diag.CodeOf(err); err != nil && code != diag.NotFound && code != diag.Remote {
			return err
		}
		moved = diag.CodeOf(err) == diag.NotFound // an index that is unreachable may still have it
	}
	if moved {
		b.mark(id, func(m *mark) { m.fresh = true })
		b.Move(id)
	}
	return nil
}

// checkBinding refuses a pack whose owner the administrator bound to a registry unless it comes from there, whatever a
// lock or a requirement says. It refuses names of an owner that the project binds elsewhere than the user.
func (b *Backend) checkBinding(ctx context.Context, id pack.ID, src string) error {
	bound, ok := b.Fetcher.Registries.Enforced(id.Owner)
	if !ok && src == "" && !b.Frozen {
		return b.Fetcher.Registries.Rebound(id.Owner) // also if the pack is locked: the lock is the project's, too
	}
	if !ok {
		return nil
	}
	if src == "" {
		_, err := b.Find(ctx, id)
		return err
	}
	if ref := b.refs[src]; strings.HasPrefix(bound, "oci://") && ref.Source() == registry.Repository(bound, id) {
		return nil
	}
	return diag.Errorf(diag.Denied, "%s must come from %s: the administrator of this machine bound %s to this registry",
		id, bound, id.Owner).WithHint("install the pack by name with: skillpm install %s", id)
}

// Requirements lists what one version of a pack requires, for the solver.
func (b *Backend) Requirements(ctx context.Context, id pack.ID, src, version string) ([]resolve.Requirement, error) {
	var deps []pack.Dependency
	var isBuiltIn bool
	if p, ok := b.lockedVersion(id, src, version); ok && b.final(id, src) {
		var err error
		if deps, err = p.Requires(); err != nil {
			return nil, err
		}
		isBuiltIn = registry.IsBuiltIn(p.Source)
	} else {
		p, err := b.pack(ctx, id, src, version)
		if err != nil {
			return nil, err
		}
		deps, isBuiltIn = p.Dependencies, registry.IsBuiltIn(p.Ref.Source())
	}
	b.addRequired(deps, isBuiltIn)
	reqs := b.requirements(deps)
	b.prefetch(ctx, deps)
	return reqs, nil
}

// dependencies returns what a chosen version depends on. It opens no pack that the lock knows.
func (b *Backend) dependencies(ctx context.Context, id pack.ID, c resolve.Selection) ([]pack.Dependency, error) {
	if p, ok := b.lockedVersion(id, c.Source, c.Version); ok {
		return p.Requires()
	}
	p, err := b.pack(ctx, id, c.Source, c.Version)
	if err != nil {
		return nil, err
	}
	return p.Dependencies, nil
}

// pack returns the description of one version, opening it if need be.
func (b *Backend) pack(ctx context.Context, id pack.ID, src, version string) (*pack.Pack, error) {
	if p, ok := b.opened[openedKey{id, src, version}]; ok {
		return p, nil
	}
	if src == "" {
		reg, err := b.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := reg.Pack(ctx, id, version)
		if err != nil {
			return nil, err
		}
		b.opened[openedKey{id, "", version}] = p
		return p, b.checkDependencies(p)
	}
	ref := b.refs[src]
	if hasReleases(ref) {
		ref = atVersion(ref, version)
	}
	p, err := b.Fetcher.Open(pack.WithSkills(ctx, b.direct[id].Skills), ref)
	if err != nil {
		b.leaveOut(openedKey{id, src, version}, err)
		return nil, err
	}
	return p, b.remember(id, src, ref, p)
}

// remember keeps a pack that was opened at a source, if it is the required one.
func (b *Backend) remember(id pack.ID, src string, ref pack.Ref, p *pack.Pack) error {
	if p.ID != id {
		return diag.Errorf(diag.Invalid, "skillpm.yaml requires %s as %s, but the name of the pack is %s",
			ref.Source(), id, p.ID).
			WithHint("change the name to %s in skillpm.yaml", p.ID)
	}
	b.opened[openedKey{id, src, p.Version}] = p
	return b.checkDependencies(p)
}

// Locate returns the pinned reference of one version of a dependency.
func (b *Backend) Locate(ctx context.Context, d pack.Dependency, version string) (pack.Ref, error) {
	b.requirements([]pack.Dependency{d})
	p, err := b.pack(ctx, d.ID, SourceText(d), version)
	if err != nil {
		return pack.Ref{}, err
	}
	return p.Ref, nil
}
