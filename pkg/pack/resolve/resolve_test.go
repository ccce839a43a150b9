package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// show returns a choice as a line: name version, and @source.
func show(chosen map[pack.ID]resolve.Selection) string {
	var parts []string
	for _, id := range slices.SortedFunc(maps.Keys(chosen), pack.ID.Compare) {
		c := chosen[id]
		s := id.Name + " " + c.Version
		if c.Source != "" {
			s = id.Name + "@" + c.Source + " " + c.Version
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// TestResolve checks M2: packs by semver ranges, with dependencies.
func TestResolve(t *testing.T) {
	for _, tt := range []struct{ name, registry, want string }{
		{"nothing", "root:", ""},
		{"highest", `
			root: a ^1
			a 1.0.0
			a 1.10.0
			a 1.9.0
			a 2.0.0`, "a 1.10.0"},
		{"dependencies", `
			root: a ^1
			a 1.0.0: b ^2, c
			b 2.1.0: c <2
			b 3.0.0
			c 1.0.0
			c 2.0.0`, "a 1.0.0, b 2.1.0, c 1.0.0"},
		{"no pack that is not required", `
			root: a
			a 1.0.0
			b 1.0.0`, "a 1.0.0"},
		{"back to an older version", `
			root: a, b <2
			a 2.0.0: b ^2
			a 1.0.0: b ^1
			b 1.5.0
			b 2.0.0`, "a 1.0.0, b 1.5.0"},
		{"far back", `
			root: a, c
			a 3.0.0: b ^1
			a 2.0.0: b ^1
			a 1.0.0
			b 1.0.0: d ^1
			b 1.1.0: d ^1
			c 1.0.0: d ^2
			d 1.0.0
			d 2.0.0`, "a 1.0.0, c 1.0.0, d 2.0.0"},
		{"cycle", `
			root: a
			a 1.0.0: b ^1
			b 1.0.0: a ^1`, "a 1.0.0, b 1.0.0"},
		{"cycle that only an older one closes", `
			root: a
			a 2.0.0: b
			a 1.0.0: b
			b 1.0.0: a ^1`, "a 1.0.0, b 1.0.0"},
		{"itself", `
			root: a
			a 2.0.0: a ^1
			a 1.0.0: a ^1`, "a 1.0.0"},
		{"preferred", `
			root: a ^1, b
			prefer: a 1.0.0, b 9.0.0
			a 1.0.0
			a 1.1.0
			b 1.0.0`, "a 1.0.0, b 1.0.0"},
		{"preferred that does not fit any more", `
			root: a ^2
			prefer: a 1.0.0
			a 1.0.0
			a 2.0.0`, "a 2.0.0"},
		{"pre-releases are asked for", `
			root: a ^1, b >=1.0.0-0, c 1.0.0-rc.1
			a 1.0.0
			a 1.1.0-rc.1
			b 1.0.0
			b 1.1.0-rc.1
			c 1.0.0-rc.1
			c 1.0.0-rc.2`, "a 1.0.0, b 1.1.0-rc.1, c 1.0.0-rc.1"},
		{"all must ask", `
			root: a >=1.0.0-0, b
			b 1.0.0: a ^1
			a 1.0.0
			a 1.1.0-rc.1`, "a 1.0.0, b 1.0.0"},
		{"a source without a range", `
			root: a@git
			a@git 0.0.0-g0123456789ab`, "a@git 0.0.0-g0123456789ab"},
		{"yanked", `
			root: a, b
			prefer: b 2.0.0
			a 1.0.0
			a 1.1.0 yanked
			b 1.0.0
			b 2.0.0 yanked`, "a 1.0.0, b 2.0.0"},
		{"two places, of which one is not needed", `
			root: a, b
			a 2.0.0: b@git
			a 1.0.0: b ^1
			b 1.0.0
			b@git 3.0.0`, "a 1.0.0, b 1.0.0"},
		{"not versions", `
			root: a
			a latest
			a 1.4
			a v9.0.0
			a 1.4.0`, "a 1.4.0"},
		{"latest is any", `
			root: a latest
			a 1.0.0
			a 2.0.0`, "a 2.0.0"},
		{"unions", `
			root: a ^1 || ^3, b
			b 1.0.0: a <3
			a 1.0.0
			a 2.0.0
			a 3.0.0`, "a 1.0.0, b 1.0.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := parseRegistry(t, tt.registry)
			chosen, err := w.resolve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := show(chosen); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			for call, n := range w.calls {
				if n > 1 {
					t.Errorf("asked %d times for %s", n, call)
				}
			}
		})
	}
}

func TestBy(t *testing.T) {
	chosen, err := parseRegistry(t, `
		root: a, c
		a 1.0.0: b, c
		b 1.0.0: c
		c 1.0.0: a`).resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root := pack.ID{}
	for name, want := range map[string][]pack.ID{
		"a": {root, id("c")}, "b": {id("a")}, "c": {root, id("a"), id("b")},
	} {
		if got := chosen[id(name)].By; fmt.Sprint(sorted(got)) != fmt.Sprint(sorted(want)) {
			t.Errorf("%s is required by %v, want %v", name, got, want)
		}
	}
}

func sorted(ids []pack.ID) []pack.ID {
	return slices.SortedFunc(slices.Values(ids), pack.ID.Compare)
}

func TestProviderErrors(t *testing.T) {
	_, err := parseRegistry(t, `
		root: a
		a 1.0.0: b ^1
		b 1.0.0: gone`).resolve(t.Context())
	want := "no registry has t/gone (required by t/a, which requires t/b ^1)"
	if err == nil || err.Error() != want || diag.CodeOf(err) != diag.NotFound || diag.HintOf(err) != "check the name" {
		t.Errorf("got %v, code %s, hint %q", err, diag.CodeOf(err), diag.HintOf(err))
	}
	_, err = parseRegistry(t, "root: gone").resolve(t.Context())
	if err == nil || err.Error() != "no registry has t/gone" {
		t.Errorf("got %v", err)
	}
	_, err = parseRegistry(t, "root: a x.y\na 1.0.0").resolve(t.Context())
	if diag.CodeOf(err) != diag.Invalid {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parseRegistry(t, "root: a\na 1.0.0").resolve(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// pigeons is a registry in which n packs need different versions, but have fewer than n versions.
func pigeons(n int) *registry {
	w := newRegistry()
	name := func(i int) pack.ID { return id(fmt.Sprintf("p%02d", i)) }
	for i := range n {
		for v := range n - 1 {
			var requires []resolve.Requirement
			for j := range n {
				if j != i {
					requires = append(requires, resolve.Requirement{Pack: name(j), Constraint: fmt.Sprintf("!=%d.0.0", v)})
				}
			}
			w.add(packSource{name(i), ""}, resolve.Version{Version: fmt.Sprintf("%d.0.0", v)}, requires)
		}
		w.root = append(w.root, resolve.Requirement{Pack: name(i)})
	}
	return w
}

func TestPigeons(t *testing.T) {
	for n := 2; n <= 5; n++ {
		w := pigeons(n)
		_, err := w.resolve(t.Context())
		var conflict *resolve.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("%d packs: %v", n, err)
		}
		if len(conflict.Removals) != 1 || len(conflict.Removals[0]) != n { // each of them requires all others
			t.Errorf("%d packs: removing %v is said to help, want all of them", n, conflict.Removals)
		}
		w.root = w.root[1:]
		for at := range w.versions {
			delete(w.versions, packSource{id("p00"), ""})
			for _, v := range w.versions[at] {
				key := fmt.Sprint(at, v.Version)
				w.requires[key] = slices.DeleteFunc(w.requires[key], func(r resolve.Requirement) bool { return r.Pack == id("p00") })
			}
		}
		chosen, err := w.resolve(t.Context())
		if err != nil || len(chosen) != n-1 {
			t.Errorf("one pack less: %s, %v", show(chosen), err)
		}
	}
}

// TestEffort checks that the solver gives up on a registry that is too hard.
func TestEffort(t *testing.T) {
	for name, w := range map[string]*registry{"many conflicts": pigeons(12), "many versions": steps(100)} {
		var stats resolve.Stats
		_, err := resolve.Resolve(t.Context(), w.root, w, resolve.Options{Effort: 100_000, Stats: &stats})
		var conflict *resolve.ConflictError
		if errors.As(err, &conflict) || diag.CodeOf(err) != diag.Conflict || diag.HintOf(err) == "" {
			t.Errorf("%s: got %v, code %s, hint %q", name, err, diag.CodeOf(err), diag.HintOf(err))
		}
		if stats.Conflicts == 0 || stats.Effort < 100_000 || stats.Effort > 200_000 {
			t.Errorf("%s: it took %+v", name, stats)
		}
	}
}

// steps returns a registry of two packs with n versions. Each version requires the next version of the other pack.
func steps(n int) *registry {
	w := newRegistry()
	w.root = []resolve.Requirement{{Pack: id("a")}}
	for i := range n {
		next := fmt.Sprintf("1.0.%d", i+1)
		for pack, other := range map[string]string{"a": "b", "b": "a"} {
			w.add(packSource{id(pack), ""}, resolve.Version{Version: fmt.Sprintf("1.0.%d", i)},
				[]resolve.Requirement{{Pack: id(other), Constraint: next}})
		}
	}
	return w
}

// TestManyVersions checks that a pack can have more versions than a word has bits.
func TestManyVersions(t *testing.T) {
	for seed := range uint64(20) {
		g := newGenerated(seed, 24, 150)
		for i, p := range g.order {
			for j, target := range g.order {
				if i != j && g.rnd.IntN(3) == 0 {
					g.knot(p, target, 110)
				}
			}
			g.root = append(g.root, resolve.Requirement{Pack: p.id})
		}
		var stats resolve.Stats
		chosen, err := resolve.Resolve(t.Context(), g.root, g, resolve.Options{Stats: &stats})
		if err != nil {
			t.Fatal(err)
		}
		g.check(t, chosen)
		if stats.Conflicts == 0 {
			t.Errorf("seed %d is too easy", seed)
		}
	}
}
