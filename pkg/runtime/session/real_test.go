package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestPathsBehindLinks checks that a path is resolved like the system resolves it: also .. after a link, and a link to
// a missing file.
func TestPathsBehindLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	w := newFixture(t, "")
	w.skill("writer", "allowed-tools: [\"Read(docs/**)\", \"Write(docs/**)\"]\n", "x")
	w.skill("careful", "disallowed-tools: [\"Read(secrets/**)\", \"Write(secrets/**)\"]\n", "x")
	w.file("outside/ssl/cert", "x")
	w.file("outside/passwd", "x")
	w.file("project/docs/guide.md", "x")
	w.file("project/secrets/sub/key", "x")
	for link, to := range map[string]string{
		"dir":      filepath.Join(w.dir, "outside/ssl"),
		"inner":    "../docs",
		"dangling": filepath.Join(w.dir, "home/.newrc"),
		"chain":    "dangling",
		"far":      "../../home/none/.newrc",
		"within":   "new.md",
		"loop":     "loop",
		"secret":   "../secrets/sub",
		"planned":  "../secrets/new",
	} {
		if err := os.Symlink(to, filepath.Join(w.dir, "project/docs", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"only", "but"} {
		w.mustLoad(id, map[string]string{"only": "writer", "but": "careful"}[id])
	}
	for _, test := range []struct {
		path      string
		only, but bool // allowed by docs/** alone; allowed by all but secrets/**
	}{
		{"docs/guide.md", true, true},
		{"docs/new/deep/file.md", true, true},
		{"docs/new/../file.md", true, true},
		{"docs/inner/guide.md", true, true},
		{"docs/inner/../docs/guide.md", true, true},
		{"docs/within", true, true},
		{"docs/dir/cert", false, true},
		{"docs/dir/../passwd", false, true},
		{"docs/dir/../../project/docs/guide.md", false, true},
		{"docs/dangling", false, true},
		{"docs/dangling/x", false, true},
		{"docs/chain", false, true},
		{"docs/far", false, true},
		{"docs/loop", false, false},
		{"docs/secret/key", false, false},
		{"docs/secret/../sub/key", false, false},
		{"docs/planned", false, false},
		{"secrets/none", false, false},
	} {
		for _, name := range []string{"Read", "Write"} {
			if v := w.allow("only", name, "file_path", test.path); v.Allowed != test.only {
				t.Errorf("%s of %s with docs/** allowed: %v, want %v (%s)", name, test.path, v.Allowed, test.only, v.Reason)
			}
			if v := w.allow("but", name, "file_path", test.path); v.Allowed != test.but {
				t.Errorf("%s of %s with secrets/** disallowed: %v, want %v (%s)", name, test.path, v.Allowed, test.but, v.Reason)
			}
		}
	}
}

// TestProjectBehindALink checks that a project has the same session state through a link.
func TestProjectBehindALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	w := newFixture(t, "")
	w.skill("writer", "allowed-tools: [\"Read(docs/**)\"]\n", "x")
	w.file("project/docs/guide.md", "x")
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(filepath.Join(w.dir, "project"), link); err != nil {
		t.Fatal(err)
	}
	w.env.Project, w.env.Dir = link, link
	if _, err := w.load("s", "writer", session.Activate{}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"docs/guide.md": true, link + "/docs/guide.md": true, "skillpm.yaml": false} {
		if v := w.allow("s", "Read", "file_path", path); v.Allowed != want {
			t.Errorf("%s: allowed %v, want %v (%s)", path, v.Allowed, want, v.Reason)
		}
	}
}
