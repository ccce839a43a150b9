package skillpm_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// BenchmarkNothingToDo measures an installation of a project that already has all its 1,000 skills of five files, like
// in a new process, without the start of the process.
func BenchmarkNothingToDo(b *testing.B) {
	src, dir, home := b.TempDir(), b.TempDir(), b.TempDir()
	writePack(b, src, "acme/large", "1.0.0", 1000)
	if _, err := newAuthor(b, src, home).Publish(b.Context(), publish.ReleaseOptions{}); err != nil {
		b.Fatal(err)
	}
	if _, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{Packs: []string{"acme/large"}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{})
		if err != nil || r.Changed {
			b.Fatalf("%v, changed %v", err, r != nil && r.Changed)
		}
	}
}

// TestNoticed checks that a plain installation, which hashes no file whose recorded metadata is unchanged, detects
// every change of an installed skill: it keeps edits and repairs the rest.
func TestNoticed(t *testing.T) {
	w := newFixture(t)
	w.publishFiles("acme/tool", "1.0.0", nil, map[string]string{
		"tool/SKILL.md": front + "---\n\nText.\n", "tool/references/a.md": "A text.\n", "tool/scripts/run.sh*": "#!/bin/sh\n",
	})
	w.manifest(`acme/tool: "^1"`)
	w.install()
	at := filepath.Join(w.dir, ".skillpm/plugins/acme/tool/tool")
	file := filepath.Join(at, "references", "a.md")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const edited, mended, nothing = "edited", "mended", "nothing"
	for _, tt := range []struct {
		name   string
		meddle func()
		want   string
	}{
		{"another text", func() { must(os.WriteFile(file, []byte("B text.\n"), 0o644)) }, edited},
		{"another text with the times of before", func() {
			info, err := os.Stat(file)
			must(err)
			must(os.WriteFile(file, []byte("B text.\n"), 0o644))
			must(os.Chtimes(file, info.ModTime(), info.ModTime()))
		}, edited},
		{"a file more", func() { must(os.WriteFile(filepath.Join(at, "b.md"), nil, 0o644)) }, edited},
		{"a file more further down", func() { must(os.WriteFile(filepath.Join(at, "references", "b.md"), nil, 0o644)) }, edited},
		{"a file in a new directory", func() {
			must(os.Mkdir(filepath.Join(at, "references", "new"), 0o755))
			must(os.WriteFile(filepath.Join(at, "references", "new", "b.md"), nil, 0o644))
		}, edited},
		{"a link in the place of a file", func() {
			must(os.Remove(file))
			must(os.Symlink("../SKILL.md", file))
		}, edited},
		{"a file renamed", func() { must(os.Rename(file, file+"x")) }, edited},
		{"a file less", func() { must(os.Remove(file)) }, mended},
		{"another mode", func() { must(os.Chmod(filepath.Join(at, "scripts", "run.sh"), 0o644)) }, mended},
		{"all gone", func() { must(os.RemoveAll(at)) }, mended},
		{"the same text again", func() {
			must(os.Remove(file))
			must(os.WriteFile(file, []byte("A text.\n"), 0o644))
		}, nothing},
		{"a foreign empty directory", func() { must(os.Mkdir(filepath.Join(at, "empty"), 0o755)) }, nothing},
		{"nothing", func() {}, nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.Contains(tt.name, "mode") || strings.Contains(tt.name, "times")) {
				t.Skip("there are neither modes nor times of change")
			}
			tt.meddle()
			r := w.install()
			got := nothing
			switch {
			case len(r.Edited) > 0 && !r.Changed:
				got = edited
			case r.Changed:
				got = mended
			}
			if got != tt.want {
				t.Errorf("an install finds it %s, want %s", got, tt.want)
			}
			if again := w.install(); again.Changed || (len(again.Edited) > 0) != (tt.want == edited) {
				t.Errorf("a second install: changed %v, edited %v", again.Changed, again.Edited)
			}
			if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{ChangeOptions: skillpm.ChangeOptions{Force: true}}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{Frozen: true}); err != nil {
				t.Errorf("after --force: %v", err)
			}
		})
	}
}

// TestNothingToWrite checks that an installation without changes succeeds on a read-only file system, although it
// cannot record the hashes that it computed.
func TestNothingToWrite(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.manifest(`acme/tool: "^1"`)
	w.install()
	lock := filepath.Join(w.dir, ".skillpm", "lock")
	for _, err := range []error{
		os.Remove(filepath.Join(w.dir, ".skillpm", "state")), os.Remove(lock), os.Mkdir(lock, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := w.install(); r.Changed {
		t.Error("an install changed something")
	}
	if err := os.Remove(filepath.Join(w.dir, ".agents", "skills", "tool")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client().Install(t.Context(), skillpm.InstallOptions{}); err == nil {
		t.Error("an install that has to write can't, and does not say so")
	}
}
