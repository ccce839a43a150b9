package skillpm_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// fixture is a project with its own index, whose packs are in a registry.
type fixture struct {
	t         *testing.T
	server    *ocitest.Server
	dir, home string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{t: t, server: ocitest.New(t), dir: t.TempDir(), home: t.TempDir()}
	w.write("index/config.json", `{"version": 1}`)
	return w
}

func (w *fixture) client() *skillpm.Client { return newClient(w.t, w.dir, w.home) }

func (w *fixture) write(name, text string) {
	w.t.Helper()
	writeFiles(w.t, w.dir, map[string]string{name: text})
}

func (w *fixture) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		file, executable := strings.CutSuffix(file, "*")
		mode := os.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// manifest writes the project's manifest, with dependencies as YAML lines.
func (w *fixture) manifest(dependencies ...string) {
	w.write("skillpm.yaml", "registries: [index]\ndependencies:\n  "+strings.Join(dependencies, "\n  ")+"\n")
}

// publish publishes a version with the named skills, and adds it to the index.
func (w *fixture) publish(pk, version string, needs map[string]string, skills ...string) {
	w.t.Helper()
	files := map[string]string{}
	for _, s := range skills {
		files[s+"/SKILL.md"] = "---\nname: " + s + "\ndescription: Does " + s + " as of " + version + ".\n---\n\nText of " + version + ".\n"
		files[s+"/notes.md"] = "The same in all versions.\n"
	}
	w.publishFiles(pk, version, needs, files)
}

// publishFiles is publish with given files. A star at the end of a name makes it executable.
func (w *fixture) publishFiles(pk, version string, needs, files map[string]string) {
	w.t.Helper()
	src := w.t.TempDir()
	text := "name: " + pk + "\nversion: \"" + version + "\"\n"
	if len(needs) > 0 {
		text += "dependencies:\n"
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			text += "  " + name + ": \"" + needs[name] + "\"\n"
		}
	}
	writeFiles(w.t, src, map[string]string{"skillpm.yaml": text})
	writeFiles(w.t, src, files)
	report, err := newAuthor(w.t, src, w.home).Publish(w.t.Context(), publish.ReleaseOptions{To: w.server.URL(pk[:strings.Index(pk, "/")])})
	if err != nil {
		w.t.Fatal(err)
	}
	w.enter(pk, version, report.Digest, needs)
}

// enter adds a line for a published version to the index.
func (w *fixture) enter(pk, version, digest string, needs map[string]string) {
	w.t.Helper()
	id, err := pack.ParseID(pk)
	if err != nil {
		w.t.Fatal(err)
	}
	probe := w.t.TempDir() // a project whose lock says what the pack is made of
	place := skillpm.InstallOptions{Packs: []string{w.server.URL(pk) + ":" + version}, ChangeOptions: skillpm.ChangeOptions{Registry: filepath.Join(w.dir, "index")}}
	if _, err := newClient(w.t, probe, w.t.TempDir()).Install(w.t.Context(), place); err != nil {
		w.t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(probe, "skillpm.lock"))
	if err != nil {
		w.t.Fatal(err)
	}
	lock, err := pack.ParseLock("skillpm.lock", data)
	if err != nil {
		w.t.Fatal(err)
	}
	entry := lock.Packs[id]
	line := index.Line{
		Name: pk, Version: version, Source: w.server.URL(pk), Digest: digest, Integrity: entry.Integrity, Dependencies: index.Dependencies{},
	}
	for name, tree := range entry.Skills {
		line.Skills = append(line.Skills, index.Skill{Name: name, Tree: tree})
	}
	slices.SortFunc(line.Skills, func(a, b index.Skill) int { return strings.Compare(a.Name, b.Name) })
	for name, constraint := range needs {
		line.Dependencies[name] = index.Dependency{Constraint: constraint}
	}
	w.edit(id, func(file string, data []byte) ([]byte, error) { return index.Append(file, data, line) })
}

