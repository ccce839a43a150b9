package registry_test

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

func open(t *testing.T, url string, deps registry.Deps) registry.Registry {
	t.Helper()
	r, err := registry.Open(t.Context(), "", url, deps)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// indexWithLayout writes an index and, beside it, the layout that it points to.
func indexWithLayout(t *testing.T, dir string, packs []registrytest.Published) {
	t.Helper()
	client := oci.New(oci.Options{Base: dir})
	layout := func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindLayout, URL: "layout", ID: id} }
	registrytest.WriteIndex(t, dir, client, layout, func(pack.ID) string { return "oci-layout:layout" }, packs)
}

// indexOfServer writes an index whose packs are in an OCI registry, and returns a client that fetches them.
func indexOfServer(t *testing.T, dir string, packs []registrytest.Published) *oci.Client {
	t.Helper()
	s := ocitest.New(t)
	client := s.Client(t, "")
	at := func(id pack.ID) string { return s.URL(id.String()) }
	to := func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindOCI, URL: at(id)} }
	registrytest.WriteIndex(t, dir, client, to, at, packs)
	return client
}

// gitTrees is the part of the git client that registries use.
type gitTrees struct{ *git.Client }

func (g gitTrees) Tree(ctx context.Context, ref pack.Ref) (fs.FS, string, error) {
	tree, at, err := g.Client.Tree(ctx, ref)
	return tree, at.Digest, err
}

// pushAll publishes packs one by one.
func pushAll(t *testing.T, c *oci.Client, target func(pack.ID) pack.Ref, packs []registrytest.Published) {
	t.Helper()
	for _, p := range packs {
		if _, err := c.Push(t.Context(), target(p.Release.ID), p.Release, p.Trees, oci.PushOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// kinds lists all kinds of registry.
func kinds() map[string]registrytest.Kind {
	return map[string]registrytest.Kind{
		"embedded": {Dated: true, Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			dir := t.TempDir()
			indexWithLayout(t, dir, packs)
			client := oci.New(oci.Options{Embedded: os.DirFS(filepath.Join(dir, "layout"))})
			return open(t, registry.Embedded, registry.Deps{Embedded: os.DirFS(dir)}), client
		}},
		"directory": {Dated: true, Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			dir := t.TempDir()
			indexWithLayout(t, filepath.Join(dir, "idx"), packs)
			return open(t, "idx", registry.Deps{Base: dir}), oci.New(oci.Options{Base: dir})
		}},
		"https": {Dated: true, Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			dir := t.TempDir()
			client := indexOfServer(t, dir, packs)
			registrytest.WriteCatalog(t, dir)
			server := httptest.NewTLSServer(http.FileServer(http.Dir(dir)))
			t.Cleanup(server.Close)
			return open(t, server.URL, registry.Deps{HTTP: server.Client(), Cache: t.TempDir()}), client
		}},
		"git": {Dated: true, Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			dir := t.TempDir()
			client := indexOfServer(t, dir, packs)
			url := serveGit(t, dir)
			g := git.New(git.Options{Cache: t.TempDir(), Home: t.TempDir()})
			t.Cleanup(func() { _ = g.Close() })
			return open(t, "git+"+url, registry.Deps{Git: gitTrees{g}}), client
		}},
		"oci index": {Dated: true, Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			dir := t.TempDir()
			client := indexOfServer(t, dir, packs)
			s := ocitest.New(t)
			c := s.Client(t, "")
			pushIndex(t, c, s.URL("team/index"), dir)
			return open(t, "index+"+s.URL("team/index"), registry.Deps{OCI: c, Cache: t.TempDir()}), client
		}},
		"oci prefix": {Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			s := ocitest.New(t)
			c := s.Client(t, "")
			prefix := s.URL("team/packs")
			pushAll(t, c, func(id pack.ID) pack.Ref {
				return pack.Ref{Kind: pack.KindOCI, URL: registry.Repository(prefix, id)}
			}, packs)
			return open(t, prefix, registry.Deps{OCI: c}), c
		}},
		"layout": {Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			c := oci.New(oci.Options{Base: t.TempDir()})
			pushAll(t, c, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindLayout, URL: "out", ID: id} }, packs)
			return open(t, "oci-layout:out", registry.Deps{OCI: c}), c
		}},
		"local": {Lists: true, Make: func(t *testing.T, packs []registrytest.Published) (registry.Registry, registrytest.Fetcher) {
			c := oci.New(oci.Options{Local: t.TempDir()})
			pushAll(t, c, func(id pack.ID) pack.Ref { return pack.Ref{Kind: pack.KindLocal, ID: id} }, packs)
			return open(t, registry.Local, registry.Deps{OCI: c}), c
		}},
		"clawhub": hubKind("clawhub"),
		"apm":     hubKind("apm"),
	}
}

// TestContract runs the contract of every kind of registry (M2, O16).
func TestContract(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registrytest.Run(t, kind)
		})
	}
}

// pushIndex publishes the index in dir as an artifact.
func pushIndex(t testing.TB, c *oci.Client, url, dir string) string {
	t.Helper()
	a, _, err := indexer.Artifact(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := c.PutArtifact(t.Context(), pack.Ref{Kind: pack.KindOCI, URL: url}, a, registry.DefaultTag)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// serveGit creates a repository of the files in dir and serves it.
func serveGit(t *testing.T, dir string) string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	repo := gittest.New(t, root, "team/index.git")
	first := repo.Commit(gittest.Text(map[string]string{"config.json": "{}"}))
	repo.Tag("v1.0.0", first) // an index is read at its branch, whatever tags there are
	repo.Commit(gittest.Text(files))
	return gittest.Serve(t, root) + "/team/index.git"
}
