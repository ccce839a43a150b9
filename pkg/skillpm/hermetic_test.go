package skillpm_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// world has the sources of one test: an OCI registry, git repositories, and the same index in four forms. The index or
// everything can be switched off: then any request is an error of the test.
type world struct {
	t    *testing.T
	oci  *ocitest.Server
	git  string // URL of the git server
	http string // URL of the index on a web server
	dir  string // index as a directory

	indexGone, allDown atomic.Bool
}

// indexRepository is the name of the index in the OCI registry and on the git server.
const indexRepository = "the-index"

func newWorld(t *testing.T) *world {
	w := &world{t: t, oci: ocitest.New(t), dir: t.TempDir()}
	w.oci.Meddle(func(rw http.ResponseWriter, r *http.Request) bool { return w.refuse(rw, r) })
	repositories := t.TempDir()
	w.git = gittest.Serve(t, repositories, gittest.WithHandler(w.switchable))
	server := httptest.NewServer(w.switchable(http.StripPrefix("/"+indexRepository, http.FileServer(http.Dir(w.dir)))))
	t.Cleanup(server.Close)
	w.http = server.URL + "/" + indexRepository

	w.commitPacks(repositories)
	src := t.TempDir()
	writePack(t, src, "acme/image", "1.0.0", 2)
	if _, err := newAuthor(t, src, t.TempDir()).Publish(t.Context(), publish.ReleaseOptions{To: w.oci.URL("ns")}); err != nil {
		t.Fatal(err)
	}
	w.writeIndex(repositories)
	return w
}

func (w *world) switchable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !w.refuse(rw, r) {
			next.ServeHTTP(rw, r)
		}
	})
}

// refuse answers a request for something that is switched off.
func (w *world) refuse(rw http.ResponseWriter, r *http.Request) bool {
	if w.allDown.Load() || w.indexGone.Load() && strings.Contains(r.URL.Path, indexRepository) {
		w.t.Errorf("a frozen installation asks for %s", r.URL.Path)
		http.Error(rw, "gone", http.StatusNotFound)
		return true
	}
	return false
}

// commitPacks creates the git repositories: acme/tools with another pack in a directory, on which the first one
// depends, and wild/skills without a manifest.
func (w *world) commitPacks(dir string) {
	tools := gittest.New(w.t, dir, "acme/tools.git")
	files := map[string]string{
		"skillpm.yaml":                "name: acme/tools\nversion: \"1.2.0\"\ndependencies:\n  acme/extra: {path: packs/extra}\n",
		"lint/SKILL.md":               gittest.Skill("lint", "Lints. Use before a commit."),
		"packs/extra/skillpm.yaml":    "name: acme/extra\nversion: \"0.3.0\"\n",
		"packs/extra/extra/SKILL.md":  gittest.Skill("extra", "Does something extra."),
		"packs/extra/second/SKILL.md": gittest.Skill("second", "Does something else."),
	}
	tools.Tag("v1.2.0", tools.Commit(gittest.Text(files)))
	files["lint/SKILL.md"] = gittest.Skill("lint", "Lints better.")
	tools.CommitOn("next", gittest.Text(files))
	wild := gittest.New(w.t, dir, "wild/skills.git")
	wild.Tag("v3.0.0", wild.Commit(gittest.Text(map[string]string{
		"one/SKILL.md": gittest.Skill("one", "The first."), "two/SKILL.md": gittest.Skill("two", "The second."),
	})))
}

// writeIndex writes the index, and pushes it to the OCI registry and the git server. wild/skills is also in it as
// acme/renamed: an index may give a name to a repository that states none.
func (w *world) writeIndex(repositories string) {
	t, c := w.t, indexer.New(newOptions(w.t, w.dir, w.t.TempDir()))
	t.Cleanup(c.Close)
	if _, err := c.Init(t.Context(), indexer.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add(t.Context(), indexer.AddOptions{References: []string{
		w.oci.URL("ns/acme/image:1.0.0"), "git+" + w.git + "/acme/tools.git//packs/extra#v1.2.0",
		"git+" + w.git + "/wild/skills.git#v3.0.0",
	}}); err != nil {
		t.Fatal(err)
	}
	wild, renamed := pack.ID{Owner: "wild", Name: "skills"}, pack.ID{Owner: "acme", Name: "renamed"}
	data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(index.Path(wild))))
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.dir, index.Path(renamed), strings.Replace(string(data), wild.String(), renamed.String(), 1))
	if _, err := c.Publish(t.Context(), indexer.ReleaseOptions{To: w.oci.URL(indexRepository)}); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range snapshot(t, w.dir) {
		rel, err := filepath.Rel(w.dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = text
	}
	gittest.New(t, repositories, indexRepository+".git").Commit(gittest.Text(files))
}

