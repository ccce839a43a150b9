package skillpm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// scriptedWorld has acme/good, acme/base with a script, which acme/needs requires, and a machine policy that forbids
// scripts.
func scriptedWorld(t *testing.T) *fixture {
	t.Helper()
	w := newFixture(t)
	w.publish("acme/good", "1.0.0", nil, "good")
	w.publishFiles("acme/base", "1.0.0", nil, map[string]string{
		"base/SKILL.md": "---\nname: base\ndescription: Base.\n---\nRun `scripts/run.sh`.\n", "base/scripts/run.sh": "#!/bin/sh\necho hi\n",
	})
	w.publish("acme/needs", "1.0.0", map[string]string{"acme/base": "^1"}, "needs")
	return w
}

func forbidScripts(t *testing.T, w *fixture) {
	t.Helper()
	w.policy("forbid: [scripts]\n")
}

// checkKept runs a command that must be refused, and checks that manifest, lockfile, and installed files are byte for
// byte unchanged.
func checkKept(t *testing.T, w *fixture, name string, verb func() error) {
	t.Helper()
	before := filesBelow(t, w.dir)
	err := verb()
	if diag.CodeOf(err) != diag.Denied {
		t.Errorf("%s: %v (%v), want a denial", name, err, diag.CodeOf(err))
	}
	if err != nil && (!strings.Contains(err.Error(), "policy.yaml:2") || diag.HintOf(err) == "") {
		t.Errorf("%s: %v, hint %q", name, err, diag.HintOf(err))
	}
	after := filesBelow(t, w.dir)
	for path, text := range after {
		if before[path] != text {
			t.Errorf("%s: %s changed", name, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			t.Errorf("%s: %s is gone", name, path)
		}
	}
}

// filesBelow returns the files below a directory, without the kernel's lock.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 {
			files[path], err = os.Readlink(path)
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestForbiddenFiles tries every way to install a skill with a forbidden capability (O14, O22).
func TestForbiddenFiles(t *testing.T) {
	ctx := t.Context()
	w := scriptedWorld(t)
	w.manifest(`acme/good: "^1"`)
	w.install()
	forbidScripts(t, w)
	install := func(o skillpm.InstallOptions) func() error {
		return func() error { _, err := w.client().Install(ctx, o); return err }
	}
	checkKept(t, w, "install", install(skillpm.InstallOptions{Packs: []string{"acme/base"}}))
	checkKept(t, w, "as a dependency", install(skillpm.InstallOptions{Packs: []string{"acme/needs"}}))
	checkKept(t, w, "under another name", install(skillpm.InstallOptions{Packs: []string{"acme/base"}, As: "other"}))
	checkKept(t, w, "as copies", install(skillpm.InstallOptions{Packs: []string{"acme/base"}, LinkMode: pack.LinkCopy}))
	checkKept(t, w, "with --force", install(skillpm.InstallOptions{Packs: []string{"acme/base"}, ChangeOptions: skillpm.ChangeOptions{Force: true}}))
	checkKept(t, w, "try", func() error { _, err := w.client().Try(ctx, skillpm.TryOptions{Pack: "acme/base"}); return err })
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"skillpm.yaml": "name: acme/live\nversion: \"1.0.0\"\n", "live/SKILL.md": "---\nname: live\ndescription: Live.\n---\nRun `run.sh`.\n", "live/run.sh": "#!/bin/sh\n",
	})
	checkKept(t, w, "a directory", install(skillpm.InstallOptions{Packs: []string{dir}}))
	checkKept(t, w, "link", func() error { _, err := w.client().Link(ctx, skillpm.LinkOptions{Dir: dir}); return err })
	checkKept(t, w, "with a project's policy that observes", func() error {
		writeFiles(t, w.dir, map[string]string{"skillpm-policy.yaml": "version: 1\nmode: audit\n"})
		defer os.Remove(filepath.Join(w.dir, "skillpm-policy.yaml"))
		return install(skillpm.InstallOptions{Packs: []string{"acme/base"}})()
	})
	if r := w.install(); r.Changed {
		t.Errorf("what is allowed is not left alone: %+v", r)
	}
}

// TestForbiddenAfterwards adds a policy after the installation, and tries the ways by which a project's files could
// bypass it (K7, O14).
func TestForbiddenAfterwards(t *testing.T) {
	ctx := t.Context()
	w := scriptedWorld(t)
	w.manifest(`acme/good: "^1"`, `acme/base: "^1"`)
	w.install()
	if _, err := w.client().Vendor(ctx, skillpm.VendorOptions{}); err != nil {
		t.Fatal(err)
	}
	forbidScripts(t, w)
	frozen := func() error {
		_, err := w.client().Install(ctx, skillpm.InstallOptions{Frozen: true, ChangeOptions: skillpm.ChangeOptions{Offline: true}})
		return err
	}
	checkKept(t, w, "nothing to do", func() error { _, err := w.client().Install(ctx, skillpm.InstallOptions{}); return err })
	checkKept(t, w, "frozen", frozen)
	checkKept(t, w, "update", func() error { _, err := w.client().Update(ctx, skillpm.UpdateOptions{}); return err })

	// admission depends on trees and source: a lockfile that gives them another name is checked again
	base, good := pack.ID{Owner: "acme", Name: "base"}, pack.ID{Owner: "acme", Name: "good"}
	g := &guardedWorld{fixture: w}
	g.manifest(`acme/good: "^1"`)
	g.alter(func(l *pack.Lock) {
		l.Packs[good].Skills["good"] = l.Packs[base].Skills["base"]
		delete(l.Packs, base)
		l.Names = nil
	})
	if err := os.RemoveAll(filepath.Join(w.dir, ".skillpm")); err != nil {
		t.Fatal(err)
	}
	err := frozen()
	if code := diag.CodeOf(err); code != diag.Denied && code != diag.Integrity {
		t.Errorf("trees under another name: %v (%v)", err, code)
	}
	if _, err := os.Stat(filepath.Join(w.dir, ".skillpm", "plugins")); err == nil {
		t.Error("something is installed")
	}
}

