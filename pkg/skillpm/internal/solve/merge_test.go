package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// published is a registry for the solver: requirements by pack and version.
type published map[pack.ID]map[string][]pack.Dependency

func (p published) Versions(_ context.Context, id pack.ID, _ string) (versions []resolve.Version, _ error) {
	for v := range p[id] {
		versions = append(versions, resolve.Version{Version: v})
	}
	return versions, nil
}

func (p published) Requirements(_ context.Context, id pack.ID, _, version string) (reqs []resolve.Requirement, _ error) {
	for _, d := range p[id][version] {
		reqs = append(reqs, resolve.Requirement{Pack: d.ID, Constraint: d.Constraint})
	}
	return reqs, nil
}

// lock solves a manifest as [Backend.Choose] does: with the locked versions only, and otherwise with them preferred.
// Entries that stay are those of the previous lock.
func (p published) lock(t *rapid.T, m *pack.Manifest, previous *pack.Lock) (*pack.Lock, error) {
	prefer := map[pack.ID]string{}
	for id, was := range previous.Packs {
		prefer[id] = was.Version
	}
	var roots []resolve.Requirement
	for _, d := range m.Dependencies {
		roots = append(roots, resolve.Requirement{Pack: d.ID, Constraint: d.Constraint})
	}
	sticky := published{}
	for id, versions := range p {
		sticky[id] = versions
		if v, ok := prefer[id]; ok {
			sticky[id] = map[string][]pack.Dependency{v: versions[v]}
		}
	}
	chosen, err := resolve.Resolve(t.Context(), roots, sticky, resolve.Options{Prefer: prefer})
	if err != nil {
		chosen, err = resolve.Resolve(t.Context(), roots, p, resolve.Options{Prefer: prefer})
	}
	if err != nil {
		return nil, err
	}
	l := pack.NewLock()
	for id, c := range chosen {
		if was, ok := previous.Packs[id]; ok && was.Version == c.Version {
			l.Packs[id] = was
			continue
		}
		l.Packs[id] = p.entry(id, c.Version)
	}
	return l, nil
}

// entry returns the lock's entry of a version.
func (p published) entry(id pack.ID, version string) *pack.LockedPack {
	skills := map[string]string{id.Name: fmt.Sprintf("t1:sha256:%064x", len(version)+int(version[0])<<8+int(version[2])<<16)}
	e := &pack.LockedPack{
		Version: version, Source: "oci://registry.example/" + id.String(), Skills: skills,
		Resolved: fmt.Sprintf("sha256:%064x", int(version[0])<<8+int(version[2])), Integrity: bundle.Integrity(skills),
		Dependencies: map[string]string{},
	}
	for _, d := range p[id][version] {
		e.Dependencies[d.ID.String()] = pack.FormatRequirement(d)
	}
	return e
}

// drawPublished draws a registry of six packs with up to four versions each, of which later ones require earlier ones.
func drawPublished(t *rapid.T) published {
	p := published{}
	all := []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0"}
	for i := range 6 {
		id := pack.ID{Owner: "acme", Name: fmt.Sprintf("p%d", i)}
		p[id] = map[string][]pack.Dependency{}
		for _, v := range all[:rapid.IntRange(1, len(all)).Draw(t, "versions")] {
			var deps []pack.Dependency
			for j := range i {
				if rapid.IntRange(0, 2).Draw(t, "requires") == 0 {
					deps = append(deps, drawDependency(t, j))
				}
			}
			p[id][v] = deps
		}
	}
	return p
}

func drawDependency(t *rapid.T, i int) pack.Dependency {
	ranges := []string{"^1.0.0", "^2.0.0", ">=1.0.0", ">=1.1.0", "~1.1.0"}
	return pack.Dependency{
		ID: pack.ID{Owner: "acme", Name: fmt.Sprintf("p%d", i)}, Constraint: rapid.SampledFrom(ranges).Draw(t, "range"),
	}
}

