package git

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// programs are the values of Options.Program to test.
func programs(t *testing.T) map[string]string {
	return map[string]string{"built in": "", "program": gittest.Git(t)}
}

// TestHostileURLs checks M2, bad input: URLs that are options or name other transports, such as a crafted lockfile may
// have, run nothing.
func TestHostileURLs(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	for _, url := range []string{
		"ssh://-oProxyCommand=touch%20" + mark + "/o/r.git",
		"ssh://-oProxyCommand=touch@git.example/o/r.git",
		"ssh://git@git.example/-oProxyCommand=touch",
		"https://--upload-pack=touch/o/r.git",
		"https://git.example/--upload-pack=touch",
		"ext::sh -c touch% " + mark,
		"ext://sh/-c",
		"fd::17/o/r.git",
		"fd://17/o/r.git",
		"git://git.example/o/r.git",
		"ftp://git.example/o/r.git",
		"--upload-pack=touch " + mark,
		"-u",
		"git.example:o/r.git",
		"https:///o/r.git",
		"https://[::1",
	} {
		for name, program := range programs(t) {
			c := New(Options{Program: program, Cache: t.TempDir()})
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url})
			if diag.CodeOf(err) != diag.Usage {
				t.Errorf("%s: %s: %v", name, url, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if ref, err := pack.Parse("git+" + url); err == nil {
			t.Errorf("%s is the place %v", url, ref)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something was run")
	}
}

// TestHostileRevisions checks M2, bad input: revisions that are options are treated as names of branches and tags that
// do not exist.
func TestHostileRevisions(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R.")}))
	url := gittest.Serve(t, dir) + "/o/r.git"
	for _, rev := range []string{"--upload-pack=touch " + mark, "--output=" + mark, "-f", "main^{tree}", "main:SKILL.md", "a..b", "refs/../HEAD", "@{u}", ":/x"} {
		for name, program := range programs(t) {
			c := New(Options{Program: program, Cache: t.TempDir()})
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url, Rev: rev})
			if diag.CodeOf(err) != diag.NotFound {
				t.Errorf("%s: %q: %v", name, rev, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if pack.CheckRev(rev) == nil {
			t.Errorf("%q is a revision", rev)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something was run")
	}
}

// TestHostileConfiguration checks M2, bad input: hostile configuration and environment variables, of the user or of the
// current directory, run nothing and do not redirect the client.
func TestHostileConfiguration(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	mark := filepath.Join(t.TempDir(), "mark")
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "The right one.")}))
	gittest.New(t, dir, "evil/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "The wrong one.")}))
	url := gittest.Serve(t, dir, gittest.WithFilter())
	script := filepath.Join(home, "run")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>"+mark+"\n"), 0o755); err != nil { //nolint:gosec // git would run it
		t.Fatal(err)
	}
	config := fmt.Sprintf(`[core]
	fsmonitor = %[1]s
	sshCommand = %[1]s
	hooksPath = %[2]s
	askPass = %[1]s
	gitProxy = %[1]s
	editor = %[1]s
	pager = %[1]s
	alternateRefsCommand = %[1]s
[credential]
	helper = "!%[1]s"
[url "%[3]s/evil/"]
	insteadOf = %[3]s/o/
[protocol]
	allow = always
[uploadpack]
	packObjectsHook = %[1]s
[filter "x"]
	smudge = %[1]s
[http]
	proxy = http://127.0.0.1:1
[transfer]
	credentialsInUrl = allow
[remote "origin"]
	uploadpack = %[1]s
	url = %[3]s/evil/r.git
[include]
	path = /dev/zero
`, script, home, url)
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(filepath.Join(work, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(home, ".gitconfig"): config, filepath.Join(work, ".git", "config"): config,
		filepath.Join(work, ".git", "HEAD"): "ref: refs/heads/main\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_SSH_COMMAND": script, "GIT_SSH": script,
		"GIT_ASKPASS": script, "SSH_ASKPASS": script, "GIT_PROXY_COMMAND": script, "GIT_EXTERNAL_DIFF": script, "GIT_TEMPLATE_DIR": home,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url." + url + "/evil/.insteadOf", "GIT_CONFIG_VALUE_0": url + "/o/",
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + script + "'", "GIT_ALLOW_PROTOCOL": "ext:file", "GIT_ALTERNATE_OBJECT_DIRECTORIES": home,
		"GIT_TRACE": mark, "GIT_TRACE_SETUP": mark, "GIT_OBJECT_DIRECTORY": home, "GIT_NAMESPACE": "evil", "GIT_REPLACE_REF_BASE": "refs/evil",
	} {
		t.Setenv(name, value)
	}
	for name, program := range programs(t) {
		c := New(Options{Program: program, Cache: t.TempDir()})
		p, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url + "/o/r.git"})
		if err != nil || p.Skills[0].Description != "The right one." {
			t.Errorf("%s: %+v, %v", name, p, err)
		} else if err := c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("something was run: %s", data)
	}
}

