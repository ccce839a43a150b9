package publish_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// deployed returns a client and a function that deploys one of two versions of the skill hello.
func deployed(t *testing.T) (*publish.Client, publish.DeployOptions) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"one/hello/SKILL.md":         hello + "---\n\nSay hello. [more](docs/more.md)\n",
		"one/hello/docs/more.md":     "# More\n",
		"one/hello/.git/config":      "litter\n",
		"two/hello/SKILL.md":         hello + "---\n\nSay hello twice.\n",
		"project/skillpm.yaml":       "",
		"project/.skillpm/.gitkeep":  "",
		"project/profiles/mine.yaml": "extends: claude-code\nlayers:\n  - {name: team, dirs: [./team/skills]}\n",
	})
	c := newClient(t, dir)
	p, err := profile.Lookup(profile.Runtime)
	if err != nil {
		t.Fatal(err)
	}
	return c, publish.DeployOptions{
		Dir: "one/hello", Scope: publish.DeployEnterprise,
		Catalog: catalog.Options{Profile: p, Paths: c.Paths, Project: filepath.Join(dir, "project")},
	}
}

// tree returns the content of a directory: paths with their permissions, and the text of SKILL.md.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(filepath.ToSlash(strings.TrimPrefix(path, dir)) + " " + info.Mode().String() + "\n")
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

// TestO15Deploy checks SPEC O15: one call deploys a skill to the machine's layer, readable for all, without unrelated
// files.
func TestO15Deploy(t *testing.T) {
	c, o := deployed(t)
	r, err := c.Deploy(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(o.Catalog.Paths.Enterprise, "skills")
	if r.Action != publish.DeployAdded || r.Dir != filepath.Join(at, "hello") || !r.InForce || r.Layer != "enterprise" || r.Files != 2 || !r.Valid {
		t.Errorf("%+v", r)
	}
	if got, want := tree(t, at), " drwxr-xr-x\n/hello drwxr-xr-x\n/hello/SKILL.md -rw-r--r--\n/hello/docs drwxr-xr-x\n/hello/docs/more.md -rw-r--r--\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	if r, err = c.Deploy(t.Context(), o); err != nil || r.Action != publish.DeployUnchanged {
		t.Errorf("%+v, %v", r, err)
	}
	o.Dir = "two/hello"
	if _, err := c.Deploy(t.Context(), o); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("%v", err)
	}
	// no other files are left
	entries, err := os.ReadDir(filepath.Dir(at))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestDeploySweeps checks that a deployment removes the leftovers of one that was killed a day ago, and nothing else.
func TestDeploySweeps(t *testing.T) {
	c, o := deployed(t)
	beside := o.Catalog.Paths.Enterprise
	writeFiles(t, beside, map[string]string{
		".skillpm-deploy-123/hello/SKILL.md": "half", ".skillpm-deploy-456/hello/SKILL.md": "at work", ".skillpm-deploy-notes/a": "x", ".skillpm-deploy-": "x", "other/a": "x",
	})
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{".skillpm-deploy-123", ".skillpm-deploy-notes", ".skillpm-deploy-", "other"} {
		if err := os.Chtimes(filepath.Join(beside, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Deploy(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(beside)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), ".skillpm-deploy- .skillpm-deploy-456 .skillpm-deploy-notes other skills"; err != nil || got != want {
		t.Errorf("left %s, %v, want %s", got, err, want)
	}
}

// TestDeployAtOnce checks that concurrent deployments find and leave complete skills, and keep every replaced one.
func TestDeployAtOnce(t *testing.T) {
	c, o := deployed(t)
	if _, err := c.Deploy(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		kept = map[string]bool{}
	)
	const n = 8
	for i := range n {
		wg.Go(func() {
			o := o
			o.Force = true
			o.Dir = []string{"one/hello", "two/hello"}[i%2]
			r, err := c.Deploy(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if r.Backup != "" && kept[r.Backup] {
				t.Errorf("%s is duplicated", r.Backup)
			}
			kept[r.Backup] = true
		})
	}
	wg.Wait()
	delete(kept, "")
	for dir := range kept {
		if s := tree(t, dir); strings.Count(s, "SKILL.md") != 1 {
			t.Errorf("%s has\n%s", dir, s)
		}
	}
	at := filepath.Join(o.Catalog.Paths.Enterprise, "skills")
	if s := tree(t, at); strings.Count(s, "\n") != 3 && strings.Count(s, "\n") != 5 {
		t.Errorf("got\n%s", s)
	}
	entries, err := os.ReadDir(filepath.Dir(at))
	if err != nil || len(entries) != 2 { // the layer and the backups
		t.Errorf("%v, %v", entries, err)
	}
}

// TestDeployInterrupted checks that an interrupted deployment leaves no files.
func TestDeployInterrupted(t *testing.T) {
	c, o := deployed(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Deploy(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if s := tree(t, filepath.Join(o.Catalog.Paths.Enterprise, "skills", "hello")); s != "" {
		t.Errorf("got\n%s", s)
	}
}

// TestDeployUserProfile checks that a user's own profile has its own paths, and is validated like the agent that it
// extends.
func TestDeployUserProfile(t *testing.T) {
	c, o := deployed(t)
	p, err := profile.Resolve("mine", os.DirFS(filepath.Join(o.Catalog.Project, "profiles")))
	if err != nil {
		t.Fatal(err)
	}
	o.Catalog.Profile, o.Scope = p, publish.DeployProject
	r, err := c.Deploy(t.Context(), o)
	if err != nil || r.Dir != filepath.Join(o.Catalog.Project, "team", "skills", "hello") || r.Layer != "team" || !r.InForce {
		t.Errorf("%+v, %v", r, err)
	}
	o.Scope = publish.DeployPersonal
	if _, err := c.Deploy(t.Context(), o); diag.CodeOf(err) != diag.Usage || !strings.Contains(diag.HintOf(err), "project") {
		t.Errorf("%v (%s)", err, diag.HintOf(err))
	}
}

// TestDeployInTheWay checks that an obstacle that is not a skill's directory stays.
func TestDeployInTheWay(t *testing.T) {
	c, o := deployed(t)
	o.Force = true
	at := filepath.Join(o.Catalog.Paths.Enterprise, "skills")
	writeFiles(t, at, map[string]string{"hello": "a file\n"})
	if _, err := c.Deploy(t.Context(), o); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(filepath.Join(at, "hello")); err != nil || string(data) != "a file\n" {
		t.Errorf("%q, %v", data, err)
	}
}