// yank yanks a version.
func (w *fixture) yank(pk, version, reason string) {
	w.t.Helper()
	id, err := pack.ParseID(pk)
	if err != nil {
		w.t.Fatal(err)
	}
	w.edit(id, func(file string, data []byte) ([]byte, error) { return index.AppendYank(file, data, version, reason) })
}

func (w *fixture) edit(id pack.ID, change func(file string, data []byte) ([]byte, error)) {
	w.t.Helper()
	file := filepath.Join("index", index.Path(id))
	before, _ := os.ReadFile(filepath.Join(w.dir, file)) // there is none for the first version
	after, err := change(file, before)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(file, string(after))
}

func (w *fixture) install() *skillpm.InstallReport {
	w.t.Helper()
	r, err := w.client().Install(w.t.Context(), skillpm.InstallOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *fixture) update(o skillpm.UpdateOptions) *skillpm.InstallReport {
	w.t.Helper()
	r, err := w.client().Update(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client().Install(w.t.Context(), skillpm.InstallOptions{Frozen: true}); err != nil && len(r.Edited) == 0 {
		w.t.Errorf("after an update --frozen says: %v", err)
	}
	return r
}

// locked returns the versions in the lockfile.
func (w *fixture) locked() map[string]string {
	w.t.Helper()
	lock, err := pack.ParseLock("skillpm.lock", []byte(w.read("skillpm.lock")))
	if err != nil {
		w.t.Fatal(err)
	}
	versions := map[string]string{}
	for id, p := range lock.Packs {
		versions[id.String()] = p.Version
	}
	return versions
}

func (w *fixture) want(what string, want map[string]string) {
	w.t.Helper()
	if got := w.locked(); !maps.Equal(got, want) {
		w.t.Errorf("%s: locked %v, want %v", what, got, want)
	}
}

// TestUpdateNamed checks that a named pack gets its best version, with its requirements, and that the rest stays.
func TestUpdateNamed(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/base", "1.0.0", nil, "base")
	w.publish("acme/app", "1.0.0", map[string]string{"acme/base": "^1.0"}, "app")
	w.publish("acme/other", "1.0.0", map[string]string{"acme/base": ">=1.0.0"}, "other")
	w.manifest(`acme/app: "^1"`, `acme/other: "^1"`)
	w.install()
	w.publish("acme/base", "1.1.0", nil, "base")
	w.publish("acme/base", "1.2.0", nil, "base")
	w.publish("acme/app", "1.1.0", map[string]string{"acme/base": ">=1.1.0 <2"}, "app", "extra")
	w.publish("acme/other", "1.1.0", map[string]string{"acme/base": ">=1.0.0"}, "other")

	w.install()
	w.want("a plain install", map[string]string{"acme/app": "1.0.0", "acme/base": "1.0.0", "acme/other": "1.0.0"})
	r := w.update(skillpm.UpdateOptions{Packs: []string{"acme/app"}})
	w.want("app", map[string]string{"acme/app": "1.1.0", "acme/base": "1.2.0", "acme/other": "1.0.0"})
	for _, p := range r.Packs {
		if p.Pack == "acme/app" && (p.Previous != "1.0.0" || !slices.Equal(p.Added, []string{"extra"})) {
			t.Errorf("app: %+v, want from 1.0.0 with extra added", p)
		}
	}
	w.update(skillpm.UpdateOptions{})
	w.want("all", map[string]string{"acme/app": "1.1.0", "acme/base": "1.2.0", "acme/other": "1.1.0"})
	if r := w.update(skillpm.UpdateOptions{}); r.Changed {
		t.Error("a second update changed something")
	}

	w.publish("acme/base", "1.3.0", nil, "base")
	w.update(skillpm.UpdateOptions{Packs: []string{"acme/base"}})
	w.want("one that only others require", map[string]string{"acme/app": "1.1.0", "acme/base": "1.3.0", "acme/other": "1.1.0"})
}

// TestUpdateYanked checks that an update replaces a yanked version if possible, even by an older one, and keeps it
// otherwise.
func TestUpdateYanked(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.publish("acme/tool", "1.1.0", nil, "tool")
	w.publish("acme/only", "1.0.0", nil, "only")
	w.manifest(`acme/tool: "^1"`, `acme/only: "^1"`)
	w.install()
	w.yank("acme/tool", "1.1.0", "leaks tokens")
	w.yank("acme/only", "1.0.0", "broken")

	o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"acme/tool": "1.1.0 1.0.0 1.0.0 leaks tokens", "acme/only": "1.0.0 1.0.0 1.0.0 broken"}
	if got := outdatedTexts(o); !maps.Equal(got, want) {
		t.Errorf("outdated: %v, want %v", got, want)
	}
	r := w.update(skillpm.UpdateOptions{})
	w.want("yanked", map[string]string{"acme/tool": "1.0.0", "acme/only": "1.0.0"})
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "acme/only 1.0.0") {
		t.Errorf("warnings %q do not say that only's version was yanked", r.Warnings)
	}
	if got, want := heldTexts(r), []string{"acme/only 1.0.0 yanked: broken"}; !slices.Equal(got, want) {
		t.Errorf("held back: %q, want %q", got, want)
	}
	info, err := w.client().Info(t.Context(), "acme/only", "", "")
	if err != nil || info.Pack.Yanked != "broken" {
		t.Errorf("info of a version that was yanked: %+v, %v", info, err)
	}
	if info, err = w.client().Info(t.Context(), "acme/tool@1.1.0", "", ""); err != nil || info.Pack.Version != "1.1.0" || info.Pack.Yanked != "leaks tokens" {
		t.Errorf("info of another version that was yanked: %+v, %v", info, err)
	}
}