func (w *world) write(dir, name, text string) {
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// TestFrozenNeedsOnlyTheLock installs packs from every kind of source. A machine that has nothing but the two files of
// the project, and what the sources serve, must install the same from them: no index, no settings. Then nothing needs
// the network any more.
func TestFrozenNeedsOnlyTheLock(t *testing.T) {
	w := newWorld(t)
	git := "git+" + w.git
	gitURL := w.git + "/acme/tools.git"
	for _, tt := range []struct {
		name     string
		manifest string            // skillpm.yaml
		config   string            // the first machine's config.yaml
		packs    []string          // arguments of install
		files    map[string]string // of the project
	}{
		{name: "OCI by name", manifest: "registries: [\"" + w.oci.URL("ns") + "\"]", packs: []string{"acme/image"}},
		{name: "OCI by the user's binding", config: "namespaces: {acme: \"" + w.oci.URL("ns") + "\"}", packs: []string{"acme/image"}},
		{name: "OCI by index", config: "registries: [\"" + w.http + "\"]", packs: []string{"acme/image"}},
		{name: "git by index on a web server", config: "registries: [\"" + w.http + "\"]", packs: []string{"acme/extra", "wild/skills"}},
		{name: "git by index in a directory", config: "registries: [\"" + filepath.ToSlash(w.dir) + "\"]", packs: []string{"acme/extra", "wild/skills"}},
		{name: "git by index in an OCI registry", config: "registries: [\"index+" + w.oci.URL(indexRepository) + "\"]", packs: []string{"acme/extra"}},
		{name: "git by index in git", config: "registries: [\"" + git + "/" + indexRepository + ".git\"]", packs: []string{"acme/extra"}},
		{name: "git by the project's index", manifest: "registries: [\"" + w.http + "\"]\nnamespaces: {acme: \"" + w.http + "\"}", packs: []string{"acme/extra"}},
		{name: "git by index, without a manifest, renamed", config: "registries: [\"" + w.http + "\"]", packs: []string{"acme/renamed"}},
		{name: "git, one skill", config: "registries: [\"" + w.http + "\"]", manifest: "dependencies:\n  acme/extra: {version: \"*\", skills: [second]}"},
		{name: "git tag with a pack in its repository", packs: []string{git + "/acme/tools.git#v1.2.0"}},
		{name: "git branch", manifest: "dependencies:\n  acme/tools: {git: \"" + gitURL + "\", rev: next}"},
		{name: "git directory", packs: []string{git + "/acme/tools.git//packs/extra#v1.2.0"}},
		{name: "git releases", packs: []string{git + "/acme/tools.git"}},
		{name: "OCI tag", packs: []string{w.oci.URL("ns/acme/image:1.0.0")}},
		{name: "OCI releases", packs: []string{w.oci.URL("ns/acme/image")}},
		{name: "path", packs: []string{"./mine"}, files: map[string]string{
			"mine/skillpm.yaml": "name: me/mine\nversion: \"0.1.0\"\n", "mine/m/SKILL.md": gittest.Skill("m", "Mine."),
		}},
		{name: "embedded", packs: []string{"acme/deploy"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.indexGone.Store(false)
			dir, home, fresh := t.TempDir(), t.TempDir(), t.TempDir()
			w.write(dir, pack.ManifestName, tt.manifest+"\n")
			w.write(home, ".config/skillpm/config.yaml", tt.config+"\n")
			for name, text := range tt.files {
				w.write(dir, name, text)
				w.write(fresh, name, text)
			}
			if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: tt.packs}); err != nil {
				t.Fatal(err)
			}
			want := installedFiles(t, dir)

			w.copyDocuments(t, dir, fresh)
			if strings.Contains(tt.config, filepath.ToSlash(w.dir)) {
				hidden := w.dir + ".hidden"
				if err := os.Rename(w.dir, hidden); err != nil {
					t.Fatal(err)
				}
				defer os.Rename(hidden, w.dir)
			}
			w.indexGone.Store(true)
			w.freeze(t, fresh, t.TempDir(), want)
			w.freeze(t, dir, home, want) // the first machine still has its settings

			w.allDown.Store(true)
			defer w.allDown.Store(false)
			w.freeze(t, fresh, t.TempDir(), want)
			w.freeze(t, dir, home, want)
		})
	}
}

// TestFrozenLayout is TestFrozenNeedsOnlyTheLock for an OCI layout in the project, by its path and in an index.
func TestFrozenLayout(t *testing.T) {
	w := &world{t: t}
	src, home := t.TempDir(), t.TempDir()
	writePack(t, src, "acme/image", "1.0.0", 2)
	for _, tt := range []struct{ name, manifest, pack string }{
		{"a layout", "", "oci-layout:./index/layout//acme/image:1.0.0"},
		{"by an index", "registries: [./index]", "acme/image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, fresh := t.TempDir(), t.TempDir()
			for _, project := range []string{dir, fresh} {
				to := "oci-layout:" + filepath.Join(project, "index", "layout")
				if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: to}); err != nil {
					t.Fatal(err)
				}
			}
			c := indexer.New(newOptions(t, filepath.Join(dir, "index"), home))
			defer c.Close()
			if _, err := c.Init(t.Context(), indexer.InitOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Add(t.Context(), indexer.AddOptions{References: []string{"oci-layout:layout//acme/image:1.0.0"}}); err != nil {
				t.Fatal(err)
			}
			w.write(dir, pack.ManifestName, tt.manifest+"\n")
			if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: []string{tt.pack}}); err != nil {
				t.Fatal(err)
			}
			want := installedFiles(t, dir)
			w.copyDocuments(t, dir, fresh)
			w.freeze(t, fresh, t.TempDir(), want)
			if err := os.RemoveAll(filepath.Join(fresh, "index")); err != nil {
				t.Fatal(err)
			}
			w.freeze(t, fresh, t.TempDir(), want) // everything is installed
		})
	}
}

// copyDocuments copies manifest and lockfile to another project.
func (w *world) copyDocuments(t *testing.T, from, to string) {
	for _, name := range []string{pack.ManifestName, pack.LockName} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		w.write(to, name, string(data))
	}
}

// freeze installs what is locked, and compares the installed files.
func (w *world) freeze(t *testing.T, dir, home string, want map[string]string) {
	t.Helper()
	if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Frozen: true}); err != nil {
		t.Fatal(err)
	}
	got := installedFiles(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d files are installed, want %d", len(got), len(want))
	}
}

// installedFiles returns the installed skills of a project, by their paths in it.
func installedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, text := range snapshot(t, filepath.Join(dir, ".skillpm", "plugins")) {
		files[strings.TrimPrefix(name, dir)] = text
	}
	return files
}
