package git_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestMovedTag checks that a moved tag does not change a pinned commit, even if no branch has that commit any more.
func TestMovedTag(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	first := r.Commit(skills())
	r.Tag("v1.0.0", first)
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git"
	p, want := fetch(t, newClient(t, git.Options{}), parse(t, url))

	changed := skills()
	changed["skills/deploy/SKILL.md"] = gittest.File{Data: gittest.Skill("deploy", "Does something else.")}
	r.Run("update-ref", "-d", "refs/heads/main")
	second := r.CommitOn("main", changed)
	r.Tag("v1.0.0", second)

	again, got := fetch(t, newClient(t, git.Options{}), p.Ref)
	if again.Ref.Digest != first || !maps.Equal(got, want) {
		t.Errorf("the pin %s gives %s with %v, want %v", first, again.Ref.Digest, got, want)
	}
	locked, err := pack.ParseLocked(p.Ref.Source(), p.Ref.Digest, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, got := fetch(t, newClient(t, git.Options{}), locked); !maps.Equal(got, want) {
		t.Errorf("the lock gives %v, want %v", got, want)
	}
	if fresh, _ := fetch(t, newClient(t, git.Options{}), parse(t, url)); fresh.Ref.Digest != second {
		t.Errorf("the tag gives %s, want %s", fresh.Ref.Digest, second)
	}
}

// TestStrictServer uses a server that sends no commit by its id: the client finds one through the branches.
func TestStrictServer(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	first := r.Commit(skills())
	second := r.Commit(gittest.Text(map[string]string{"x/SKILL.md": gittest.Skill("x", "Another.")}))
	lost := r.CommitOn("lost", skills())
	r.Run("update-ref", "-d", "refs/heads/lost")
	url := "git+" + gittest.Serve(t, dir, gittest.WithoutAnyCommit()) + "/o/r.git"
	if p, digests := fetch(t, newClient(t, git.Options{}), parse(t, url+"#"+first)); p.Ref.Digest != first || len(digests) != 2 {
		t.Errorf("%s gives %v", first, digests)
	}
	if p, _ := fetch(t, newClient(t, git.Options{}), parse(t, url)); p.Ref.Digest != second {
		t.Errorf("the default branch gives %s, want %s", p.Ref.Digest, second)
	}
	_, err := newClient(t, git.Options{}).Open(t.Context(), parse(t, url+"#"+lost))
	checkError(t, err, diag.NotFound, "does not contain the commit "+lost, "")
}

// TestMonorepo checks M2: several packs in one repository, with tags of their own.
func TestMonorepo(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	manifest := func(name, version string) string { return "name: " + name + "\nversion: \"" + version + "\"\n" }
	files := func(version string) gittest.Files {
		return gittest.Text(map[string]string{
			"packs/tools/skillpm.yaml":      manifest("acme/tools", version),
			"packs/tools/hammer/SKILL.md":   gittest.Skill("hammer", "Hammers."),
			"packs/build/skillpm.yaml":      manifest("acme/builder", version),
			"packs/build/make/SKILL.md":     gittest.Skill("make", "Makes."),
			"packs/plain/skills/a/SKILL.md": gittest.Skill("a", "No manifest."),
		})
	}
	old := r.Commit(files("1.0.0"))
	r.Tag("tools@1.0.0", old)
	r.Tag("packs/build/v1.0.0", old)
	middle := r.Commit(files("1.1.0"))
	r.Tag("tools/v1.1.0", middle)
	r.Tag("builder@1.1.0", middle)
	head := r.Commit(files("3.0.0-dev"))
	r.Tag("other@9.0.0", head)
	r.Tag("v2.0.0", head)
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git//packs/"
	tests := []struct {
		place    string
		versions []string
		id       string
		version  string
		commit   string
	}{
		{"tools", []string{"1.1.0", "1.0.0"}, "acme/tools", "1.1.0", middle},
		{"tools#tools@1.0.0", []string{"1.1.0", "1.0.0"}, "acme/tools", "1.0.0", old},
		{"build", []string{"1.0.0"}, "acme/builder", "1.0.0", old},
		{"plain", []string{"2.0.0"}, "o/plain", "2.0.0", head},
		{"plain#other@9.0.0", []string{"2.0.0"}, "o/plain", "9.0.0", head},
	}
	c := newClient(t, git.Options{})
	for _, tt := range tests {
		ref := parse(t, url+tt.place)
		versions, err := c.Versions(t.Context(), ref)
		if err != nil || !slices.Equal(versions, tt.versions) {
			t.Errorf("Versions of %s = %v, %v; want %v", tt.place, versions, err, tt.versions)
		}
		p, err := c.Open(t.Context(), ref)
		if err != nil {
			t.Errorf("Open %s: %v", tt.place, err)
		} else if p.ID.String() != tt.id || p.Version != tt.version || p.Ref.Digest != tt.commit {
			t.Errorf("Open %s = %v %s at %s, want %s %s at %s", tt.place, p.ID, p.Version, p.Ref.Digest, tt.id, tt.version, tt.commit)
		}
	}
}

// TestTagsOfThePacksName checks that tags carry the pack's own name if it differs from the repository's.
func TestTagsOfThePacksName(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	files := gittest.Text(map[string]string{"skillpm.yaml": "name: acme/deploy\nversion: \"1.2.0\"\n", "SKILL.md": gittest.Skill("deploy", "Deploys.")})
	r.Tag("deploy@1.2.0", r.Commit(files))
	c := newClient(t, git.Options{})
	p, _ := fetch(t, c, parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git"))
	if p.Ref.Rev != "deploy@1.2.0" || p.Version != "1.2.0" {
		t.Errorf("opened %s %s", p.Ref, p.Version)
	}
}

// TestTagAgainstManifest checks that a release tag whose manifest declares another version is an error, unless the
// reference names the tag.
func TestTagAgainstManifest(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	files := gittest.Text(map[string]string{"skillpm.yaml": "name: acme/deploy\nversion: \"1.1.0\"\n", "SKILL.md": gittest.Skill("deploy", "Deploys.")})
	r.Tag("v1.2.0", r.Commit(files))
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git"
	c := newClient(t, git.Options{})
	_, err := c.Open(t.Context(), parse(t, url))
	checkError(t, err, diag.Invalid, "tag v1.2.0", "#v1.2.0")
	if p, err := c.Open(t.Context(), parse(t, url+"#v1.2.0")); err != nil || p.Version != "1.1.0" {
		t.Errorf("the named tag gives %v, %v", p, err)
	}
}

// TestDependencies checks M2: dependencies on directories are references to the same repository and commit.
func TestDependencies(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	manifest := func(dependency string) gittest.Files {
		return gittest.Text(map[string]string{
			"packs/a/skillpm.yaml": "name: acme/a\nversion: \"1.0.0\"\ndependencies:\n  acme/base: \"^2.1\"\n  acme/b: {path: " + dependency + "}\n",
			"packs/a/SKILL.md":     gittest.Skill("a", "A."),
			"packs/b/skillpm.yaml": "name: acme/b\nversion: \"1.0.0\"\n",
			"packs/b/SKILL.md":     gittest.Skill("b", "B."),
		})
	}
	head := r.Commit(manifest("../b"))
	for branch, dependency := range map[string]string{"outside": "../../../b", "absolute": "/etc", "drive": `'C:\x'`} {
		r.CommitOn(branch, manifest(dependency))
	}
	url := "git+" + gittest.Serve(t, dir) + "/o/r.git//packs/a"
	c := newClient(t, git.Options{})
	p, _ := fetch(t, c, parse(t, url))
	if len(p.Dependencies) != 2 || p.Dependencies[1].Ref != nil || p.Dependencies[1].Constraint != "^2.1" {
		t.Fatalf("dependencies are %+v", p.Dependencies)
	}
	want := pack.Ref{Kind: pack.KindGit, URL: p.Ref.URL, Subdir: "packs/b", Digest: head}
	if got := p.Dependencies[0].Ref; got == nil || *got != want {
		t.Fatalf("acme/b is at %+v, want %+v", got, want)
	}
	if b, digests := fetch(t, c, *p.Dependencies[0].Ref); b.ID.String() != "acme/b" || len(digests) != 1 {
		t.Errorf("acme/b is %v with %v", b, digests)
	}
	for _, branch := range []string{"outside", "absolute", "drive"} {
		_, err := c.Open(t.Context(), parse(t, url+"#"+branch))
		checkError(t, err, diag.Denied, "outside the repository", "")
	}
}

// TestSubsetOfLargeRepository uses a subset of the skills of a large repository without skillpm.yaml and with unrelated
// files.
func TestSubsetOfLargeRepository(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	files := gittest.Text(map[string]string{
		"README.md":             "# Many\n",
		"src/main.c":            "int main;\n",
		"weird:name?.txt":       "legal outside of skills\n",
		"link":                  "",
		"skills/same/SKILL.md":  gittest.Skill("same", "The first."),
		"zskills/same/SKILL.md": gittest.Skill("same", "The second."),
		"node_modules/SKILL.md": gittest.Skill("no", "Somebody else's."),
	})
	files["link"] = gittest.File{Link: "/etc/passwd"}
	files["sub"] = gittest.File{Commit: strings.Repeat("1", 40)}
	for i := range 300 {
		name := "skill-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		files["skills/"+name+"/SKILL.md"] = gittest.File{Data: gittest.Skill(name, "One of many.")}
	}
	r.Commit(files)
	c := newClient(t, git.Options{})
	p, digests := fetch(t, c, parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git"), "skill-cx", "same")
	if len(p.Skills) != 301 || len(digests) != 2 || digests["same"] == "" {
		t.Errorf("%d skills, fetched %v", len(p.Skills), digests)
	}
	if s, _ := p.Skill("same"); s.Description != "The first." {
		t.Errorf("same is %q", s.Description)
	}
}

// TestConcurrent checks that several goroutines use one client: a commit is fetched once.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	ref := parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git")
	c := newClient(t, git.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p, err := c.Open(t.Context(), ref)
			if err == nil {
				err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestSharedCache checks that several clients share one cache, as several processes do.
func TestSharedCache(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(skills())
	ref := parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git")
	var clients []*git.Client
	for range 6 {
		clients = append(clients, newClient(t, git.Options{Cache: cache}))
	}
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			p, err := c.Open(t.Context(), ref)
			if err == nil {
				err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	found, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	if err != nil || len(found) != 1 {
		t.Errorf("the cache holds %v, %v; want one commit", found, err)
	}
}

// TestLocal uses local repositories: bare, with a work tree, and a linked work tree.
func TestLocal(t *testing.T) {
	dir := t.TempDir()
	r := gittest.New(t, dir, "o/r.git")
	first := r.Commit(skills())
	r.AnnotatedTag("v1.0.0", first)
	r.Run("clone", "--quiet", ".", dir+"/clone")
	r.Run("worktree", "add", "--quiet", dir+"/tree", "main")
	for _, place := range []string{"/o/r.git", "/clone", "/tree"} {
		p, digests := fetch(t, newClient(t, git.Options{}), parse(t, "git+file://"+dir+place))
		if p.Ref.Digest != first || p.Version != "1.0.0" || len(digests) != 2 {
			t.Errorf("%s gives %v with %v", place, p.Ref, digests)
		}
	}
	c := newClient(t, git.Options{})
	_, err := c.Open(t.Context(), parse(t, "git+file://"+dir))
	checkError(t, err, diag.NotFound, "not a git repository", "")
	_, err = c.Open(t.Context(), parse(t, "git+file://"+dir+"/o/r.git#"+strings.Repeat("1", 40)))
	checkError(t, err, diag.NotFound, "does not contain the commit", "")
}