// heldTexts returns the packs that an update could not move, with reasons.
func heldTexts(r *skillpm.InstallReport) []string {
	var texts []string
	for _, p := range r.HeldBack {
		text := p.Pack + " " + p.Current
		if p.Latest != p.Current {
			text += " of " + p.Latest
		}
		if p.Yanked != "" {
			text += " yanked: " + p.Yanked
		}
		if p.Edited {
			text += " edited"
		}
		for _, h := range p.HeldBy {
			text += " held by " + h.By + " " + h.Range
		}
		texts = append(texts, text)
	}
	return texts
}

// TestUpdateHeldBack checks the output about packs that an update cannot move to the newest version.
func TestUpdateHeldBack(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/base", "1.0.0", nil, "base")
	w.publish("acme/app", "1.0.0", map[string]string{"acme/base": "^1.0"}, "app")
	w.publish("acme/mine", "1.0.0", nil, "mine")
	w.manifest(`acme/app: "~1.0"`, `acme/mine: "^1"`)
	w.install()
	w.publish("acme/base", "2.0.0", nil, "base")
	w.publish("acme/app", "1.1.0", map[string]string{"acme/base": "^1.0"}, "app")
	w.publish("acme/mine", "1.1.0", nil, "mine")
	w.write(".skillpm/plugins/acme/mine/mine/notes.md", "Mine.\n")
	for _, tt := range []struct {
		name string
		o    skillpm.UpdateOptions
		want []string
	}{
		{"within the ranges", skillpm.UpdateOptions{ChangeOptions: skillpm.ChangeOptions{Keep: true}}, []string{
			"acme/app 1.0.0 of 1.1.0 held by skillpm.yaml ~1.0", "acme/base 1.0.0 of 2.0.0 held by acme/app ^1.0", "acme/mine 1.0.0 edited",
		}},
		{"one", skillpm.UpdateOptions{Packs: []string{"acme/base"}}, []string{"acme/base 1.0.0 of 2.0.0 held by acme/app ^1.0"}},
		{"beyond the ranges", skillpm.UpdateOptions{Latest: true, ChangeOptions: skillpm.ChangeOptions{Keep: true}}, []string{
			"acme/base 1.0.0 of 2.0.0 held by acme/app ^1.0", "acme/mine 1.0.0 edited",
		}},
		{"an older version by name", skillpm.UpdateOptions{Latest: true, Packs: []string{"acme/app@1.0.0"}}, nil},
	} {
		if got := heldTexts(w.update(tt.o)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: held back %q, want %q", tt.name, got, tt.want)
		}
	}
}

