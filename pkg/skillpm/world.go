package skillpm

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/source"
)

// required is how the lock writes a dependency: the place, the constraint, and in brackets the skills that are wanted, each
// where there is one, with spaces between them.
func required(d source.Dependency) string {
	text := place(d) + " " + d.Constraint
	if len(d.Skills) > 0 {
		text += " [" + strings.Join(d.Skills, ", ") + "]"
	}
	return strings.TrimSpace(text)
}

// parseRequired is the inverse of required.
func parseRequired(id source.ID, text string) (source.Dependency, error) {
	text, list, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	text = strings.TrimSpace(text)
	var skills []string
	if list != "" {
		skills = strings.Split(list, ", ")
	}
	at, constraint, _ := strings.Cut(text, " ")
	if !strings.Contains(at, "://") && !strings.HasPrefix(at, "path:") && !strings.HasPrefix(at, "./") && !strings.HasPrefix(at, "../") {
		return source.Dependency{ID: id, Constraint: text, Skills: skills}, nil
	}
	ref, err := source.Parse(at)
	if err != nil {
		return source.Dependency{}, err
	}
	return source.Dependency{ID: id, Constraint: constraint, Ref: &ref, Skills: skills}, nil
}

// place is the text that a requirement's source is compared by: "" for a pack found by name, else the reference with
// the revision that was asked for, so that two requirements agree only if they ask for the same thing.
func place(d source.Dependency) string {
	if d.Ref == nil {
		return ""
	}
	return d.Ref.String()
}

// world answers the resolver's questions from the lock, the registries and the places that requirements name. It
// remembers every pack that it opened.
type world struct {
	client     *Client
	lock       *project.Lock
	registries *registry.Set
	root       string // directory that path references are relative to
	// sticky makes a locked pack offer its locked version only, without asking anybody.
	sticky bool
	// sealed forbids asking anybody: what the lock does not have does not exist (--frozen).
	sealed bool
	// offline forbids the network.
	offline bool
	// enforced are the namespace bindings of the machine's administrator.
	enforced map[string]string
	bindings map[string]string // the address that each owner is bound to
	override string            // the registry of this call
	places   map[string]string // directories that the lock leaves out, by pack
	deps     registry.Deps

	refs   map[string]source.Ref // by place
	opened map[opened]*source.Pack
	fresh  map[source.ID]bool // packs that the lock does not hold back
	moved  map[source.ID]bool // packs whose locked source does not count
}

type opened struct {
	id      source.ID
	place   string
	version string
}

// requirements turns dependencies into the resolver's form and remembers their places.
func (w *world) requirements(deps []source.Dependency) []resolve.Requirement {
	reqs := make([]resolve.Requirement, 0, len(deps))
	for _, d := range deps {
		p := place(d)
		if d.Ref != nil {
			w.refs[p] = *d.Ref
		}
		reqs = append(reqs, resolve.Requirement{Pack: d.ID, Constraint: d.Constraint, Source: p})
	}
	return reqs
}

// locked returns the lock's entry for a pack if it came from the place asked for.
func (w *world) locked(id source.ID, at string) (*project.LockedPack, bool) {
	p, ok := w.lock.Packs[id]
	if !ok || w.fresh[id] {
		return nil, false
	}
	if at == "" {
		return p, true
	}
	ref, ok := w.refs[at]
	return p, ok && p.Source == ref.Locked(p.Version) && (ref.Digest == "" || ref.Digest == p.Resolved)
}

// Versions lists the versions of a pack, which is the first question of [resolve.World].
func (w *world) Versions(ctx context.Context, id source.ID, at string) ([]resolve.Version, error) {
	if err := w.checkBinding(ctx, id, at); err != nil {
		return nil, err
	}
	if err := w.checkOrigin(ctx, id, at); err != nil {
		return nil, err
	}
	if p, ok := w.locked(id, at); ok && (w.sticky || w.sealed) && !isDirectory(p.Source) {
		return []resolve.Version{{Version: p.Version}}, nil
	}
	if w.sealed && !w.isPath(at) {
		return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have %s as skillpm.yaml asks for it", id).
			WithHint("run skillpm install without --frozen and commit skillpm.lock")
	}
	if at == "" {
		return w.namedVersions(ctx, id)
	}
	ref := w.refs[at]
	if ref.Rev == "" && ref.Digest == "" && ref.Kind != source.KindPath {
		return w.placeVersions(ctx, id, at, ref)
	}
	p, err := w.open(ctx, id, at, ref)
	if err != nil {
		return nil, err
	}
	return []resolve.Version{{Version: p.Version}}, nil
}

