package resolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// rootPack is the number of the pack that stands for whoever asks.
const rootPack = 0

// catalogue is what was learnt of the world so far. Packs and their versions are numbered as they are met; a version
// of a pack from another place is another version.
type catalogue struct {
	world  World
	prefer map[source.ID]string
	packs  []*pack
	index  map[source.ID]int
	ranges map[string]*semver.Constraints
	edges  map[edgeKey]*edge
}

// pack is one pack and the versions of it that are known.
type pack struct {
	id       source.ID
	name     string // of the id
	versions []candidate
	sources  map[string]bitset // the versions from each place that was asked
}

// candidate is one version of a pack from one place.
type candidate struct {
	version   string
	source    string
	parsed    *semver.Version
	yanked    bool
	preferred bool
	known     bool // requires was asked for
	requires  []Requirement
}

// edge is one requirement, and who has it: the root, or versions of a pack.
type edge struct {
	by       int
	req      Requirement
	target   int
	allowed  bitset // the versions of the target that fit
	versions bitset // the versions of by that have the requirement
}

type edgeKey struct {
	by  int
	req Requirement
}

func newCatalogue(w World, prefer map[source.ID]string) *catalogue {
	return &catalogue{
		world: w, prefer: prefer,
		packs:  []*pack{{versions: []candidate{{known: true}}}},
		index:  make(map[source.ID]int),
		ranges: make(map[string]*semver.Constraints),
		edges:  make(map[edgeKey]*edge),
	}
}

// number returns the number of a pack.
func (c *catalogue) number(id source.ID) int {
	n, ok := c.index[id]
	if !ok {
		n = len(c.packs)
		c.packs = append(c.packs, &pack{id: id, name: id.String(), sources: make(map[string]bitset)})
		c.index[id] = n
	}
	return n
}

// require returns the edge for a requirement of one version of a pack.
func (c *catalogue) require(ctx context.Context, by, version int, req Requirement) (*edge, error) {
	key := edgeKey{by: by, req: req}
	e := c.edges[key]
	if e == nil {
		target := c.number(req.Pack)
		allowed, err := c.allowed(ctx, target, req)
		if err != nil {
			return nil, err
		}
		e = &edge{by: by, req: req, target: target, allowed: allowed}
		c.edges[key] = e
	}
	e.versions = e.versions.with(version)
	return e, nil
}

// allowed returns the versions that a requirement allows.
func (c *catalogue) allowed(ctx context.Context, target int, req Requirement) (bitset, error) {
	all, err := c.offered(ctx, target, req.Source)
	if err != nil {
		return nil, err
	}
	fits, err := c.check(req)
	if err != nil {
		return nil, err
	}
	var allowed bitset
	for v := range all.all() {
		if cand := c.packs[target].versions[v]; (!cand.yanked || cand.preferred) && fits(cand.parsed) {
			allowed = allowed.with(v)
		}
	}
	return allowed, nil
}

// check returns the test that a requirement's range is.
func (c *catalogue) check(req Requirement) (func(*semver.Version) bool, error) {
	text := req.Constraint
	switch {
	case text == "" && req.Source != "":
		return func(*semver.Version) bool { return true }, nil
	case text == "" || text == "latest":
		text = "*"
	}
	r := c.ranges[text]
	if r == nil {
		var err error
		if r, err = semver.NewConstraint(text); err != nil {
			return nil, diag.Errorf(diag.Invalid, "%q is not a range of versions", text)
		}
		c.ranges[text] = r
	}
	return r.Check, nil
}

// offered returns the versions of a pack from one place, and asks the world once.
func (c *catalogue) offered(ctx context.Context, target int, src string) (bitset, error) {
	p := c.packs[target]
	if set, ok := p.sources[src]; ok {
		return set, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	versions, err := c.world.Versions(ctx, p.id, src)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for _, v := range versions {
		parsed, err := semver.StrictNewVersion(v.Version)
		if err != nil {
			continue
		}
		found = append(found, candidate{
			version: v.Version, source: src, parsed: parsed, yanked: v.Yanked, preferred: c.prefer[p.id] == v.Version,
		})
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(b.parsed.Compare(a.parsed), cmp.Compare(b.version, a.version))
	})
	found = slices.CompactFunc(found, func(a, b candidate) bool { return a.version == b.version })
	var set bitset
	for _, cand := range found {
		set = set.with(len(p.versions))
		p.versions = append(p.versions, cand)
	}
	p.sources[src] = set
	return set, nil
}

// requirements returns what a version requires, and asks the world once.
func (c *catalogue) requirements(ctx context.Context, by, version int) ([]Requirement, error) {
	cand := &c.packs[by].versions[version]
	if cand.known {
		return cand.requires, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, err := c.world.Requirements(ctx, c.packs[by].id, cand.source, cand.version)
	if err != nil {
		return nil, err
	}
	cand.requires, cand.known = sortedRequirements(list), true
	return cand.requires, nil
}

// best returns the version to try first: the preferred one, else the highest.
func (c *catalogue) best(p int, set bitset) int {
	best := -1
	for v := range set.all() {
		cand := c.packs[p].versions[v]
		switch {
		case cand.preferred:
			return v
		case best < 0 || cand.parsed.GreaterThan(c.packs[p].versions[best].parsed):
			best = v
		}
	}
	return best
}

func compareRequirements(a, b Requirement) int {
	return cmp.Or(a.Pack.Compare(b.Pack), strings.Compare(a.Source, b.Source), strings.Compare(a.Constraint, b.Constraint))
}

// String writes the requirement as an explanation shows it.
func (r Requirement) String() string {
	s := r.Pack.String()
	if r.Constraint != "" && r.Constraint != "*" && r.Constraint != "latest" {
		s += " " + r.Constraint
	}
	if r.Source != "" {
		s = fmt.Sprintf("%s from %s", s, r.Source)
	}
	return s
}
