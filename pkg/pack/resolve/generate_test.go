package resolve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// generated is a large registry that depends only on the seed. Each kind first plants a choice of versions, so that a
// solution exists.
type generated struct {
	root  []resolve.Requirement
	packs map[pack.ID]*generatedPack
	order []*generatedPack
	rnd   *rand.Rand
}

type generatedPack struct {
	id       pack.ID
	versions []resolve.Version // ascending
	requires [][]resolve.Requirement
	planted  int // the version that the choice has
}

// newGenerated returns n packs of perPack versions without requirements. The names are unrelated to the numbers.
func newGenerated(seed uint64, n, perPack int) *generated {
	g := &generated{packs: make(map[pack.ID]*generatedPack, n), rnd: rand.New(rand.NewPCG(seed, 4))}
	for _, name := range g.rnd.Perm(n) {
		p := &generatedPack{id: pack.ID{Owner: "acme", Name: fmt.Sprintf("pack-%05d", name)}}
		major, minor, patch := g.rnd.IntN(3), g.rnd.IntN(4), 0
		for range perPack {
			p.versions = append(p.versions, resolve.Version{Version: fmt.Sprintf("%d.%d.%d", major, minor, patch)})
			switch k := g.rnd.IntN(100); {
			case k < 20:
				major, minor, patch = major+1, 0, 0
			case k < 60:
				minor, patch = minor+1, 0
			default:
				patch += 1 + g.rnd.IntN(3)
			}
		}
		p.requires = make([][]resolve.Requirement, perPack)
		p.planted = g.rnd.IntN(perPack)
		g.order = append(g.order, p)
		g.packs[p.id] = p
	}
	return g
}

// atLeast and atMost return ranges that include the numbered version.
func (p *generatedPack) atLeast(v int) resolve.Requirement {
	return resolve.Requirement{Pack: p.id, Constraint: ">=" + p.versions[v].Version}
}

func (p *generatedPack) atMost(v int) resolve.Requirement {
	return resolve.Requirement{Pack: p.id, Constraint: "<=" + p.versions[v].Version}
}

// loose returns a typical range that includes the planted version.
func (g *generated) loose(p *generatedPack) resolve.Requirement {
	v := p.versions[g.rnd.IntN(p.planted+1)].Version
	if major, _, _ := strings.Cut(v, "."); g.rnd.IntN(2) == 0 && major != "0" &&
		strings.HasPrefix(p.versions[p.planted].Version, major+".") {
		return resolve.Requirement{Pack: p.id, Constraint: "^" + v}
	}
	return resolve.Requirement{Pack: p.id, Constraint: ">=" + v}
}

// ecosystem has n packs of ten versions with requirements like those of published packages: an earlier pack requires
// every pack but the first ten, very many packs require a few, and most requirements are loose. It forces backtracking,
// because newer versions of a sixth of the packs require a newer version of a pack than another pack allows.
func ecosystem(seed uint64, n int) *generated {
	g := newGenerated(seed, n, 10)
	for i, p := range g.order {
		var targets []*generatedPack
		for _, child := range []int{2*i + 10, 2*i + 11} {
			if child < n {
				targets = append(targets, g.order[child])
			}
		}
		own := len(targets)
		if more := n - i - 1; more > 0 {
			targets = append(targets, g.order[i+1+g.rnd.IntN(more)])
			popular := min(i+1+int(float64(more)*g.rnd.Float64()*g.rnd.Float64()*g.rnd.Float64()), n-1)
			targets = append(targets, g.order[popular])
		}
		trap := g.rnd.IntN(6) == 0
		for k, target := range targets {
			if k > 0 && target == targets[k-1] {
				continue
			}
			tight := k < own && g.rnd.IntN(4) == 0
			base := g.loose(target)
			for v := range p.versions {
				req := base
				switch {
				case tight:
					req = target.atMost(target.planted)
				case trap && v > p.planted && k >= own && target.planted < 9:
					req = target.atLeast(target.planted + 1)
				}
				p.requires[v] = append(p.requires[v], req)
			}
		}
	}
	for _, p := range g.order[:min(10, n)] {
		g.root = append(g.root, g.loose(p))
	}
	return g
}

