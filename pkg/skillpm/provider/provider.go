package provider

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Place is the text that a requirement's source is compared by: "" for a pack found by name, else the reference with
// the revision that was asked for, so that two requirements agree only if they ask for the same thing.
func Place(d pack.Dependency) string {
	if d.Ref == nil {
		return ""
	}
	return d.Ref.String()
}

// Provider answers the resolver's questions for one scope. It remembers every pack that it opened.
type Provider struct {
	machine    *workspace.Machine
	sources    *Sources
	options    Options
	lock       *pack.Lock
	registries *registry.Set
	root       string            // directory that path references are relative to
	enforced   map[string]string // the namespace bindings of the machine's administrator
	bindings   map[string]string // the address that each owner is bound to
	places     map[string]string // directories that the lock leaves out, by pack
	deps       registry.Deps
	minAge     time.Duration   // of a release, 0 for any
	minAgeIn   string          // the file that says so
	projects   map[string]bool // registries, by name and address, that only the project knows
	guard      *enforce.Evaluator
	policies   policy.Set
	installed  func(pack.ID) (workspace.InstalledPack, bool)
	keeper     *trust.Keeper
	trusted    trust.Wanted             // whose signatures count for Options.Signed
	rules      map[ruleKey]trust.Wanted // of policies
	pinsMu     sync.Mutex
	pins       map[string]string // what tags lead to, by place and tag
	notesMu    sync.Mutex
	notes      []string // what policies that only observe have to say
	noted      map[string]bool

	// sticky makes a locked pack offer its locked version only, without asking anybody.
	sticky bool

	refs   map[string]pack.Ref // by place
	opened map[opened]*pack.Pack
	fresh  map[pack.ID]bool            // packs that the lock does not hold back
	freed  map[pack.ID]bool            // those of them, and those that were taken back
	held   map[pack.ID]bool            // packs that stay at their locked version
	moved  map[pack.ID]bool            // packs whose locked source does not count
	direct map[pack.ID]pack.Dependency // what the manifest requires
	offers map[pack.ID]*offer
	visits map[string]*visit              // by place
	placed map[pack.ID][]registry.Version // what places say of packs that are required from there
	asking chan struct{}                  // as many as are asked for at once
}

type opened struct {
	id      pack.ID
	place   string
	version string
}

// requirements turns dependencies into the resolver's form and remembers their places.
func (pr *Provider) requirements(deps []pack.Dependency) []resolve.Requirement {
	reqs := make([]resolve.Requirement, 0, len(deps))
	for _, d := range deps {
		p := Place(d)
		if d.Ref != nil {
			pr.refs[p] = *d.Ref
		}
		reqs = append(reqs, resolve.Requirement{Pack: d.ID, Constraint: d.Constraint, Source: p})
	}
	return reqs
}

// locked returns the lock's entry for a pack if it came from the place asked for.
func (pr *Provider) locked(id pack.ID, at string) (*pack.LockedPack, bool) {
	p, ok := pr.lock.Packs[id]
	if !ok || pr.fresh[id] {
		return nil, false
	}
	if at == "" {
		return p, true
	}
	ref, ok := pr.refs[at]
	return p, ok && p.Source == ref.Locked(p.Version) && (ref.Digest == "" || ref.Digest == p.Resolved)
}

// Versions lists the versions of a pack, which is the first question of [resolve.World].
func (pr *Provider) Versions(ctx context.Context, id pack.ID, at string) ([]resolve.Version, error) {
	if err := pr.checkBinding(ctx, id, at); err != nil {
		return nil, err
	}
	if err := pr.checkOrigin(ctx, id, at); err != nil {
		return nil, err
	}
	if p, ok := pr.locked(id, at); ok && pr.settled(id, at) && !isDirectory(p.Source) {
		return []resolve.Version{{Version: p.Version}}, nil
	}
	if pr.options.Frozen && !pr.isPath(at) {
		return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have %s as skillpm.yaml asks for it", id).
			WithHint("run skillpm install without --frozen and commit skillpm.lock")
	}
	if at == "" {
		return pr.namedVersions(ctx, id)
	}
	return pr.placeVersions(ctx, id, at, pr.refs[at])
}

// checkOrigin forgets what the lock says of a pack that is required by name and locked to a place which no registry
// vouches for, as after a dependency was changed from a place to a name, or in a lock that somebody edited.
func (pr *Provider) checkOrigin(ctx context.Context, id pack.ID, at string) error {
	p, ok := pr.lock.Packs[id]
	if !ok || at != "" || pr.moved[id] {
		return nil
	}
	moved := false
	switch {
	case strings.HasPrefix(p.Source, "git+") && pr.options.Offline: // nothing is fetched from there
	case strings.HasPrefix(p.Source, "git+"): // an index may say so
		_, err := pr.Find(ctx, id)
		if err != nil && diag.CodeOf(err) != diag.NotFound {
			return err
		}
		moved = err != nil
	case isDirectory(p.Source):
		moved = true
	}
	if moved {
		pr.fresh[id], pr.moved[id] = true, true
		delete(pr.offers, id) // it was asked for where it was locked
	}
	return nil
}

