package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOrder checks the mounts of a root: each before those below it, none twice, and no renamable directory above a
// read-only one.
func TestOrder(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"project/.git/hooks", "project/src", "project/a/skills/x", "data"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("project", filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	tr := newTree()
	for _, p := range []struct {
		path  string
		write bool
	}{{"project/a/skills/x", false}, {"link", true}, {"project/src", true}, {"project/.git/hooks", false}, {"data", false}, {"missing", true}, {"data", false}} {
		tr.add(filepath.Join(top, p.path), p.write)
	}
	links, places := tr.order()
	if len(links) != 1 || links[0] != (link{filepath.Join(top, "link"), "project"}) {
		t.Errorf("%v", links)
	}
	var got []string
	for _, p := range places {
		rel, err := filepath.Rel(top, p.Path)
		if err != nil {
			t.Fatal(err)
		}
		mode := " ro"
		if p.Write {
			mode = " rw"
		}
		got = append(got, rel+mode)
	}
	want := []string{"data ro", "project rw", "project/.git rw", "project/.git/hooks ro", "project/a rw", "project/a/skills rw", "project/a/skills/x ro"}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFollow checks that links are followed like the system does.
func TestFollow(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"a": "b/c", "b": filepath.Join(top, "d"), "e": "../..", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		top + "/a": top + "/d/c", top + "/b/../x": top + "/x", top + "/e": filepath.Dir(filepath.Dir(top)), top + "/loop": top + "/loop", top + "/none/./y": top + "/none/y",
	} {
		if real, _ := new(disk).follow(path); real != want {
			t.Errorf("%s: %s, want %s", path, real, want)
		}
	}
}

// TestCovers checks which host rules cover each other.
func TestCovers(t *testing.T) {
	for _, test := range []struct {
		rule, ask string
		want      bool
	}{
		{"*", "a.test:1", true},
		{"*", "a.test", true},
		{"a.test", "a.test:1", true},
		{"a.test:1", "a.test", false},
		{"a.test:1", "A.TEST:1", true},
		{"*.test", "a.test:1", true},
		{"*.test", "*.a.test", true},
		{"*.a.test", "*.test", false},
		{"*.test", "test", false},
		{"*:443", "a.test:443", true},
		{"*:443", "*:443", true},
		{"*:443", "*", false},
		{"127.0.0.1", "[::ffff:127.0.0.1]:80", true},
		{"*.1", "127.0.0.1:80", false},
	} {
		if got := Covers(test.rule, test.ask); got != test.want {
			t.Errorf("%s covers %s: %t", test.rule, test.ask, got)
		}
	}
}