// checkOrigin forgets what the lock says of a pack that is required by name and locked to a place which no registry
// vouches for, as after a dependency was changed from a place to a name, or in a lock that somebody edited.
func (w *world) checkOrigin(ctx context.Context, id source.ID, at string) error {
	p, ok := w.lock.Packs[id]
	if !ok || at != "" || w.fresh[id] {
		return nil
	}
	switch {
	case strings.HasPrefix(p.Source, "git+"): // an index may say so
		_, err := w.find(ctx, id)
		if err != nil && diag.CodeOf(err) != diag.NotFound {
			return err
		}
		w.fresh[id] = err != nil
	case isDirectory(p.Source):
		w.fresh[id] = true
	}
	if w.fresh[id] {
		w.moved[id] = true
	}
	return nil
}

// checkBinding refuses a pack of an owner that the administrator has bound to a registry unless it comes from there,
// whatever a lock or a place says.
func (w *world) checkBinding(ctx context.Context, id source.ID, at string) error {
	bound, ok := w.enforced[id.Owner]
	if !ok {
		return nil
	}
	if at == "" {
		_, err := w.find(ctx, id)
		return err
	}
	if ref := w.refs[at]; strings.HasPrefix(bound, "oci://") && ref.Source() == registry.Repository(bound, id) {
		return nil
	}
	return diag.Errorf(diag.Denied, "%s may come from %s only: the machine's administrator bound %s to it", id, bound, id.Owner).
		WithHint("require it by name: skillpm install %s", id)
}

func (w *world) isPath(at string) bool { return at != "" && w.refs[at].Kind == source.KindPath }

// isDirectory reports whether a locked source is a directory of this machine, whose content may change at any time.
func isDirectory(lockedSource string) bool {
	return lockedSource == "path" || strings.HasPrefix(lockedSource, "path:")
}

func (w *world) namedVersions(ctx context.Context, id source.ID) ([]resolve.Version, error) {
	reg, err := w.find(ctx, id)
	if err != nil {
		return nil, err
	}
	list, err := reg.Versions(ctx, id)
	if err != nil {
		return nil, err
	}
	versions := make([]resolve.Version, len(list))
	for i, v := range list {
		versions[i] = resolve.Version{Version: v.Version, Yanked: v.Yanked, Published: v.Published}
	}
	return versions, nil
}

func (w *world) find(ctx context.Context, id source.ID) (registry.Registry, error) {
	lockedSource := ""
	if p, ok := w.lock.Packs[id]; ok && !w.moved[id] {
		lockedSource = p.Source
	}
	if placeless(lockedSource) {
		return w.lockedAt(ctx, id)
	}
	return w.registries.Find(ctx, id, lockedSource)
}