// checkBinding refuses a pack of an owner that the administrator has bound to a registry unless it comes from there,
// whatever a lock or a place says.
func (pr *Provider) checkBinding(ctx context.Context, id pack.ID, at string) error {
	bound, ok := pr.enforced[id.Owner]
	if !ok {
		return nil
	}
	if at == "" {
		_, err := pr.Find(ctx, id)
		return err
	}
	if ref := pr.refs[at]; strings.HasPrefix(bound, "oci://") && ref.Source() == registry.Repository(bound, id) {
		return nil
	}
	return diag.Errorf(diag.Denied, "%s may come from %s only: the machine's administrator bound %s to it", id, bound, id.Owner).
		WithHint("require it by name: skillpm install %s", id)
}

func (pr *Provider) isPath(at string) bool { return at != "" && pr.refs[at].Kind == pack.KindPath }

// isDirectory reports whether a locked source is a directory of this machine, whose content may change at any time.
func isDirectory(lockedSource string) bool {
	return lockedSource == "path" || strings.HasPrefix(lockedSource, "path:")
}

// reach refuses the network when it was ruled out.
func (pr *Provider) reach(ref pack.Ref) error {
	if pr.options.Offline && remote(ref) {
		return diag.Errorf(diag.Remote, "%s is needed and --offline was given", ref.Source()).
			WithHint("run it once without --offline, so that the store has what skillpm.lock names")
	}
	return nil
}

func remote(ref pack.Ref) bool {
	return ref.Kind == pack.KindOCI || ref.Kind == pack.KindGit && !strings.HasPrefix(ref.URL, "file://")
}

// Requirements lists what one version of a pack requires, the second question of [resolve.World].
func (pr *Provider) Requirements(ctx context.Context, id pack.ID, at, version string) ([]resolve.Requirement, error) {
	if p, ok := pr.locked(id, at); ok && p.Version == version && pr.settled(id, at) && !isDirectory(p.Source) {
		return pr.lockedRequirements(ctx, p)
	}
	p, err := pr.pack(ctx, id, at, version)
	if err != nil {
		return nil, err
	}
	reqs := pr.requirements(p.Dependencies)
	pr.expect(ctx, p.Dependencies)
	return reqs, nil
}

// lockedRequirements returns the dependencies that the lock remembers.
func (pr *Provider) lockedRequirements(ctx context.Context, p *pack.LockedPack) ([]resolve.Requirement, error) {
	deps, err := p.Requires()
	if err != nil {
		return nil, err
	}
	reqs := pr.requirements(deps)
	pr.expect(ctx, deps)
	return reqs, nil
}

// pack returns the description of one version, opening it if need be.
func (pr *Provider) pack(ctx context.Context, id pack.ID, at, version string) (*pack.Pack, error) {
	key := opened{id: id, place: at, version: version}
	if p, ok := pr.opened[key]; ok {
		return p, nil
	}
	if at == "" {
		reg, err := pr.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := reg.Pack(ctx, id, version)
		if err != nil {
			return nil, err
		}
		pr.opened[key] = p
		return p, pr.checkDependencies(p)
	}
	ref := pr.refs[at]
	if open(ref) {
		ref = atVersion(ref, version)
	}
	return pr.open(ctx, id, at, ref)
}

// atVersion narrows a place that was named without a revision to one of its releases.
func atVersion(ref pack.Ref, version string) pack.Ref {
	if ref.Kind == pack.KindGit {
		ref.Constraint = "=" + version
	} else {
		ref.Rev = version
	}
	return ref
}

// Place returns where one version of what a manifest requires is, pinned.
func (pr *Provider) Place(ctx context.Context, d pack.Dependency, version string) (pack.Ref, error) {
	pr.requirements([]pack.Dependency{d})
	p, err := pr.pack(ctx, d.ID, Place(d), version)
	if err != nil {
		return pack.Ref{}, err
	}
	return p.Ref, nil
}

// Open opens the pack at a place.
func (pr *Provider) Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	return pr.openPlace(ctx, ref)
}

// open opens a pack at a place and checks that it is the one asked for.
func (pr *Provider) open(ctx context.Context, id pack.ID, at string, ref pack.Ref) (*pack.Pack, error) {
	p, err := pr.openPlace(pack.WithSkills(ctx, pr.direct[id].Skills), ref)
	if err != nil {
		return nil, err
	}
	return p, pr.remember(id, at, ref, p)
}

// remember keeps a pack that was opened at a place, if it is the one asked for.
func (pr *Provider) remember(id pack.ID, at string, ref pack.Ref, p *pack.Pack) error {
	if p.ID != id {
		return diag.Errorf(diag.Invalid, "%s is required as %s but declares itself %s", ref.Source(), id, p.ID).
			WithHint("write %s in skillpm.yaml", p.ID)
	}
	pr.opened[opened{id: id, place: at, version: p.Version}] = p
	return pr.checkDependencies(p)
}
