package skillpm_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// unpublish removes a tag, so that it can be published again with other content.
func (w *fixture) unpublish(pk, version string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodDelete,
		"http://"+w.server.Host+"/v2/"+pk+"/manifests/"+version, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		w.t.Fatalf("DELETE %s:%s: %s", pk, version, resp.Status)
	}
}

// repoint publishes other content under a published version. The index of the fixture follows.
func (w *fixture) repoint(pk, version string, needs, files map[string]string) {
	w.t.Helper()
	w.unpublish(pk, version)
	id, err := pack.ParseID(pk)
	if err != nil {
		w.t.Fatal(err)
	}
	w.edit(id, func(_ string, data []byte) ([]byte, error) {
		lines := strings.SplitAfter(string(data), "\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"version":"`+version+`"`) })
		return []byte(strings.Join(lines, "")), nil
	})
	w.publishFiles(pk, version, needs, files)
}

func skillText(name, text string) map[string]string {
	return map[string]string{name + "/SKILL.md": "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n\n" + text + "\n"}
}

// changedErr checks that an operation refuses the changed content of a pack: it shows both digests and who to ask, and
// its hint has no way around.
func changedErr(t *testing.T, what string, err error, pk string) {
	t.Helper()
	if diag.CodeOf(err) != diag.Integrity {
		t.Errorf("%s: %v, want the code integrity", what, err)
		return
	}
	text, hint := err.Error(), diag.HintOf(err)
	if !strings.Contains(text, "the content of "+pk+" ") || strings.Count(text, "t1:sha256:") != 2 &&
		!strings.Contains(text, "requires") {
		t.Errorf("%s: error %q, want the pack and both digests", what, text)
	}
	if !strings.Contains(hint, "ask the publisher of "+pk) {
		t.Errorf("%s: hint %q", what, hint)
	}
	for _, bypass := range []string{"install", "remove", "accept", "update"} {
		if strings.Contains(hint, bypass) {
			t.Errorf("%s: the hint %q shows a way around", what, hint)
		}
	}
}

// refuses checks that every operation that would take the changed content of a pack refuses it and changes nothing,
// that a plain installation keeps the locked content, and that outdated reports the change.
func (w *fixture) refuses(pk string, more ...skillpm.InstallOptions) {
	w.t.Helper()
	lock, manifest := w.read("skillpm.lock"), w.read("skillpm.yaml")
	ctx := w.t.Context()
	for what, o := range map[string]skillpm.UpdateOptions{
		"update": {}, "update PACK": {Packs: []string{pk}}, "update --latest": {Latest: true},
		"update --dry-run": {ChangeOptions: skillpm.ChangeOptions{DryRun: true}},
	} {
		_, err := w.client().Update(ctx, o)
		changedErr(w.t, what, err, pk)
	}
	for _, o := range append(more, skillpm.InstallOptions{Upgrade: true}) {
		_, err := w.client().Install(ctx, o)
		changedErr(w.t, "install "+strings.Join(o.Packs, " "), err, pk)
	}
	for _, o := range more {
		if len(o.Packs) == 0 || strings.Contains(o.Packs[0], "@") {
			continue
		}
		_, err := w.client().Try(ctx, skillpm.TryOptions{Pack: o.Packs[0]})
		changedErr(w.t, "try", err, pk)
	}
	for _, o := range []skillpm.InstallOptions{{}, {Frozen: true}} {
		if r, err := w.client().Install(ctx, o); err != nil || r.Changed {
			w.t.Errorf("install: %v, %+v, want the locked content", err, r)
		}
	}
	r, err := w.client().Outdated(ctx, skillpm.OutdatedOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	changedErr(w.t, "outdated", r.Err(), pk)
	i := slices.IndexFunc(r.Packs, func(p skillpm.OutdatedPack) bool { return p.Pack == pk })
	if i < 0 || r.Packs[i].Changed == nil || !strings.Contains(lock, r.Packs[i].Changed.Locked.Resolved) ||
		!strings.Contains(lock, r.Packs[i].Changed.Locked.Integrity) || r.Packs[i].Changed.Found.Resolved == "" {
		w.t.Errorf("outdated: %+v, want the change of %s", r.Packs, pk)
	}
	if w.read("skillpm.lock") != lock || w.read("skillpm.yaml") != manifest {
		w.t.Error("a refused operation changed the manifest or the lockfile")
	}
}

// accepts checks that --accept-changed takes the changed content of a pack, and that nothing is refused afterwards.
func (w *fixture) accepts(pk string) {
	w.t.Helper()
	lock := w.read("skillpm.lock")
	if r, err := w.client().Diff(w.t.Context(), skillpm.DiffOptions{}); err != nil || len(r.Packs) == 0 ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "the content of "+pk) {
		w.t.Errorf("diff: %v, %+v, want the difference", err, r)
	}
	r := w.update(skillpm.UpdateOptions{ChangeOptions: skillpm.ChangeOptions{AcceptChanged: []string{pk}}})
	if !r.Changed || w.read("skillpm.lock") == lock ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "accepted a change: the content of "+pk) {
		w.t.Errorf("--accept-changed: %+v", r)
	}
	if r := w.update(skillpm.UpdateOptions{}); r.Changed {
		w.t.Errorf("a second update: %+v", r)
	}
	o, err := w.client().Outdated(w.t.Context(), skillpm.OutdatedOptions{})
	if err != nil || o.Err() != nil {
		w.t.Errorf("outdated afterwards: %v, %v", err, o.Err())
	}
}