// placeVersions lists the release tags of a place that was named without one; a place that has none offers what its
// default branch or directory holds.
func (w *world) placeVersions(ctx context.Context, id source.ID, at string, ref source.Ref) ([]resolve.Version, error) {
	if err := w.reach(ref); err != nil {
		return nil, err
	}
	from, err := w.client.sources.of(ref.Kind, w.root)
	if err != nil {
		return nil, err
	}
	tags, err := from.Versions(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(tags) > 0 {
		versions := make([]resolve.Version, len(tags))
		for i, v := range tags {
			versions[i] = resolve.Version{Version: v}
		}
		return versions, nil
	}
	p, err := w.open(ctx, id, at, ref)
	if err != nil {
		return nil, err
	}
	return []resolve.Version{{Version: p.Version}}, nil
}

// reach refuses the network when it was ruled out.
func (w *world) reach(ref source.Ref) error {
	if w.offline && remote(ref) {
		return diag.Errorf(diag.Remote, "%s is needed and --offline was given", ref.Source()).
			WithHint("run it once without --offline, so that the store has what skillpm.lock names")
	}
	return nil
}

func remote(ref source.Ref) bool {
	return ref.Kind == source.KindOCI || ref.Kind == source.KindGit && !strings.HasPrefix(ref.URL, "file://")
}

// Requirements lists what one version of a pack requires, the second question of [resolve.World].
func (w *world) Requirements(ctx context.Context, id source.ID, at, version string) ([]resolve.Requirement, error) {
	if p, ok := w.locked(id, at); ok && p.Version == version && (w.sticky || w.sealed) && !isDirectory(p.Source) {
		return w.lockedRequirements(p)
	}
	p, err := w.pack(ctx, id, at, version)
	if err != nil {
		return nil, err
	}
	return w.requirements(p.Dependencies), nil
}

// lockedRequirements returns the dependencies that the lock remembers.
func (w *world) lockedRequirements(p *project.LockedPack) ([]resolve.Requirement, error) {
	deps, err := lockedDependencies(p)
	if err != nil {
		return nil, err
	}
	return w.requirements(deps), nil
}

// pack returns the description of one version, opening it if need be.
func (w *world) pack(ctx context.Context, id source.ID, at, version string) (*source.Pack, error) {
	key := opened{id: id, place: at, version: version}
	if p, ok := w.opened[key]; ok {
		return p, nil
	}
	if at == "" {
		reg, err := w.find(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := reg.Pack(ctx, id, version)
		if err != nil {
			return nil, err
		}
		w.opened[key] = p
		return p, checkDependencies(p)
	}
	ref := w.refs[at]
	if ref.Rev == "" && ref.Digest == "" && ref.Kind != source.KindPath {
		ref = atVersion(ref, version)
	}
	return w.open(ctx, id, at, ref)
}

// atVersion narrows a place that was named without a revision to one of its releases.
func atVersion(ref source.Ref, version string) source.Ref {
	if ref.Kind == source.KindGit {
		ref.Constraint = "=" + version
	} else {
		ref.Rev = version
	}
	return ref
}

// open opens a pack at a place and checks that it is the one asked for.
func (w *world) open(ctx context.Context, id source.ID, at string, ref source.Ref) (*source.Pack, error) {
	if err := w.reach(ref); err != nil {
		return nil, err
	}
	p, err := w.client.openPlace(ctx, w.root, ref)
	if err != nil {
		return nil, err
	}
	if p.ID != id {
		return nil, diag.Errorf(diag.Invalid, "%s is required as %s but declares itself %s", ref.Source(), id, p.ID).
			WithHint("write %s in skillpm.yaml", p.ID)
	}
	w.opened[opened{id: id, place: at, version: p.Version}] = p
	return p, checkDependencies(p)
}

// checkDependencies refuses what a pack from that place may not depend on: only the root manifest reaches into the
// machine, and what a registry serves depends on names.
func checkDependencies(p *source.Pack) error {
	for _, d := range p.Dependencies {
		switch {
		case d.Ref == nil:
		case p.Ref.Kind == source.KindPath && d.Ref.Kind == source.KindPath:
			if filepath.IsAbs(d.Ref.URL) || strings.HasPrefix(d.Ref.URL, "../") {
				return outside(p, d)
			}
		case p.Ref.Kind == source.KindPath && d.Ref.Kind == source.KindOCI:
		case p.Ref.Kind == source.KindPath && d.Ref.Kind == source.KindGit && safeGit(p, d):
		case p.Ref.Kind == source.KindPath:
			return outside(p, d)
		case p.Ref.Kind != source.KindGit:
			return diag.Errorf(diag.Invalid, "%s %s depends on %s at a place; a published pack depends on names only", p.ID, p.Version, d.ID)
		case d.Ref.Kind != source.KindOCI && (d.Ref.Kind != source.KindGit || !safeGit(p, d)):
			return outside(p, d)
		}
	}
	return nil
}

// safeGit reports whether a pack may name a git place: one over https or ssh, or in the pack's own repository.
func safeGit(p *source.Pack, d source.Dependency) bool {
	return strings.HasPrefix(d.Ref.URL, "https://") || strings.HasPrefix(d.Ref.URL, "ssh://") || d.Ref.URL == p.Ref.URL
}

func outside(p *source.Pack, d source.Dependency) error {
	return diag.Errorf(diag.Denied, "%s %s depends on %s at %s: only the root skillpm.yaml may name places of this machine, or plain http",
		p.ID, p.Version, d.ID, d.Ref.Source())
}
