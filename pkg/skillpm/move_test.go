package skillpm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// mirror publishes a version to another prefix of the registry, without an index.
func (w *fixture) mirror(prefix, pk, version string, files map[string]string) {
	w.t.Helper()
	src := w.t.TempDir()
	writeFiles(w.t, src, map[string]string{"skillpm.yaml": "name: " + pk + "\nversion: \"" + version + "\"\n"})
	writeFiles(w.t, src, files)
	o := publish.ReleaseOptions{To: w.server.URL(prefix)}
	if _, err := newAuthor(w.t, src, w.home).Publish(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// source returns where a pack is locked.
func (w *fixture) source(pk string) string {
	w.t.Helper()
	lock, err := pack.ParseLock("skillpm.lock", []byte(w.read("skillpm.lock")))
	if err != nil {
		w.t.Fatal(err)
	}
	id, err := pack.ParseID(pk)
	if err != nil || lock.Packs[id] == nil {
		w.t.Fatalf("%s is not locked: %v", pk, err)
	}
	return lock.Packs[id].Source
}

// locatedAt checks where a pack is locked.
func (w *fixture) locatedAt(what, pk, path string) {
	w.t.Helper()
	if got, want := w.source(pk), w.server.URL(path); got != want {
		w.t.Errorf("%s: %s is locked to %s, want %s", what, pk, got, want)
	}
}

// bind writes a manifest that binds acme.
func (w *fixture) bind(to string, dependencies ...string) {
	w.write("skillpm.yaml", "registries: [index]\nnamespaces: {acme: \""+to+"\"}\ndependencies:\n  "+
		strings.Join(dependencies, "\n  ")+"\n")
}

func from(registry string) skillpm.ChangeOptions { return skillpm.ChangeOptions{Registry: registry} }

// TestMoveInstall checks that install --registry moves a locked pack, that later operations leave it there, and that
// other content at the new source is refused.
func TestMoveInstall(t *testing.T) {
	w := newFixture(t)
	two := w.server.URL("two")
	w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Text."))
	w.manifest(`acme/tool: "^1"`)
	w.install()
	w.publishFiles("acme/tool", "1.1.0", nil, skillText("tool", "Newer."))
	w.mirror("two", "acme/tool", "1.0.0", skillText("tool", "Text."))
	w.mirror("two", "acme/tool", "1.0.1", skillText("tool", "Newer."))
	move := skillpm.InstallOptions{ChangeOptions: from(two), Packs: []string{"acme/tool"}}
	r, err := w.client().Install(t.Context(), move)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Packs[0]
	if !r.Changed || p.Action != skillpm.ActionMoved || p.PreviousSource != w.server.URL("acme/tool") || p.Source != two+"/acme/tool" {
		t.Errorf("%+v", p)
	}
	w.want("in its locked version", map[string]string{"acme/tool": "1.0.0"})
	if r, err := w.client().Install(t.Context(), move); err != nil || r.Changed {
		t.Errorf("again: %v, %+v", err, r)
	}
	w.install()
	w.locatedAt("a plain install", "acme/tool", "two/acme/tool")
	w.update(skillpm.UpdateOptions{})
	w.locatedAt("an update", "acme/tool", "two/acme/tool")
	w.want("an update", map[string]string{"acme/tool": "1.0.1"})

	lock := w.read("skillpm.lock")
	w.mirror("evil", "acme/tool", "1.0.1", skillText("tool", "Other."))
	for _, o := range []skillpm.InstallOptions{
		{ChangeOptions: from(w.server.URL("evil")), Packs: []string{"acme/tool"}},
		{ChangeOptions: from(w.server.URL("evil")), Packs: []string{"acme/tool@1.0.1"}},
		{ChangeOptions: from(w.server.URL("evil")), Packs: []string{"acme/tool@latest"}},
	} {
		_, err = w.client().Install(t.Context(), o)
		changedErr(t, "other content at the new source", err, "acme/tool")
	}
	if w.read("skillpm.lock") != lock {
		t.Error("a refused move changed the lockfile")
	}
	accept := from(w.server.URL("evil"))
	accept.AcceptChanged = []string{"acme/tool"}
	if _, err = w.client().Install(t.Context(), skillpm.InstallOptions{ChangeOptions: accept, Packs: []string{"acme/tool"}}); err != nil {
		t.Fatal(err)
	}
	w.locatedAt("accepted", "acme/tool", "evil/acme/tool")
}

// TestMoveInstallSource checks that --registry does not silently leave a pack that the manifest requires from a source.
func TestMoveInstallSource(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Text."))
	w.manifest(`acme/tool: {oci: "` + w.server.URL("acme/tool") + `", version: "^1"}`)
	w.install()
	o := skillpm.InstallOptions{ChangeOptions: from(w.server.URL("two")), Packs: []string{"acme/tool"}}
	if _, err := w.client().Install(t.Context(), o); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

// TestMoveTransitive checks that update --registry moves a pack that only another one requires, and nothing else.
func TestMoveTransitive(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/base", "1.0.0", nil, skillText("base", "Text."))
	w.publishFiles("acme/app", "1.0.0", map[string]string{"acme/base": "^1"}, skillText("app", "Text."))
	w.manifest(`acme/app: "^1"`)
	w.install()
	w.mirror("two", "acme/base", "1.0.0", skillText("base", "Text."))
	o := skillpm.UpdateOptions{ChangeOptions: from(w.server.URL("two")), Packs: []string{"acme/base"}}
	r := w.update(o)
	w.locatedAt("the named pack", "acme/base", "two/acme/base")
	w.locatedAt("another pack", "acme/app", "acme/app")
	if len(r.Packs) != 2 || r.Packs[1].Action != skillpm.ActionMoved || r.Packs[1].PreviousSource != w.server.URL("acme/base") {
		t.Errorf("%+v", r.Packs)
	}
	w.update(skillpm.UpdateOptions{})
	w.locatedAt("a later update", "acme/base", "two/acme/base")
	if _, err := w.client().Update(t.Context(), skillpm.UpdateOptions{ChangeOptions: from(w.server.URL("two"))}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("all packs to a registry that lacks one: %v", err)
	}
}

// TestMoveBinding checks that install warns of a changed binding, that outdated shows it, and that update follows it.
func TestMoveBinding(t *testing.T) {
	for name, bound := range map[string]string{"prefix": "two", "index": "index2"} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Text."))
			w.manifest(`acme/tool: "^1"`)
			w.install()
			w.mirror("two", "acme/tool", "1.0.0", skillText("tool", "Text."))
			if name == "prefix" {
				bound = w.server.URL("two")
			} else {
				for _, file := range []string{"config.json", indexPath(t, "acme/tool")} {
					w.write("index2/"+file, strings.ReplaceAll(w.read("index/"+file), w.server.URL("acme/tool"), w.server.URL("two/acme/tool")))
				}
			}
			w.bind(bound, `acme/tool: "^1"`)
			r := w.install()
			w.locatedAt("a plain install", "acme/tool", "acme/tool")
			if name == "prefix" && !strings.Contains(strings.Join(r.Warnings, "\n"), "move the pack with: skillpm update acme/tool") {
				t.Errorf("warnings %q", r.Warnings)
			}
			o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
			if err != nil || len(o.Packs) != 1 || o.Packs[0].Moved != w.server.URL("two/acme/tool") || o.Packs[0].Source != w.server.URL("acme/tool") {
				t.Errorf("outdated: %v, %+v", err, o)
			}
			r = w.update(skillpm.UpdateOptions{})
			w.locatedAt("an update", "acme/tool", "two/acme/tool")
			if p := r.Packs[0]; p.Action != skillpm.ActionMoved || p.PreviousSource != w.server.URL("acme/tool") {
				t.Errorf("%+v", p)
			}
			if o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{}); err != nil || len(o.Packs) != 0 {
				t.Errorf("outdated afterwards: %v, %+v", err, o)
			}
		})
	}
}

