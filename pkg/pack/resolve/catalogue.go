package resolve

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// rootPack is the number of the pack that stands for whoever asks.
const rootPack = 0

// catalogue is what was learnt of the world so far. Packs and their versions are numbered as they are met; a version
// of a pack from another place is another version. Nothing is read or parsed before it is needed.
type catalogue struct {
	world   World
	prefer  map[pack.ID]string
	lenient bool // versions that are held may be taken
	packs   []*packNode
	index   map[pack.ID]int32
	ranges  map[string]*versionRange
	edges   int32          // how many there are
	lists   pages[[]*edge] // what versions require
	scratch []Requirement
	slabs   struct {
		packs  slab[packNode]
		edges  slab[edge]
		lists  slab[*edge]
		ranges slab[ranged]
	}
}

// pack is one pack and the versions of it that are known.
type packNode struct {
	id        pack.ID
	locked    bool // a version is preferred
	preferred set
	versions  []candidate        // those from one place follow each other, the highest first
	places    []place            // those that were asked
	releases  []release          // those of versions, for as long as all are plain
	reasons   map[int]string     // why the versions that are held are not taken
	ranges    []ranged           // what was found to fit the requirements of it
	ranged    map[rangeKey]int32 // where in ranges; nil for few
	out       []*edge            // what versions of it require
	outOf     map[Requirement]*edge
}

// place is where versions from one source are.
type place struct {
	source     string
	first, end int
}

type rangeKey struct {
	within *versionRange
	source string
}

// ranged is the versions that a requirement allows.
type ranged struct {
	rangeKey
	allowed set
}

// edge is one requirement, and who has it: the root, or versions of a pack.
type edge struct {
	number   int32
	by       int32
	target   int32
	group    int32 // of the edges to the target that allow the same
	allowed  set   // the versions of the target that fit
	versions set   // the versions of by that have the requirement, as far as is known
	req      Requirement
}

// few is up to how many items looking at each is faster than a map.
const few = 12

func newCatalogue(w World, prefer map[pack.ID]string) *catalogue {
	c := &catalogue{
		world: w, prefer: prefer,
		packs:  []*packNode{{versions: make([]candidate, 1)}},
		index:  make(map[pack.ID]int32),
		ranges: make(map[string]*versionRange),
	}
	c.lists.add(nil)
	return c
}

// number returns the number of a pack.
func (c *catalogue) number(id pack.ID) int32 {
	n, ok := c.index[id]
	if !ok {
		n = int32(len(c.packs))
		p := c.slabs.packs.next()
		p.id = id
		_, p.locked = c.prefer[id]
		c.packs = append(c.packs, p)
		c.index[id] = n
	}
	return n
}

// require returns the edge for a requirement of one version of a pack.
func (c *catalogue) require(ctx context.Context, by int32, version int, req *Requirement) (*edge, error) {
	p := c.packs[by]
	e := p.edge(req)
	if e == nil {
		target := c.number(req.Pack)
		group, err := c.allowed(ctx, c.packs[target], req)
		if err != nil {
			return nil, err
		}
		e = c.slabs.edges.next()
		*e = edge{
			number: c.edges, by: by, req: *req, target: target, group: group,
			allowed: c.packs[target].ranges[group].allowed,
		}
		c.edges++
		c.put(p, e)
	}
	e.versions = e.versions.with(version)
	return e, nil
}

// edge returns the edge of a requirement, nil if it was not met before.
func (p *packNode) edge(req *Requirement) *edge {
	if p.outOf != nil {
		return p.outOf[*req]
	}
	for _, e := range p.out {
		if e.req == *req {
			return e
		}
	}
	return nil
}

func (c *catalogue) put(p *packNode, e *edge) {
	p.out = c.slabs.lists.add(p.out, e)
	switch {
	case p.outOf != nil:
		p.outOf[e.req] = e
	case len(p.out) > few:
		p.outOf = make(map[Requirement]*edge)
		for _, e := range p.out {
			p.outOf[e.req] = e
		}
	}
}

// allowed returns which of the ranges of a pack is that of the requirement.
func (c *catalogue) allowed(ctx context.Context, p *packNode, req *Requirement) (int32, error) {
	within, err := c.rangeOf(req)
	if err != nil {
		return 0, err
	}
	key := rangeKey{within, req.Source}
	if n := p.find(key); n >= 0 {
		return n, nil
	}
	at, err := c.offered(ctx, p, req.Source)
	if err != nil {
		return 0, err
	}
	p.ranges = c.slabs.ranges.add(p.ranges, ranged{key, c.fitting(p, at, within)})
	n := int32(len(p.ranges) - 1)
	switch {
	case p.ranged != nil:
		p.ranged[key] = n
	case n > few:
		p.ranged = make(map[rangeKey]int32)
		for i := range p.ranges {
			p.ranged[p.ranges[i].rangeKey] = int32(i)
		}
	}
	return n, nil
}

// find returns the number of a range that was met before, else -1.
func (p *packNode) find(key rangeKey) int32 {
	if p.ranged != nil {
		if n, ok := p.ranged[key]; ok {
			return n
		}
		return -1
	}
	for i := range p.ranges {
		if r := &p.ranges[i]; r.within == key.within && r.source == key.source {
			return int32(i)
		}
	}
	return -1
}

