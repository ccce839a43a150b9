package base_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// fixture is a project, a home, and an index in a directory, with its own clock.
type fixture struct {
	t    *testing.T
	home string
	dir  string
	now  time.Time
}

func newFixture(t *testing.T, manifest string) *fixture {
	t.Helper()
	f := &fixture{t: t, home: t.TempDir(), dir: t.TempDir(), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	f.write("skillpm.yaml", manifest)
	f.write("index/config.json", `{"version": 1}`)
	return f
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	file := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// release is a version in the index. A dependency has the form of the lockfile.
type release struct {
	pack, version, published, yanked string
	needs                            map[string]string
}

// publish writes the pack's file of the index.
func (f *fixture) publish(releases ...release) {
	f.t.Helper()
	for _, r := range releases {
		id, err := pack.ParseID(r.pack)
		if err != nil {
			f.t.Fatal(err)
		}
		tree := "t1:sha256:" + strings.Repeat("a", 64)
		line := index.Line{
			Name: r.pack, Version: r.version, Published: r.published, Source: "oci://registry.example/" + r.pack,
			Digest: "sha256:" + strings.Repeat("b", 64), Integrity: bundle.Integrity(map[string]string{id.Name: tree}),
			Skills: []index.Skill{{Name: id.Name, Tree: tree}}, Dependencies: index.Dependencies{},
		}
		for name, constraint := range r.needs {
			line.Dependencies[name] = index.Dependency{Constraint: constraint}
		}
		file := filepath.Join("index", index.Path(id))
		before, _ := os.ReadFile(filepath.Join(f.dir, file)) // there is none for the first version
		data, err := index.Append(file, before, line)
		if err == nil && r.yanked != "" {
			data, err = index.AppendYank(file, data, r.version, r.yanked)
		}
		if err != nil {
			f.t.Fatal(err)
		}
		f.write(file, string(data))
	}
}

// lock resolves the project and keeps the lockfile.
func (f *fixture) lock(change func(*base.Services)) (*solve.Solution, error) {
	f.t.Helper()
	none := func(string) string { return "" }
	env, err := environ.Environment{
		Paths:  scope.Paths{Home: f.home, Enterprise: filepath.Join(f.home, "enterprise")},
		Getenv: none, Now: func() time.Time { return f.now }, OS: runtime.GOOS, Version: "0.1.0",
	}.At(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	b := base.New(base.Options{Environment: env})
	f.t.Cleanup(b.Close)
	w, err := b.Machine.Open(scope.KindProject, false)
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := b.Services(f.t.Context(), w, base.ServiceOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	if change != nil {
		change(p)
	}
	sol, err := p.Backend.Lock(f.t.Context(), w.Manifest)
	if err == nil {
		f.write("skillpm.lock", string(sol.Lock.Encode()))
	}
	return sol, err
}

// version returns a pack's version in a solution, "" for none.
func version(sol *solve.Solution, pk string) string {
	id, _ := pack.ParseID(pk) // one that is wrong has no version
	if sol == nil || sol.Lock.Packs[id] == nil {
		return ""
	}
	return sol.Lock.Packs[id].Version
}

const needsTool = "registries: [index]\ndependencies: {acme/tool: '^1'}\n"

// TestMinReleaseAge checks that a release that is too young is not chosen, whether the manifest, the user, or the
// administrator sets the minimum age.
func TestMinReleaseAge(t *testing.T) {
	for _, tt := range []struct {
		name, manifest, user, admin string
		want                        string
	}{
		{"none", "", "", "", "1.2.0"},
		{"manifest", "min-release-age: 48h\n", "", "", "1.1.0"},
		{"user", "", "min-release-age: 2d\n", "", "1.1.0"},
		{"admin", "", "", "min-release-age: 2d\n", "1.1.0"},
		{"the longest counts", "min-release-age: 1h\n", "min-release-age: 30d\n", "min-release-age: 2d\n", "1.0.0"},
		{"short enough", "min-release-age: 1h\n", "", "", "1.2.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, needsTool+tt.manifest)
			for file, text := range map[string]string{".config/skillpm/config.yaml": tt.user, "enterprise/config.yaml": tt.admin} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(f.home, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(f.home, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f.publish(
				release{pack: "acme/tool", version: "1.0.0", published: "2026-01-01T00:00:00Z"},
				release{pack: "acme/tool", version: "1.1.0", published: "2026-11-10T00:00:00Z"},
				release{pack: "acme/tool", version: "1.2.0", published: "2026-11-20T08:00:00Z"},
			)
			sol, err := f.lock(nil)
			if err != nil || version(sol, "acme/tool") != tt.want {
				t.Fatalf("%s, %v; want %s", version(sol, "acme/tool"), err, tt.want)
			}
		})
	}
}

// TestFirstSight checks that if the registry does not publish a release's time, its age counts from when this machine
// first saw it. A clock that goes back does not make it older, and locked versions stay.
func TestFirstSight(t *testing.T) {
	f := newFixture(t, needsTool+"min-release-age: 72h\n")
	f.publish(release{pack: "acme/tool", version: "1.0.0"})
	step := func(now string, want string) {
		t.Helper()
		var err error
		if f.now, err = time.Parse(time.RFC3339, now); err != nil {
			t.Fatal(err)
		}
		sol, err := f.lock(nil)
		if got := version(sol, "acme/tool"); got != want {
			t.Errorf("at %s: %q, %v; want %q", now, got, err, want)
		}
		if want == "" && (err == nil || !strings.Contains(err.Error(), "younger than the minimum release age of 72h")) {
			t.Errorf("at %s: %v does not say why", now, err)
		}
	}
	step("1970-01-01T00:00:00Z", "") // a clock that is not set
	step("2100-01-01T00:00:00Z", "") // one that is far ahead
	step("2026-11-20T12:00:00Z", "")
	step("2026-02-01T00:00:00Z", "") // one that is set back for a while makes nothing older
	step("2026-11-23T11:00:00Z", "")
	step("2026-11-23T12:00:00Z", "1.0.0")
	step("1970-01-01T00:00:00Z", "1.0.0") // locked
}

// TestYanked checks that yanked versions are skipped, unless they are locked: then there is a warning on request.
func TestYanked(t *testing.T) {
	f := newFixture(t, needsTool)
	f.publish(release{pack: "acme/tool", version: "1.0.0"}, release{pack: "acme/tool", version: "1.1.0"})
	if sol, err := f.lock(nil); err != nil || version(sol, "acme/tool") != "1.1.0" {
		t.Fatalf("%s, %v", version(sol, "acme/tool"), err)
	}
	data, err := os.ReadFile(filepath.Join(f.dir, "index", index.Path(pack.ID{Owner: "acme", Name: "tool"})))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = index.AppendYank("tool.ndjson", data, "1.1.0", "leaks tokens"); err != nil {
		t.Fatal(err)
	}
	f.write(filepath.Join("index", index.Path(pack.ID{Owner: "acme", Name: "tool"})), string(data))

	sol, err := f.lock(nil)
	if err != nil || version(sol, "acme/tool") != "1.1.0" {
		t.Fatalf("locked: %s, %v", version(sol, "acme/tool"), err)
	}
	f.write("skillpm.yaml", needsTool+"dev-dependencies: {acme/other: '*'}\n")
	f.publish(release{pack: "acme/other", version: "1.0.0", needs: map[string]string{"acme/tool": ">=1.0.0"}})
	sol, err = f.lock(func(p *base.Services) { p.Backend.Free(pack.ID{Owner: "acme", Name: "tool"}) })
	if err != nil || version(sol, "acme/tool") != "1.0.0" {
		t.Fatalf("chosen anew: %s, %v", version(sol, "acme/tool"), err)
	}
}

// TestHoldAndFree checks that a held pack stays at its version while others change, and that a free one changes alone.
func TestHoldAndFree(t *testing.T) {
	f := newFixture(t, "registries: [index]\ndependencies: {acme/a: '^1', acme/b: '^1'}\n")
	f.publish(release{pack: "acme/a", version: "1.0.0"}, release{pack: "acme/b", version: "1.0.0"})
	if _, err := f.lock(nil); err != nil {
		t.Fatal(err)
	}
	f.publish(release{pack: "acme/a", version: "1.1.0"}, release{pack: "acme/b", version: "1.1.0"})
	a, b := pack.ID{Owner: "acme", Name: "a"}, pack.ID{Owner: "acme", Name: "b"}
	sol, err := f.lock(nil)
	if err != nil || version(sol, "acme/a") != "1.0.0" || version(sol, "acme/b") != "1.0.0" {
		t.Fatalf("locked: %v", err)
	}
	if sol, err = f.lock(func(p *base.Services) { p.Backend.Free(a) }); err != nil || version(sol, "acme/a") != "1.1.0" || version(sol, "acme/b") != "1.0.0" {
		t.Fatalf("a free: %s, %s, %v", version(sol, "acme/a"), version(sol, "acme/b"), err)
	}
	f.write("skillpm.yaml", "registries: [index]\ndependencies: {acme/a: '^1', acme/b: '>=1.1'}\n")
	if _, err = f.lock(func(p *base.Services) { p.Backend.Hold(b) }); diag.CodeOf(err) != diag.Conflict && diag.CodeOf(err) != diag.NotFound {
		t.Fatalf("b held below what is required: %v", err)
	}
}

// TestParallelRequests checks that requirements are requested concurrently, each pack once.
func TestParallelRequests(t *testing.T) {
	server := ocitest.New(t)
	client := server.Client(t, t.TempDir())
	push := func(name string, needs ...pack.Dependency) {
		p := registrytest.Pack("acme/"+name, "1.0.0", name)
		p.Release.Dependencies = needs
		to, err := pack.Parse(server.URL("acme/" + name))
		if err == nil {
			_, err = client.Push(t.Context(), to, p.Release, p.Trees, oci.PushOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shared := pack.Dependency{ID: pack.ID{Owner: "acme", Name: "shared"}, Constraint: "^1"}
	push("shared")
	manifest := "registries: ['" + server.URL("acme") + "']\ndependencies:\n"
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, name := range names {
		push(name, shared)
		manifest += "  acme/" + name + ": '^1'\n"
	}

	var mu sync.Mutex
	counts := map[string]int{}
	barrier, all := context.WithCancel(t.Context())
	defer all()
	server.Meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/tags/list") {
			return false
		}
		mu.Lock()
		if counts[r.URL.Path]++; len(counts) == len(names) {
			all()
		}
		mu.Unlock()
		<-barrier.Done() // no response before all requests have arrived
		return false
	})
	f := newFixture(t, manifest)
	sol, err := f.lock(nil)
	if err != nil || version(sol, "acme/shared") != "1.0.0" {
		t.Fatal(err)
	}
	if len(counts) != len(names)+1 {
		t.Errorf("asked for %v", counts)
	}
	for file, n := range counts {
		if n != 1 {
			t.Errorf("%s was asked for %d times", file, n)
		}
	}
}

// TestTooYoung checks that the hint about a release that is too young names the setting that excludes it.
func TestTooYoung(t *testing.T) {
	f := newFixture(t, needsTool+"min-release-age: 72h\n")
	f.publish(release{pack: "acme/tool", version: "1.0.0", published: "2026-11-20T08:00:00Z"})
	_, err := f.lock(nil)
	if want := "wait until a release is old enough, or change min-release-age in skillpm.yaml"; diag.CodeOf(err) != diag.NotFound || diag.HintOf(err) != want {
		t.Errorf("%v, hint %q; want not found with the hint %q", err, diag.HintOf(err), want)
	}
	f.publish(release{pack: "acme/tool", version: "2.0.0", published: "2026-01-01T00:00:00Z"})
	f.write("skillpm.yaml", strings.Replace(needsTool, "^1", "^3", 1)+"min-release-age: 72h\n")
	if _, err = f.lock(nil); diag.CodeOf(err) != diag.NotFound || strings.Contains(diag.HintOf(err), "min-release-age") {
		t.Errorf("%v, hint %q; that there is no such version has nothing to do with age", err, diag.HintOf(err))
	}
}

// TestWithdrawnAdvice checks that the warning about a yanked locked version suggests what to do.
func TestWithdrawnAdvice(t *testing.T) {
	for _, tt := range []struct {
		name, constraint string
		free             bool
		yanked           []string
		want             string
	}{
		{"another fits", "^1", false, []string{"1.1.0"}, "select another version with: skillpm update acme/tool"},
		{"the range allows no other", "1.1.0", false, []string{"1.1.0"}, "the range 1.1.0 in skillpm.yaml allows no other version; replace the range with: skillpm update --latest acme/tool"},
		{"the range allows no other, while updating", "1.1.0", true, []string{"1.1.0"}, "the range 1.1.0 in skillpm.yaml allows no other version; replace the range with: skillpm update --latest acme/tool"},
		{"no other version is available", "^1", false, []string{"1.0.0", "1.1.0"}, "no other version is available"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, strings.Replace(needsTool, "^1", tt.constraint, 1))
			f.publish(release{pack: "acme/tool", version: "1.0.0"}, release{pack: "acme/tool", version: "1.1.0"})
			if _, err := f.lock(nil); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("index", index.Path(pack.ID{Owner: "acme", Name: "tool"}))
			data, err := os.ReadFile(filepath.Join(f.dir, file))
			for _, v := range tt.yanked {
				if err == nil {
					data, err = index.AppendYank("tool.ndjson", data, v, "leaks tokens")
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			f.write(file, string(data))
			sol, err := f.lock(func(p *base.Services) {
				id := pack.ID{Owner: "acme", Name: "tool"}
				p.Backend.Prefetch(t.Context(), []pack.Dependency{{ID: id}})
				if tt.free {
					p.Backend.Free(id)
					p.Backend.Unfree(id)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			want := "the locked version acme/tool 1.1.0 is yanked (show the reason with: skillpm outdated acme/tool); " + tt.want
			if !slices.Equal(sol.Warnings, []string{want}) {
				t.Errorf("warnings %q, want %q", sol.Warnings, want)
			}
		})
	}
}

// TestMinReleaseAgeOfPlaces checks that the minimum age also applies to tags and branch heads of direct sources. A
// commit id is an explicit choice and exempt.
func TestMinReleaseAgeOfPlaces(t *testing.T) {
	const at = "{git: 'git+file://%s'%s}"
	repositories := t.TempDir()
	repository := gittest.New(t, repositories, "acme/tool.git")
	commit := repository.Commit(gittest.Text(map[string]string{
		"skillpm.yaml": "name: acme/tool\nversion: \"1.0.0\"\n", "skills/tool/SKILL.md": gittest.Skill("tool", "A tool."),
	}))
	repository.Tag("v1.0.0", commit)
	url := filepath.ToSlash(filepath.Join(repositories, "acme", "tool.git"))
	for _, tt := range []struct {
		name, more string
		first      bool // it is taken at first sight
	}{
		{"a range", ", version: '^1'", false},
		{"a tag", ", tag: v1.0.0", false},
		{"a commit", ", rev: " + commit, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, "min-release-age: 72h\ndependencies:\n  acme/tool: "+fmt.Sprintf(at, url, tt.more)+"\n")
			sol, err := f.lock(nil)
			if tt.first != (version(sol, "acme/tool") == "1.0.0") {
				t.Errorf("at first sight: %q, %v", version(sol, "acme/tool"), err)
			}
			f.now = f.now.Add(72 * time.Hour)
			if sol, err = f.lock(nil); version(sol, "acme/tool") != "1.0.0" {
				t.Errorf("three days later: %v", err)
			}
		})
	}
}