func outdatedTexts(r *skillpm.OutdatedReport) map[string]string {
	texts := map[string]string{}
	for _, p := range r.Packs {
		texts[p.Pack] = strings.TrimSpace(strings.Join([]string{p.Current, p.Wanted, p.Latest, p.Yanked}, " "))
		for _, h := range p.HeldBy {
			texts[p.Pack] += " held by " + h.By + " " + h.Range
		}
	}
	return texts
}

// TestUpdateNeverGoesBack checks that a version that is younger than a later minimum age stays.
func TestUpdateNeverGoesBack(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.manifest(`acme/tool: "^1"`)
	w.install()
	w.publish("acme/tool", "1.1.0", nil, "tool")
	w.update(skillpm.UpdateOptions{})
	w.write("skillpm.yaml", w.read("skillpm.yaml")+"min-release-age: 9999h\n")
	w.update(skillpm.UpdateOptions{})
	w.want("too young", map[string]string{"acme/tool": "1.1.0"})
}

// TestOutdated checks the output about packs that are held back.
func TestOutdated(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/base", "1.0.0", nil, "base")
	w.publish("acme/app", "1.0.0", map[string]string{"acme/base": "^1.0"}, "app")
	w.publish("acme/same", "1.0.0", nil, "same")
	w.manifest(`acme/app: "~1.0"`, `acme/same: "*"`)
	w.install()
	w.publish("acme/base", "1.1.0", nil, "base")
	w.publish("acme/base", "2.0.0", nil, "base")
	w.publish("acme/base", "3.0.0-rc.1", nil, "base")
	w.publish("acme/app", "1.1.0", map[string]string{"acme/base": "^1.0"}, "app")

	before := snapshot(t, w.dir)
	r, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"acme/app":  "1.0.0 1.0.0 1.1.0 held by skillpm.yaml ~1.0",
		"acme/base": "1.0.0 1.1.0 2.0.0 held by acme/app ^1.0",
	}
	if got := outdatedTexts(r); !maps.Equal(got, want) || r.Checked != 3 {
		t.Errorf("of %d packs %v, want %v", r.Checked, got, want)
	}
	if !maps.Equal(before, snapshot(t, w.dir)) {
		t.Error("the project changed")
	}
	if r, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{Packs: []string{"acme/same"}}); err != nil || len(r.Packs) != 0 || r.Checked != 1 {
		t.Errorf("same: %+v, %v", r, err)
	}
	if _, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{Packs: []string{"acme/nosuch"}}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("nosuch: %v", err)
	}
}

