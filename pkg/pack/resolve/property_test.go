package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

var (
	names       = []string{"a", "b", "c", "d", "e"}
	versions    = []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0-rc.1", "3.0.0"}
	constraints = []string{"", "^1", "^2", "1.0.0", ">=1.1.0", "<2", ">=2.0.0-0", "!=1.1.0", "<2 || >=3"}
)

// drawDense draws registries in which every version of a pack excludes versions of most others, so that there are many
// learned clauses about several packs each.
func drawDense(t *rapid.T) *registry {
	w := newRegistry()
	used := []string{"a", "b", "c", "d", "e", "f"}[:rapid.IntRange(3, 6).Draw(t, "packs")]
	texts := []string{"1.0.0", "2.0.0", "3.0.0", "4.0.0"}[:rapid.IntRange(2, 4).Draw(t, "versions")]
	requirement := rapid.Custom(func(t *rapid.T) resolve.Requirement {
		return resolve.Requirement{
			Pack:       id(rapid.SampledFrom(used).Draw(t, "pack")),
			Constraint: rapid.SampledFrom([]string{"!=", "!=", "!=", "<=", ">="}).Draw(t, "operator") + rapid.SampledFrom(texts).Draw(t, "bound"),
		}
	})
	for _, name := range used {
		for _, v := range texts {
			w.add(packSource{id(name), ""}, resolve.Version{Version: v}, rapid.SliceOfN(requirement, 2, 6).Draw(t, "requirements"))
		}
		if len(w.root) < 2 || rapid.Bool().Draw(t, "required") {
			w.root = append(w.root, resolve.Requirement{Pack: id(name)})
		}
	}
	return w
}

// drawRegistry draws a small registry: few packs with few versions, and requirements that often exclude each other.
func drawRegistry(t *rapid.T) *registry {
	if rapid.IntRange(0, 2).Draw(t, "dense") == 0 {
		return drawDense(t)
	}
	w := newRegistry()
	used := names[:rapid.IntRange(1, len(names)).Draw(t, "packs")]
	requirement := rapid.Custom(func(t *rapid.T) resolve.Requirement {
		r := resolve.Requirement{
			Pack:       id(rapid.SampledFrom(used).Draw(t, "pack")),
			Constraint: rapid.SampledFrom(constraints).Draw(t, "constraint"),
		}
		if rapid.IntRange(0, 9).Draw(t, "from") == 0 {
			r.Source = "git"
		}
		return r
	})
	for _, name := range used {
		w.versions[packSource{id(name), ""}] = nil
		w.versions[packSource{id(name), "git"}] = nil
		for _, v := range rapid.SliceOfDistinct(rapid.SampledFrom(versions), rapid.ID[string]).Draw(t, "versions of "+name) {
			src := rapid.SampledFrom([]string{"", "", "", "git"}).Draw(t, "source")
			version := resolve.Version{Version: v}
			switch rapid.IntRange(0, 11).Draw(t, "against it") {
			case 0:
				version.Yanked = true
			case 1:
				version.Unavailable = "is too young"
			}
			w.add(packSource{id(name), src}, version, rapid.SliceOfN(requirement, 0, 3).Draw(t, "requirements"))
		}
	}
	w.root = rapid.SliceOfN(requirement, 1, 4).Draw(t, "root")
	if rapid.Bool().Draw(t, "locked") {
		w.prefer[id(rapid.SampledFrom(used).Draw(t, "locked pack"))] = rapid.SampledFrom(versions).Draw(t, "locked version")
	}
	return w
}

