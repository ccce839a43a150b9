package file_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/internal/file"
)

// fetcher has the methods that directories and repositories share.
type fetcher = sourcetest.Source

func fetch(t testing.TB, s fetcher, ref pack.Ref) (*pack.Pack, map[string]string) {
	t.Helper()
	p, err := s.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := s.Fetch(t.Context(), p, nil, hasher); err != nil {
		t.Fatal(err)
	}
	digests := make(map[string]string)
	for name, inventory := range hasher.Inventories() {
		digests[name] = inventory.Digest()
	}
	return p, digests
}

func path(t *testing.T, s string) pack.Ref {
	t.Helper()
	ref, err := pack.Parse("path:" + s)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// checkout creates a repository of a skill, checks it out with the given settings, and returns the checkout's directory
// and the digests of the repository's own content.
func checkout(t *testing.T, settings ...string) (dir string, want map[string]string) {
	t.Helper()
	root := t.TempDir()
	r := gittest.New(t, root, "o/r.git")
	r.Commit(gittest.Text(map[string]string{
		"packs/a/SKILL.md":        gittest.Skill("a", "A."),
		"packs/a/scripts/run.sh*": "#!/bin/sh\necho run\n",
		"packs/a/crlf.md":         "kept\r\nas it is\r\n",
		"packs/a/mixed.md":        "one\r\ntwo\n",
		"packs/a/notes.md":        "one\ntwo\n",
	}))
	c := git.New(git.Options{Cache: t.TempDir()})
	t.Cleanup(func() { c.Close() })
	_, want = fetch(t, c, pack.Ref{Kind: pack.KindGit, URL: "file://" + filepath.ToSlash(r.Dir), Subdir: "packs/a"})
	dir = filepath.Join(root, "checkout")
	args := []string{}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	args = append(args, "clone", "--quiet")
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	r.Run(append(args, ".", dir)...)
	return dir, want
}

// TestCheckout checks that in a checkout, files that git reports as unchanged have the bytes and modes of the
// repository.
func TestCheckout(t *testing.T) {
	for _, settings := range [][]string{nil, {"core.autocrlf=true"}, {"core.autocrlf=true", "core.eol=crlf"}, {"index.version=4"}, {"core.fileMode=false"}} {
		dir, want := checkout(t, settings...)
		if strings.Contains(strings.Join(settings, ""), "autocrlf") {
			data, err := os.ReadFile(filepath.Join(dir, "packs", "a", "notes.md"))
			if err != nil || !strings.Contains(string(data), "\r\n") {
				t.Fatalf("the checkout has no CRLF: %q, %v", data, err)
			}
		}
		c := file.New(file.Options{Base: dir})
		if _, got := fetch(t, c, path(t, "./packs/a")); !maps.Equal(got, want) {
			t.Errorf("%v: %v, want %v", settings, got, want)
		}
		if _, got := fetch(t, file.New(file.Options{Base: filepath.Join(dir, "packs", "a")}), path(t, ".")); !maps.Equal(got, want) {
			t.Errorf("%v as the base: %v, want %v", settings, got, want)
		}
	}
}

// TestCheckoutWithoutModes checks that only the executable bits of the index count if the disk has none.
func TestCheckoutWithoutModes(t *testing.T) {
	for name, lacks := range map[string]struct {
		goos     string
		settings []string
	}{
		"windows":  {"windows", nil},
		"filemode": {"linux", []string{"core.fileMode=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, want := checkout(t, lacks.settings...)
			for file, mode := range map[string]os.FileMode{"scripts/run.sh": 0o644, "notes.md": 0o755} {
				if err := os.Chmod(filepath.Join(dir, "packs", "a", file), mode); err != nil {
					t.Fatal(err)
				}
			}
			c := file.New(file.Options{Base: dir, OS: lacks.goos})
			if _, got := fetch(t, c, path(t, "./packs/a")); !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if _, got := fetch(t, file.New(file.Options{Base: dir, OS: "linux"}), path(t, "./packs/a")); (lacks.settings == nil) == maps.Equal(got, want) {
				t.Errorf("with a disk that keeps modes: %v, want %v", got, want)
			}
		})
	}
}

// TestExecutablePatterns checks that a manifest with executable patterns gives the same digest with and without
// executable bits, in a directory and in a repository.
func TestExecutablePatterns(t *testing.T) {
	files := map[string]string{
		"skillpm.yaml":               "name: acme/a\nversion: \"1.0.0\"\nexecutable: [\"scripts/*.sh\", skills/b/run]\n",
		"skills/a/SKILL.md":          gittest.Skill("a", "A."),
		"skills/a/scripts/x.sh":      "#!/bin/sh\n",
		"skills/a/scripts/x.py":      "print()\n",
		"skills/a/run":               "no program\n",
		"skills/b/SKILL.md":          gittest.Skill("b", "B."),
		"skills/b/run":               "#!/bin/sh\n",
		"skills/b/deep/scripts/x.sh": "no program: the pattern is for the whole path\n",
	}
	dir := t.TempDir()
	bits := map[string]sourcetest.File{}
	for name, text := range files {
		bits["with/"+name] = sourcetest.File{Data: text, Executable: name == "skills/a/scripts/x.sh" || name == "skills/b/run"}
		bits["without/"+name] = sourcetest.File{Data: text}
	}
	write(t, dir, bits)
	c := file.New(file.Options{Base: dir})
	_, want := fetch(t, c, path(t, "./with"))
	if _, got := fetch(t, c, path(t, "./without")); !maps.Equal(got, want) {
		t.Errorf("without bits on disk: %v, want %v", got, want)
	}
	r := gittest.New(t, t.TempDir(), "o/r.git")
	r.Commit(gittest.Text(files))
	g := git.New(git.Options{Cache: t.TempDir()})
	t.Cleanup(func() { g.Close() })
	if _, got := fetch(t, g, pack.Ref{Kind: pack.KindGit, URL: "file://" + filepath.ToSlash(r.Dir)}); !maps.Equal(got, want) {
		t.Errorf("in a repository: %v, want %v", got, want)
	}
}

// TestWorktree checks that a worktree has its own index.
func TestWorktree(t *testing.T) {
	dir, want := checkout(t, "core.autocrlf=true")
	run(t, dir, "worktree", "add", "--quiet", "../tree", "HEAD")
	if _, got := fetch(t, file.New(file.Options{Base: filepath.Join(filepath.Dir(dir), "tree")}), path(t, "packs/a")); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(gittest.Git(t), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestChangedFiles checks that changed files count as they are on disk, and that untracked files are part of the pack.
func TestChangedFiles(t *testing.T) {
	dir, want := checkout(t, "core.autocrlf=true")
	base := file.New(file.Options{Base: dir})
	for name, data := range map[string]string{"notes.md": "one\r\ntwo\r\nthree\r\n", "new.md": "new\r\n"} {
		file := filepath.Join(dir, "packs", "a", name)
		old, readErr := os.ReadFile(file)
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		_, got := fetch(t, base, path(t, "./packs/a"))
		if maps.Equal(got, want) {
			t.Errorf("%s has no part in the digest", name)
		}
		if readErr != nil {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(file, old, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, got := fetch(t, base, path(t, "./packs/a")); !maps.Equal(got, want) {
			t.Errorf("%v after %s was put back, want %v", got, name, want)
		}
	}
}

// TestBrokenRepository checks that an unreadable git directory is ignored.
func TestBrokenRepository(t *testing.T) {
	want := map[string]string(nil)
	for name, files := range map[string]map[string]string{
		"none":          {},
		"empty":         {".git/HEAD": ""},
		"bad index":     {".git/index": "DIRC\x00\x00\x00\x02\xff\xff\xff\xff"},
		"bad file":      {".git": "gitdir: /does/not/exist\n"},
		"not a git":     {".git": "hello"},
		"bad config":    {".git/config": "[core\nfilemode = maybe", ".git/index": ""},
		"unknown index": {".git/index": "DIRC\x00\x00\x00\x09\x00\x00\x00\x00"},
	} {
		dir := t.TempDir()
		files["pack/SKILL.md"] = gittest.Skill("a", "A.")
		for path, data := range files {
			file := filepath.Join(dir, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, got := fetch(t, file.New(file.Options{Base: dir}), path(t, "./pack"))
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]sourcetest.File{
		"packs/tools/skillpm.yaml": {Data: "name: acme/tools\nversion: \"1.2.0\"\ndependencies:\n  acme/base: {path: ../base}\n  acme/deploy: \"^1\"\n"},
		"packs/tools/x/SKILL.md":   {Data: gittest.Skill("x", "X.")},
		"packs/base/y/SKILL.md":    {Data: gittest.Skill("y", "Y.")},
		"file":                     {Data: "not a directory"},
		"empty/README.md":          {Data: "no skills"},
		"bad/skillpm.yaml":         {Data: "name: [acme/x\n"},
	})
	c := file.New(file.Options{Base: dir})
	p, _ := fetch(t, c, path(t, "./packs/tools"))
	if p.ID.String() != "acme/tools" || p.Version != "1.2.0" || len(p.Dependencies) != 2 {
		t.Fatalf("opened %+v", p)
	}
	if at := p.Dependencies[0].Ref; at == nil || at.URL != "./packs/base" || at.Source() != "path:packs/base" {
		t.Errorf("acme/base is at %+v", at)
	}
	if versions, err := c.Versions(t.Context(), p.Ref); err != nil || len(versions) != 1 || versions[0] != "1.2.0" {
		t.Errorf("versions are %v, %v", versions, err)
	}
	base, _ := fetch(t, c, *p.Dependencies[0].Ref)
	if base.ID.String() != "local/base" || base.Version != "0.0.0" {
		t.Errorf("acme/base is %s %s", base.ID, base.Version)
	}
	if versions, err := c.Versions(t.Context(), base.Ref); err != nil || len(versions) != 0 {
		t.Errorf("versions of what has none are %v, %v", versions, err)
	}
	for name, tt := range map[string]struct {
		code    diag.Code
		message string
	}{
		"./missing": {diag.NotFound, "does not exist"},
		"./file":    {diag.NotFound, "not a directory"},
		"./empty":   {diag.NotFound, "no skill"},
		"./bad":     {diag.Invalid, "skillpm.yaml"},
	} {
		if _, err := c.Open(t.Context(), path(t, name)); diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("Open %s = %v (%v), want %q", name, err, diag.CodeOf(err), tt.message)
		}
	}
}

// TestLinksOut checks that links that lead out of the directory are never followed: not for skills, and not for the
// manifest.
func TestLinksOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making symbolic links needs a privilege there")
	}
	dir := t.TempDir()
	write(t, dir, map[string]sourcetest.File{
		"secret/skillpm.yaml":   {Data: "name: acme/secret\nversion: \"1.0.0\"\n"},
		"secret/SKILL.md":       {Data: gittest.Skill("secret", "Secret.")},
		"linked/skillpm.yaml":   {Link: "../secret/skillpm.yaml"},
		"linked/SKILL.md":       {Data: gittest.Skill("a", "A.")},
		"skills/skillpm.yaml":   {Data: "name: acme/x\nversion: \"1.0.0\"\nskills: [secret]\n"},
		"skills/secret":         {Link: "../secret"},
		"skills/other/SKILL.md": {Data: gittest.Skill("other", "Other.")},
	})
	c := file.New(file.Options{Base: dir})
	for _, name := range []string{"./linked", "./skills"} {
		if p, err := c.Open(t.Context(), path(t, name)); err == nil {
			t.Errorf("Open %s = %+v", name, p)
		}
	}
}

func BenchmarkFetch(b *testing.B) {
	root := b.TempDir()
	for i := range 200 {
		dir := filepath.Join(root, "skills", "skill-"+string(rune('a'+i%26))+strings.Repeat("x", i/26))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for name, data := range map[string]string{"SKILL.md": gittest.Skill(filepath.Base(dir), "One.") + strings.Repeat("text ", 800), "a.md": strings.Repeat("a", 8000), "b.md": strings.Repeat("b", 8000)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	c := file.New(file.Options{Base: root})
	for b.Loop() {
		if _, digests := fetch(b, c, pack.Ref{Kind: pack.KindPath, URL: "."}); len(digests) != 200 {
			b.Fatalf("%d skills", len(digests))
		}
	}
}