// TestUpdateKeep checks that --keep holds back the packs of edited skills that would be replaced, and no others.
func TestUpdateKeep(t *testing.T) {
	w := newFixture(t)
	for _, pk := range []string{"acme/one", "acme/two"} {
		w.publish(pk, "1.0.0", nil, pk[5:], pk[5:]+"-more")
	}
	w.manifest(`acme/one: "^1"`, `acme/two: "^1"`)
	w.install()
	for _, pk := range []string{"acme/one", "acme/two"} {
		w.publish(pk, "1.1.0", nil, pk[5:])
	}
	edited := ".skillpm/plugins/acme/one/one/notes.md"
	w.write(edited, "Mine.\n")
	w.write(".skillpm/plugins/acme/two/two-more/notes.md", "Mine, too.\n") // of a skill that 1.1.0 does not have

	before := snapshot(t, w.dir)
	_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
	e, ok := errors.AsType[*skillpm.EditedError](err)
	if !ok || len(e.Edits) != 2 || diag.CodeOf(err) != diag.Conflict {
		t.Fatalf("update: %v, want two edits", err)
	}
	if text := e.Edits[0].Text; !strings.Contains(text, "--- a/"+edited+"\n+++ b/"+edited+"\n") || !strings.Contains(text, "\n+Mine.\n") {
		t.Errorf("the edit is told as\n%s", text)
	}
	if !maps.Equal(before, snapshot(t, w.dir)) {
		t.Error("a refused update changed the project")
	}
	r := w.update(skillpm.UpdateOptions{Packs: []string{"acme/one"}, ChangeOptions: skillpm.ChangeOptions{Keep: true}})
	w.want("keep", map[string]string{"acme/one": "1.0.0", "acme/two": "1.0.0"})
	if r.Changed || !strings.Contains(strings.Join(r.Warnings, "\n"), "acme/one stays at 1.0.0") {
		t.Errorf("changed %v, warnings %q", r.Changed, r.Warnings)
	}
	r = w.update(skillpm.UpdateOptions{ChangeOptions: skillpm.ChangeOptions{Force: true}})
	w.want("force", map[string]string{"acme/one": "1.1.0", "acme/two": "1.1.0"})
	if len(r.Saved) != 2 {
		t.Errorf("saved %v, want two", r.Saved)
	}
	for at, kept := range r.Saved {
		if text := w.read(kept + "/notes.md"); !strings.HasPrefix(text, "Mine") {
			t.Errorf("%s is kept as %q", at, text)
		}
	}
}

