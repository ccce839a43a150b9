// Package registrytest is the contract that every kind of registry keeps, as tests.
package registrytest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Published is a version of a pack that a registry holds.
type Published struct {
	Release oci.Release
	Trees   []bundle.Tree
	At      string // RFC 3339
	Yanked  string // why it was yanked, "" if it was not
}

// Fetcher fetches the packs that a registry describes.
type Fetcher interface {
	Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error
}

// Kind is a kind of registry.
type Kind struct {
	// Make makes a registry that holds the packs, and what fetches from it.
	Make func(t *testing.T, packs []Published) (registry.Registry, Fetcher)
	// Dated is true of registries that know when a version was published and whether it was yanked.
	Dated bool
	// Lists is true for registries that can list their packs.
	Lists bool
}

// Pack returns a version of a pack with skills of the given names. Its one dependency is acme/base.
func Pack(id, version string, skills ...string) Published {
	owner, name, _ := strings.Cut(id, "/")
	p := Published{At: "2026-11-20T10:00:00Z", Release: oci.Release{
		ID: pack.ID{Owner: owner, Name: name}, Version: version, Description: "A pack", License: "Apache-2.0",
		Dependencies: []pack.Dependency{{ID: pack.ID{Owner: "acme", Name: "base"}, Constraint: ">=1 <3"}},
	}}
	for _, s := range skills {
		p.Trees = append(p.Trees, bundle.MapTree(s, map[string][]byte{
			"SKILL.md":       []byte("---\nname: " + s + "\ndescription: Does " + s + ".\n---\n\nVersion " + version + ".\n"),
			"scripts/run.sh": []byte("#!/bin/sh\n"),
		}, func(p string) bool { return p == "scripts/run.sh" }))
		p.Release.Skills = append(p.Release.Skills, oci.SkillMeta{Name: s, Description: "Does " + s + "."})
	}
	return p
}

// Run runs the contract.
func Run(t *testing.T, kind Kind) {
	withdrawn := Pack("acme/deploy", "1.3.0", "deploy")
	withdrawn.Yanked = "it deletes too much"
	packs := []Published{
		Pack("acme/deploy", "1.2.0", "deploy"), withdrawn, Pack("acme/deploy", "1.10.0", "deploy", "rollback"),
		Pack("acme/deploy", "2.0.0-rc.1", "deploy"), Pack("globex/ops", "0.1.0", "ops"),
	}
	r, fetcher := kind.Make(t, packs)
	t.Run("versions", func(t *testing.T) { testVersions(t, kind, r) })
	t.Run("pack", func(t *testing.T) { testPack(t, r, fetcher, packs) })
	t.Run("catalog", func(t *testing.T) { testCatalog(t, kind, r) })
	t.Run("missing", func(t *testing.T) { testMissing(t, r) })
	t.Run("at once", func(t *testing.T) { fresh, _ := kind.Make(t, packs); testAtOnce(t, fresh) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, kind, packs) })
}