// indexPath returns the path of a pack's file in an index.
func indexPath(t *testing.T, pk string) string {
	t.Helper()
	id, err := pack.ParseID(pk)
	if err != nil {
		t.Fatal(err)
	}
	return index.Path(id)
}

// TestMoveBindingRefused checks what a changed binding does not do: take other content under the locked version, take
// anything from a source that it excludes, or go back to an older version.
func TestMoveBindingRefused(t *testing.T) {
	setup := func(t *testing.T) *fixture {
		w := newFixture(t)
		w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Text."))
		w.manifest(`acme/tool: ">=1"`)
		w.install()
		w.publishFiles("acme/tool", "2.0.0", nil, skillText("tool", "Newer."))
		return w
	}
	t.Run("other content", func(t *testing.T) {
		w := setup(t)
		w.mirror("two", "acme/tool", "1.0.0", skillText("tool", "Other."))
		w.bind(w.server.URL("two"), `acme/tool: ">=1"`)
		_, err := w.client().Update(t.Context(), skillpm.UpdateOptions{})
		changedErr(t, "update", err, "acme/tool")
		r, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		changedErr(t, "outdated", r.Err(), "acme/tool")
	})
	t.Run("missing", func(t *testing.T) {
		w := setup(t)
		w.bind(w.server.URL("two"), `acme/tool: ">=1"`)
		r := w.update(skillpm.UpdateOptions{})
		w.want("update", map[string]string{"acme/tool": "1.0.0"})
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "acme/tool stays at 1.0.0") {
			t.Errorf("warnings %q", r.Warnings)
		}
		o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
		if err != nil || len(o.Warnings) != 1 || !slices.Contains(r.Warnings, o.Warnings[0]) || len(o.Packs) > 0 {
			t.Errorf("outdated: %v, %+v", err, o)
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		w := setup(t)
		w.bind("oci://127.0.0.1:1/two", `acme/tool: ">=1"`)
		if _, err := w.client().Update(t.Context(), skillpm.UpdateOptions{}); diag.CodeOf(err) != diag.Remote {
			t.Errorf("update: %v", err)
		}
		if o, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{}); err != nil || o.Packs[0].Unreachable == "" {
			t.Errorf("outdated: %v, %+v", err, o)
		}
		w.want("update", map[string]string{"acme/tool": "1.0.0"})
	})
	t.Run("new version", func(t *testing.T) {
		w := setup(t)
		w.mirror("two", "acme/tool", "2.1.0", skillText("tool", "From two."))
		w.bind(w.server.URL("two"), `acme/tool: "^2"`)
		w.install()
		w.want("install", map[string]string{"acme/tool": "2.1.0"})
		w.locatedAt("install", "acme/tool", "two/acme/tool")
	})
	t.Run("older", func(t *testing.T) {
		w := setup(t)
		w.update(skillpm.UpdateOptions{})
		w.mirror("two", "acme/tool", "1.5.0", skillText("tool", "From two."))
		w.bind(w.server.URL("two"), `acme/tool: ">=1"`)
		w.update(skillpm.UpdateOptions{})
		w.want("update", map[string]string{"acme/tool": "2.0.0"})
		w.locatedAt("update", "acme/tool", "acme/tool")
	})
	t.Run("override", func(t *testing.T) {
		w := setup(t)
		w.mirror("two", "acme/tool", "1.0.0", skillText("tool", "Text."))
		w.bind(w.server.URL("acme"), `acme/tool: ">=1"`)
		o := skillpm.InstallOptions{ChangeOptions: from(w.server.URL("two")), Packs: []string{"acme/tool"}}
		r, err := w.client().Install(t.Context(), o)
		if err != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), `the next "skillpm update" moves the pack back`) {
			t.Errorf("install --registry: %v, %+v", err, r)
		}
	})
}

// TestMoveEnforced checks that an update moves a pack to the registry that the administrator binds its owner to, and
// that the error of other commands leads there.
func TestMoveEnforced(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/tool", "1.0.0", nil, skillText("tool", "Text."))
	w.manifest(`acme/tool: "^1"`)
	w.install()
	w.mirror("two", "acme/tool", "1.0.0", skillText("tool", "Text."))
	writeFiles(t, w.home, map[string]string{"enterprise/config.yaml": "namespaces: {acme: \"" + w.server.URL("two") + "\"}\n"})
	_, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	if diag.CodeOf(err) != diag.Denied || diag.HintOf(err) != "move the pack with: skillpm update acme/tool" {
		t.Errorf("install: %v, hint %q", err, diag.HintOf(err))
	}
	w.update(skillpm.UpdateOptions{})
	w.locatedAt("update", "acme/tool", "two/acme/tool")
	w.install()
}