// manifestOf returns a manifest with the dependencies of several lists. Of those with one name, the last one counts.
func manifestOf(t *rapid.T, lists ...[]pack.Dependency) *pack.Manifest {
	m := pack.NewManifest(pack.ManifestName)
	for _, d := range slices.Concat(lists...) {
		if err := m.SetDependency(d); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// TestMergeProperties proves for branches that each install, change, or update something: the merge of their lockfiles
// leads to a lock that meets every requirement, has only entries of the branches and of the registry, does not depend
// on which branch is ours, and does not change when it is resolved again. The only error is a conflict that a new
// project with the merged manifest has too.
func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPublished(t)
		drawList := func(name string) (list []pack.Dependency) {
			for range rapid.IntRange(0, 3).Draw(t, name) {
				list = append(list, drawDependency(t, rapid.IntRange(0, 5).Draw(t, name)))
			}
			return list
		}
		common, mine, yours := drawList("base"), drawList("ours"), drawList("theirs")
		var locks [3]*pack.Lock
		for i, list := range [][]pack.Dependency{nil, mine, yours} {
			start := pack.NewLock()
			if i > 0 && rapid.Bool().Draw(t, "keeps the lock") {
				start = locks[0]
			}
			var err error
			if locks[i], err = p.lock(t, manifestOf(t, common, list), start); err != nil {
				t.Skip("a branch has a conflict")
			}
		}
		m := manifestOf(t, common, mine, yours)
		merged, err := MergeLocks(t.Context(), m, locks[0], locks[1], locks[2])
		if err != nil {
			t.Fatal(err)
		}
		for id, e := range merged.Packs {
			if !entryOf(id, e, locks[1]) && !entryOf(id, e, locks[2]) {
				t.Fatalf("%s %s is an entry of neither branch", id, e.Version)
			}
		}
		if other, err := MergeLocks(t.Context(), m, locks[0], locks[2], locks[1]); err != nil || !other.Equal(merged) {
			t.Fatalf("the other direction: %v\n%s\n%s", err, merged.Encode(), other.Encode())
		}
		checkResolved(t, p, m, merged)
	})
}

func entryOf(id pack.ID, e *pack.LockedPack, l *pack.Lock) bool {
	other, ok := l.Packs[id]
	return ok && other.Equal(e)
}

// checkResolved checks the lock that a merged one leads to.
func checkResolved(t *rapid.T, p published, m *pack.Manifest, merged *pack.Lock) {
	lock, err := p.lock(t, m, merged)
	if err != nil {
		if _, fresh := p.lock(t, m, pack.NewLock()); diag.CodeOf(err) != diag.Conflict || fresh == nil {
			t.Fatalf("%v, and in a new project: %v", err, fresh)
		}
		return
	}
	if differences := pack.Compare(m, lock); len(differences) > 0 {
		t.Fatalf("the lock does not meet the manifest: %v", differences)
	}
	again, err := p.lock(t, m, lock)
	if err != nil || string(again.Encode()) != string(lock.Encode()) {
		t.Fatalf("resolving again changes the lock: %v\n%s\n%s", err, lock.Encode(), again.Encode())
	}
	again, err = MergeLocks(t.Context(), m, lock, lock, lock)
	if err != nil || !again.Equal(lock) {
		t.Fatalf("merging a lock with itself changes it: %v", err)
	}
}

