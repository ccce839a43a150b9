package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// TestMain hides the user's configuration from git.
func TestMain(m *testing.M) {
	err := errors.Join(os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull), os.Setenv("GIT_CONFIG_NOSYSTEM", "1"))
	if err != nil {
		panic(err)
	}
	testkit.UseMemory()
	m.Run()
}

// checkout is a work tree that git created.
type checkout struct {
	testing.TB
	repo *gittest.Repo
	dir  string
}

// newCheckout returns a work tree with an origin that has a commit of two skills on branch main.
func newCheckout(t testing.TB) checkout {
	t.Helper()
	return newCheckoutOf(t, skillFiles())
}

// newCheckoutOf returns a work tree with an origin that has a commit of the files on branch main.
func newCheckoutOf(t testing.TB, files gittest.Files) checkout {
	t.Helper()
	r := gittest.New(t, realDir(t), "origin.git")
	return cloneOf(t, r, r.Commit(files))
}

// skillFiles returns the files of two skills.
func skillFiles() gittest.Files {
	return gittest.Text(map[string]string{
		"README.md":                "# Skills\n",
		".gitignore":               "*.log\n/build/\n",
		"skills/deploy/SKILL.md":   gittest.Skill("deploy", "Deploys."),
		"skills/deploy/run.sh*":    "#!/bin/sh\necho run\n",
		"skills/rollback/SKILL.md": gittest.Skill("rollback", "Rolls back."),
	})
}

// cloneOf returns a work tree beside a repository.
func cloneOf(t testing.TB, r *gittest.Repo, head string) checkout {
	t.Helper()
	w := checkout{t, r, filepath.Join(filepath.Dir(r.Dir), "work")}
	w.clone(head)
	return w
}

// clone is git clone in one process instead of ten.
func (w checkout) clone(head string) {
	w.Helper()
	gittest.New(w, w.dir, ".git")
	w.write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"+
		"[remote \"origin\"]\n\turl = "+w.repo.Dir+"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"+
		"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n")
	w.do(os.CopyFS(w.path(".git/objects"), os.DirFS(w.repo.Dir+"/objects")))
	w.write(".git/refs/heads/main", head+"\n")
	w.write(".git/refs/remotes/origin/main", head+"\n")
	w.write(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n")
	w.git("read-tree", "--reset", "-u", "HEAD")
}

// realDir returns a temporary directory with all links in its path resolved.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (w checkout) git(args ...string) string {
	w.Helper()
	return w.repo.Run(append([]string{"-C", w.dir}, args...)...)
}

func (w checkout) write(name, text string) {
	w.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w checkout) do(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w checkout) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// touch changes the time of a file.
func (w checkout) touch(name string) {
	w.Helper()
	at := time.Unix(1700000000, 123456789)
	w.do(os.Chtimes(w.path(name), at, at))
}

func (w checkout) commit(message string) string {
	w.Helper()
	w.git("add", "--all")
	w.git("commit", "--quiet", "--allow-empty", "--message", message)
	return w.git("rev-parse", "HEAD")
}