// fitting returns the versions from one place that are in a range and may be taken.
func (c *catalogue) fitting(p *packNode, at place, within *versionRange) (fit set) {
	if within != nil && within.spans != nil && len(p.releases) == len(p.versions) &&
		(c.lenient || len(p.reasons) == 0) {
		for v, release := range p.releases[at.first:at.end] {
			if within.has(release) {
				fit.add(at.first + v)
			}
		}
		return fit
	}
	releases := within == nil && slices.ContainsFunc(p.versions[at.first:at.end],
		func(v candidate) bool { return !v.prerelease() })
	for v := at.first; v < at.end; v++ {
		if within == nil && releases && p.versions[v].prerelease() && !p.versions[v].preferred {
			continue // nobody asked for one
		}
		if (within == nil || within.fits(&p.versions[v])) && (c.lenient || p.takes(v)) {
			fit.add(v)
		}
	}
	return fit
}

// rangeOf returns the range of a requirement, nil where a place is named and no range: what is there fits, of several
// versions the releases.
func (c *catalogue) rangeOf(req *Requirement) (*versionRange, error) {
	text := req.Constraint
	switch {
	case text == "" && req.Source != "":
		return nil, nil
	case text == "" || text == "latest":
		text = "*"
	}
	r := c.ranges[text]
	if r == nil {
		var err error
		if r, err = parseRange(text); err != nil {
			return nil, err
		}
		c.ranges[text] = r
	}
	return r, nil
}

// offered returns where the versions of a pack from one source are, and asks the world once.
func (c *catalogue) offered(ctx context.Context, p *packNode, src string) (place, error) {
	for _, at := range p.places {
		if at.source == src {
			return at, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return place{}, err
	}
	list, err := c.world.Versions(ctx, p.id, src)
	if err != nil {
		return place{}, err
	}
	at := place{source: src, first: len(p.versions)}
	p.read(list, c.prefer[p.id])
	at.end = len(p.versions)
	p.places = append(p.places, at)
	return at, nil
}

// read adds the versions from one place.
func (p *packNode) read(list []Version, prefer string) {
	found := make([]candidate, 0, len(list))
	var reasons map[string]string
	for i := range list {
		v := &list[i]
		cand, ok := newCandidate(v)
		if !ok {
			continue
		}
		cand.preferred = p.locked && v.Version == prefer
		if cand.held {
			if reasons == nil {
				reasons = make(map[string]string)
			}
			reasons[v.Version] = max(reasons[v.Version], v.reason())
		}
		found = append(found, cand)
	}
	first := len(p.versions)
	if found = sortCandidates(found); first == 0 {
		p.versions = found
	} else {
		p.versions = append(p.versions, found...)
	}
	p.releases = slices.Grow(p.releases, len(found))
	for v := first; v < len(p.versions); v++ {
		cand := &p.versions[v]
		if cand.plain && len(p.releases) == v {
			p.releases = append(p.releases, cand.release)
		}
		if reason, ok := reasons[cand.version]; ok {
			if p.reasons == nil {
				p.reasons = make(map[int]string)
			}
			p.reasons[v], cand.held = reason, true
		}
		if cand.preferred {
			p.preferred.add(v)
		}
	}
}

// requirements returns the number of the list of what a version requires, and asks the world once. When it goes wrong
// it says at which requirement, if at one.
func (c *catalogue) requirements(ctx context.Context, by int32, version int) (list int32, at *Requirement, err error) {
	p := c.packs[by]
	if list := p.versions[version].requires; list > 0 {
		return list, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	requires, err := c.world.Requirements(ctx, p.id, p.placeOf(version), p.versions[version].version)
	if err != nil {
		return 0, nil, err
	}
	return c.setRequirements(ctx, by, version, requires)
}

func (c *catalogue) setRequirements(ctx context.Context, by int32, version int, requires []Requirement) (list int32,
	at *Requirement, err error,
) {
	c.scratch = append(c.scratch[:0], requires...)
	sorted := sortedRequirements(c.scratch)
	edges := c.slabs.lists.take(len(sorted))
	for i := range sorted {
		e, err := c.require(ctx, by, version, &sorted[i])
		if err != nil {
			return 0, &sorted[i], err
		}
		edges[i] = e
	}
	list = int32(c.lists.n)
	c.packs[by].versions[version].requires = list
	c.lists.add(edges)
	return list, nil, nil
}

// placeOf returns the place that a version is from.
func (p *packNode) placeOf(version int) string {
	for _, at := range p.places {
		if at.first <= version && version < at.end {
			return at.source
		}
	}
	return ""
}

// takes reports whether a version may be taken: nothing is against it, or it is in the lock.
func (p *packNode) takes(v int) bool { return !p.versions[v].held || p.versions[v].preferred }

// best returns the version to try first: the preferred one, else the highest that nothing is against. What is asked
// about is from one place, since every requirement is about one.
func (p *packNode) best(of set) int {
	if v := of.and(p.preferred).first(); v >= 0 {
		return v
	}
	if len(p.reasons) > 0 {
		for v := range of.all() {
			if !p.versions[v].held {
				return v
			}
		}
	}
	return of.first()
}

// better returns the statement that a pack is in a version that is tried before v, which is never true for the first.
func (p *packNode) better(v int) term {
	var t term
	if p.preferred.has(v) {
		return t
	}
	for i := range v {
		t.set.add(i)
	}
	t.set = t.set.or(p.preferred)
	return t
}