// TestHostileAttributes checks M2, bad input: git attributes do not change the fetched files: no line endings,
// keywords, filters, or exclusions.
func TestHostileAttributes(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{
		".gitattributes":          "* text eol=crlf ident filter=x working-tree-encoding=UTF-16 export-subst\nhidden export-ignore\n",
		"skills/r/SKILL.md":       gittest.Skill("r", "R."),
		"skills/r/a":              "one\ntwo $Id$ $Format:%H$\n",
		"skills/r/hidden":         "here\n",
		"skills/r/.gitattributes": "a -text\n",
		".gitmodules":             "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% x\n\tupdate = !touch x\n",
	}))
	url := gittest.Serve(t, dir) + "/o/r.git"
	for name, program := range programs(t) {
		c := New(Options{Program: program, Cache: t.TempDir()})
		tree, _, err := c.Tree(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url, Subdir: "skills/r"})
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{"a": "one\ntwo $Id$ $Format:%H$\n", "hidden": "here\n"} {
			f, err := tree.Open(file)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := io.ReadAll(f); err != nil || string(got) != want {
				t.Errorf("%s: %s is %q, %v", name, file, got, err)
			}
			_ = f.Close()
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// endlessReferences responds with endless references.
func endlessReferences(git http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			git.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		writeReferences(w, r, "\x00shallow")
	})
}

// endlessList responds with endless references to ls-refs (gitprotocol-v2).
func endlessList(git http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			git.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		writeReferences(w, r, "")
	})
}

// writeReferences writes the same references until writing fails. The first has capabilities.
func writeReferences(w io.Writer, r *http.Request, capabilities string) {
	var block bytes.Buffer
	for i := range 1000 {
		line := fmt.Sprintf("%040x refs/heads/b%012d%s\n", i+1, i, capabilities)
		fmt.Fprintf(&block, "%04x%s", len(line)+4, line)
		if capabilities != "" {
			_, _ = w.Write(block.Bytes())
			block.Reset()
			capabilities = ""
		}
	}
	for r.Context().Err() == nil {
		if _, err := w.Write(block.Bytes()); err != nil {
			return
		}
	}
}

// TestEndless checks M2, bad input: a list of references without end and packs beyond the limits are errors as soon as
// they exceed the limit, with both transfer methods.
func TestEndless(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", strings.Repeat("Long. ", 150))}))
	for name, program := range programs(t) {
		for what, options := range map[string]gittest.Option{
			"references": gittest.WithHandler(endlessReferences), "references on request": gittest.WithHandler(endlessList),
		} {
			if what == "references on request" && (program == "" || runtime.GOOS != "linux") {
				continue // only the git binary requests them, and only on Linux is its memory limited
			}
			c := New(Options{Program: program, Cache: t.TempDir()})
			c.limits.refs, c.limits.memory = 1<<16, 48<<20
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: gittest.Serve(t, dir, options) + "/o/r.git"})
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "the repository is too large") {
				t.Errorf("%s, endless %s: %v", name, what, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	url := gittest.Serve(t, dir) + "/o/r.git"
	for name, program := range programs(t) {
		for what, change := range map[string]func(*limits){
			"pack": func(l *limits) { l.pack = 200 }, "objects": func(l *limits) { l.packs.Objects = 2 }, "object": func(l *limits) { l.packs.Object = 100 },
		} {
			c := New(Options{Program: program, Cache: t.TempDir()})
			change(&c.limits)
			_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url})
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "too large") && !strings.Contains(err.Error(), "does not stop") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOtherPack checks M2, bad input: another repository's pack does not provide the requested commit.
func TestOtherPack(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "The right one.")}))
	gittest.New(t, dir, "evil/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "The wrong one.")}))
	body := ""
	record := func(git http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			git.ServeHTTP(answer, r)
			switch {
			case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/evil/"):
				body = answer.Body.String()
			case r.Method == http.MethodPost:
				answer.Body = bytes.NewBufferString(body)
			}
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			_, _ = w.Write(answer.Body.Bytes())
		})
	}
	url := gittest.Serve(t, dir, gittest.WithHandler(record))
	c := New(Options{Cache: t.TempDir()})
	defer c.Close()
	if _, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url + "/evil/r.git"}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: url + "/o/r.git"})
	if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "does not contain the commit") {
		t.Errorf("error %v", err)
	}
}