// testVersions: the highest comes first; yanked versions are there and say so.
func testVersions(t *testing.T, kind Kind, r registry.Registry) {
	got, err := r.Versions(t.Context(), pack.ID{Owner: "acme", Name: "deploy"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range got {
		names = append(names, v.Version)
		if v.Source == "" || v.Source != got[0].Source {
			t.Errorf("%s has the source %q", v.Version, v.Source)
		}
		if kind.Dated && (v.Published == "" || v.Yanked != (v.Version == "1.3.0") ||
			v.Yanked != (v.Reason == "it deletes too much")) {
			t.Errorf("%+v", v)
		}
		p, err := r.Pack(t.Context(), pack.ID{Owner: "acme", Name: "deploy"}, v.Version)
		if err != nil || v.Digest != p.Ref.Digest && v.Digest != "" || kind.Dated && v.Digest == "" {
			t.Errorf("%s has the digest %q, and its pack %q: %v", v.Version, v.Digest, p.Ref.Digest, err)
		}
	}
	if want := []string{"2.0.0-rc.1", "1.10.0", "1.3.0", "1.2.0"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// testPack: the description matches the fetched pack.
func testPack(t *testing.T, r registry.Registry, fetcher Fetcher, packs []Published) {
	for _, want := range packs {
		p, err := r.Pack(t.Context(), want.Release.ID, want.Release.Version)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != want.Release.ID || p.Version != want.Release.Version || p.Ref.Digest == "" {
			t.Errorf("asked for %s@%s, got %+v", want.Release.ID, want.Release.Version, p)
		}
		if len(p.Dependencies) != 1 || p.Dependencies[0].Constraint != ">=1 <3" || p.Dependencies[0].Ref != nil {
			t.Errorf("dependencies %+v", p.Dependencies)
		}
		hasher := bundle.NewHasher(bundle.DefaultLimits())
		if err := fetcher.Fetch(t.Context(), p, nil, hasher); err != nil {
			t.Fatal(err)
		}
		got, digests := hasher.Inventories(), make(map[string]string)
		for _, tree := range want.Trees {
			digests[tree.Name] = tree.Inventory.Digest()
			s, _ := p.Skill(tree.Name)
			if s.Tree != digests[tree.Name] || got[tree.Name].Digest() != s.Tree ||
				s.Description != "Does "+s.Name+"." {
				t.Errorf("%s: described as %+v, fetched %s", tree.Name, s, got[tree.Name].Digest())
			}
		}
		if p.Integrity != bundle.Integrity(digests) || len(got) != len(want.Trees) {
			t.Errorf("integrity %s, %d skills", p.Integrity, len(got))
		}
	}
}

// testCatalog: packs come in the order of their names, each with its highest release, and a tag says when they change.
func testCatalog(t *testing.T, kind Kind, r registry.Registry) {
	lister, err := registry.List(r)
	if !kind.Lists {
		if diag.CodeOf(err) != diag.NotFound || diag.HintOf(err) == "" {
			t.Errorf("a registry that cannot list: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for range 2 {
		packs, tag, err := lister.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tags = append(tags, tag)
		var got []string
		for e, err := range packs {
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range e.Skills {
				got = append(got, e.Name+" "+e.Version+" "+s.Name+": "+s.Description)
			}
		}
		want := []string{
			"acme/deploy 1.10.0 deploy: Does deploy.", "acme/deploy 1.10.0 rollback: Does rollback.",
			"globex/ops 0.1.0 ops: Does ops.",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if tags[0] == "" || tags[0] != tags[1] {
		t.Errorf("tags %q", tags)
	}
}

func testMissing(t *testing.T, r registry.Registry) {
	for _, id := range []pack.ID{{Owner: "acme", Name: "none"}, {Owner: "nobody", Name: "deploy"}} {
		_, err := r.Versions(t.Context(), id)
		_, errPack := r.Pack(t.Context(), id, "1.0.0")
		for _, err := range []error{err, errPack} {
			if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), id.String()) ||
				!strings.Contains(err.Error(), r.Name()) {
				t.Errorf("a pack that is not there: %v (%v)", err, diag.CodeOf(err))
			}
		}
	}
	_, err := r.Pack(t.Context(), pack.ID{Owner: "acme", Name: "deploy"}, "9.9.9")
	if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "9.9.9") ||
		!strings.Contains(diag.HintOf(err), "2.0.0-rc.1") {
		t.Errorf("a version that is not there: %v, hint %q", err, diag.HintOf(err))
	}
}

// testAtOnce: a registry may be asked by several goroutines, each of which may do with the answers what it likes.
func testAtOnce(t *testing.T, r registry.Registry) {
	var group sync.WaitGroup
	for range 8 {
		for _, version := range []string{"1.2.0", "1.10.0", "2.0.0-rc.1"} {
			group.Go(func() {
				p, err := r.Pack(t.Context(), pack.ID{Owner: "acme", Name: "deploy"}, version)
				if err != nil || p.Version != version {
					t.Errorf("%+v %v", p, err)
				} else {
					p.Version, p.Warnings = "mine", append(p.Warnings, "mine")
				}
			})
		}
		group.Go(func() {
			versions, err := r.Versions(t.Context(), pack.ID{Owner: "globex", Name: "ops"})
			if err != nil || versions[0].Version != "0.1.0" {
				t.Errorf("%+v %v", versions, err)
			} else {
				versions[0].Version = "mine"
			}
		})
		group.Go(func() {
			if _, err := r.Versions(t.Context(), pack.ID{Owner: "acme", Name: "none"}); diag.CodeOf(
				err) != diag.NotFound {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// testCancelled: a network registry stops when its context ends; one on disk may answer.
func testCancelled(t *testing.T, kind Kind, packs []Published) {
	r, _ := kind.Make(t, packs)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Versions(ctx, packs[0].Release.ID); err != nil && diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("got %v (%v)", err, diag.CodeOf(err))
	}
}

// WriteIndex writes an index of the packs to dir and publishes them to target, by way of client. The lines have at as
// their source.
func WriteIndex(t *testing.T, dir string, client *oci.Client, target func(pack.ID) pack.Ref, at func(pack.ID) string,
	packs []Published,
) {
	t.Helper()
	files := map[string][]byte{index.ConfigPath: (&index.Config{Version: index.FormatVersion}).Encode()}
	for _, p := range packs {
		id := p.Release.ID
		pushed, err := client.Push(t.Context(), target(id), p.Release, p.Trees, oci.PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		deps, err := index.NewDependencies(p.Release.Dependencies)
		if err != nil {
			t.Fatal(err)
		}
		line := index.Line{
			Name: id.String(), Version: p.Release.Version, Published: p.At, Source: at(id), Digest: pushed.Digest,
			Dependencies: deps,
		}
		digests := make(map[string]string)
		for i, tree := range p.Trees {
			digests[tree.Name] = tree.Inventory.Digest()
			line.Skills = append(line.Skills, index.Skill{
				Name: tree.Name, Description: p.Release.Skills[i].Description,
				Tree: digests[tree.Name],
			})
		}
		line.Integrity = bundle.Integrity(digests)
		path := index.Path(id)
		files[path], err = index.Append(path, files[path], line)
		if err == nil && p.Yanked != "" {
			files[path], err = index.AppendYank(path, files[path], line.Version, p.Yanked)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, data := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// WriteCatalog writes the catalog of the index in dir.
func WriteCatalog(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, index.CatalogPath))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wrong error
	if err := index.WriteCatalog(f, index.UntilError(index.Catalog(os.DirFS(dir)), &wrong)); err != nil ||
		wrong != nil {
		t.Fatal(err, wrong)
	}
}