// fits defines the meaning of a requirement, independently of the resolver's code.
func (w *registry) fits(r resolve.Requirement, at packSource, v resolve.Version) bool {
	if at.pack != r.Pack || at.src != r.Source || (v.Yanked || v.Unavailable != "") && w.prefer[at.pack] != v.Version {
		return false
	}
	if r.Constraint == "" && r.Source != "" {
		isRelease := func(v resolve.Version) bool { return semver.MustParse(v.Version).Prerelease() == "" }
		return isRelease(v) || w.prefer[at.pack] == v.Version || !slices.ContainsFunc(w.versions[at], isRelease)
	}
	text := r.Constraint
	if text == "" {
		text = "*"
	}
	c, err := semver.NewConstraint(text)
	return err == nil && c.Check(semver.MustParse(v.Version))
}

type pick struct {
	at packSource
	v  resolve.Version
}

// solvable tries every choice.
func (w *registry) solvable(open []resolve.Requirement, picked map[pack.ID]pick) bool {
	if len(open) == 0 {
		return true
	}
	r, rest := open[0], open[1:]
	if p, ok := picked[r.Pack]; ok {
		return w.fits(r, p.at, p.v) && w.solvable(rest, picked)
	}
	at := packSource{r.Pack, r.Source}
	for _, v := range w.versions[at] {
		if !w.fits(r, at, v) {
			continue
		}
		picked[r.Pack] = pick{at, v}
		if w.solvable(slices.Concat(rest, w.requires[fmt.Sprint(at, v.Version)]), picked) {
			return true
		}
		delete(picked, r.Pack)
	}
	return false
}

// check fails if a choice does not meet a requirement or has packs that nothing requires.
func (w *registry) check(t *rapid.T, chosen map[pack.ID]resolve.Selection) {
	required := make(map[pack.ID]bool)
	holds := func(r resolve.Requirement) {
		c, ok := chosen[r.Pack]
		i := slices.IndexFunc(w.versions[packSource{r.Pack, c.Source}], func(v resolve.Version) bool { return v.Version == c.Version })
		if !ok || i < 0 || !w.fits(r, packSource{r.Pack, c.Source}, w.versions[packSource{r.Pack, c.Source}][i]) {
			t.Fatalf("%s does not hold in %s", r, show(chosen))
		}
		required[r.Pack] = true
	}
	for _, r := range w.root {
		holds(r)
	}
	for id, c := range chosen {
		for _, r := range w.requires[fmt.Sprint(packSource{id, c.Source}, c.Version)] {
			holds(r)
		}
	}
	for id := range chosen {
		if !required[id] {
			t.Fatalf("nobody requires %s", id)
		}
	}
}

// TestComplete checks that every choice meets all constraints, and that an error occurs only if there is no choice.
func TestComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		chosen, err := w.resolve(context.Background())
		if can := w.solvable(w.root, make(map[pack.ID]pick)); can != (err == nil) {
			t.Fatalf("there is a choice: %t, and the resolver says %v", can, err)
		}
		if err == nil {
			w.check(t, chosen)
		}
	})
}

// TestOrder checks that the order of requirements and versions is irrelevant.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		chosen, err := w.resolve(context.Background())
		shuffled := newRegistry()
		shuffled.prefer = w.prefer
		shuffled.root = shuffle(t, w.root)
		for at, list := range w.versions {
			shuffled.versions[at] = shuffle(t, list)
		}
		for at, list := range w.requires {
			shuffled.requires[at] = shuffle(t, list)
		}
		again, err2 := shuffled.resolve(context.Background())
		if show(chosen) != show(again) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%s, %v\nand in another order\n%s, %v", show(chosen), err, show(again), err2)
		}
	})
}

func shuffle[T any](t *rapid.T, list []T) []T {
	if len(list) < 2 {
		return list
	}
	return rapid.Permutation(list).Draw(t, "order")
}

// TestStable checks that resolving from the resulting lockfile changes nothing.
func TestStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		chosen, err := w.resolve(context.Background())
		if err != nil {
			return
		}
		for id, c := range chosen {
			w.prefer[id] = c.Version
		}
		again, err := w.resolve(context.Background())
		if err != nil || show(again) != show(chosen) {
			t.Fatalf("%s, and from its lock %s, %v", show(chosen), show(again), err)
		}
	})
}

