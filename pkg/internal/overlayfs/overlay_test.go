package overlayfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/overlayfs"
)

var then = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func base() fstest.MapFS {
	return fstest.MapFS{
		"skills/a/SKILL.md":       {Data: []byte("old"), Mode: 0o755, ModTime: then},
		"skills/a/scripts/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"skills/a/link.md":        {Data: []byte("SKILL.md"), Mode: fs.ModeSymlink | 0o777},
		"skills/dir":              {Data: []byte("a"), Mode: fs.ModeSymlink | 0o777},
		"README.md":               {Data: []byte("readme")},
	}
}

func text(files map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for name, s := range files {
		out[name] = []byte(s)
	}
	return out
}

func TestFS(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", nil, []string{"skills/a/SKILL.md", "README.md"}},
		{"a file in another's place", map[string]string{"skills/a/SKILL.md": "new and longer"}, []string{"skills/a/SKILL.md", "skills/a/scripts/run.sh"}},
		{
			"new files",
			map[string]string{"skills/a/new.md": "x", "skills/b/c/deep.md": "", "top": "y"},
			[]string{"skills/a/new.md", "skills/b", "skills/b/c", "skills/b/c/deep.md", "top", "skills/a/SKILL.md"},
		},
		{
			"through links",
			map[string]string{"skills/a/link.md": "x", "skills/a/dangling.md": "y", "skills/dir/z.md": "z"},
			[]string{"skills/a/link.md", "skills/a/dangling.md", "skills/dir"},
		},
		{"a file for a directory", map[string]string{"skills/a": "file"}, []string{"skills/a", "README.md"}},
		{"a directory for a file", map[string]string{"README.md/x": "file"}, []string{"README.md", "README.md/x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			below := base()
			if tt.files["skills/a/dangling.md"] != "" {
				below["skills/a/dangling.md"] = &fstest.MapFile{Data: []byte("nothing"), Mode: fs.ModeSymlink | 0o777}
			}
			o, err := overlayfs.New(below, text(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			if err := fstest.TestFS(o, tt.want...); err != nil {
				t.Error(err)
			}
			for name, want := range tt.files {
				if got, err := fs.ReadFile(o, name); err != nil || string(got) != want {
					t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
				}
			}
		})
	}
}

// TestStat checks that the base's files stay, except for content and size.
func TestStat(t *testing.T) {
	o, err := overlayfs.New(base(), text(map[string]string{"skills/a/SKILL.md": "longer", "skills/a/new.md": "x", "skills/a/link.md": "via"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		mode fs.FileMode
		size int64
		time time.Time
	}{
		{"skills/a/SKILL.md", 0o755, 6, then},
		{"skills/a/link.md", 0o755, 3, then},
		{"skills/a/new.md", 0o644, 1, time.Time{}},
		{"skills/a/scripts/run.sh", 0o755, 10, time.Time{}},
	} {
		info, err := fs.Stat(o, tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != tt.mode || info.Size() != tt.size || !info.ModTime().Equal(tt.time) || info.Name() != path.Base(tt.name) {
			t.Errorf("%s: got %s %v %d %v", tt.name, info.Name(), info.Mode(), info.Size(), info.ModTime())
		}
	}
	info, err := o.Lstat("skills/a/link.md")
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("a link is a link: got %v, %v", info, err)
	}
	if to, err := o.ReadLink("skills/a/link.md"); err != nil || to != "SKILL.md" {
		t.Errorf("got %q, %v", to, err)
	}
}

func TestHidden(t *testing.T) {
	o, err := overlayfs.New(base(), text(map[string]string{"skills/a": "file", "README.md/below/x": "y"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"skills/a/SKILL.md", "README.md/other", "README.md/below/other", "none"} {
		_, openErr := o.Open(name)
		_, statErr := o.Stat(name)
		_, lstatErr := o.Lstat(name)
		_, readErr := o.ReadFile(name)
		_, dirErr := o.ReadDir(name)
		_, linkErr := o.ReadLink(name)
		for _, err := range []error{openErr, statErr, lstatErr, readErr, dirErr, linkErr} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	if _, err := o.ReadDir("skills/a"); err == nil {
		t.Error("a file was listed")
	}
	if _, err := o.ReadFile("README.md/below"); err == nil {
		t.Error("a directory was read")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, files := range []map[string]string{
		{"/abs": ""},
		{"../up": ""},
		{".": ""},
		{"": ""},
		{"a//b": ""},
		{"a": "", "a/b/c": ""},
		{"a/b/c": "", "a/b": "", "a/b/d": ""},
	} {
		_, err := overlayfs.New(base(), text(files))
		if _, ok := errors.AsType[*fs.PathError](err); !ok {
			t.Errorf("%v: got %v", files, err)
		}
	}
}

// TestDirFS checks the same with the real file system, with links.
func TestDirFS(t *testing.T) {
	dir := t.TempDir()
	for name, s := range map[string]string{"s/SKILL.md": "x", "s/references/one.md": "1"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("references", filepath.Join(dir, "s", "docs")); err != nil {
		t.Skip(err)
	}
	o, err := overlayfs.New(os.DirFS(dir), text(map[string]string{"s/docs/one.md": "buffer", "s/docs/two.md": "2", "s/SKILL.md": ""}))
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(o, "s/SKILL.md", "s/references/one.md", "s/docs"); err != nil {
		t.Error(err)
	}
	entries, err := fs.ReadDir(o, "s/docs")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"one.md", "two.md"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// FuzzNew overlays any two files: the overlay has their content, and the file system is consistent.
func FuzzNew(f *testing.F) {
	f.Add("a/b", "one", "a/c/d", "two")
	f.Add("skills/a/SKILL.md", "x", "skills/a/SKILL.md/y", "z")
	f.Add("README.md", "", "skills", "")
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string) {
		if strings.ContainsAny(name1+name2, `\*?[`) {
			t.Skip("TestFS wants no backslashes, and its globs no stars")
		}
		files := text(map[string]string{name1: text1, name2: text2})
		o, err := overlayfs.New(base(), files)
		if err != nil {
			return
		}
		var want []string
		for name, data := range files {
			if got, err := fs.ReadFile(o, name); err != nil || string(got) != string(data) {
				t.Errorf("%q: got %q, %v, want %q", name, got, err, data)
			}
			if !strings.HasPrefix(name, "skills/dir/") { // not walked into: a link
				want = append(want, name)
			}
		}
		if err := fstest.TestFS(o, want...); err != nil {
			t.Error(err)
		}
	})
}
