package git

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestPublicURL(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"git@github.com:acme/skills.git", "https://github.com/acme/skills"},
		{"github.com:/acme/skills.git", "https://github.com/acme/skills"},
		{"ssh://git@GitHub.com:22/acme/skills.git/", "https://github.com/acme/skills"},
		{"git://gitlab.com/group/sub/skills.git", "https://gitlab.com/group/sub/skills"},
		{"https://x-access-token:ghp_secret@github.com/acme/skills", "https://github.com/acme/skills"},
		{"https://user@git.example:8443/acme/skills.git?token=secret#secret", "https://git.example:8443/acme/skills.git"},
		{"git@git.example:acme/skills.git", "ssh://git@git.example/acme/skills.git"},
		{"ssh://git:secret@git.example/acme/skills.git", "ssh://git@git.example/acme/skills.git"},
		{"git+ssh://git@git.example/acme/skills", "ssh://git@git.example/acme/skills"},
		{"https://codeberg.org/a%20b/c", "https://codeberg.org/a%20b/c"},
		{"TOKEN@git.example:acme/skills.git", "ssh://git.example/acme/skills.git"},
		{"ssh://TOKEN@git.example/acme/skills.git", "ssh://git.example/acme/skills.git"},
		{"oauth2:TOKEN@git.example:acme/skills.git", ""},
		{"oauth2:TOKEN@git.example/acme/skills.git", ""},
		{`https:\\u:TOKEN@git.example\acme`, ""},
		{`https:\\TOKEN\git.example\acme`, ""},
		{`https://u:TOKEN\@git.example/acme`, ""},
		{"https:/u:TOKEN@git.example/acme", ""},
		{"https:TOKEN/acme", ""},
		{"HTTPS:/TOKEN/acme", ""},
		{"https://git.example/u:TOKEN@git.example/acme", ""},
		{"https://git.example/u%3ATOKEN%40git.example/acme", ""},
		{"https:///u:TOKEN@git.example/acme", ""},
		{"", ""},
		{"/home/me/skills", ""},
		{"../skills", ""},
		{"file:///home/me/skills", ""},
		{`C:\skills`, ""},
		{"C:/skills", ""},
		{"https://", ""},
		{"https://%zz/a", ""},
		{"ext::sh -c 'echo'", ""},
	} {
		if got := publicURL(tt.remote); got != tt.want {
			t.Errorf("publicURL(%q) = %q, want %q", tt.remote, got, tt.want)
		}
	}
}

// FuzzPublicURL checks that for any remote in a configuration, the published URL has no password, and publishing it
// again does not change it.
func FuzzPublicURL(f *testing.F) {
	for _, s := range []string{"git@github.com:a/b", "https://u:p@h/x?y#z", "ssh://a:b@c:1/d", "x:y", "//h/p", "oauth2:T@h:p", "h1:a//", `https:\\\\u:T@h`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		got := publicURL(remote)
		if again := publicURL(got); again != got {
			t.Errorf("%q gives %q, and that gives %q", remote, got, again)
		}
		authority, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(got, "https://"), "ssh://"), "/")
		if user, _, ok := strings.Cut(authority, "@"); ok && user != "git" || strings.Count(got, "@") > 1 || strings.ContainsAny(got, "?#") {
			t.Errorf("%q gives %q", remote, got)
		}
	})
}

func TestReadCheckout(t *testing.T) {
	w := newCheckout(t)
	if c, err := ReadCheckout(t.Context(), w.dir); err != nil || c.Origin != "" || c.Branch != "main" || !c.Committed("README.md") {
		t.Fatalf("a clone of a directory: %+v, %v", c, err)
	}
	w.git("remote", "remove", "origin")
	w.write("packs/a/SKILL.md", "a\n")
	w.write("packs/a/old.md", "old\n")
	id := w.commit("first")
	w.git("tag", "-a", "-m", "first", "v1.0.0")
	w.git("remote", "add", "upstream", "git@github.com:acme/skills.git")
	w.write("packs/a/new.md", "new\n")
	w.write("packs/a/x.log", "ignored\n")
	w.write("packs/a/old.md", "changed\n")
	c, err := ReadCheckout(t.Context(), w.path("packs/a"))
	if err != nil || c.Commit != id || c.Root != w.dir || c.Origin != "https://github.com/acme/skills" {
		t.Fatalf("%+v, %v, want commit %s of %s", c, err, id, w.dir)
	}
	for path, want := range map[string]bool{"packs/a/SKILL.md": true, "packs/a/old.md": false, "packs/a/new.md": false, "packs/a/x.log": false, "no": false} {
		if got := c.Committed(path); got != want {
			t.Errorf("Committed(%s) = %v", path, got)
		}
	}
	if got := c.Changed(); !slices.Equal(got, []string{"packs/a/new.md", "packs/a/old.md"}) {
		t.Errorf("changed: %q", got)
	}
	w.git("remote", "add", "origin", "https://u:p@git.example/acme/skills")
	w.git("remote", "add", "another", "https://git.example/other")
	if c, err := ReadCheckout(t.Context(), w.dir); err != nil || c.Origin != "https://git.example/acme/skills" {
		t.Errorf("with an origin: %+v, %v", c, err)
	}
	w.git("tag", "light")
	w.git("tag", "v2.0.0/below")
	w.git("tag", "--annotate", "--message", "of a tag", "nested", "v1.0.0")
	w.git("tag", "tree", "HEAD^{tree}")
	tags, err := c.TagCommits(t.Context(), "v1.0.0", "light", "nested", "tree", "v2.0.0")
	if want := map[string]string{"v1.0.0": id, "light": id, "nested": id}; err != nil || !maps.Equal(tags, want) {
		t.Errorf("the tags are %v, %v, want %v", tags, err, want)
	}
	if _, err := ReadCheckout(t.Context(), t.TempDir()); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("outside of any work tree: %v", err)
	}
}
