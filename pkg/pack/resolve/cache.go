package resolve

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// providerCache is what the [Provider] has answered so far. The searches that explain a conflict share it, so that they
// ask nothing again. It asks about packs and versions only when the solver needs them.
type providerCache struct {
	provider Provider
	prefer   map[pack.ID]string
	lenient  bool // unavailable versions may be selected
	root     *packNode
	packs    []*packNode // in the order in which they were found, the root first
	byID     map[pack.ID]*packNode
	parsed   map[string]*semver.Constraints
	compared int // versions compared with ranges
}

// packNode is one package and its known versions. The root is a package with one version.
type packNode struct {
	id            pack.ID
	index         int // in providerCache.packs
	locked        bool
	versions      []*candidate // those of one source follow each other, the highest first
	sources       map[string]versionSet
	matches       map[matchKey]versionSet
	dependencies  []*dependency // the requirements of all its versions
	byRequirement map[Requirement]*dependency
}

type matchKey struct{ source, constraint string }

// dependency is a requirement, and the versions of one package that have it.
type dependency struct {
	requirement Requirement
	dependent   *packNode
	versions    versionSet // of dependent, that are known to have the requirement
	target      *packNode
	allowed     versionSet // of target

	incompatibility incompatibility // states the requirement
}

func newProviderCache(provider Provider, prefer map[pack.ID]string) *providerCache {
	c := &providerCache{
		provider: provider, prefer: prefer, byID: make(map[pack.ID]*packNode),
		parsed: make(map[string]*semver.Constraints),
	}
	c.root = c.pack(pack.ID{})
	c.root.versions = []*candidate{{}}
	return c
}

func (c *providerCache) pack(id pack.ID) *packNode {
	p := c.byID[id]
	if p == nil {
		_, locked := c.prefer[id]
		p = &packNode{
			id: id, index: len(c.packs), locked: locked,
			sources: make(map[string]versionSet), matches: make(map[matchKey]versionSet),
			byRequirement: make(map[Requirement]*dependency),
		}
		c.packs = append(c.packs, p)
		c.byID[id] = p
	}
	return p
}

// dependenciesOf returns what a version requires. If the error is about one of the requirements, it returns that too.
func (c *providerCache) dependenciesOf(ctx context.Context, p *packNode, version int) ([]*dependency, *Requirement,
	error,
) {
	v := p.versions[version]
	if v.loaded {
		return v.requires, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	requirements, err := c.provider.Requirements(ctx, p.id, v.source, v.text)
	if err != nil {
		return nil, nil, err
	}
	return c.addDependencies(ctx, p, version, requirements)
}

func (c *providerCache) addDependencies(ctx context.Context, p *packNode, version int, list []Requirement) (
	[]*dependency, *Requirement, error,
) {
	list = sortRequirements(list)
	dependencies := make([]*dependency, len(list))
	for i, r := range list {
		d, err := c.addDependency(ctx, p, version, r)
		if err != nil {
			return nil, &r, err
		}
		dependencies[i] = d
	}
	v := p.versions[version]
	v.loaded, v.requires = true, dependencies
	return dependencies, nil, nil
}

// addDependency records that a version has a requirement. Versions with the same requirement share a dependency, whose
// incompatibility then covers all of them.
func (c *providerCache) addDependency(ctx context.Context, p *packNode, version int, r Requirement) (*dependency,
	error,
) {
	d := p.byRequirement[r]
	if d == nil {
		target := c.pack(r.Pack)
		allowed, err := c.match(ctx, target, r)
		if err != nil {
			return nil, err
		}
		d = &dependency{requirement: r, dependent: p, target: target, allowed: allowed}
		p.dependencies = append(p.dependencies, d)
		p.byRequirement[r] = d
	}
	d.versions = d.versions.with(version)
	d.setTerms()
	return d, nil
}

// setTerms states the requirement as an incompatibility: the versions that have it and the versions that it does not
// allow exclude each other.
func (d *dependency) setTerms() {
	terms := []term{{pack: d.dependent, versions: d.versions}}
	switch {
	case d.dependent == d.target:
		terms[0].versions = d.versions.minus(d.allowed)
	case !d.allowed.empty():
		terms = append(terms, term{pack: d.target, versions: d.allowed, negative: true})
	}
	d.incompatibility = incompatibility{terms: terms, dependency: d}
}

// match returns the versions that a requirement allows and that may be selected.
func (c *providerCache) match(ctx context.Context, p *packNode, r Requirement) (versionSet, error) {
	key := matchKey{r.Source, r.Constraint}
	if matching, ok := p.matches[key]; ok {
		return matching, nil
	}
	constraint, err := c.constraint(r)
	if err != nil {
		return nil, err
	}
	listed, err := c.load(ctx, p, r.Source)
	if err != nil {
		return nil, err
	}
	hasRelease := false
	for i := range listed.all() {
		hasRelease = hasRelease || !p.versions[i].prerelease()
	}
	var matching versionSet
	for i := range listed.all() {
		c.compared++
		v := p.versions[i]
		matches := !v.prerelease() || !hasRelease || v.preferred
		if constraint != nil {
			matches = constraint.Check(v.Version)
		}
		if matches && (c.lenient || v.selectable()) {
			matching = matching.with(i)
		}
	}
	p.matches[key] = matching
	return matching, nil
}

// constraint returns the range of a requirement. It is nil for one that names a source and no range: any version
// matches, but a pre-release only if there is no release.
func (c *providerCache) constraint(r Requirement) (*semver.Constraints, error) {
	text := r.Constraint
	switch {
	case text == "" && r.Source != "":
		return nil, nil
	case text == "" || text == "latest":
		text = "*"
	}
	if constraint := c.parsed[text]; constraint != nil {
		return constraint, nil
	}
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid version range %q", text)
	}
	c.parsed[text] = constraint
	return constraint, nil
}

// load returns the versions of a package from one source.
func (c *providerCache) load(ctx context.Context, p *packNode, source string) (versionSet, error) {
	if versions, ok := p.sources[source]; ok {
		return versions, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, err := c.provider.Versions(ctx, p.id, source)
	if err != nil {
		return nil, err
	}
	var versions versionSet
	for _, v := range newCandidates(source, list, c.prefer[p.id]) {
		versions = versions.with(len(p.versions))
		p.versions = append(p.versions, v)
	}
	p.sources[source] = versions
	return versions, nil
}

// best returns the version to try first: the preferred one, else the highest available one. All versions in the set
// come from one source, since every requirement is about one.
func (p *packNode) best(of versionSet) int {
	best := -1
	for i := range of.all() {
		v := p.versions[i]
		switch {
		case v.preferred:
			return i
		case best < 0, v.unavailable == "" && p.versions[best].unavailable != "":
			best = i
		}
	}
	return best
}

// betterThan returns the term that the package has a version that the solver tries before the given one.
func (p *packNode) betterThan(version int) term {
	better := term{pack: p}
	if p.versions[version].preferred {
		return better
	}
	for i, v := range p.versions {
		if i < version || v.preferred {
			better.versions = better.versions.with(i)
		}
	}
	return better
}
