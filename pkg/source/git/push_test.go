package git_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestPush pushes to servers of all kinds: to an empty repository, on top of another commit, and after a change by
// somebody else, which is a conflict.
func TestPush(t *testing.T) {
	dir := t.TempDir()
	known := func(context.Context, string) (string, string, error) { return "me", "hunter2", nil }
	for _, kind := range []string{"http", "auth", "file", "ssh"} {
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath("ssh"); err != nil && kind == "ssh" || runtime.GOOS == "windows" {
				t.Skip("ssh is not installed")
			}
			r := gittest.New(t, dir, kind+".git")
			o := git.Options{Credentials: known}
			url, author := "git+file://"+filepath.ToSlash(dir), "skillpm <skillpm@localhost>"
			switch kind {
			case "file":
				config := filepath.Join(t.TempDir(), "gitconfig")
				if err := os.WriteFile(config, []byte("[user]\nname = Ada\nemail = ada@example.com\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				o.Getenv = func(name string) string { return map[string]string{"GIT_CONFIG_GLOBAL": config}[name] }
				author = "Ada <ada@example.com>"
				hook := filepath.Join(dir, "file.git", "hooks", "pre-receive")
				if err := errors.Join(os.MkdirAll(filepath.Dir(hook), 0o755), os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755)); err != nil {
					t.Fatal(err)
				}
				// The repository's own settings run nothing, either.
				other := gittest.New(t, t.TempDir(), "other.git")
				ran := filepath.Join(t.TempDir(), "ran")
				r.Run("config", "core.alternateRefsCommand", "touch '"+ran+"';:")
				alternates := filepath.Join(dir, "file.git", "objects", "info", "alternates")
				if err := os.WriteFile(alternates, []byte(filepath.Join(other.Dir, "objects")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				defer func() {
					if _, err := os.Stat(ran); err == nil {
						t.Error("the push ran a command of the repository's settings")
					}
				}()
			case "http":
				url = "git+" + gittest.Serve(t, dir, gittest.WithPush())
			case "auth":
				url = "git+" + gittest.Serve(t, dir, gittest.WithPush(), gittest.WithAuth("me", "hunter2"))
			case "ssh":
				hostKey, _ := key(t)
				user, private := key(t)
				address := serveSSH(t, dir, hostKey, user.PublicKey())
				home := t.TempDir()
				for name, text := range map[string]string{"known": knownhosts.Line([]string{address}, hostKey.PublicKey()) + "\n", "key": string(private)} {
					if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				command := "ssh -F none -oIdentityFile=" + home + "/key -oUserKnownHostsFile=" + home + "/known"
				o = git.Options{Home: home, Getenv: func(name string) string {
					return map[string]string{"GIT_SSH_COMMAND": command, "PATH": os.Getenv("PATH")}[name]
				}}
				url = "git+ssh://" + address
			}
			open := func() (*git.Client, git.Branch) {
				c := newClient(t, o)
				b, err := c.Branch(t.Context(), parse(t, url+"/"+kind+".git"))
				if err != nil {
					t.Fatal(err)
				}
				return c, b
			}
			c, empty := open()
			if _, err := c.ReadFile(t.Context(), empty, "a", 100); empty.Commit != "" || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the empty repository has %+v, %v", empty, err)
			}
			first, err := c.Push(t.Context(), empty, map[string][]byte{"a": []byte("one\n"), "b": []byte("two\n")}, "First")
			if err != nil {
				t.Fatal(err)
			}
			c, b := open()
			if got, err := c.ReadFile(t.Context(), b, "a", 100); b.Commit != first || b.Name != "main" || string(got) != "one\n" || err != nil {
				t.Errorf("%+v has %q, %v", b, got, err)
			}
			if same, err := c.Push(t.Context(), b, map[string][]byte{"a": []byte("one\n")}, "Nothing"); same != first || err != nil {
				t.Errorf("pushing nothing gives %s, %v", same, err)
			}
			second, err := c.Push(t.Context(), b, map[string][]byte{"a": nil, "c": []byte("three\n")}, "Second")
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Run("log", "--format=%H %s", "main"); strings.TrimSpace(got) != second+" Second\n"+first+" First" {
				t.Errorf("the history is %q", got)
			}
			if got := r.Run("log", "-1", "--format=%an <%ae>", "main"); strings.TrimSpace(got) != author {
				t.Errorf("the author is %q, want %q", got, author)
			}
			if got := r.Run("ls-tree", "--name-only", "main"); strings.Fields(got)[0] != "b" || len(strings.Fields(got)) != 2 {
				t.Errorf("the tree is %q", got)
			}
			for name, late := range map[string]git.Branch{"behind": b, "empty": empty} {
				_, err = newClient(t, o).Push(t.Context(), late, map[string][]byte{"a": []byte("mine\n")}, "Late")
				checkError(t, err, diag.Conflict, "cannot push: the branch changed in the meantime", "run the command again")
				if got := r.Run("rev-parse", "main"); strings.TrimSpace(got) != second {
					t.Errorf("%s: the branch moved to %s", name, got)
				}
			}
		})
	}
}

// TestPushRefused checks what cannot be pushed, and that no temporary repository stays.
func TestPushRefused(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "r.git")
	commit := r.Commit(skills())
	r.Tag("v1", commit)
	url := "git+" + gittest.Serve(t, dir)
	cache := t.TempDir()
	c := newClient(t, git.Options{Cache: cache})
	_, err := c.Branch(t.Context(), parse(t, url+"/r.git#v1"))
	checkError(t, err, diag.Usage, "v1 is not a branch", "")
	b, err := c.Branch(t.Context(), parse(t, url+"/r.git#other"))
	if err != nil || b.Name != "other" || b.Commit != "" {
		t.Errorf("%+v, %v", b, err)
	}
	b, err = c.Branch(t.Context(), parse(t, url+"/r.git"))
	if err != nil || b.Commit != commit {
		t.Fatalf("%+v, %v", b, err)
	}
	_, err = c.Push(t.Context(), b, map[string][]byte{"a": []byte("a")}, "No")
	checkError(t, err, diag.Denied, "", "")
	if left, _ := filepath.Glob(filepath.Join(cache, "tmp-*")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
	if _, err := c.ReadFile(t.Context(), b, "skills", 100); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a directory is read: %v", err)
	}
	if _, err := c.ReadFile(t.Context(), b, "README.md", 2); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a large file is read: %v", err)
	}
	files := skills()
	maps.Copy(files, gittest.Files{"link": {Link: "README.md"}})
	r.Commit(files)
	c = newClient(t, git.Options{})
	if b, err = c.Branch(t.Context(), b.Ref); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadFile(t.Context(), b, "link", 100); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a link is read: %v", err)
	}
}