// TestBest checks that the root's requirements are decided in order, the locked ones first: each gets the locked
// version, or else the highest version that leaves a choice for all later ones.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		chosen, err := w.resolve(context.Background())
		if err != nil {
			return
		}
		open := slices.Clone(w.root)
		picked := make(map[pack.ID]pick)
		for _, r := range w.direct() {
			want := w.firstThatFits(r, open, picked)
			if got := chosen[r.Pack]; got.Version != want.v.Version || got.Source != want.at.src {
				t.Fatalf("%s was chosen, want %s %s", show(chosen), r.Pack, want.v.Version)
			}
			open = slices.Concat(open, w.requires[fmt.Sprint(want.at, want.v.Version)])
		}
	})
}

// direct returns a requirement of each pack that the root requires, in decision order.
func (w *registry) direct() []resolve.Requirement {
	list := slices.Clone(w.root)
	slices.SortStableFunc(list, func(a, b resolve.Requirement) int {
		_, la := w.prefer[a.Pack]
		_, lb := w.prefer[b.Pack]
		if la != lb {
			return map[bool]int{true: -1, false: 1}[la]
		}
		return a.Pack.Compare(b.Pack)
	})
	return slices.CompactFunc(list, func(a, b resolve.Requirement) bool { return a.Pack == b.Pack })
}

// firstThatFits picks the best version that leaves a choice.
func (w *registry) firstThatFits(r resolve.Requirement, open []resolve.Requirement, picked map[pack.ID]pick) pick {
	at := packSource{r.Pack, r.Source}
	list := slices.Clone(w.versions[at])
	slices.SortFunc(list, func(a, b resolve.Version) int {
		if pa, pb := w.prefer[at.pack] == a.Version, w.prefer[at.pack] == b.Version; pa != pb {
			return map[bool]int{true: -1, false: 1}[pa]
		}
		return semver.MustParse(b.Version).Compare(semver.MustParse(a.Version))
	})
	for _, v := range list {
		if !w.fits(r, at, v) {
			continue
		}
		picked[r.Pack] = pick{at, v}
		if w.solvable(slices.Concat(open, w.requires[fmt.Sprint(at, v.Version)]), maps.Clone(picked)) {
			break
		}
	}
	return picked[r.Pack]
}

// TestConflictIsSmallest checks that a conflict names a minimal set of requirements that exclude each other: they alone
// have no solution, and removing any one of them makes the rest solvable. The advice resolves the whole conflict.
func TestConflictIsSmallest(t *testing.T) {
	conflicts := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		_, err := w.resolve(context.Background())
		var conflict *resolve.ConflictError
		if !errors.As(err, &conflict) {
			return
		}
		conflicts++
		w.checkNeeds(t, conflict)
		for _, other := range conflict.Others {
			w.checkNeeds(t, other)
		}
		w.checkAdvice(t, conflict)
	})
	if conflicts == 0 {
		t.Fatal("no conflict was drawn")
	}
}

// checkNeeds fails if the requirements that a conflict names are solvable, or if one of them is not necessary for the
// conflict.
func (w *registry) checkNeeds(t *rapid.T, conflict *resolve.ConflictError) {
	if w.only(conflict.Dependencies, -1).solves() {
		t.Fatalf("what it names can be met:\n%s", conflict)
	}
	for i, n := range conflict.Dependencies {
		if !w.only(conflict.Dependencies, i).solves() {
			t.Fatalf("%s is not needed for the conflict:\n%s", n, conflict)
		}
	}
	if len(conflict.Disputes) == 0 || !slices.ContainsFunc(conflict.Disputes, func(d resolve.Dispute) bool { return len(d.Matching) == 0 }) {
		t.Fatalf("it names no pack that cannot be had:\n%s", conflict)
	}
}

