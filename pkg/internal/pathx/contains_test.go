package pathx

import (
	"path/filepath"
	"runtime"
	"testing"
)

var (
	unix    = rules{}
	mac     = rules{fold: true}
	windows = rules{windows: true, fold: true}
)

// TestRel checks the lexical comparison under the rules of each system. "" as want means that dir does not contain
// path.
func TestRel(t *testing.T) {
	for name, cases := range map[string]struct {
		rules rules
		cases [][3]string // dir, path, want
	}{
		"unix": {unix, [][3]string{
			{"/a/b", "/a/b", "."},
			{"/a/b", "/a/b/c", "c"},
			{"/a/b", "/a/b/c/d", "c/d"},
			{"/a/b", "/a/b/..c", "..c"},
			{"/a/b", "/a/b/...", "..."},
			{"/a/b/", "/a/b//./c/", "c"},
			{"/a/./b", "/a/x/../b/c", "c"},
			{"/a/b", "/a", ""},
			{"/a/b", "/", ""},
			{"/a/b", "/a/bc", ""},
			{"/a/b", "/a/b c", ""},
			{"/a/bc", "/a/b", ""},
			{"/a/b", "/a/b/..", ""},
			{"/a/b", "/a/b/../c", ""},
			{"/a/b", "/a/b/c/../../../etc", ""},
			{"/a/b/..", "/a/c", "c"},
			{"/", "/", "."},
			{"/", "/a", "a"},
			{"/", "/..", "."},
			{"/..", "/a", "a"},
			{"/a", "/../../a/b", "b"},
			{"//a", "/a/b", "b"},
			{"/a", "/A", ""},
			{"/a", "/A/b", ""},
			{"/stra\u00dfe", "/STRASSE/a", ""},
			{"/a", `/a\b`, ""},
			{`/a\b`, `/a\b/c`, "c"},
			{"/a", "C:/a/b", ""},

			{"a", "a", "."},
			{"a", "a/b", "b"},
			{"./a", "a/b", "b"},
			{".", "a", "a"},
			{".", ".", "."},
			{".", "..", ""},
			{".", "../a", ""},
			{".", "a/../../b", ""},
			{"..", "../a", "a"},
			{"..", "a", ""},
			{"..", "../..", ""},
			{"../a", "../a/b", "b"},
			{"../a", "../b", ""},
			{"a", "ab", ""},

			{"/a", "a", ""},
			{"/a", "a/b", ""},
			{"a", "/a/b", ""},
			{".", "/a", ""},
			{"/", "a", ""},
			{"/", ".", ""},
			{"", "", ""},
			{"", "a", ""},
			{"", "/a", ""},
			{"/", "", ""},
			{".", "", ""},
		}},
		"macos": {mac, [][3]string{
			{"/Users/Ann/Project", "/users/ann/PROJECT/Notes", "Notes"},
			{"/Users/\u00c9mile", "/users/\u00e9mile/a", "a"},
			{"/Users/K", "/users/\u212a/a", "a"}, // the Kelvin sign, of three bytes
			{"/Users/Ann", "/users/annabel", ""},
			{"/Users/Ann", "/users/ann/../bob", ""},
			{"/a", `/A\b`, ""},
		}},
		"windows": {windows, [][3]string{
			{`C:\a\b`, `C:\a\b`, "."},
			{`C:\a\b`, `c:\A\B\c\D`, `c\D`},
			{`C:\a\b`, `C:/a/b/c`, "c"},
			{`C:/a/b`, `C:\a\b\c`, "c"},
			{`C:\a\b`, `C:\a\bc`, ""},
			{`C:\a\b`, `C:\a\b\..\c`, ""},
			{`C:\a\b`, `C:\a\b/../c`, ""},
			{`C:\a\b`, `D:\a\b\c`, ""},
			{`C:\`, `C:\a`, "a"},
			{`C:\`, `C:\`, "."},
			{`C:\`, `D:\`, ""},
			{`C:\`, `C:\..\..\a`, "a"},
			{`C:\a`, `C:a\b`, ""}, // relative to the working directory of the drive
			{`C:`, `C:\a`, ""},
			{`C:a`, `C:a\b`, ""},
			{`\a`, `\a\b`, "b"},
			{`\a`, `C:\a\b`, ""},
			{`C:\a`, `\a\b`, ""},
			{`C:\a`, `a\b`, ""},
			{`a`, `A\b`, "b"},
			{`.`, `..\b`, ""},
			{`.`, `a\..\..\b`, ""},

			{`\\host\share`, `\\host\share`, "."},
			{`\\host\share\`, `\\HOST\Share\a\b`, `a\b`},
			{`\\host\share\a`, `//host/share/a/b`, "b"},
			{`\\host\share\a`, `\\host\share\ab`, ""},
			{`\\host\share\a`, `\\host\share\a\..\b`, ""},
			{`\\host\share`, `\\host\shared\a`, ""},
			{`\\host\share`, `\\host\other\a`, ""},
			{`\\host\share`, `\\other\share\a`, ""},
			{`\\host\share`, `\\host\share\..\other`, "other"}, // .. stays in the share
			{`\\host`, `\\host\share`, ""},
			{`\\host\`, `\\host\share`, ""},
			{`C:\host\share`, `\\host\share\a`, ""},

			{`C:\a`, `\\?\C:\a\b`, "b"},
			{`\\?\C:\a`, `C:\a\b`, "b"},
			{`\\.\C:\a`, `C:\a\b`, "b"},
			{`\\?\C:`, `C:\a`, "a"},
			{`\\?\UNC\host\share\a`, `\\host\share\a\b`, "b"},
			{`\\?\UNC\host\share`, `\\?\unc\host\share\b`, "b"},
			{`\\?\Volume{1}\a`, `\\?\volume{1}\a\b`, "b"},
			{`\\?\Volume{1}\a`, `\\?\Volume{2}\a\b`, ""},
			{`\\?\`, `\\?\C:\a`, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range cases.cases {
				rel, ok := cases.rules.rel(c[0], c[1])
				if rel != c[2] || ok != (c[2] != "") {
					t.Errorf("%q in %q: got %q, %v, want %q", c[1], c[0], rel, ok, c[2])
				}
			}
		})
	}
}

// TestContains checks the exported functions under the rules of this system.
func TestContains(t *testing.T) {
	root := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	for _, c := range []struct {
		dir, path        string
		contains, strict bool
	}{
		{root, root, true, false},
		{root, in("a"), true, true},
		{in("a"), root, false, false},
		{in("a"), in("ab"), false, false},
		{in("a"), in("a") + string(filepath.Separator) + "..", false, false},
		{"", root, false, false},
		{root, "", false, false},
	} {
		if got := Contains(c.dir, c.path); got != c.contains {
			t.Errorf("Contains(%q, %q) is %v", c.dir, c.path, got)
		}
		if got := ContainsStrict(c.dir, c.path); got != c.strict {
			t.Errorf("ContainsStrict(%q, %q) is %v", c.dir, c.path, got)
		}
		if _, ok := Rel(c.dir, c.path); ok != c.contains {
			t.Errorf("Rel(%q, %q): %v", c.dir, c.path, ok)
		}
	}
	if rel, ok := Rel(root, in("a", "b")); !ok || rel != filepath.Join("a", "b") {
		t.Errorf("got %q, %v", rel, ok)
	}
	if !ContainsFold(in("a"), in("A", "b")) || ContainsFold(in("a"), in("AB")) {
		t.Error("case is not ignored")
	}
	if want := runtime.GOOS == "windows" || runtime.GOOS == "darwin"; Contains(in("a"), in("A", "b")) != want {
		t.Errorf("on %s, case is ignored: %v", runtime.GOOS, !want)
	}
}

func TestRelSlash(t *testing.T) {
	for _, c := range [][3]string{
		{".", "a/b", "a/b"}, {".", ".", "."}, {"a", "a/b", "b"}, {"a", "a", "."}, {"a", "A/b", ""}, {"a", "ab", ""}, {"a", `a\b`, ""}, {"a", "a/../b", ""}, {"", "a", ""},
	} {
		if rel, ok := RelSlash(c[0], c[1]); rel != c[2] || ok != (c[2] != "") {
			t.Errorf("%q in %q: got %q, %v, want %q", c[1], c[0], rel, ok, c[2])
		}
	}
}

func TestEscapes(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, ".": false, "a": false, "a/b": false, "..a": false, "...": false, "a/..": false, "a/../b": false, "./a": false,
		"..": true, "../a": true, "a/../..": true, "a/../../b": true, "./..": true, "/": true, "/a": true, "//a": true, "/a/..": true,
	} {
		if got := Escapes(name); got != want {
			t.Errorf("Escapes(%q) is %v", name, got)
		}
	}
}

// FuzzRel checks that what is inside is inside by another way to compute it, and that the relative path leads back.
func FuzzRel(f *testing.F) {
	f.Add("/a/b", "/a/b/c")
	f.Add("/a/b", "/a/bc")
	f.Add("..", "../a")
	f.Add("/", "//..//a/./b/..")
	f.Fuzz(func(t *testing.T, dir, path string) {
		if runtime.GOOS == "windows" || dir == "" || path == "" {
			t.Skip()
		}
		rel, ok := unix.rel(dir, path)
		std, err := filepath.Rel(dir, path)
		if want := err == nil && filepath.IsLocal(std); ok != want {
			t.Fatalf("%q in %q: %v, but filepath.Rel says %q, %v", path, dir, ok, std, err)
		}
		if ok && (rel != std || filepath.Join(dir, rel) != filepath.Clean(path)) {
			t.Fatalf("%q in %q is %q, want %q", path, dir, rel, std)
		}
		for _, r := range []rules{mac, windows} { // don't panic, and stay inside
			if rel, ok := r.rel(dir, path); ok && !filepath.IsLocal(rel) {
				t.Fatalf("%q in %q is %q", path, dir, rel)
			}
		}
	})
}
