package git_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// counted counts the bytes of responses.
type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// annotated creates a repository with a large file, a signed tag, an unsigned one, a lightweight one, one on another
// tag, and a branch.
func annotated(t *testing.T, dir string) (r *gittest.Repo, commit string) {
	t.Helper()
	r = gittest.New(t, dir, "o/r.git")
	files := skills()
	large := make([]byte, 1<<16)
	rand.NewChaCha8([32]byte{}).Read(large) // never fails; the data does not compress
	files["large.bin"] = gittest.File{Data: string(large)}
	commit = r.Commit(files)
	r.AnnotatedTag("v1.0.0", commit)
	r.Tag("v1.1.0", commit)
	tag := func(name, object, kind, rest string) {
		body := "object " + object + "\ntype " + kind + "\ntag " + name + "\ntagger A <a@example.com> 1700000000 +0000\n\nnotes\n" + rest
		r.Tag(name, r.Pipe([]byte(body), "hash-object", "-t", "tag", "-w", "--stdin"))
	}
	tag("v1.2.0", commit, "commit", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n")
	tag("v1.3.0", r.Run("rev-parse", "refs/tags/v1.2.0"), "tag", "")
	return r, commit
}

func TestSignedTag(t *testing.T) {
	ways := map[string]func(t *testing.T, dir string) (string, git.Options){
		"http": func(t *testing.T, dir string) (string, git.Options) { return gittest.Serve(t, dir), git.Options{} },
		"strict": func(t *testing.T, dir string) (string, git.Options) {
			return gittest.Serve(t, dir, gittest.WithoutAnyCommit()), git.Options{}
		},
		"filter": func(t *testing.T, dir string) (string, git.Options) {
			return gittest.Serve(t, dir, gittest.WithFilter()), git.Options{}
		},
		"file": func(_ *testing.T, dir string) (string, git.Options) { return "file://" + dir, git.Options{} },
		"program": func(t *testing.T, dir string) (string, git.Options) {
			return gittest.Serve(t, dir), git.Options{Program: gittest.Git(t)}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, commit := annotated(t, dir)
			url, options := way(t, dir)
			c := newClient(t, options)
			tests := []struct {
				rev, version string
				payload      string // suffix
				signature    string // prefix
			}{
				{"v1.2.0", "", "\nnotes\n", "-----BEGIN SSH SIGNATURE-----\nAAAA\n"},
				{"refs/tags/v1.2.0", "", "\nnotes\n", "-----BEGIN SSH SIGNATURE-----\n"},
				{"", "1.2.0", "\nnotes\n", "-----BEGIN SSH SIGNATURE-----\n"},
				{"v1.0.0", "", "\n", ""},
				{"v1.1.0", "", "", ""},
				{"v1.3.0", "", "\nnotes\n", ""},
			}
			for _, tt := range tests {
				ref := parse(t, "git+"+url+"/o/r.git")
				ref.Rev, ref.Constraint, ref.Digest = tt.rev, tt.version, commit
				payload, signature, on, err := c.SignedTag(t.Context(), ref)
				if err != nil || on != commit {
					t.Errorf("%s%s: on %s, %v", tt.rev, tt.version, on, err)
				}
				if !strings.HasSuffix(string(payload), tt.payload) || (len(payload) == 0) != (tt.payload == "") ||
					!strings.HasPrefix(string(signature), tt.signature) || (len(signature) == 0) != (tt.signature == "") {
					t.Errorf("%s%s: %q and %q", tt.rev, tt.version, payload, signature)
				}
			}
			for rev, want := range map[string]string{"main": "is a branch", "v9.9.9": "does not have a tag", "": "without a tag", commit: "without a tag"} {
				ref := parse(t, "git+"+url+"/o/r.git")
				ref.Rev, ref.Digest = rev, commit
				_, _, _, err := c.SignedTag(t.Context(), ref)
				checkError(t, err, diag.NotFound, want, "")
			}
			ref := parse(t, "git+"+url+"/o/r.git")
			ref.Constraint = "7.0.0"
			_, _, _, err := c.SignedTag(t.Context(), ref)
			checkError(t, err, diag.NotFound, "does not have a tag for version 7.0.0", "")
		})
	}
}

// TestSignedTagIsSmall checks that a tag object is fetched without its commit.
func TestSignedTagIsSmall(t *testing.T) {
	dir := t.TempDir()
	_, commit := annotated(t, dir)
	var sent atomic.Int64
	url := gittest.Serve(t, dir, gittest.WithHandler(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w = counted{w, &sent}
			}
			next.ServeHTTP(w, r)
		})
	}))
	ref := parse(t, "git+"+url+"/o/r.git#v1.2.0")
	ref.Digest = commit
	if _, signature, _, err := newClient(t, git.Options{}).SignedTag(t.Context(), ref); err != nil || len(signature) == 0 {
		t.Fatal(err)
	}
	if n := sent.Load(); n == 0 || n > 1000 {
		t.Errorf("%d bytes for a tag", n)
	}
}