// gitRepo serves a repository over HTTP whose tag v1.1.0 has one skill.
func gitRepo(t *testing.T, options ...gittest.Option) (repo *gittest.Repo, url string) {
	t.Helper()
	dir := t.TempDir()
	repo = gittest.New(t, dir, "acme/tools.git")
	repo.Tag("v1.1.0", repo.Commit(repoFiles("1.1.0", "", skillText("tool", "Locked."))))
	return repo, gittest.Serve(t, dir, options...) + "/acme/tools.git"
}

// repoFiles returns the files of a repository with a manifest of a version, and more lines of it.
func repoFiles(version, more string, files map[string]string) gittest.Files {
	all := gittest.Text(files)
	all["skillpm.yaml"] = gittest.File{Data: "name: acme/tools\nversion: \"" + version + "\"\n" + more}
	return all
}

// TestChangedGitTag checks that a moved tag of a git repository is refused, however the pack is required.
func TestChangedGitTag(t *testing.T) {
	for name, requirement := range map[string]string{
		"range": `acme/tools: {git: "URL", version: "^1"}`, "tag": `acme/tools: {git: "URL", tag: v1.1.0}`,
		"any": `acme/tools: {git: "URL"}`, "skill": `acme/tools: {git: "URL", skills: [tool]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			repo, url := gitRepo(t)
			w.manifest(strings.ReplaceAll(requirement, "URL", url))
			w.install()
			repo.Tag("v1.1.0", repo.Commit(repoFiles("1.1.0", "", skillText("tool", "Moved."))))
			w.refuses("acme/tools", skillpm.InstallOptions{Packs: []string{"git+" + url + "#v1.1.0"}})
			if text := w.read(".skillpm/plugins/acme/tools/tool/SKILL.md"); !strings.Contains(text, "Locked.") {
				t.Errorf("installed %q", text)
			}
			w.accepts("acme/tools")
			if text := w.read(".skillpm/plugins/acme/tools/tool/SKILL.md"); !strings.Contains(text, "Moved.") {
				t.Errorf("installed %q", text)
			}
		})
	}
}

// TestChangedGitOther checks the ways around a comparison of versions: another version behind the required tag, a new
// dependency, releases that disappear, and a newer release beside the moved one.
func TestChangedGitOther(t *testing.T) {
	for _, c := range []struct {
		name, requirement string
		attack            func(*gittest.Repo)
	}{
		{"version behind the tag", `acme/tools: {git: "URL", tag: v1.1.0}`, func(r *gittest.Repo) {
			r.Tag("v1.1.0", r.Commit(repoFiles("1.1.1", "", skillText("tool", "Moved."))))
		}},
		{"dependency", `acme/tools: {git: "URL", version: "^1"}`, func(r *gittest.Repo) {
			r.Tag("v1.1.0", r.Commit(repoFiles("1.1.0", "dependencies: {skillpm/authoring: \"*\"}\n", skillText("tool", "Locked."))))
		}},
		{"releases are gone", `acme/tools: {git: "URL", version: "^1"}`, func(r *gittest.Repo) {
			r.Commit(repoFiles("1.1.0", "", skillText("tool", "Moved.")))
			if err := os.Remove(filepath.Join(r.Dir, "refs", "tags", "v1.1.0")); err != nil {
				t.Fatal(err)
			}
		}},
		{"newer release", `acme/tools: {git: "URL", version: "^1"}`, func(r *gittest.Repo) {
			r.Tag("v1.1.0", r.Commit(repoFiles("1.1.0", "", skillText("tool", "Moved."))))
			r.Tag("v1.2.0", r.Commit(repoFiles("1.2.0", "", skillText("tool", "Newer."))))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			repo, url := gitRepo(t)
			w.manifest(strings.ReplaceAll(c.requirement, "URL", url))
			w.install()
			c.attack(repo)
			_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
			changedErr(t, "update", err, "acme/tools")
		})
	}
}

// TestChangedGitEqual checks that another commit with the same content is not a change: the lockfile gets the commit
// with the next update.
func TestChangedGitEqual(t *testing.T) {
	w := newFixture(t)
	repo, url := gitRepo(t)
	w.manifest(`acme/tools: {git: "` + url + `", version: "^1"}`)
	w.install()
	files := repoFiles("1.1.0", "", skillText("tool", "Locked."))
	files["README.md"] = gittest.File{Data: "Not installed.\n"}
	commit := repo.Commit(files)
	repo.Tag("v1.1.0", commit)
	if o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{}); err != nil || len(o.Packs) > 0 {
		t.Errorf("outdated: %v, %+v", err, o)
	}
	if r := w.install(); r.Changed {
		t.Errorf("install changed the lockfile: %+v", r)
	}
	w.update(skillpm.UpdateOptions{})
	if !strings.Contains(w.read("skillpm.lock"), commit) {
		t.Errorf("the lockfile does not have the new commit:\n%s", w.read("skillpm.lock"))
	}
}

// TestChangedGitWays combines the ways to replace the tag of a locked version with the ways to require and to update
// the pack: none of them installs other content under the locked version.
func TestChangedGitWays(t *testing.T) {
	moved := func(r *gittest.Repo) string { return r.Commit(repoFiles("1.1.0", "", skillText("tool", "Moved."))) }
	remove := func(r *gittest.Repo) { r.Run("update-ref", "-d", "refs/tags/v1.1.0") }
	attacks := map[string]func(*gittest.Repo){
		"annotated tag": func(r *gittest.Repo) { c := moved(r); remove(r); r.AnnotatedTag("v1.1.0", c) },
		"branch":        func(r *gittest.Repo) { remove(r); r.Run("update-ref", "refs/heads/v1.1.0", moved(r)) },
		"no tags":       func(r *gittest.Repo) { remove(r); moved(r) },
		"other tag":     func(r *gittest.Repo) { r.Tag("tools@1.1.0", moved(r)) },
	}
	requirements := map[string]string{
		"range": `acme/tools: {git: "URL", version: "^1"}`, "tag": `acme/tools: {git: "URL", tag: v1.1.0}`,
		"any": `acme/tools: {git: "URL"}`,
	}
	for attack, do := range attacks {
		for kind, requirement := range requirements {
			t.Run(attack+"/"+kind, func(t *testing.T) {
				w := newFixture(t)
				repo, url := gitRepo(t)
				w.manifest(strings.ReplaceAll(requirement, "URL", url))
				w.install()
				do(repo)
				exact := []string{"acme/tools@1.1.0"}
				for _, o := range []skillpm.UpdateOptions{
					{}, {Latest: true}, {Packs: exact}, {Packs: exact, Latest: true},
				} {
					_, err := w.client().Update(t.Context(), o)
					w.keepsLocked("update", err)
				}
				for _, o := range []skillpm.InstallOptions{
					{Packs: []string{"git+" + url}},
					{Upgrade: true},
					{Packs: []string{"git+" + url + "#v1.1.0"}},
					{Upgrade: true},
				} {
					_, err := w.client().Install(t.Context(), o)
					w.keepsLocked("install", err)
				}
			})
		}
	}
}

// keepsLocked checks that an operation on acme/tools leaves its locked content installed.
func (w *fixture) keepsLocked(what string, err error) {
	w.t.Helper()
	if text := w.read(".skillpm/plugins/acme/tools/tool/SKILL.md"); !strings.Contains(text, "Locked.") {
		w.t.Fatalf("%s (%v): installed %q", what, err, text)
	}
}

// TestChangedMoreSkills checks that skills that are added to a partial installation are those of the locked commit.
func TestChangedMoreSkills(t *testing.T) {
	w := newFixture(t)
	dir := t.TempDir()
	repo, url := gittest.New(t, dir, "acme/tools.git"), gittest.Serve(t, dir)+"/acme/tools.git"
	files := func(more string) gittest.Files {
		all := skillText("tool", "Locked.")
		all["more/SKILL.md"] = skillText("more", more)["more/SKILL.md"]
		return repoFiles("1.1.0", "", all)
	}
	repo.Tag("v1.1.0", repo.Commit(files("First.")))
	w.manifest(`acme/tools: {git: "` + url + `", version: "^1", skills: [tool]}`)
	w.install()
	repo.Tag("v1.1.0", repo.Commit(files("Second.")))
	w.manifest(`acme/tools: {git: "` + url + `", version: "^1"}`)
	w.install()
	if text := w.read(".skillpm/plugins/acme/tools/more/SKILL.md"); !strings.Contains(text, "First.") {
		t.Errorf("installed %q, want the skill of the locked commit", text)
	}
}

// TestChangedOCI checks that a repointed tag of an OCI repository is refused, however the pack is required.
func TestChangedOCI(t *testing.T) {
	for name, o := range map[string]struct{ requirement, packs string }{
		"range": {`acme/tool: {oci: "URL", version: "^1"}`, "URL:1.1.0"},
		"tag":   {`acme/tool: {oci: "URL", tag: "1.1.0"}`, "URL:1.1.0"},
		"name":  {`acme/tool: "^1"`, "acme/tool@latest"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.publishFiles("acme/tool", "1.1.0", nil, skillText("tool", "Locked."))
			url := w.server.URL("acme/tool")
			w.write("skillpm.yaml", "namespaces: {acme: \""+w.server.URL("acme")+"\"}\ndependencies:\n  "+
				strings.ReplaceAll(o.requirement, "URL", url)+"\n")
			w.install()
			w.repoint("acme/tool", "1.1.0", nil, skillText("tool", "Moved."))
			w.refuses("acme/tool", skillpm.InstallOptions{Packs: []string{strings.ReplaceAll(o.packs, "URL", url)}})
			w.accepts("acme/tool")
		})
	}
}

// TestChangedOCIReleasesGone checks that a pack does not get other content under its locked version when its repository
// has no releases any more, however the pack is required.
func TestChangedOCIReleasesGone(t *testing.T) {
	for name, requirement := range map[string]string{
		"range": `acme/tool: {oci: "URL", version: "^1"}`, "tag": `acme/tool: {oci: "URL", tag: "1.1.0"}`,
		"any": `acme/tool: {oci: "URL"}`, "name": `acme/tool: "^1"`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.publishFiles("acme/tool", "1.1.0", nil, skillText("tool", "Locked."))
			url := w.server.URL("acme/tool")
			w.write("skillpm.yaml", "namespaces: {acme: \""+w.server.URL("acme")+"\"}\ndependencies:\n  "+
				strings.ReplaceAll(requirement, "URL", url)+"\n")
			w.install()
			w.repoint("acme/tool", "1.1.0", nil, skillText("tool", "Moved."))
			w.retag("acme/tool", "1.1.0", "latest")
			w.unpublish("acme/tool", "1.1.0")
			for _, o := range []skillpm.UpdateOptions{{}, {Latest: true}, {Packs: []string{"acme/tool@1.1.0"}}} {
				_, err := w.client().Update(t.Context(), o)
				if text := w.read(".skillpm/plugins/acme/tool/tool/SKILL.md"); !strings.Contains(text, "Locked.") {
					t.Fatalf("%v: installed %q", err, text)
				}
			}
			for _, o := range []skillpm.InstallOptions{{Upgrade: true}, {Packs: []string{url}}, {Upgrade: true}} {
				_, err := w.client().Install(t.Context(), o)
				if text := w.read(".skillpm/plugins/acme/tool/tool/SKILL.md"); !strings.Contains(text, "Locked.") {
					t.Fatalf("%v: installed %q", err, text)
				}
			}
		})
	}
}

// retag gives a manifest a further tag.
func (w *fixture) retag(pk, from, to string) {
	w.t.Helper()
	at := "http://" + w.server.Host + "/v2/" + pk + "/manifests/"
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, at+from, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json")
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer got.Body.Close()
	if req, err = http.NewRequestWithContext(w.t.Context(), http.MethodPut, at+to, got.Body); err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", got.Header.Get("Content-Type"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	if got.StatusCode != http.StatusOK || resp.StatusCode != http.StatusCreated {
		w.t.Fatalf("%s as %s: %s, %s", from, to, got.Status, resp.Status)
	}
}

// TestChangedIndexLine checks that a line of an index whose digest changed is refused, for dependencies too.
func TestChangedIndexLine(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/base", "1.0.0", nil, skillText("base", "Locked."))
	w.publishFiles("acme/app", "1.0.0", map[string]string{"acme/base": "^1"}, skillText("app", "App."))
	w.manifest(`acme/app: "^1"`)
	w.install()
	w.repoint("acme/base", "1.0.0", nil, skillText("base", "Moved."))
	w.refuses("acme/base")
	w.publishFiles("acme/base", "1.1.0", nil, skillText("base", "Newer."))
	_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
	changedErr(t, "update to a newer version", err, "acme/base")
	w.update(skillpm.UpdateOptions{ChangeOptions: skillpm.ChangeOptions{AcceptChanged: []string{"acme/base"}}})
	w.want("accepted", map[string]string{"acme/app": "1.0.0", "acme/base": "1.1.0"})
}

// TestChangedInstallAccept checks that install --accept-changed locks what the source has of the locked version, not a
// newer one, and refuses packs that the lockfile does not have.
func TestChangedInstallAccept(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Locked."))
	w.manifest(`acme/tool: "^1"`)
	w.install()
	w.repoint("acme/tool", "1.0.0", nil, skillText("tool", "Moved."))
	w.publishFiles("acme/tool", "1.1.0", nil, skillText("tool", "Newer."))
	accept := skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{AcceptChanged: []string{"acme/tool"}}}
	if _, err := w.client().Install(t.Context(), accept); err != nil {
		t.Fatal(err)
	}
	w.want("accepted", map[string]string{"acme/tool": "1.0.0"})
	if text := w.read(".skillpm/plugins/acme/tool/tool/SKILL.md"); !strings.Contains(text, "Moved.") {
		t.Errorf("installed %q", text)
	}
	accept.AcceptChanged = []string{"acme/other"}
	if _, err := w.client().Install(t.Context(), accept); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("an unknown pack: %v", err)
	}
	accept = skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{AcceptChanged: []string{"acme/tool"}}, Frozen: true}
	if _, err := w.client().Install(t.Context(), accept); diag.CodeOf(err) != diag.Usage {
		t.Errorf("--frozen: %v", err)
	}
}

// TestChangedCleanMachine checks that a machine that has nothing is not given other content when the locked commit or
// digest is gone.
func TestChangedCleanMachine(t *testing.T) {
	for _, c := range []string{"git", "oci"} {
		t.Run(c, func(t *testing.T) {
			w := newFixture(t)
			name := "acme/tool"
			var attack func()
			if c == "git" {
				repo, url := gitRepo(t, gittest.WithoutAnyCommit())
				name, attack = "acme/tools", func() {
					repo.Run("update-ref", "-d", "refs/heads/main")
					repo.Tag("v1.1.0", repo.Commit(repoFiles("1.1.0", "", skillText("tool", "Moved."))))
				}
				w.manifest(`acme/tools: {git: "` + url + `", version: "^1"}`)
			} else {
				w.publishFiles("acme/tool", "1.1.0", nil, skillText("tool", "Locked."))
				w.manifest(`acme/tool: {oci: "` + w.server.URL("acme/tool") + `", version: "^1"}`)
				attack = func() {
					_, digest, _ := strings.Cut(w.read("skillpm.lock"), `resolved: "`)
					w.unpublish("acme/tool", digest[:strings.Index(digest, `"`)])
					w.mirror("acme", "acme/tool", "1.1.0", skillText("tool", "Moved."))
				}
			}
			w.install()
			attack()
			lock := w.read("skillpm.lock")
			if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
				t.Fatal(err)
			}
			w.home = t.TempDir()
			for _, o := range []skillpm.InstallOptions{{}, {Frozen: true}} {
				_, err := w.client().Install(t.Context(), o)
				changedErr(t, "install", err, name)
			}
			if w.read("skillpm.lock") != lock {
				t.Error("the lockfile changed")
			}
		})
	}
}