// knots has n packs of ten versions in groups of twelve: the root requires the first, which requires the others. In a
// group every version allows only some random versions of some other packs, so that most choices exclude each other,
// and the conflicts show late.
func knots(seed uint64, n int, density float64, width int) *generated {
	const size = 12
	g := newGenerated(seed, n, 10)
	for group := range slices.Chunk(g.order, size) {
		for i, p := range group {
			for j, target := range group {
				if i != j && g.rnd.Float64() < density {
					g.knot(p, target, width)
				}
				for v := range p.versions {
					if i == 0 && j > 0 {
						p.requires[v] = append(p.requires[v], resolve.Requirement{Pack: target.id})
					}
				}
			}
		}
		g.root = append(g.root, resolve.Requirement{Pack: group[0].id})
	}
	return g
}

// knot makes each version of p allow some consecutive versions of target.
func (g *generated) knot(p, target *generatedPack, width int) {
	n := len(target.versions)
	for v := range p.versions {
		low := g.rnd.IntN(n - width + 1)
		if v == p.planted {
			low = min(max(low, target.planted-width+1), target.planted)
		}
		p.requires[v] = append(p.requires[v], resolve.Requirement{
			Pack: target.id, Constraint: ">=" + target.versions[low].Version + " <=" + target.versions[low+width-1].Version,
		})
	}
}

func (g *generated) Versions(_ context.Context, pk pack.ID, _ string) ([]resolve.Version, error) {
	p, ok := g.packs[pk]
	if !ok {
		return nil, diag.Errorf(diag.NotFound, "no registry has %s", pk)
	}
	return p.versions, nil
}

func (g *generated) Requirements(_ context.Context, pk pack.ID, _, version string) ([]resolve.Requirement, error) {
	p := g.packs[pk]
	for v, offered := range slices.Backward(p.versions) {
		if offered.Version == version {
			return p.requires[v], nil
		}
	}
	return nil, diag.Errorf(diag.NotFound, "%s has no version %s", pk, version)
}

// shuffle changes only the order of the registry's answers.
func (g *generated) shuffle(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 5))
	mix := func(list []resolve.Requirement) {
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	mix(g.root)
	for _, p := range g.order {
		for _, list := range p.requires {
			mix(list)
		}
		rnd.Shuffle(len(p.versions), func(i, j int) {
			p.versions[i], p.versions[j] = p.versions[j], p.versions[i]
			p.requires[i], p.requires[j] = p.requires[j], p.requires[i]
		})
	}
}

// check fails if a requirement of the root or of a chosen version is not met, or if nothing requires a chosen pack.
func (g *generated) check(t testing.TB, chosen map[pack.ID]resolve.Selection) {
	t.Helper()
	required := make(map[pack.ID]bool)
	holds := func(r resolve.Requirement) {
		text := r.Constraint
		if text == "" {
			text = "*"
		}
		c, err := semver.NewConstraint(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := chosen[r.Pack]; !ok || !c.Check(semver.MustParse(got.Version)) {
			t.Fatalf("%s does not hold: %s was chosen", r, got.Version)
		}
		required[r.Pack] = true
	}
	for _, r := range g.root {
		holds(r)
	}
	for id, c := range chosen {
		requires, err := g.Requirements(t.Context(), id, "", c.Version)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requires {
			holds(r)
		}
	}
	if len(required) != len(chosen) {
		t.Fatalf("%d packs were chosen and %d are required", len(chosen), len(required))
	}
}

// sparse has n packs of perPack versions. Each requires up to two others, and newer versions of some require more than
// other packs allow. The root requires some of them.
func sparse(seed uint64, n, perPack, direct int) *generated {
	g := newGenerated(seed, n, perPack)
	for i, p := range g.order[:n-1] {
		narrow, strict := g.rnd.IntN(6) == 0, g.rnd.IntN(6) == 0
		for range g.rnd.IntN(3) {
			target := g.order[i+1+int(float64(n-i-1)*g.rnd.Float64()*g.rnd.Float64())]
			base := g.loose(target)
			for v := range p.versions {
				req := base
				switch {
				case narrow:
					req = target.atMost(target.planted)
				case strict && v > p.planted && target.planted < perPack-1:
					req = target.atLeast(target.planted + 1)
				}
				p.requires[v] = append(p.requires[v], req)
			}
		}
	}
	for i := range direct {
		g.root = append(g.root, g.loose(g.order[i*n/direct]))
	}
	return g
}
