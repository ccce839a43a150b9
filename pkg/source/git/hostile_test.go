package git_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestHostileTrees uses trees that git does not write, and entries that are not files.
func TestHostileTrees(t *testing.T) {
	dir, tests := hostileTrees(t)
	for _, what := range []string{"file", "http", "filter"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			tryHostileTrees(t, dir, what, tests)
		})
	}
	t.Run("program", func(t *testing.T) {
		t.Parallel()
		sample := make(map[string]hostileTree)
		for _, name := range []string{"dot git", "parent", "no name", "twice", "symlink", "a missing file", "unsorted but fine"} {
			tree, ok := tests[name]
			if !ok {
				t.Fatalf("no tree is called %q", name)
			}
			sample[name] = tree
		}
		tryHostileTrees(t, dir, "program", sample)
	})
}

// hostileTree is a tree and a part of the error that it causes.
type hostileTree struct{ tree, message string }

// hostileTrees makes o/r.git in a directory, with a branch for each tree.
func hostileTrees(t *testing.T) (dir string, tests map[string]hostileTree) {
	t.Helper()
	dir = t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	skill := r.Blob(gittest.Skill("deploy", "Deploys."))
	evil := r.Blob("evil")
	file := func(name string) gittest.Entry { return gittest.Entry{Mode: "100644", Name: name, ID: evil} }
	inSkill := func(entries ...gittest.Entry) string {
		entries = append(entries, gittest.Entry{Mode: "100644", Name: "SKILL.md", ID: skill})
		tree := r.RawTree(gittest.Entry{Mode: "40000", Name: "deploy", ID: r.RawTree(entries...)})
		return r.RawTree(gittest.Entry{Mode: "40000", Name: "skills", ID: tree})
	}
	hooks := r.RawTree(file("post-checkout"))
	pointer := r.Blob("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
	loop := r.RawTree(gittest.Entry{Mode: "100644", Name: "SKILL.md", ID: skill})
	dotGit, noName, link := "means the .git directory on some systems", "is not a valid name of a file", "symbolic link"
	tree := func(name string) gittest.Entry { return gittest.Entry{Mode: "40000", Name: name, ID: hooks} }
	tests = map[string]hostileTree{
		"dot git":           {inSkill(tree(".git")), dotGit},
		"dot GIT":           {inSkill(tree(".GIT")), dotGit},
		"dot git outside":   {r.RawTree(tree(".gIt"), gittest.Entry{Mode: "40000", Name: "skill", ID: loop}), dotGit},
		"dot git dot":       {inSkill(tree(".git. .")), dotGit},
		"dot git stream":    {inSkill(tree(".git::$INDEX_ALLOCATION")), dotGit},
		"dot git backslash": {inSkill(tree(`a\.git`)), dotGit},
		"dot git as file":   {inSkill(file(".git")), dotGit},
		"short name":        {inSkill(tree("GIT~1")), dotGit},
		"invisible":         {inSkill(tree(".g\u200cit")), dotGit},
		"parent":            {inSkill(file("..")), noName},
		"parent as a tree":  {inSkill(tree("..")), noName},
		"self":              {inSkill(file(".")), noName},
		"slash":             {inSkill(file("../../evil")), noName},
		"absolute":          {inSkill(file("/etc/passwd")), noName},
		"no name":           {inSkill(file("")), noName},
		"twice":             {inSkill(file("a"), file("a")), "is duplicated"},
		"file and tree":     {inSkill(file("a"), tree("a")), "is duplicated"},
		"case":              {inSkill(file("A"), file("a")), "collides with"},
		"symlink":           {inSkill(gittest.Entry{Mode: "120000", Name: "a", ID: evil}), link},
		"submodule":         {inSkill(gittest.Entry{Mode: "160000", Name: "a", ID: strings.Repeat("1", 40)}), "special file"},
		"symlinked file":    {r.RawTree(gittest.Entry{Mode: "120000", Name: "skillpm.yaml", ID: evil}), "not a regular file"},
		"bad mode":          {inSkill(gittest.Entry{Mode: "10x644", Name: "a", ID: evil}), "invalid mode"},
		"a blob as a tree":  {inSkill(gittest.Entry{Mode: "40000", Name: "a", ID: evil}), ""},
		"a missing file":    {inSkill(gittest.Entry{Mode: "100644", Name: "a", ID: strings.Repeat("2", 40)}), ""},
		"git lfs":           {inSkill(gittest.Entry{Mode: "100644", Name: "a", ID: pointer}), "is a Git LFS pointer"},
		"unsorted but fine": {inSkill(file("b"), file("a")), ""},
	}
	for name, tt := range tests {
		r.CommitTree(strings.ReplaceAll(name, " ", "-"), tt.tree)
	}
	return dir, tests
}

// tryHostileTrees opens and fetches each tree over one kind of connection.
func tryHostileTrees(t *testing.T, dir, what string, tests map[string]hostileTree) {
	t.Helper()
	base, options := "git+file://"+dir, git.Options{}
	switch what {
	case "http":
		base = "git+" + gittest.Serve(t, dir)
	case "filter":
		base = "git+" + gittest.Serve(t, dir, gittest.WithFilter())
	case "program":
		base, options.Program = "git+"+gittest.Serve(t, dir), gittest.Git(t)
	}
	c := newClient(t, options)
	for name, tt := range tests {
		p, err := c.Open(t.Context(), parse(t, base+"/o/r.git#"+strings.ReplaceAll(name, " ", "-")))
		if err == nil {
			err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
		}
		if strings.HasSuffix(name, "fine") {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if diag.CodeOf(err) == diag.Remote && (name == "no name" || name == "bad mode") {
			continue // git does not send it
		}
		if err == nil || !strings.Contains(err.Error(), tt.message) || tt.message != "" && diag.CodeOf(err) != diag.Invalid ||
			diag.CodeOf(err) == diag.Internal {
			t.Errorf("%s: error %v (%v), want %q", name, err, diag.CodeOf(err), tt.message)
		}
	}
}

// bomb returns a tree with 10 to the power of levels paths, with leaf at the end of each.
func bomb(r *gittest.Repo, levels int, leaf gittest.Entry) gittest.Entry {
	for range levels {
		entries := make([]gittest.Entry, 10)
		for i := range entries {
			entries[i] = leaf
			entries[i].Name = strconv.Itoa(i)
		}
		leaf = gittest.Entry{Mode: "40000", Name: "b", ID: r.RawTree(entries...)}
	}
	return leaf
}

// TestTreeBombs uses trees of a few objects with more paths than anyone can walk.
func TestTreeBombs(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	main := gittest.Entry{Mode: "100644", Name: "SKILL.md", ID: r.Blob(gittest.Skill("deploy", "Deploys."))}
	file := gittest.Entry{Mode: "100644", Name: "x", ID: r.Blob("x")}
	empty := gittest.Entry{Mode: "40000", Name: "x", ID: r.RawTree()}
	entries := []gittest.Entry{{Mode: "40000", Name: "0", ID: empty.ID}}
	for i := range 20 {
		entries = append(entries, gittest.Entry{Mode: "100644", Name: strconv.Itoa(10 + i), ID: file.ID})
	}
	some := gittest.Entry{Mode: "40000", ID: r.RawTree(entries...)}
	skill := gittest.Entry{Mode: "40000", Name: "s", ID: r.RawTree(main)}
	manifest := gittest.Entry{Mode: "100644", Name: "skillpm.yaml", ID: r.Blob("name: o/r\nskills: [\"**/s/**/**\"]\n")}
	deep := skill
	for range 100 {
		deep = gittest.Entry{Mode: "40000", Name: "d", ID: r.RawTree(deep)}
	}
	for name, tt := range map[string]struct {
		tree string
		want string
	}{
		"files":    {r.RawTree(bomb(r, 10, file), skill), "more than 1000000 files and directories"},
		"empty":    {r.RawTree(bomb(r, 10, some), skill), "more than 1000000 files and directories"},
		"pattern":  {r.RawTree(bomb(r, 10, file), skill, manifest), "more than 1000000 files and directories"},
		"skills":   {r.RawTree(bomb(r, 10, skill)), "the source contains more than 10000 directories with a SKILL.md"},
		"depth":    {r.RawTree(deep), "nested more than 64 levels deep"},
		"in skill": {r.RawTree(bomb(r, 10, empty), main), "exceeds the limit of 100000 files"},
	} {
		branch := strings.ReplaceAll(name, " ", "-")
		r.CommitTree(branch, tt.tree)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, git.Options{})
			p, err := c.Open(t.Context(), parse(t, "git+file://"+dir+"/o/r.git#"+branch))
			if err == nil {
				err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
			}
			checkError(t, err, diag.Invalid, tt.want, "")
		})
	}
}