// TestUpdateBranch checks that a branch stays at its commit until an update, and a commit forever.
func TestUpdateBranch(t *testing.T) {
	repositories := t.TempDir()
	repo := gittest.New(t, repositories, "acme/wild.git")
	first := repo.Commit(gittest.Text(map[string]string{"one/SKILL.md": gittest.Skill("one", "The first.")}))
	server := gittest.Serve(t, repositories)
	dir, home := t.TempDir(), t.TempDir()
	lock := func() string {
		data, err := os.ReadFile(filepath.Join(dir, "skillpm.lock"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	install := func(packs ...string) {
		t.Helper()
		if _, err := newClient(t, dir, home).Install(t.Context(), skillpm.InstallOptions{Packs: packs}); err != nil {
			t.Fatal(err)
		}
	}
	install("git+" + server + "/acme/wild.git")
	second := repo.Commit(gittest.Text(map[string]string{"one/SKILL.md": gittest.Skill("one", "The second.")}))
	install()
	if !strings.Contains(lock(), first) {
		t.Errorf("an install moved the branch:\n%s", lock())
	}
	if _, err := newClient(t, dir, home).Update(t.Context(), skillpm.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(lock(), second) {
		t.Errorf("an update did not move the branch:\n%s", lock())
	}

	dir = t.TempDir()
	install("git+" + server + "/acme/wild.git#" + first)
	r, err := newClient(t, dir, home).Update(t.Context(), skillpm.UpdateOptions{Latest: true})
	if err != nil || r.Changed || !strings.Contains(lock(), first) {
		t.Errorf("a commit moved: %v, %v\n%s", r, err, lock())
	}
}

// TestUpdateLatestPlaces checks that a pinned direct source moves only with --latest, to the newest release, and stays
// pinned in the same form, and that sources without releases do not move.
func TestUpdateLatestPlaces(t *testing.T) {
	w := newFixture(t)
	digests := map[string]string{}
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		w.publish("acme/tool", version, nil, "tool")
		w.manifest(`acme/tool: "` + version + `"`)
		w.install()
		lock, err := pack.ParseLock("skillpm.lock", []byte(w.read("skillpm.lock")))
		if err != nil {
			t.Fatal(err)
		}
		digests[version] = lock.Packs[pack.ID{Owner: "acme", Name: "tool"}].Resolved
	}
	place := w.server.URL("acme/tool")
	for _, tt := range []struct{ name, before, update, latest, version string }{
		{"tag", `{oci: "%", tag: "1.0.0"}`, `{oci: "%", tag: "1.0.0"}`, `{oci: "%", tag: "2.0.0"}`, "2.0.0"},
		{"range", `{oci: "%", version: "~1.0"}`, `{oci: "%", version: "~1.0"}`, `{oci: "%", version: "~2.0.0"}`, "2.0.0"},
		{"wide range", `{oci: "%", version: ">=1"}`, `{oci: "%", version: ">=1"}`, `{oci: "%", version: ">=1"}`, "2.0.0"},
		{
			"digest", `{oci: "%", digest: "` + digests["1.0.0"] + `"}`, `{oci: "%", digest: "` + digests["1.0.0"] + `"}`,
			`{oci: "%", digest: "` + digests["1.0.0"] + `"}`, "1.0.0",
		},
		{
			"tag and digest", `{oci: "%", tag: "1.0.0", digest: "` + digests["1.0.0"] + `"}`, `{oci: "%", tag: "1.0.0", digest: "` + digests["1.0.0"] + `"}`,
			`{oci: "%", tag: "2.0.0", digest: "` + digests["2.0.0"] + `"}`, "2.0.0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.dir = t.TempDir()
			w.write("index/config.json", `{"version": 1}`)
			text := func(s string) string {
				return "registries: [index]\ndependencies:\n  acme/tool: " + strings.ReplaceAll(s, "%", place) + "\n"
			}
			w.write("skillpm.yaml", text(tt.before))
			w.install()
			w.update(skillpm.UpdateOptions{})
			if got := w.read("skillpm.yaml"); got != text(tt.update) {
				t.Errorf("after an update\n%s", got)
			}
			w.update(skillpm.UpdateOptions{Latest: true})
			if got := w.read("skillpm.yaml"); got != text(tt.latest) {
				t.Errorf("with --latest\n%s\nwant\n%s", got, text(tt.latest))
			}
			w.want("with --latest", map[string]string{"acme/tool": tt.version})
			if r := w.update(skillpm.UpdateOptions{Latest: true}); r.Changed {
				t.Error("a second update changed something")
			}
		})
	}
}

// TestUpdateForce checks that --force replaces the edited skills of packs that move, and keeps those of others.
func TestUpdateForce(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/one", "1.0.0", nil, "one")
	w.publish("acme/two", "1.0.0", nil, "two")
	w.manifest(`acme/one: "^1"`, `acme/two: "^1"`)
	w.install()
	one, two, stranger := ".skillpm/plugins/acme/one/one/notes.md", ".skillpm/plugins/acme/two/two/notes.md", ".skillpm/plugins/acme/mine/notes.md"
	for _, name := range []string{one, two, stranger} {
		w.write(name, "Mine.\n")
	}
	w.publish("acme/one", "1.1.0", nil, "one")
	for _, packs := range [][]string{nil, {"acme/one", "acme/two"}, {"acme/two"}} {
		r, err := w.client().Update(t.Context(), skillpm.UpdateOptions{Packs: packs, ChangeOptions: skillpm.ChangeOptions{Force: true}})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.read(one); got == "Mine.\n" {
			t.Errorf("%v: the edit of a pack that moves stays", packs)
		}
		if w.read(two) != "Mine.\n" || w.read(stranger) != "Mine.\n" {
			t.Errorf("%v: the edit of a pack that does not move was replaced: %v", packs, r.Saved)
		}
	}
	w.want("forced", map[string]string{"acme/one": "1.1.0", "acme/two": "1.0.0"})
}

// TestUpdateExactOrder checks that the error does not depend on chance if ranges do not allow several named versions.
func TestUpdateExactOrder(t *testing.T) {
	w := newFixture(t)
	names := []string{"acme/a", "acme/b", "acme/c", "acme/d"}
	var lines, packs []string
	for _, name := range names {
		w.publish(name, "1.0.0", nil, strings.TrimPrefix(name, "acme/"))
		lines, packs = append(lines, name+`: "^1"`), append(packs, name+"@2.0.0")
	}
	w.manifest(lines...)
	w.install()
	slices.Reverse(packs)
	_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{Packs: packs})
	if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "cannot update acme/a to 2.0.0") {
		t.Errorf("update: %v", err)
	}
}