// TestOutdatedBranch checks that a branch that moved is outdated, with its commits, whether the pack has a version or
// not, and that an update follows it.
func TestOutdatedBranch(t *testing.T) {
	for name, c := range map[string]struct {
		requirement, revision string
		versioned             bool
	}{
		"rev":            {`acme/tools: {git: "URL", rev: main}`, "main", true},
		"branch":         {`acme/tools: {git: "URL", branch: main}`, "main", true},
		"unversioned":    {`acme/tools: {git: "URL", rev: main}`, "main", false},
		"default branch": {`acme/tools: {git: "URL"}`, "HEAD", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			repo, url := gittest.New(t, dir, "acme/tools.git"), gittest.Serve(t, dir)+"/acme/tools.git"
			commit := func(text string) string {
				files := repoFiles("1.0.0", "", skillText("tool", text))
				if !c.versioned {
					delete(files, "skillpm.yaml")
				}
				return repo.Commit(files)
			}
			was := commit("First.")
			w := newFixture(t)
			w.manifest(strings.ReplaceAll(c.requirement, "URL", url))
			w.install()
			if o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{}); err != nil || len(o.Packs) != 0 {
				t.Errorf("before: %v, %+v", err, o)
			}
			now := commit("Second.")
			o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
			if err != nil || o.Err() != nil || len(o.Packs) != 1 {
				t.Fatalf("%v, %+v", err, o)
			}
			if p := o.Packs[0]; p.Revision != c.revision || p.Resolved != was || p.WantedResolved != now {
				t.Errorf("%+v, want %s from %s to %s", p, c.revision, was, now)
			}
			w.update(skillpm.UpdateOptions{})
			if text := w.read(".skillpm/plugins/acme/tools/tool/SKILL.md"); !strings.Contains(text, "Second.") {
				t.Errorf("installed %q", text)
			}
		})
	}
}