// TestTreeContext checks that a pack that was described in one context can be read in another.
func TestTreeContext(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	c := newClient(t, git.Options{})
	opening, cancel := context.WithCancel(t.Context())
	p, err := c.Open(opening, parse(t, "git+file://"+dir+"/o/r.git"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits())); err != nil {
		t.Errorf("after the context of Open: %v", err)
	}
}

// TestHostileServers uses servers that do not respond like a git server.
func TestHostileServers(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	answer := func(status int, kind, body string) func(http.Handler) http.Handler {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
		}
	}
	tests := map[string]struct {
		wrap    func(http.Handler) http.Handler
		code    diag.Code
		message string
	}{
		"html":           {answer(200, "text/html", "<html>Log in</html>"), diag.Remote, "the response is not from a git server"},
		"nothing":        {answer(200, "text/plain", ""), diag.Remote, "the response is not from a git server"},
		"error":          {answer(500, "text/plain", "\x1b[31mstack trace\n"), diag.Remote, "responded with 500 Internal Server Error"},
		"overloaded":     {answer(503, "text/plain", "later"), diag.Remote, "responded with 503"},
		"not allowed":    {answer(403, "text/plain", "no"), diag.Denied, "no credentials"},
		"gone":           {answer(410, "text/plain", "gone"), diag.Remote, "responded with 410"},
		"endless error":  {answer(500, "text/plain", strings.Repeat("x", 1<<22)), diag.Remote, "responded with 500"},
		"error line":     {answer(200, "application/x-git-upload-pack-advertisement", "001e# service=git-upload-pack\n0000002bERR access\x1b[2J denied for your account"), diag.Remote, ""},
		"truncated pack": {truncate(2), diag.Remote, "the server closed the connection"},
		"changed pack":   {corrupt, diag.Remote, "damaged"},
		"no pack":        {truncate(1000), diag.Remote, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url := gittest.Serve(t, dir, gittest.WithHandler(tt.wrap))
			cache := t.TempDir()
			_, err := newClient(t, git.Options{Cache: cache}).Open(t.Context(), parse(t, "git+"+url+"/o/r.git"))
			checkError(t, err, tt.code, tt.message, "")
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%q is not fit for a terminal", err)
			}
			if found, _ := filepath.Glob(filepath.Join(cache, "*", "*")); len(found) > 0 {
				t.Errorf("%v is left behind", found)
			}
		})
	}
}