// TestVerdictsAreNotTheProjects checks that a project cannot supply this machine's record of what the user's policy
// admitted.
func TestVerdictsAreNotTheProjects(t *testing.T) {
	w := scriptedWorld(t)
	w.manifest(`acme/good: "^1"`)
	forbid := func(what string) {
		writeFiles(t, userConfig(w), map[string]string{"policy.yaml": "version: 1\nforbid: [" + what + "]\n"})
	}
	forbid("scripts")
	w.install()
	admitted := admittedBelow(t, w.home)
	if len(admitted) != 1 {
		t.Fatalf("%v", admitted)
	}
	data, err := os.ReadFile(admitted[0])
	if err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("%q, %v", data, err)
	}
	w.manifest(`acme/base: "^1"`)
	for _, dir := range []string{".skillpm", ".local/state/skillpm"} {
		writeFiles(t, w.dir, map[string]string{dir + "/admitted/" + filepath.Base(admitted[0]): string(data)})
	}
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v, want a denial", err)
	}
	forbid("hooks")
	w.install()
	forbid("scripts")
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("a policy that changed: %v, want a denial", err)
	}
}

// TestMachineVerdicts checks that verdicts by the machine's policy are kept in a file that only the administrator can
// write: neither a file of the user nor one that others can write counts (O14).
func TestMachineVerdicts(t *testing.T) {
	w := scriptedWorld(t)
	w.manifest(`acme/base: "^1"`)
	user := filepath.Join(userConfig(w), "policy.yaml")
	writeFiles(t, filepath.Dir(user), map[string]string{"policy.yaml": "version: 1\nforbid: [hooks]\n"})
	w.install()
	admitted := admittedBelow(t, w.home)
	if len(admitted) != 1 {
		t.Fatalf("%v", admitted)
	}
	verdicts, err := os.ReadFile(admitted[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(user); err != nil {
		t.Fatal(err)
	}

	w.policy("forbid: [hooks]\n")
	w.install()
	o := newOptions(t, w.dir, w.home)
	kept := admittedBelow(t, o.Paths.Enterprise)
	if len(kept) != 1 {
		t.Fatalf("below the administrator's directory: %v", kept)
	}
	if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v, want a file that every user can read", info.Mode(), err)
	}

	forbidScripts(t, w)
	evaluator := enforce.Open(enforce.Options{Files: enforce.Files{Paths: o.Paths, OS: o.OS, Admin: o.Admin}, Projects: []string{w.dir}, Now: o.Now})
	basis := strings.TrimPrefix(evaluator.CacheKey(o.Version), "sha256:")
	if basis == "" || basis == filepath.Base(admitted[0]) || basis == filepath.Base(kept[0]) {
		t.Fatalf("%q is no basis of its own", basis)
	}
	install := func() error { _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); return err }
	writeFiles(t, filepath.Dir(admitted[0]), map[string]string{basis: string(verdicts)})
	checkKept(t, w, "what the user wrote", install)
	list, err := w.client().List(t.Context(), "")
	if err != nil || len(list.Packs) != 1 || list.Packs[0].Denied == "" {
		t.Errorf("what the user wrote counts in a list: %+v, %v", list, err)
	}

	administrators := filepath.Join(filepath.Dir(kept[0]), basis)
	writeFiles(t, filepath.Dir(kept[0]), map[string]string{basis: string(verdicts)})
	if err := install(); err != nil {
		t.Errorf("what the administrator wrote does not count: %v", err)
	}
	lock, err := pack.ParseLock("skillpm.lock", []byte(w.read("skillpm.lock")))
	if err != nil {
		t.Fatal(err)
	}
	id := pack.ID{Owner: "acme", Name: "base"}
	for system, want := range map[string]bool{"linux": true, "windows": false} { // where users can create the file
		env := o.Environment
		env.OS = system
		m := workspace.NewMachine(workspace.Options{Environment: env})
		if got := admission.ReadVerdicts(m, evaluator).Has(id, lock.Packs[id], nil); got != want {
			t.Errorf("%s: what is in the administrator's directory counts: %v, want %v", system, got, want)
		}
	}
	if err := os.Chmod(administrators, 0o664); err != nil {
		t.Fatal(err)
	}
	checkKept(t, w, "a file that a group can write", install)
	if err := os.Chmod(administrators, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(administrators), 0o777); err != nil {
		t.Fatal(err)
	}
	checkKept(t, w, "a directory that others can write", install)
}

// userConfig returns the directory of the user's settings.
func userConfig(w *fixture) string { return newOptions(w.t, w.dir, w.home).Paths.Config }

// admittedBelow returns the files that record admitted packs.
func admittedBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == "admitted" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