// TestMergeVersions checks which version of a pack wins that both sides changed.
func TestMergeVersions(t *testing.T) {
	id := func(name string) pack.ID { return pack.ID{Owner: "acme", Name: name} }
	p := published{
		id("base"): {"1.0.0": nil, "1.1.0": nil, "2.0.0": nil},
		id("app"):  {"1.0.0": {{ID: id("base"), Constraint: "^1.0.0"}}},
	}
	lockOf := func(versions map[string]string) *pack.Lock {
		l := pack.NewLock()
		for name, version := range versions {
			l.Packs[id(name)] = p.entry(id(name), version)
		}
		return l
	}
	type versions = map[string]string
	for name, test := range map[string]struct {
		requires           string // of acme/base in the manifest
		base, ours, theirs versions
		want               string // of acme/base
	}{
		"both updated: the higher one":         {"*", versions{"base": "1.0.0"}, versions{"base": "1.1.0"}, versions{"base": "2.0.0"}, "2.0.0"},
		"the manifest allows one":              {"^1.0", versions{"base": "1.0.0"}, versions{"base": "1.1.0"}, versions{"base": "2.0.0"}, "1.1.0"},
		"another pack allows one":              {"*", nil, versions{"base": "2.0.0"}, versions{"base": "1.1.0", "app": "1.0.0"}, "1.1.0"},
		"one side went back":                   {"*", versions{"base": "2.0.0"}, versions{"base": "2.0.0"}, versions{"base": "1.1.0"}, "1.1.0"},
		"one removed it, and it is needed now": {"*", versions{"base": "1.0.0"}, nil, versions{"base": "1.0.0"}, "1.0.0"},
	} {
		m := pack.NewManifest(pack.ManifestName)
		err := m.SetDependency(pack.Dependency{ID: id("base"), Constraint: test.requires})
		if _, app := test.theirs["app"]; app {
			err = errors.Join(err, m.SetDependency(pack.Dependency{ID: id("app"), Constraint: "*"}))
		}
		if err != nil {
			t.Fatal(err)
		}
		merged, err := MergeLocks(t.Context(), m, lockOf(test.base), lockOf(test.ours), lockOf(test.theirs))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := merged.Packs[id("base")]; got == nil || got.Version != test.want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestMergeContent checks one version of a pack that the branches have locked differently: other content is an error,
// from wherever it is and whatever skills were selected. Another source or commit with the same content is not.
func TestMergeContent(t *testing.T) {
	id := pack.ID{Owner: "acme", Name: "base"}
	digest := func(n int) string { return fmt.Sprintf("t1:sha256:%064x", n) }
	locked := func(source string, resolved int, skills map[string]string) *pack.LockedPack {
		return &pack.LockedPack{
			Version: "1.0.0", Source: source, Resolved: fmt.Sprintf("sha256:%064x", resolved), Skills: skills,
			Integrity: bundle.Integrity(skills), Dependencies: map[string]string{},
		}
	}
	const here, there = "oci://a.example/acme/base", "oci://b.example/acme/base"
	one := map[string]string{"x": digest(1)}
	changed := map[string]string{"x": digest(2)}
	two := map[string]string{"x": digest(1), "y": digest(3)}
	more := map[string]string{"x": digest(2), "y": digest(3)}
	base, partial := locked(here, 1, one), locked(here, 1, one)
	partial.Partial = true
	needy := locked(there, 1, one)
	needy.Dependencies["evil/pack"] = "*"
	m := pack.NewManifest(pack.ManifestName)
	if err := m.SetDependency(pack.Dependency{ID: id, Constraint: "*"}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		base, ours, theirs *pack.LockedPack
		want               *pack.LockedPack // nil for an error
	}{
		"other content":                    {nil, base, locked(here, 2, changed), nil},
		"elsewhere":                        {base, base, locked(there, 2, changed), nil},
		"elsewhere, with more skills":      {base, base, locked(there, 2, more), nil},
		"an added skill":                   {base, base, locked(there, 2, two), nil},
		"more skills than were selected":   {partial, partial, locked(here, 1, two), locked(here, 1, two)},
		"other content of a selected one":  {partial, partial, locked(there, 2, more), nil},
		"another dependency":               {base, base, needy, nil},
		"a move with the same content":     {base, base, locked(there, 2, one), locked(there, 2, one)},
		"another digest, the same content": {base, base, locked(here, 2, one), locked(here, 2, one)},
		"two digests, the same content":    {nil, base, locked(here, 2, one), nil},
		"two moves with the same content":  {base, locked(here, 3, one), locked(there, 2, one), locked(here, 3, one)},
	} {
		lockOf := func(p *pack.LockedPack) *pack.Lock {
			l := pack.NewLock()
			if p != nil {
				l.Packs[id] = p
			}
			return l
		}
		for _, sides := range [][2]*pack.LockedPack{{test.ours, test.theirs}, {test.theirs, test.ours}} {
			merged, err := MergeLocks(t.Context(), m, lockOf(test.base), lockOf(sides[0]), lockOf(sides[1]))
			switch {
			case test.want == nil && diag.CodeOf(err) != diag.Integrity:
				t.Errorf("%s: %v, want an integrity error", name, err)
			case test.want != nil && (err != nil || !merged.Packs[id].Equal(test.want)):
				t.Errorf("%s: %v, %+v", name, err, merged)
			}
		}
	}
}
