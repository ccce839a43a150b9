package bundle_test

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

func TestCheckPath(t *testing.T) { // M2
	good := []string{
		"SKILL.md", "a", "a/b/c", ".gitignore", ".gitattributes", ".env.example", ".github/workflows/ci.yml",
		"references/file (1).md", "app/[slug]/(group)/$route.tsx", "@scope/x", "a+b=c,d;e&f'g#h%i!j{k}~l^m",
		"...a", "..a", "a..b", "a-", "_x", "~", "café.md", "cafe\u0301.md", "日本語.md", "⚠️.md", "😀.md", "x\u00a0y", "x\u202fy",
		"console", "con-x", "nully.txt", "com10", "compass", "git", "git~", "~1", "a~b1.md", "file.~1~", ".skillpmignore", "skillpm.yaml",
		"assets/skillpm.lock", "templates/skillpm.yaml", "Skillpm.md",
	}
	for _, p := range good {
		if err := bundle.CheckPath(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	// TestUnpackBadArchives has the other cases as entries of archives.
	for _, p := range []string{"", "/", ".", "..", "a/", "/a", "a//b", "a/../b", "\x00", "a\x00b", "\xc0\xaf", "\ud7ff\ue000"} {
		err := bundle.CheckPath(p)
		var entry *bundle.EntryError
		if !errors.As(err, &entry) || entry.Entry != p || diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%q: got %v", p, err)
		}
	}
}

// FuzzCheckPath proves that an accepted path is one path below a directory, on every system and in every Unicode form.
func FuzzCheckPath(f *testing.F) {
	for _, s := range []string{"SKILL.md", "a/../b", "C:x", "cafe\u0301", "a\\b", ".git/x", "aux", "a~1", "\u1fef", "\u212a", "x/y/z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if bundle.CheckPath(p) != nil {
			return
		}
		n := bundle.Normal(p)
		if err := bundle.CheckPath(n); err != nil {
			t.Errorf("%q is accepted, and its normal form is not: %v", p, err)
		}
		if bundle.Normal(n) != n {
			t.Errorf("%q has no normal form", p)
		}
		for _, p := range []string{p, n} {
			if !fs.ValidPath(p) || p == "." || path.Clean(p) != p || !filepath.IsLocal(filepath.FromSlash(p)) || !utf8.ValidString(p) {
				t.Errorf("%q is accepted", p)
			}
			if strings.ContainsAny(p, "\\:\x00\n\r\"") {
				t.Errorf("%q is accepted", p)
			}
		}
		var c bundle.Checker
		if err := c.AddFile(n, 0); err != nil {
			return // too long or too deep
		}
		if c.AddFile(strings.ToUpper(n), 0) == nil && strings.EqualFold(n, strings.ToUpper(n)) {
			t.Errorf("%q and its upper case do not collide", n)
		}
	})
}

func TestIgnored(t *testing.T) {
	tests := []struct {
		path string
		dir  bool
		want bool
	}{
		{"SKILL.md", false, false},
		{".git", true, true},
		{".git", false, true}, // of a worktree or submodule
		{".git/config", false, true},
		{"a/.git/hooks/x", false, true},
		{".gitignore", false, false},
		{"git", true, false},
		{".DS_Store", false, true},
		{"a/b/.DS_Store", false, true},
		{"._SKILL.md", false, true},
		{"._dir", true, false},
		{"__MACOSX/x", false, true},
		{"a/Thumbs.db", false, true},
		{"scripts/__pycache__/x.cpython-312.pyc", false, true},
		{"scripts/x.pyc", false, true},
		{"scripts/x.py", false, false},
		{"node_modules/x/index.js", false, true},
		{".SKILL.md.swp", false, true},
		{"x.swp", false, false},
		{"skillpm.yaml", false, true},
		{"skillpm.lock", false, true},
		{".skillpmignore", false, true},
		{".skillpm", true, true},
		{".skillpm/plugins/a/b/SKILL.md", false, true},
		{"assets/skillpm.yaml", false, false},
		{"skillpm.yaml", true, false},
		{".env", false, false},
		{"a .git b", true, false},
	}
	for _, tt := range tests {
		if got := bundle.Ignored(tt.path, tt.dir); got != tt.want {
			t.Errorf("%s (directory %v): got %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
}