// TestPacksNameNoNearServers checks that a pack cannot make skillpm send requests to servers that only this machine
// reaches: a dependency at the metadata server of a cloud, however it is written, is refused.
func TestPacksNameNoNearServers(t *testing.T) {
	for _, source := range []string{
		"oci: 'oci://169.254.169.254/acme/base'", "oci: 'oci://169.254.169.254:5000/acme/base'", "oci: 'oci://2852039166/acme/base'",
		"oci: 'oci://0xa9.0xfe.0xa9.0xfe/acme/base'", "oci: 'oci://[fe80::1]/acme/base'", "oci: 'oci://[::ffff:169.254.169.254]/acme/base'",
		"git: 'https://169.254.169.254/acme/base.git'", "git: 'ssh://git@169.254.169.254/acme/base.git'",
	} {
		dir := t.TempDir()
		repo, url := gittest.New(t, dir, "acme/app.git"), gittest.Serve(t, dir)+"/acme/app.git"
		repo.Tag("v1.0.0", repo.Commit(repoFiles("1.0.0", "dependencies: {acme/base: {"+source+", version: '*'}}\n", skillText("app", "App."))))
		w := newFixture(t)
		w.manifest(`acme/app: {git: "` + url + `", version: "^1"}`)
		_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "acme/tools depends on ") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestChangedInRepository checks a pack that another one requires by its directory in the same repository: with a new
// version of that one it may change under its own version, with a moved tag it may not.
func TestChangedInRepository(t *testing.T) {
	files := func(version, base string) gittest.Files {
		all := map[string]string{
			"app/skillpm.yaml":  "name: acme/app\nversion: \"" + version + "\"\ndependencies: {acme/base: {path: ../base}}\n",
			"base/skillpm.yaml": "name: acme/base\nversion: \"1.0.0\"\n",
		}
		for name, text := range skillText("app/app", "App.") {
			all[name] = strings.Replace(text, "name: app/app", "name: app", 1)
		}
		for name, text := range skillText("base/base", base) {
			all[name] = strings.Replace(text, "name: base/base", "name: base", 1)
		}
		return gittest.Text(all)
	}
	setup := func(t *testing.T) (*fixture, *gittest.Repo) {
		dir := t.TempDir()
		repo, url := gittest.New(t, dir, "acme/packs.git"), gittest.Serve(t, dir)+"/acme/packs.git"
		repo.Tag("v1.0.0", repo.Commit(files("1.0.0", "First.")))
		w := newFixture(t)
		w.manifest(`acme/app: {git: "` + url + `", path: app, version: "^1"}`)
		w.install()
		if r, err := w.client().Install(t.Context(), skillpm.InstallOptions{Frozen: true}); err != nil || r.Changed {
			t.Errorf("--frozen: %v, %+v", err, r)
		}
		return w, repo
	}
	t.Run("new version", func(t *testing.T) {
		w, repo := setup(t)
		repo.Tag("v1.1.0", repo.Commit(files("1.1.0", "Second.")))
		w.update(skillpm.UpdateOptions{})
		w.want("update", map[string]string{"acme/app": "1.1.0", "acme/base": "1.0.0"})
	})
	t.Run("moved tag", func(t *testing.T) {
		w, repo := setup(t)
		repo.Tag("v1.0.0", repo.Commit(files("1.0.0", "Second.")))
		_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
		changedErr(t, "update", err, "acme/base")
	})
	t.Run("same content", func(t *testing.T) {
		w, repo := setup(t)
		same := files("1.0.0", "First.")
		same["README.md"] = gittest.File{Data: "Not installed.\n"}
		commit := repo.Commit(same)
		repo.Tag("v1.0.0", commit)
		w.update(skillpm.UpdateOptions{})
		if strings.Count(w.read("skillpm.lock"), commit) < 2 {
			t.Errorf("the lockfile does not have the new commit:\n%s", w.read("skillpm.lock"))
		}
	})
}
