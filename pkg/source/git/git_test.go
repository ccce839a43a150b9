package git_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// skills are the files of a repository with two skills and no skillpm.yaml.
func skills() gittest.Files {
	return gittest.Text(map[string]string{
		"README.md":                     "# Skills\n",
		"skills/deploy/SKILL.md":        gittest.Skill("deploy", "Deploys."),
		"skills/deploy/scripts/run.sh*": "#!/bin/sh\necho run\n",
		"skills/deploy/references/a.md": "a\n",
		"skills/rollback/SKILL.md":      gittest.Skill("rollback", "Rolls back."),
	})
}

// parse parses a reference below the URL of a server.
func parse(t testing.TB, s string) pack.Ref {
	t.Helper()
	ref, err := pack.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// newClient returns a client with its own cache and without the user's files.
func newClient(t testing.TB, o git.Options) *git.Client {
	t.Helper()
	if o.Cache == "" {
		o.Cache = t.TempDir()
	}
	if o.Credentials == nil && o.Getenv == nil && o.Home == "" {
		o.Credentials = func(context.Context, string) (string, string, error) { return "", "", nil }
	}
	c := git.New(o)
	git.NoWaiting(c)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// fetch opens a reference, fetches all its skills, and returns their tree digests.
func fetch(t testing.TB, c *git.Client, ref pack.Ref, names ...string) (*pack.Pack, map[string]string) {
	t.Helper()
	p, err := c.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	if err := c.Fetch(t.Context(), p, names, hasher); err != nil {
		t.Fatal(err)
	}
	digests := make(map[string]string)
	for name, inventory := range hasher.Inventories() {
		digests[name] = inventory.Digest()
	}
	return p, digests
}

// checkError checks the code of an error, and substrings of its text and hint.
func checkError(t *testing.T, err error, code diag.Code, message, hint string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", message)
	}
	if diag.CodeOf(err) != code || !strings.Contains(err.Error(), message) {
		t.Errorf("error %q (%v), want %q (%v)", err, diag.CodeOf(err), message, code)
	}
	if !strings.Contains(diag.HintOf(err), hint) {
		t.Errorf("hint of %q is %q, want %q", err, diag.HintOf(err), hint)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

// TestOpenRevisions checks M2: revisions of every kind.
func TestOpenRevisions(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	first := r.Commit(skills())
	r.Tag("v1.0.0", first)
	r.AnnotatedTag("v1.2.0", first)
	r.Tag("1", first)
	r.Tag("both", first)
	second := r.Commit(skills())
	r.Tag("v2.0.0-rc.1", second)
	third := r.CommitOn("feature/x", skills())
	r.CommitOn("both", skills())
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git"
	tests := []struct {
		suffix, constraint   string
		rev, commit, version string
	}{
		{"", "", "v1.2.0", first, "1.2.0"},
		{"", "~1.0", "v1.0.0", first, "1.0.0"},
		{"", "=2.0.0-rc.1", "v2.0.0-rc.1", second, "2.0.0-rc.1"},
		{"#v1.0.0", "", "v1.0.0", first, "1.0.0"},
		{"#1", "", "1", first, "0.0.0-g" + first[:12]},
		{"#main", "", "main", second, "0.0.0-g" + second[:12]},
		{"#feature/x", "", "feature/x", third, "0.0.0-g" + third[:12]},
		{"#both", "", "both", first, "0.0.0-g" + first[:12]},
		{"#refs/heads/main", "", "refs/heads/main", second, "0.0.0-g" + second[:12]},
		{"#" + first, "", first, first, "0.0.0-g" + first[:12]},
	}
	c := newClient(t, git.Options{})
	for _, tt := range tests {
		ref := parse(t, url+tt.suffix)
		ref.Constraint = tt.constraint
		p, err := c.Open(t.Context(), ref)
		if err != nil {
			t.Errorf("Open %q %s: %v", tt.suffix, tt.constraint, err)
			continue
		}
		if p.Ref.Rev != tt.rev || p.Ref.Digest != tt.commit || p.Version != tt.version {
			t.Errorf("Open %q %s = %s %s %s, want %s %s %s", tt.suffix, tt.constraint, p.Ref.Rev, p.Ref.Digest, p.Version, tt.rev, tt.commit, tt.version)
		}
		if p.ID != (pack.ID{Owner: "o", Name: "r"}) || !slices.Equal(p.SkillNames(), []string{"deploy", "rollback"}) {
			t.Errorf("Open %q = %v with %v", tt.suffix, p.ID, p.SkillNames())
		}
	}
	versions, err := c.Versions(t.Context(), parse(t, url))
	if want := []string{"2.0.0-rc.1", "1.2.0", "1.0.0"}; err != nil || !slices.Equal(versions, want) {
		t.Errorf("Versions = %v, %v; want %v", versions, err, want)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	r.Tag("v1.0.0", r.Commit(skills()))
	gittest.New(t, dir, "o/empty.git")
	blob := gittest.New(t, dir, "o/blob.git")
	blob.Commit(skills())
	blob.Run("update-ref", "refs/tags/blob", blob.Blob("x"))
	gittest.New(t, dir, "o/none.git").Commit(gittest.Text(map[string]string{"README.md": "no skill"}))
	url := "git+" + gittest.Serve(t, dir)
	tests := []struct {
		place, constraint string
		code              diag.Code
		message, hint     string
	}{
		{"/o/missing.git", "", diag.NotFound, "the repository does not exist, or you", "credential helper"},
		{"/o/empty.git", "", diag.NotFound, "is empty", ""},
		{"/o/none.git", "", diag.NotFound, "no skills found in", ""},
		{"/o/r.git#v9", "", diag.NotFound, `does not have a tag or branch "v9"`, "v1.0.0"},
		{"/o/r.git#mian", "", diag.NotFound, `does not have a tag or branch "mian"`, "did you mean main?"},
		{"/o/r.git#0123456", "", diag.NotFound, "does not have a tag or branch", "40 digits"},
		{"/o/r.git#0123456789012345678901234567890123456789", "", diag.NotFound, "does not contain the commit", "servers delete commits"},
		{"/o/r.git", "^2", diag.NotFound, "does not have a version ^2", "1.0.0"},
		{"/o/r.git//nowhere", "", diag.NotFound, "does not contain the directory nowhere", ""},
		{"/o/r.git//README.md", "", diag.NotFound, "README.md in", ""},
		{"/o/blob.git#blob", "", diag.Invalid, "the revision is a blob, not a commit", ""},
	}
	for _, tt := range tests {
		c := newClient(t, git.Options{})
		ref := parse(t, url+tt.place)
		ref.Constraint = tt.constraint
		_, err := c.Open(t.Context(), ref)
		t.Log(err)
		checkError(t, err, tt.code, tt.message, tt.hint)
	}
}

func TestOpenUnreachable(t *testing.T) {
	c := newClient(t, git.Options{})
	_, err := c.Open(t.Context(), parse(t, "git+http://127.0.0.1:1/r.git"))
	checkError(t, err, diag.Remote, "127.0.0.1:1", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Open(ctx, parse(t, "git+http://127.0.0.1:1/r.git"))
	if !errors.Is(err, context.Canceled) || diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("error of a cancelled open is %v", err)
	}
}