// truncate passes on a fraction of a pack.
func truncate(fraction int) func(http.Handler) http.Handler {
	return change(func(b []byte) []byte { return b[:len(b)/fraction] })
}

// corrupt changes a byte in the middle of a pack.
func corrupt(next http.Handler) http.Handler {
	return change(func(b []byte) []byte {
		b[len(b)/2] ^= 0x40
		return b
	})(next)
}

// change modifies the response to a request for a pack.
func change(f func([]byte) []byte) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				next.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			_, _ = w.Write(f(answer.Body.Bytes()))
		})
	}
}

// TestRetry checks that a request to a briefly overloaded server is repeated.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var requests atomic.Int32
	busy := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) <= 2 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	url := gittest.Serve(t, dir, gittest.WithHandler(busy))
	if _, err := newClient(t, git.Options{}).Open(t.Context(), parse(t, "git+"+url+"/o/r.git")); err != nil {
		t.Error(err)
	}
}

// TestCache checks that a cached commit is not requested again. A damaged one is detected and fetched again.
func TestCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	var packs atomic.Int32
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				packs.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}
	ref := parse(t, "git+"+gittest.Serve(t, dir, gittest.WithHandler(count))+"/o/r.git")
	p, want := fetch(t, newClient(t, git.Options{Cache: cache}), ref)
	if _, got := fetch(t, newClient(t, git.Options{Cache: cache}), p.Ref); len(got) != len(want) || packs.Load() != 1 {
		t.Errorf("%d packs were sent for one commit", packs.Load())
	}
	damage(t, cache)
	c := newClient(t, git.Options{Cache: cache})
	p, err := c.Open(t.Context(), p.Ref)
	if err == nil {
		err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
	}
	if err != nil {
		checkError(t, err, diag.Integrity, "missing or damaged", "again")
	}
	if _, got := fetch(t, newClient(t, git.Options{Cache: cache}), ref); len(got) != len(want) {
		t.Errorf("fetched %v after damage, want %v", got, want)
	}
}

// damage changes the bytes of all packs below a directory.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.pack"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data[:40], bytes.Repeat([]byte{0xa5}, len(data)-40)...)
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