func (w *registry) solves() bool { return w.solvable(w.root, make(map[pack.ID]pick)) }

// with returns the registry with other requirements of the root.
func (w *registry) with(root []resolve.Requirement) *registry {
	changed := *w
	changed.root = root
	return &changed
}

// only returns the registry with the named requirements except one.
func (w *registry) only(needs []resolve.Dependency, but int) *registry {
	reduced := newRegistry()
	reduced.versions, reduced.prefer = w.versions, w.prefer
	for i, n := range needs {
		switch {
		case i == but:
		case n.By.IsZero():
			reduced.root = append(reduced.root, n.Requirement)
		default:
			for at, list := range w.versions {
				for _, v := range list {
					key := fmt.Sprint(at, v.Version)
					if at.pack == n.By && slices.Contains(n.Versions, v.Version) && slices.Contains(w.requires[key], n.Requirement) {
						reduced.requires[key] = append(reduced.requires[key], n.Requirement)
					}
				}
			}
		}
	}
	return reduced
}

// checkAdvice fails if a change that the error proposes does not help, or if it proposes none.
func (w *registry) checkAdvice(t *rapid.T, conflict *resolve.ConflictError) {
	for _, c := range conflict.Changes {
		root := slices.Clone(w.root)
		for i, r := range root {
			if r.Pack == c.Pack && r.Source == "" {
				root[i].Constraint = c.Version
			}
		}
		if !w.with(root).solves() {
			t.Fatalf("%s %s does not help:\n%s", c.Pack, c.Version, conflict)
		}
	}
	for _, set := range conflict.Removals {
		if !w.with(without(w.root, set)).solves() {
			t.Fatalf("it does not help to remove %s:\n%s", set, conflict)
		}
		for i := range set {
			if w.with(without(w.root, slices.Delete(slices.Clone(set), i, i+1))).solves() {
				t.Fatalf("%s need not be removed:\n%s", set[i], conflict)
			}
		}
	}
	if len(conflict.Changes)+len(conflict.Removals) == 0 {
		t.Fatalf("it does not say what to do:\n%s", conflict)
	}
	if len(conflict.Unavailable) > 0 && !w.released(conflict.Unavailable).solves() {
		t.Fatalf("the versions that are withheld would not do:\n%s", conflict)
	}
}

func without(root, not []resolve.Requirement) []resolve.Requirement {
	return slices.DeleteFunc(slices.Clone(root), func(r resolve.Requirement) bool { return slices.Contains(not, r) })
}

// released returns the registry without restrictions on some versions.
func (w *registry) released(list []resolve.UnavailableVersion) *registry {
	changed := *w
	changed.versions = make(map[packSource][]resolve.Version)
	for at, versions := range w.versions {
		versions = slices.Clone(versions)
		for i, v := range versions {
			if slices.ContainsFunc(list, func(h resolve.UnavailableVersion) bool { return h.Pack == at.pack && h.Version == v.Version }) {
				versions[i].Yanked, versions[i].Unavailable = false, ""
			}
		}
		changed.versions[at] = versions
	}
	return &changed
}

// TestConflictRequirements checks that a conflict names every requirement whose removal alone makes the whole case
// solvable.
func TestConflictRequirements(t *testing.T) {
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawRegistry(t)
		_, err := w.resolve(context.Background())
		var conflict *resolve.ConflictError
		if !errors.As(err, &conflict) {
			return
		}
		for _, r := range w.root {
			named := slices.ContainsFunc(conflict.Dependencies, func(n resolve.Dependency) bool { return n.By.IsZero() && n.Requirement == r })
			if w.with(without(w.root, []resolve.Requirement{r})).solves() {
				if ended++; !named {
					t.Fatalf("without %s there is a choice:\n%s", r, conflict)
				}
			}
		}
	})
	if ended == 0 {
		t.Fatal("no conflict was drawn that one requirement ends")
	}
}