// TestPushCheckout checks that a push does not write the work tree of a repository on this machine, because that runs
// the programs that the settings of the repository name.
func TestPushCheckout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the filter needs a shell")
	}
	dir := t.TempDir()
	r := gittest.New(t, dir, "a.git")
	before := r.Commit(gittest.Text(map[string]string{"a": "one\n"}))
	ran := filepath.Join(t.TempDir(), "ran")
	for _, setting := range [][2]string{
		{"core.bare", "false"},
		{"core.worktree", t.TempDir()},
		{"receive.denyCurrentBranch", "updateInstead"},
		{"filter.x.smudge", "touch '" + ran + "'; cat"},
	} {
		r.Run("config", setting[0], setting[1])
	}
	r.Run("read-tree", "-u", "--reset", "HEAD")
	attributes := filepath.Join(r.Dir, "info", "attributes")
	if err := os.WriteFile(attributes, []byte("* filter=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, git.Options{})
	b, err := c.Branch(t.Context(), parse(t, "git+file://"+filepath.ToSlash(r.Dir)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Push(t.Context(), b, map[string][]byte{"a": []byte("two\n")}, "Second")
	checkError(t, err, diag.Denied, "branch is currently checked out", "")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the push ran a filter")
	}
	if got := strings.TrimSpace(r.Run("rev-parse", "main")); got != before {
		t.Errorf("the branch moved from %s to %s", before, got)
	}
}
