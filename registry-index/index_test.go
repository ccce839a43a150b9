package registryindex_test

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source/oci"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

var update = flag.Bool("update", false, "rebuild the index and the layout from src")

// released lists the packs in the order of publishing. A new version is added at the end, with the day of its release.
var released = []struct{ id, version, published, tags string }{
	{"acme/kubectl-basics", "2.1.0", "2026-11-20T00:00:00Z", "kubernetes k8s kubectl"},
	{"acme/deploy", "1.3.0", "2026-11-20T00:00:00Z", "kubernetes k8s deploy release"},
	{"acme/deploy", "1.4.0", "2026-11-20T00:00:00Z", "kubernetes k8s deploy release rollback"},
	{"globex/ops", "1.3.0", "2026-11-20T00:00:00Z", "operations release rollout"},
	{"skillpm/authoring", "0.1.0", "2026-11-20T00:00:00Z", "skills authoring review"},
}

// TestRebuild publishes every source again: the result must have the same bytes, so that the files in src are what is
// installed, and no version ever changes.
func TestRebuild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a checkout on Windows has no executable bits to rebuild from")
	}
	built := rebuild(t)
	if *update {
		write(t, built)
	}
	want := files(t, os.DirFS("."), "config.json", index.CatalogPath, "packs", "layout")
	for name, data := range built {
		if !bytes.Equal(want[name], data) {
			t.Errorf("%s is not what src builds: run go test ./registry-index -update", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is not built from src", name)
	}
}

// rebuild returns the files of the index by path.
func rebuild(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	client := oci.New(oci.Options{Base: dir})
	defer client.Close()
	built := map[string][]byte{"config.json": (&index.Config{Version: index.FormatVersion, Title: "The packs that come with skillpm"}).Encode()}
	for _, r := range released {
		rel, trees := load(t, r.id, r.version)
		pushed, err := client.Push(t.Context(), pack.Ref{Kind: pack.KindLayout, URL: "layout", ID: rel.ID}, rel, trees, oci.PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		name := index.Path(rel.ID)
		l := line(t, rel, trees, pushed.Digest, r.published)
		l.Tags = strings.Fields(r.tags)
		if built[name], err = index.Append(name, built[name], l); err != nil {
			t.Fatal(err)
		}
	}
	built[index.CatalogPath] = catalog(t, built)
	maps.Copy(built, files(t, os.DirFS(dir), "layout"))
	return built
}

// load reads the source of one version.
func load(t *testing.T, id, version string) (oci.Release, []bundle.Tree) {
	t.Helper()
	fsys := os.DirFS(filepath.Join("src", filepath.FromSlash(id), version))
	c, err := pack.Describe(fsys, pack.Ref{Kind: pack.KindPath, URL: "."})
	if err != nil {
		t.Fatalf("%s@%s: %v", id, version, err)
	}
	if c.ID.String() != id || c.Version != version || len(c.Skipped) > 0 {
		t.Fatalf("src/%s/%s calls itself %s@%s; skipped %q", id, version, c.ID, c.Version, c.Skipped)
	}
	rel := oci.Release{ID: c.ID, Version: c.Version, Description: c.Description, License: c.License, Dependencies: c.Dependencies}
	var trees []bundle.Tree
	for _, s := range c.Skills {
		doc, problems, err := skill.Load(fsys, s.Dir)
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s@%s %s: %v %v", id, version, s.Dir, problems, err)
		}
		tree, err := bundle.DirTree(fsys, s.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		tree.Name = s.Name
		trees = append(trees, tree)
		rel.Skills = append(rel.Skills, oci.SkillMeta{
			Name: s.Name, Description: s.Description, License: doc.License(), Compatibility: doc.Compatibility(),
		})
	}
	return rel, trees
}

func line(t *testing.T, rel oci.Release, trees []bundle.Tree, digest, published string) index.Line {
	t.Helper()
	deps, err := index.NewDependencies(rel.Dependencies)
	if err != nil {
		t.Fatal(err)
	}
	l := index.Line{
		Name: rel.ID.String(), Version: rel.Version, Published: published,
		Source: "oci-layout:layout", Digest: digest, Dependencies: deps, Description: rel.Description, License: rel.License,
	}
	digests := make(map[string]string)
	for i, tree := range trees {
		digests[tree.Name] = tree.Inventory.Digest()
		l.Skills = append(l.Skills, index.Skill{Name: tree.Name, Description: rel.Skills[i].Description, Tree: digests[tree.Name]})
	}
	slices.SortFunc(l.Skills, func(a, b index.Skill) int { return strings.Compare(a.Name, b.Name) })
	l.Integrity = bundle.Integrity(digests)
	return l
}

// catalog creates the catalog of the generated pack files.
func catalog(t *testing.T, built map[string][]byte) []byte {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, data := range built {
		fsys[name] = &fstest.MapFile{Data: data}
	}
	var buf bytes.Buffer
	var wrong error
	if err := index.WriteCatalog(&buf, index.UntilError(index.Catalog(fsys), &wrong)); err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return buf.Bytes()
}

// files reads regular files by path, except locks and other files whose names begin with a dot.
func files(t *testing.T, fsys fs.FS, roots ...string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	for _, root := range roots {
		err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
				return err
			}
			data, err := fs.ReadFile(fsys, name)
			found[name] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func write(t *testing.T, built map[string][]byte) {
	t.Helper()
	for _, dir := range []string{"packs", "layout"} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range built {
		if err := os.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.FromSlash(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEmbedded fetches every version from the binary's own copy and compares it with the line that describes it.
func TestEmbedded(t *testing.T) { // M2
	client := oci.New(oci.Options{Embedded: registryindex.Layout()})
	defer client.Close()
	for _, r := range released {
		t.Run(r.id+"@"+r.version, func(t *testing.T) {
			id, err := pack.ParseID(r.id)
			if err != nil {
				t.Fatal(err)
			}
			data, err := fs.ReadFile(registryindex.FS, index.Path(id))
			if err != nil {
				t.Fatal(err)
			}
			entry, err := index.Parse(index.Path(id), data)
			if err != nil {
				t.Fatal(err)
			}
			l, ok := entry.Line(r.version)
			if !ok {
				t.Fatal("the index has no such line")
			}
			p, err := l.Pack(pack.Ref{Kind: pack.KindEmbedded})
			if err != nil {
				t.Fatal(err)
			}
			checkPack(t, client, p)
		})
	}
}

func checkPack(t *testing.T, client *oci.Client, p *pack.Pack) {
	t.Helper()
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := client.Fetch(context.Background(), p, nil, hasher); err != nil {
		t.Fatal(err)
	}
	got := hasher.Inventories()
	for _, s := range p.Skills {
		if got[s.Name].Digest() != s.Tree {
			t.Errorf("skill %s is %s, the index says %s", s.Name, got[s.Name].Digest(), s.Tree)
		}
		if s.Description == "" {
			t.Errorf("skill %s has no description in the index", s.Name)
		}
		for _, e := range got[s.Name] {
			if script := strings.HasPrefix(e.Path, "scripts/"); script != e.Executable {
				t.Errorf("%s/%s: executable is %t", s.Name, e.Path, e.Executable)
			}
		}
	}
	opened, err := client.Open(context.Background(), p.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Integrity != p.Integrity || opened.ID != p.ID || opened.Version != p.Version {
		t.Errorf("the artifact is %s@%s %s, the index says %s@%s %s",
			opened.ID, opened.Version, opened.Integrity, p.ID, p.Version, p.Integrity)
	}
}