// changed returns the changes that git reports.
func (w checkout) changed(since string, options ...string) []string {
	w.Helper()
	found := make(map[string]bool)
	status := append(options, "--no-optional-locks", "status", "--porcelain", "-z", "-uall", "--no-renames", "--ignore-submodules=all")
	for line := range strings.SplitSeq(w.git(status...), "\x00") {
		if line != "" {
			found[line[3:]] = true
		}
	}
	if since != "" {
		for name := range strings.SplitSeq(w.git("diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", since+"...HEAD"), "\x00") {
			found[name] = true
		}
	}
	var list []string
	for name := range found {
		if name != "" && !strings.HasSuffix(name, "/") { // a nested repository
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// check compares Changed with git. It calls Changed first, because git updates the index.
func (w checkout) check(since string, want ...string) {
	w.Helper()
	root, got, err := Changed(w.Context(), w.dir, since)
	if err != nil || root != w.dir {
		w.Errorf("Changed gives root %s and error %v", root, err)
	}
	if git := w.changed(since); !slices.Equal(got, git) || len(want) > 0 && !slices.Equal(got, want) {
		w.Errorf("since %q: got %q, git says %q, want %q", since, got, git, want)
	}
}

// changeCase is a change of a work tree, and the files that differ then, or nil if only git knows.
type changeCase struct {
	name string
	do   func(w checkout)
	want []string
}

// TestChanged makes all kinds of changes in one work tree, each in a directory of its own. The last ones depend on the
// index as the ones before leave it.
func TestChanged(t *testing.T) {
	t.Parallel()
	cases := []changeCase{
		{"whole seconds", func(w checkout) {
			at := time.Unix(1700000000, 0)
			w.do(os.Chtimes(w.path("README.md"), at, at))
			w.git("update-index", "--refresh")
		}, nil},
		{"nothing", func(checkout) {}, nil},
		{"touched", func(w checkout) { w.touch("README.md") }, nil},
		{"written again", func(w checkout) { w.write("README.md", "# Skills\n") }, nil},
		{"modified", func(w checkout) { w.write("README.md", "# Other\n") }, []string{"README.md"}},
		{"modified, same size", func(w checkout) { w.write("README.md", "# SKILLS\n") }, []string{"README.md"}},
		{"staged", func(w checkout) { w.write("README.md", "# Other\n"); w.git("add", "README.md") }, []string{"README.md"}},
		{"staged and taken back", func(w checkout) {
			w.write("README.md", "# Other\n")
			w.git("add", "README.md")
			w.write("README.md", "# Skills\n")
		}, []string{"README.md"}},
		{"deleted", func(w checkout) { w.do(os.Remove(w.path("README.md"))) }, []string{"README.md"}},
		{"directory deleted", func(w checkout) { w.do(os.RemoveAll(w.path("skills/deploy"))) }, []string{"skills/deploy/SKILL.md", "skills/deploy/run.sh"}},
		{"staged deletion", func(w checkout) { w.git("rm", "--quiet", "README.md") }, []string{"README.md"}},
		{"only forgotten", func(w checkout) { w.git("rm", "--quiet", "--cached", "README.md") }, []string{"README.md"}},
		{"untracked", func(w checkout) { w.write("skills/new/SKILL.md", "x") }, []string{"skills/new/SKILL.md"}},
		{"staged new", func(w checkout) { w.write("skills/new/SKILL.md", "x"); w.git("add", ".") }, []string{"skills/new/SKILL.md"}},
		{"empty file", func(w checkout) { w.write("empty", ""); w.git("add", ".") }, []string{"empty"}},
		{"intent to add", func(w checkout) { w.write("a/b", "x"); w.git("add", "-N", ".") }, []string{"a/b"}},
		{"ignored", func(w checkout) { w.write("a.log", ""); w.write("build/x/y", ""); w.write("skills/build/z", "") }, []string{"skills/build/z"}},
		{"ignored and tracked", func(w checkout) {
			w.write("tracked.log", "1")
			w.write("build/x/y", "1")
			w.write("build/x/z", "1")
			w.write("build/.gitignore", "!z\n")
		}, []string{"build/x/y", "tracked.log"}},
		{"excluded", func(w checkout) { w.write("a/secret", "") }, nil},
		{"renamed", func(w checkout) { w.git("mv", "skills/deploy", "skills/ship") }, []string{
			"skills/deploy/SKILL.md", "skills/deploy/run.sh", "skills/ship/SKILL.md", "skills/ship/run.sh",
		}},
		{"executable bit", func(w checkout) { w.do(os.Chmod(w.path("skills/deploy/run.sh"), 0o644)) }, []string{"skills/deploy/run.sh"}},
		{"group's bits", func(w checkout) { w.do(os.Chmod(w.path("skills/deploy/run.sh"), 0o744)) }, nil},
		{"link for a file", func(w checkout) {
			w.do(os.Remove(w.path("README.md")))
			w.do(os.Symlink("skills", w.path("README.md")))
		}, []string{"README.md"}},
		{"links", func(w checkout) {
			for _, name := range []string{"same", "other", "file"} {
				w.do(os.Remove(w.path("links/" + name)))
			}
			w.do(os.Symlink("skills", w.path("links/same")))
			w.do(os.Symlink("SKILLS", w.path("links/other")))
			w.write("links/file", "skills")
		}, []string{"links/file", "links/other"}},
		{"directory for a file", func(w checkout) {
			w.do(os.Remove(w.path("README.md")))
			w.write("README.md/a", "")
		}, []string{"README.md", "README.md/a"}},
		{"file for a directory", func(w checkout) {
			w.do(os.RemoveAll(w.path("skills")))
			w.write("skills", "")
		}, []string{"skills", "skills/deploy/SKILL.md", "skills/deploy/run.sh", "skills/rollback/SKILL.md"}},
		{"link for a directory", func(w checkout) {
			w.do(os.Rename(w.path("skills"), w.path("moved.log")))
			w.do(os.Symlink("moved.log", w.path("skills")))
		}, []string{"skills", "skills/deploy/SKILL.md", "skills/deploy/run.sh", "skills/rollback/SKILL.md"}},
		{"another repository", func(w checkout) { w.git("init", "--quiet", "inner"); w.write("inner/a", "") }, nil},
		{"a pipe", func(w checkout) { w.do(makePipe(w.path("pipe"))) }, nil},
		{"a pipe for a file", func(w checkout) {
			w.do(os.Remove(w.path("README.md")))
			w.do(makePipe(w.path("README.md")))
		}, []string{"README.md"}},
		{"names", func(w checkout) { w.write("a\nb/ü \"x\"/-", ""); w.write("\xff\xfe", "") }, []string{"a\nb/ü \"x\"/-", "\xff\xfe"}},
		{"modified, same size and time", func(w checkout) {
			w.touch("README.md")
			w.git("add", "README.md")
			info, err := os.Stat(w.path("../.git/index"))
			w.do(err)
			w.write("README.md", "# SKILLS\n")
			w.do(os.Chtimes(w.path("README.md"), info.ModTime(), info.ModTime()))
		}, []string{"README.md"}},
	}
	files := make(gittest.Files)
	for _, tt := range cases {
		for name, f := range skillFiles() {
			files[tt.name+"/"+name] = f
		}
		for _, name := range []string{"same", "other", "file"} {
			files[tt.name+"/links/"+name] = gittest.File{Link: "skills"}
		}
		files[tt.name+"/tracked.log"], files[tt.name+"/build/x/y"] = gittest.File{}, gittest.File{}
	}
	w := newCheckoutOf(t, files)
	w.write(".git/info/exclude", "secret\n")
	for _, tt := range cases {
		tt.do(checkout{t, w.repo, w.path(tt.name)})
	}
	root, got, err := Changed(t.Context(), w.dir, "")
	if want := w.changed(""); err != nil || root != w.dir || !slices.Equal(got, want) {
		t.Errorf("Changed gives root %s, %v, and %q; git says %q", root, err, got, want)
	}
	for _, tt := range cases {
		var inCase []string
		for _, name := range got {
			if name, ok := strings.CutPrefix(name, tt.name+"/"); ok {
				inCase = append(inCase, name)
			}
		}
		if !slices.Equal(inCase, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, inCase, tt.want)
		}
	}
}

// TestChangedStates makes changes in work trees whose repositories are in different states.
func TestChangedStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []changeCase{
		{"neither executable bits nor links", func(w checkout) {
			w.write(".git/config", string(readFile(t, w.path(".git/config")))+"[core]\n\tfileMode = false\n\tsymlinks = false\n")
			w.do(os.Chmod(w.path("skills/deploy/run.sh"), 0o644))
			w.do(os.Remove(w.path("link")))
			w.write("link", "skills")
			w.write("README.md", "")
		}, []string{"README.md"}},
		{"conflict", func(w checkout) {
			w.git("checkout", "--quiet", "-b", "side")
			w.write("README.md", "one\n")
			w.commit("one")
			w.git("checkout", "--quiet", "main")
			w.write("README.md", "two\n")
			w.commit("two")
			w.git("read-tree", "-m", "origin/main", "main", "side")
		}, []string{"README.md"}},
		{"sparse", func(w checkout) {
			w.git("sparse-checkout", "set", "--cone", "skills/deploy")
			w.write("skills/deploy/SKILL.md", "x")
		}, []string{"skills/deploy/SKILL.md"}},
		{"index without commit", func(w checkout) { w.do(os.Remove(w.path(".git/index"))) }, nil},
		{"index version 4", func(w checkout) {
			w.git("update-index", "--index-version=4")
			w.write("README.md", "# Other\n")
		}, []string{"README.md"}},
		{"index without checksum", func(w checkout) {
			data, err := os.ReadFile(w.path(".git/index"))
			w.do(err)
			copy(data[len(data)-20:], make([]byte, 20))
			w.do(os.WriteFile(w.path(".git/index"), data, 0o644))
			w.write("README.md", "# Other\n")
		}, []string{"README.md"}},
		{"packed and detached", func(w checkout) {
			w.git("gc", "--quiet")
			w.git("checkout", "--quiet", "--detach")
			w.write("README.md", "")
		}, []string{"README.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := skillFiles()
			files["link"] = gittest.File{Link: "skills"}
			w := newCheckoutOf(t, files)
			tt.do(w)
			w.check("", tt.want...)
		})
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestChangedLineEnds checks that files are not changed if they differ only in line endings that git converts.
func TestChangedLineEnds(t *testing.T) {
	lf, crlf := "one\ntwo\n", "one\r\ntwo\r\n"
	type lineEndCase struct {
		name       string
		attributes string
		config     string // of core.autocrlf
		global     bool   // only the user's configuration has it
		stored     string
		disk       string
		same       bool
	}
	configured := make(map[string][]lineEndCase) // by configuration, since its cases share a work tree
	for _, tt := range []lineEndCase{
		{"no conversion", "", "", false, lf, crlf, false},
		{"autocrlf", "", "true", false, lf, crlf, true},
		{"input", "", "input", false, lf, crlf, true},
		{"of the user", "", "true", true, lf, crlf, true},
		{"of the user, changed", "", "true", true, lf, "one\r\nTwo\r\n", false},
		{"autocrlf, binary", "", "true", false, "a\x00\nb\n", "a\x00\r\nb\r\n", false},
		{"autocrlf, lone CR", "", "true", false, "a\rb\nb\n", "a\rb\r\nb\r\n", false},
		{"stored with CRLF", "", "true", false, crlf, lf, false},
		{"both", "", "true", false, "one\r\ntwo\n", "one\r\ntwo\r\n", false},
		{"text", "*.md text\n", "", false, lf, crlf, true},
		{"text=auto", "* text=auto\n", "", false, lf, crlf, true},
		{"eol", "*.md eol=crlf\n", "", false, lf, crlf, true},
		{"eol of others", "*.sh eol=crlf\n", "", false, lf, crlf, false},
		{"text=auto and eol", "* text=auto\n*.md eol=crlf\n", "", false, "a\x00\nb\n", "a\x00\r\nb\r\n", false},
		{"no text", "* text\n*.md -text\n", "true", false, lf, crlf, false},
		{"binary", "*.md binary\n", "true", false, lf, crlf, false},
		{"said no more", "* text\n*.md !text\n", "", false, lf, crlf, false},
		{"the last counts", "*.md -text\ndir/*.md text\n", "", false, lf, crlf, true},
		{"negative", "!*.md text\n", "", false, lf, crlf, false},
		{"directory", "dir/ text\n", "", false, lf, crlf, false},
		{"everything below", "dir/** text\n", "", false, lf, crlf, true},
		{"content too", "* text\n", "", false, lf, "one\r\ntwo", false},
	} {
		key := tt.config + strconv.FormatBool(tt.global)
		configured[key] = append(configured[key], tt)
	}
	for _, cases := range configured {
		config := "[core]\n\tautocrlf = " + cmp.Or(cases[0].config, "false") + "\n"
		files := make(gittest.Files)
		for _, tt := range cases {
			files[tt.name+"/.gitattributes"], files[tt.name+"/dir/a.md"] = gittest.File{Data: tt.attributes}, gittest.File{Data: tt.stored}
		}
		w := newCheckoutOf(t, files)
		if cases[0].global {
			w.write("../gitconfig", config)
			t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(filepath.Dir(w.dir), "gitconfig"))
		} else {
			w.write(".git/config", string(readFile(t, w.path(".git/config")))+config)
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		}
		for _, tt := range cases {
			w.write(tt.name+"/dir/a.md", tt.disk)
			w.touch(tt.name + "/dir/a.md")
		}
		_, got, err := Changed(t.Context(), w.dir, "")
		// git status shows a file of another size; git diff compares the content that it would store.
		diff := w.git("-c", "core.autocrlf="+cmp.Or(cases[0].config, "false"), "diff", "--name-only", "-z", "HEAD")
		if want := strings.Split(strings.TrimSuffix(diff, "\x00"), "\x00"); err != nil || !slices.Equal(got, want) && diff+strings.Join(got, "") != "" {
			t.Errorf("got %q, %v; git says %q", got, err, want)
		}
		for _, tt := range cases {
			if slices.Contains(got, tt.name+"/dir/a.md") == tt.same {
				t.Errorf("%s: the file is the same: %v, want %v", tt.name, !tt.same, tt.same)
			}
		}
	}
}

func TestChangedSince(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	start := w.git("rev-parse", "HEAD")
	w.git("tag", "--annotate", "--message", "first", "v1.0.0")
	w.git("checkout", "--quiet", "-b", "feature/one")
	w.write("skills/deploy/SKILL.md", "new")
	w.commit("change")
	w.git("mv", "README.md", "LIESMICH.md")
	second := w.commit("rename")
	w.git("checkout", "--quiet", "main")
	w.write("skills/rollback/SKILL.md", "main went on")
	w.commit("main")
	w.git("push", "--quiet", "origin", "main")
	w.git("reset", "--quiet", "--hard", start)
	w.git("fetch", "--quiet", "origin", "main")
	w.git("checkout", "--quiet", "feature/one")
	w.write("untracked", "")
	want := []string{"LIESMICH.md", "README.md", "skills/deploy/SKILL.md", "untracked"}
	for _, since := range []string{
		"main", "origin/main", "refs/remotes/origin/main", "remotes/origin/main", "heads/main", "refs/heads/main", "origin",
		"v1.0.0", "tags/v1.0.0", "HEAD~2", "HEAD^^", "@~2", "HEAD^1~1", "feature/one~2^0", start, start[:7], "FETCH_HEAD", "main~0",
	} {
		if _, got, err := Changed(t.Context(), w.dir, since); err != nil || !slices.Equal(got, want) {
			t.Errorf("since %q: got %q, %v, want %q", since, got, err, want)
		}
	}
	w.check("HEAD~", "LIESMICH.md", "README.md", "untracked")
	w.check("HEAD", "untracked")
	w.check(second, "untracked")
	w.git("pack-refs", "--all")
	w.check("origin/main", want...)
	w.check("v1.0.0", want...)
	w.git("merge", "--quiet", "--no-edit", "origin/main")
	w.check("HEAD^2", want...)
	w.check("origin/main", want...)
	w.git("worktree", "add", "--quiet", "--detach", "../second", "feature/one~1")
	second2 := checkout{t, w.repo, filepath.Join(filepath.Dir(w.dir), "second")}
	second2.write("skills/deploy/SKILL.md", "again")
	second2.write("a.log", "")
	second2.check("")
	second2.check("main", "LIESMICH.md", "README.md", "skills/deploy/SKILL.md")
}

// TestChangedOnlyReads checks that Changed writes nothing and runs no command that the configuration of the repository
// names.
func TestChangedOnlyReads(t *testing.T) {
	w := newCheckout(t)
	w.write(".gitattributes", "*.md filter=evil diff=evil\n*.sh filter=Other.One\n")
	w.commit("attributes")
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.repo.Dir, "sub")
	w.commit("submodule")
	w.write("README.md", "changed")
	w.write("sub/README.md", "changed")
	w.touch("skills/deploy/SKILL.md")
	w.touch("skills/deploy/run.sh")
	marker := filepath.Join(filepath.Dir(w.dir), "marker")
	evil := filepath.Join(filepath.Dir(w.dir), "evil.sh")
	w.do(os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >>"+marker+"\ncat\n"), 0o755))
	for _, dir := range []string{w.dir, w.path("sub")} {
		for _, key := range []string{
			"core.fsmonitor", "core.sshCommand", "core.askPass", "core.pager", "core.editor", "core.gitProxy",
			"core.alternateRefsCommand", "credential.helper", "filter.evil.clean", "filter.evil.process", "filter.evil.smudge",
			"diff.evil.command", "diff.evil.textconv", "diff.external", "gpg.program", "uploadpack.packObjectsHook",
			"pager.status", "interactive.diffFilter", "submodule.sub.update", "remote.origin.uploadpack",
		} {
			w.git("-C", dir, "config", key, evil)
		}
		for key, value := range map[string]string{
			"alias.status": "!" + evil, "filter.evil.required": "true", "status.submoduleSummary": "true",
			"submodule.recurse": "true", "protocol.ext.allow": "always", "protocol.allow": "always", "remote.origin.vcs": "ext",
			"remote.origin.url": "ext::" + evil, "remote.origin.promisor": "true", "extensions.partialClone": "origin",
			"core.repositoryFormatVersion": "1", "core.hooksPath": w.path(".git/evil"), "core.worktree": "/",
		} {
			w.git("-C", dir, "config", key, value)
		}
	}
	w.write(".git/more", "[FILTER \"Other.One\"]\n\tclean = "+evil+"\n\tprocess = "+evil+"\n[core]\n\tfsmonitor = "+evil+"\n")
	w.git("config", "include.path", "more")
	w.write(".git/info/attributes", "*.txt filter=evil\n")
	w.do(os.Mkdir(w.path(".git/evil"), 0o755))
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction", "query-watchman"} {
		w.do(os.Symlink(evil, w.path(".git/hooks/"+hook)))
		w.do(os.Symlink(evil, w.path(".git/evil/"+hook)))
	}
	t.Setenv("GIT_EXTERNAL_DIFF", evil)
	t.Setenv("GIT_SSH_COMMAND", evil)
	t.Setenv("GIT_DIR", filepath.Dir(w.dir))
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor="+evil+"'")
	before := w.snapshot()
	_, got, err := Changed(t.Context(), w.dir, "HEAD~2")
	if want := []string{".gitattributes", ".gitmodules", "README.md"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if c, err := ReadCheckout(t.Context(), w.dir); err != nil || c.Origin != "" || !c.Committed("skills/deploy/run.sh") {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := StatusOf(t.Context(), w.dir, []string{"README.md", "x.log", "sub"}); err != nil {
		t.Error(err)
	}
	if b, err := OpenBase(t.Context(), w.dir, ""); err != nil || b.Close() != nil {
		t.Error(err)
	}
	if _, _, err := Changed(t.Context(), w.dir, strings.Repeat("1", 40)); diag.CodeOf(err) != diag.NotFound { // not fetched either
		t.Error(err)
	}
	if after := w.snapshot(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if ran, err := os.ReadFile(marker); err == nil {
		t.Errorf("was run:\n%s", ran)
	}
}

// snapshot lists all files with their sizes and times.
func (w checkout) snapshot() string {
	var b strings.Builder
	w.do(filepath.WalkDir(w.dir, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&b, name, info.Size(), info.Mode(), info.ModTime().UnixNano())
		}
		return err
	}))
	return b.String()
}

// TestChangedRoot checks that the root is the same for every directory of a work tree.
func TestChangedRoot(t *testing.T) {
	w := newCheckout(t)
	w.write("skills/new/a/b", "")
	link := filepath.Join(filepath.Dir(w.dir), "link")
	if err := os.Symlink(w.path("skills/new"), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.path("skills"), w.path("skills/new/a"), link, w.path("skills/new/a/b"), w.path("skills/../build/..")} {
		root, got, err := Changed(t.Context(), dir, "")
		if err != nil || root != w.dir || !slices.Equal(got, []string{"skills/new/a/b"}) {
			t.Errorf("%s: %s %q %v", dir, root, got, err)
		}
	}
	if err := os.Mkdir(w.path("skills/new/.git"), 0o755); err != nil { // not a repository
		t.Fatal(err)
	}
	if root, _, err := Changed(t.Context(), w.path("skills/new"), ""); err != nil || root != w.dir {
		t.Errorf("%s %v", root, err)
	}
}

func TestChangedSubmodules(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", w.repo.Dir, "vendor/sub")
	w.check("", ".gitmodules")
	w.commit("submodule")
	w.write("vendor/sub/README.md", "changed")
	w.write("vendor/sub/new", "")
	w.write("vendor/other", "")
	w.check("", "vendor/other")
	w.check("HEAD~", ".gitmodules", "vendor/other")
	sub := checkout{t, w.repo, w.path("vendor/sub")}
	sub.check("", "README.md", "new")
	w.git("mv", "vendor/sub", "servers delete commits")
	w.do(os.RemoveAll(w.path("servers delete commits")))
	w.check("", ".gitmodules", "vendor/other")
}

// TestChangedShared uses a repository that borrows objects from another one.
func TestChangedShared(t *testing.T) {
	w := newCheckout(t)
	w.git("clone", "--quiet", "--shared", w.repo.Dir, "../shared")
	shared := checkout{t, w.repo, filepath.Join(filepath.Dir(w.dir), "shared")}
	shared.check("origin/main")
	shared.write("README.md", "x")
	shared.commit("more")
	shared.check("origin/main", "README.md")
}

// TestChangedUnborn checks that before the first commit, everything is changed.
func TestChangedUnborn(t *testing.T) {
	dir := realDir(t)
	r := gittest.New(t, dir, "r.git")
	r.Run("init", "--quiet", dir+"/work")
	w := checkout{t, r, dir + "/work"}
	w.check("")
	w.write("a", "")
	w.write("b", "")
	w.write(".gitignore", "c\n")
	w.write("c", "")
	w.git("add", "a")
	w.check("", ".gitignore", "a", "b")
	if _, got, err := Changed(t.Context(), w.dir, "main"); err != nil || len(got) != 3 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestChangedShallow(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	for i := range 4 {
		w.write("README.md", fmt.Sprint(i))
		w.commit("more")
	}
	w.git("push", "--quiet", "origin", "main", "main~3:refs/heads/old", "main~1:refs/heads/near")
	clone := func(name string, args ...string) checkout {
		w.git(append(append([]string{"clone", "--quiet", "--no-single-branch"}, args...), "file://"+w.repo.Dir, "../"+name)...)
		return checkout{t, w.repo, filepath.Join(filepath.Dir(w.dir), name)}
	}
	deep := clone("deep", "--depth=2")
	deep.write("new", "")
	deep.check("", "new")
	deep.check("origin/near", "README.md", "new")
	deep.check("HEAD~1", "README.md", "new")
	for since, want := range map[string]string{
		"origin/old": "origin/old and HEAD do not have a common ancestor in this clone: the clone is shallow",
		"HEAD~3":     "HEAD~3 is not in this clone: the clone is shallow",
	} {
		_, _, err := Changed(t.Context(), deep.dir, since)
		wantError(t, err, diag.NotFound, want, "git fetch --unshallow")
	}
	flat := clone("flat", "--depth=1")
	flat.check("HEAD")
	_, _, err := Changed(t.Context(), flat.dir, w.git("rev-parse", "HEAD~2"))
	wantError(t, err, diag.NotFound, "is missing: the clone is shallow", "git fetch --unshallow")
}

func wantError(t *testing.T, err error, code diag.Code, message, hint string) {
	t.Helper()
	if err == nil || diag.CodeOf(err) != code || !strings.Contains(err.Error(), message) || !strings.Contains(diag.HintOf(err), hint) {
		t.Errorf("got %v (%s; hint %q), want %s (%s; %q)", err, diag.CodeOf(err), diag.HintOf(err), message, code, hint)
	}
}

func TestChangedErrors(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	w.git("branch", "release")
	w.git("checkout", "--quiet", "--orphan", "lonely")
	w.commit("lonely")
	w.git("checkout", "--quiet", "main")
	blob := w.git("rev-parse", "HEAD:README.md")
	for _, tt := range []struct {
		since string
		code  diag.Code
		want  string
		hint  string
	}{
		{"releese", diag.NotFound, `does not have a branch, tag, or commit "releese"`, "did you mean release?"},
		{"releese~1", diag.NotFound, `"releese~1"`, "did you mean release?"},
		{"origin/mian", diag.NotFound, `"origin/mian"`, "did you mean origin/main?"},
		{"nothing-like-it", diag.NotFound, `"nothing-like-it"`, "use a branch or tag, such as lonely, main, release, origin/main"},
		{"main~x", diag.NotFound, `"main~x"`, ""},
		{"main^{tree}", diag.NotFound, `"main^{tree}"`, ""},
		{"main@{1}", diag.NotFound, `"main@{1}"`, ""},
		{"../../etc/passwd", diag.NotFound, "", ""},
		{"config", diag.NotFound, `"config"`, ""},
		{"-x", diag.NotFound, "", ""},
		{"HEAD~99999999999999999999", diag.NotFound, "", ""},
		{":README.md", diag.NotFound, "", ""},
		{":/lonely", diag.NotFound, "", ""},
		{"HEAD:README.md", diag.NotFound, "", ""},
		{"main...lonely", diag.NotFound, "", ""},
		{"HEAD~5", diag.NotFound, "HEAD~5 does not exist", ""},
		{"HEAD^2", diag.NotFound, "HEAD^2 does not exist", ""},
		{"ORIG_HEAD", diag.NotFound, `"ORIG_HEAD"`, ""},
		{"FETCH_HEAD", diag.NotFound, `"FETCH_HEAD"`, ""},
		{"dead", diag.NotFound, `"dead"`, ""},
		{strings.Repeat("1", 40), diag.NotFound, "does not contain the commit 1111", ""},
		{blob, diag.Usage, "is not a commit", ""},
		{"lonely", diag.NotFound, "lonely and HEAD do not have a common ancestor", ""},
	} {
		_, _, err := Changed(t.Context(), w.dir, tt.since)
		wantError(t, err, tt.code, tt.want, tt.hint)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Changed(ctx, w.dir, ""); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("cancelled: %v", err)
	}
	w.do(os.WriteFile(w.path(".git/refs/heads/broken"), []byte("junk"), 0o644))
	_, _, err := Changed(t.Context(), w.dir, "broken")
	wantError(t, err, diag.NotFound, "broken", "")
}

// TestChangedAmbiguous checks that an ambiguous commit id is an error.
func TestChangedAmbiguous(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, realDir(t), "origin.git")
	head := r.Commit(skillFiles())
	ids := make(map[string]bool)
	for i := 0; ; i++ {
		id := r.CommitOn(fmt.Sprint(i), skillFiles())[:4]
		if ids[id] {
			_, _, err := Changed(t.Context(), cloneOf(t, r, head).dir, id)
			wantError(t, err, diag.Usage, "is ambiguous", "use more digits of the commit")
			return
		}
		ids[id] = true
	}
}

// TestChangedRefuses checks that a directory without a repository, or with an unreadable one, is an error.
func TestChangedRefuses(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	_, _, err := Changed(t.Context(), filepath.Dir(w.dir), "")
	wantError(t, err, diag.NotFound, "is not in a git work tree", "pass the files")
	_, _, err = Changed(t.Context(), w.repo.Dir, "")
	wantError(t, err, diag.NotFound, "is not in a git work tree", "pass the files")
	_, _, err = Changed(t.Context(), w.path("none"), "")
	wantError(t, err, diag.NotFound, "does not exist", "")

	w.write("sub/.git", "gitdir: ../nowhere\n")
	_, _, err = Changed(t.Context(), w.path("sub"), "")
	wantError(t, err, diag.NotFound, "which is not a repository", "git worktree repair")
	w.write("sub/.git", "nothing\n")
	_, _, err = Changed(t.Context(), w.path("sub"), "")
	wantError(t, err, diag.Invalid, "does not contain the path of a repository", "")

	config, err := os.ReadFile(w.path(".git/config"))
	w.do(err)
	w.do(os.WriteFile(w.path(".git/config"), append(bytes.Clone(config), "[extensions]\n\tpartialclone = origin\n"...), 0o644))
	if _, _, err = Changed(t.Context(), w.dir, "origin/main"); err != nil {
		t.Error(err)
	}
	w.do(os.WriteFile(w.path(".git/config"), append(bytes.Clone(config), "[broken\n"...), 0o644))
	_, _, err = Changed(t.Context(), w.dir, "origin/main")
	wantError(t, err, diag.Invalid, "bad config line", "")
	w.do(os.WriteFile(w.path(".git/config"), append(bytes.Clone(config), "[filter \"a=b\"]\n\tclean = false\n"...), 0o644))
	_, _, err = Changed(t.Context(), w.dir, "origin/main")
	wantError(t, err, diag.Invalid, `filter with the unsupported name "a=b"`, "pass the files")
	w.do(os.WriteFile(w.path(".git/config"), config, 0o644))

	index, err := os.ReadFile(w.path(".git/index"))
	w.do(err)
	for name, data := range map[string][]byte{
		"cut":       index[:len(index)/2],
		"no index":  []byte("hello"),
		"above":     bytes.Replace(index, []byte("README.md"), []byte("../ADME.m"), 1),
		"git's own": bytes.Replace(index, []byte("README.md"), []byte(".git/conf"), 1),
	} {
		w.do(os.WriteFile(w.path(".git/index"), data, 0o644))
		t.Log(name)
		_, _, err = Changed(t.Context(), w.dir, "")
		wantError(t, err, diag.Invalid, "index", "")
	}
}

// TestChangedWithoutGit checks that without a git program, the error names it.
func TestChangedWithoutGit(t *testing.T) {
	w := newCheckout(t)
	t.Setenv("PATH", t.TempDir())
	_, _, err := Changed(t.Context(), w.dir, "")
	wantError(t, err, diag.NotFound, "is not installed", "install git")
	if !errors.Is(err, ErrNoProgram) {
		t.Errorf("%v is not ErrNoProgram", err)
	}
	_, _, err = Changed(t.Context(), filepath.Dir(w.dir), "")
	wantError(t, err, diag.NotFound, "is not in a git work tree", "")
}

// TestChangedDamaged checks that missing objects are errors, not changes.
func TestChangedDamaged(t *testing.T) {
	w := newCheckout(t)
	w.write("README.md", "x")
	w.commit("x")
	tree := w.git("rev-parse", "HEAD^{tree}")
	w.write("README.md", "y")
	w.git("add", ".")
	w.do(os.Remove(w.path(".git/objects/" + tree[:2] + "/" + tree[2:])))
	_, _, err := Changed(t.Context(), w.dir, "")
	wantError(t, err, diag.Integrity, "missing or damaged", "git fsck")
	head := w.git("rev-parse", "HEAD")
	w.do(os.Remove(w.path(".git/objects/" + head[:2] + "/" + head[2:])))
	_, _, err = Changed(t.Context(), w.dir, "")
	wantError(t, err, diag.Integrity, "missing or damaged", "git fsck")
}

// TestChangedTreeBomb checks that an endless tree is an error before memory is full.
func TestChangedTreeBomb(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	main := w.repo.Run("rev-parse", "main")
	leaf := gittest.Entry{Mode: "100644", Name: "f", ID: w.repo.Blob("f")}
	entries := []gittest.Entry{leaf}
	for range 12 {
		id := w.repo.RawTree(entries...)
		entries = nil
		for i := range 10 {
			entries = append(entries, gittest.Entry{Mode: "40000", Name: fmt.Sprint(i), ID: id})
		}
	}
	w.repo.Run("update-ref", "refs/heads/bomb", w.repo.Run("commit-tree", "-p", main, "-m", "bomb", w.repo.RawTree(entries...)))
	w.git("fetch", "--quiet")
	w.git("update-ref", "HEAD", "origin/bomb")
	tree, err := openWorkTree(t.Context(), w.dir)
	w.do(err)
	tree.program.MaxMemory = 4 << 20
	_, err = tree.changedSince(t.Context(), "HEAD~1")
	wantError(t, err, diag.Invalid, "contains too many files", "")
}

// BenchmarkChanged checks 5,000 files of which none changed, or only all times.
func BenchmarkChanged(b *testing.B) {
	for _, touched := range []bool{false, true} {
		b.Run(fmt.Sprintf("touched=%t", touched), func(b *testing.B) {
			w := benchCheckout(b)
			if touched {
				for name := range strings.FieldsSeq(w.git("ls-files")) {
					w.touch(name)
				}
			}
			for b.Loop() {
				if _, list, err := Changed(b.Context(), w.dir, "HEAD~"); err != nil || len(list) != 1 {
					b.Fatal(list, err)
				}
			}
		})
	}
}

// FuzzStatus parses any output of git: every path is inside the work tree. A name may have any bytes.
func FuzzStatus(f *testing.F) {
	f.Add("# branch.oid (initial)\x00# branch.head main\x00? a b\x00")
	f.Add("1 .M N... 100644 100644 100644 1111 1111 README.md\x00u UU N... 1 2 3 4 a b c x y\x00")
	f.Add("? ../a\x00? .git/config\x00? a//b\x00? inner/\x00")
	f.Add("? a\xff\x00? \xff/../b\x00")
	f.Fuzz(func(t *testing.T, out string) {
		s, err := parseStatus(out)
		if err != nil {
			return
		}
		for path := range s.changed {
			if !fs.ValidPath(strings.ToValidUTF8(path, "?")) {
				t.Errorf("%q is a path", path)
			}
		}
	})
}

func benchCheckout(b *testing.B) checkout {
	w := newCheckout(b)
	w.git("config", "gc.auto", "0")
	for i := range 1000 {
		for _, name := range []string{"SKILL.md", "references/a.md", "references/b.md", "references/c.md", "run.sh"} {
			w.write(fmt.Sprintf("skills/s%d/%s", i, name), fmt.Sprintf("%d %s\n", i, strings.Repeat(name, 100)))
		}
	}
	w.commit("many")
	w.write("README.md", "changed")
	w.commit("one")
	w.git("gc", "--quiet")
	at := time.Unix(1700000000, 0)
	w.do(filepath.WalkDir(w.path("skills"), func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, at, at)
	}))
	w.git("status")
	return w
}

// makePipe creates a pipe, which blocks when it is opened.
func makePipe(name string) error { return exec.Command("mkfifo", name).Run() }
