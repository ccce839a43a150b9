package git

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
)

// FuzzParseTree checks that a parsed tree has safe, distinct, sorted names.
func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("\x01", 20)
	for _, s := range []string{"", "100644 a\x00" + id, "40000 b\x00" + id + "120000 a\x00" + id, "100644 .git\x00" + id, "100644 ..\x00" + id, "160000 s\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes, err := parseTree(data)
		if err != nil {
			return
		}
		for i, n := range nodes {
			if strings.ContainsAny(n.name, "/\x00") || n.name == "" || n.name == "." || n.name == ".." || strings.EqualFold(n.name, ".git") {
				t.Errorf("name %q", n.name)
			}
			if i > 0 && nodes[i-1].name >= n.name {
				t.Errorf("%q comes before %q", nodes[i-1].name, n.name)
			}
		}
	})
}

func TestCanonicalMode(t *testing.T) {
	for in, want := range map[filemode.FileMode]filemode.FileMode{
		0o100644: filemode.Regular, 0o100664: filemode.Regular, 0o100755: filemode.Executable, 0o100700: filemode.Executable,
		0o040000: filemode.Dir, 0o120000: filemode.Symlink, 0o160000: filemode.Submodule, 0o010000: filemode.Submodule, 0: filemode.Submodule,
	} {
		if got := canonicalMode(in); got != want {
			t.Errorf("canonicalMode(%o) = %o, want %o", uint32(in), uint32(got), uint32(want))
		}
	}
}

func TestParseNetrc(t *testing.T) {
	tests := []struct {
		text, user, pass string
		found            bool
	}{
		{"machine h.example login a password b", "a", "b", true},
		{"machine H.Example\n\tpassword b\n\tlogin a\n", "a", "b", true},
		{"machine other login x password y\nmachine h.example login a password b machine more login c password d", "a", "b", true},
		{"# machine h.example login x password y\nmachine h.example login a password b # mine", "a", "b", true},
		{`machine h.example login a password "b \"c\" d"`, "a", `b "c" d`, true},
		{"macdef init\nmachine h.example login x password y\n\nmachine h.example login a account z password b", "a", "b", true},
		{"default login x password y", "", "", false},
		{"machine h.example login a", "a", "", false},
		{"machine h.example.evil login a password b", "", "", false},
		{"machine", "", "", false},
		{`machine h.example password "open`, "", "open", true},
		{"", "", "", false},
	}
	for _, tt := range tests {
		user, pass, found := parseNetrc(tt.text, "h.example")
		if user != tt.user || pass != tt.pass || found != tt.found {
			t.Errorf("parseNetrc(%q) = %q, %q, %v; want %q, %q, %v", tt.text, user, pass, found, tt.user, tt.pass, tt.found)
		}
	}
}

// FuzzParseNetrc checks that parsing a .netrc never panics, and never returns another host's login.
func FuzzParseNetrc(f *testing.F) {
	f.Add("machine h.example login a password b\ndefault password c")
	f.Add("macdef x\n\nmachine \"h.example\" password \"\\")
	f.Fuzz(func(t *testing.T, text string) {
		if _, pass, found := parseNetrc(text, "not.there.example"); found && !strings.Contains(strings.ToLower(text), "not.there.example") &&
			!strings.Contains(text, `\`) {
			t.Errorf("found %q for a host that is not in the file", pass)
		}
	})
}

func TestParseHelperOutput(t *testing.T) {
	u, err := url.Parse("https://h.example:8443/o/r.git")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"protocol=https\nhost=h.example:8443\nusername=a\npassword=b=c\n": "a b=c",
		"protocol=https\r\nhost=h.example:8443\r\npassword=b\r\n":         " b",
		"protocol=https\nhost=evil.example\nusername=a\npassword=b\n":     " ",
		"protocol=http\nhost=h.example:8443\nusername=a\npassword=b\n":    " ",
		"": " ",
	} {
		s := parseHelperOutput([]byte(in), u)
		if got := s.user + " " + s.pass; got != want {
			t.Errorf("helperAnswer(%q) = %q, want %q", in, got, want)
		}
	}
}

// newGuard returns a guard with the clock of the test.
func newGuard(clock clock, l limits, next roundTrip) *authGuard {
	c := New(Options{})
	c.clock, c.limits = clock, l
	return &authGuard{next: next, client: c}
}

// TestGuardedBody checks that reading a body beyond its limit is an error.
func TestGuardedBody(t *testing.T) {
	g := newGuard(testClock(nil), limits{pack: 1000}, func(*http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		_, _ = rec.WriteString(strings.Repeat("x", 10_000))
		return rec.Result(), nil
	})
	req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil)
	res, err := g.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if diag.CodeOf(err) != diag.Invalid || len(data) > 2000 {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTreeEndsWithContext checks that operations on a tree end with its context.
func TestTreeEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	id := gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"a/SKILL.md": gittest.Skill("a", "A.")}))
	c := New(Options{})
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	tree, err := c.tree(ctx, pack.Ref{Kind: pack.KindGit, URL: "file://" + dir + "/o/r.git", Digest: id})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := tree.ReadDir("a"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
	if _, err := tree.withContext(t.Context()).ReadDir("a"); err != nil {
		t.Errorf("in another context: %v", err)
	}
}

func TestTokenVariables(t *testing.T) {
	taken := make(map[string]string)
	for _, tt := range []struct{ url, want string }{
		{"https://git.example/o/r.git", "SKILLPM_TOKEN_GIT_EXAMPLE_443 SKILLPM_TOKEN_GIT_EXAMPLE"},
		{"https://git-example/o/r.git", "SKILLPM_TOKEN_GIT__EXAMPLE_443 SKILLPM_TOKEN_GIT__EXAMPLE"},
		{"https://git--example/o/r.git", "SKILLPM_TOKEN_GIT____EXAMPLE_443 SKILLPM_TOKEN_GIT____EXAMPLE"},
		{"https://git.example:8443/o/r.git", "SKILLPM_TOKEN_GIT_EXAMPLE_8443"},
		{"https://git-example:8443/o/r.git", "SKILLPM_TOKEN_GIT__EXAMPLE_8443"},
		{"http://127.0.0.1:8080/o/r.git", "SKILLPM_TOKEN_127_0_0_1_8080"},
		{"https://127.0.0.1.8080/o/r.git", ""},
		{"https://git.example.8443/o/r.git", ""},
		{"https://git_example/o/r.git", ""},
		{"https://git.-example/o/r.git", ""},
		{"https://git-.example/o/r.git", ""},
		{"https://git..example/o/r.git", ""},
		{"https://[::1]:8443/o/r.git", ""},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		names := TokenVariables(u)
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
		for _, name := range names {
			if other, ok := taken[name]; ok {
				t.Errorf("%s is for %s and for %s", name, other, tt.url)
			}
			taken[name] = tt.url
		}
	}
	u := &url.URL{Scheme: "https", Host: "git.example:443"}
	if got := strings.Join(TokenVariables(u), " "); got != "SKILLPM_TOKEN_GIT_EXAMPLE_443 SKILLPM_TOKEN_GIT_EXAMPLE" {
		t.Errorf("with the usual port: %s", got)
	}
}
