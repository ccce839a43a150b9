package skillpm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestInstallWhileCleaning repeatedly clears the caches when a pack was just fetched: in the end, all projects match
// their lockfiles.
func TestInstallWhileCleaning(t *testing.T) {
	server := ocitest.New(t)
	home, src := t.TempDir(), t.TempDir()
	writePack(t, src, "acme/wanted", "1.0.0", 4)
	if _, err := newAuthor(t, src, home).Publish(t.Context(), publish.ReleaseOptions{To: server.URL("acme")}); err != nil {
		t.Fatal(err)
	}
	var cleaning, installing sync.WaitGroup
	cleaned := 0
	fetched := make(chan struct{}, 100)
	cleaning.Go(func() {
		c := newClient(t, src, home)
		for range 4 { // an install starts over as often
			<-fetched
			r, err := c.CacheGC(t.Context(), skillpm.CacheGCOptions{All: true})
			if err != nil {
				t.Error(err)
				return
			}
			cleaned += len(r.Trees)
		}
	})
	const projects = 8
	errs := make([]error, projects)
	root := t.TempDir()
	for i := range projects {
		dir := t.TempDir()
		installing.Go(func() {
			c := newClient(t, dir, home)
			c.Progress = func(e skillpm.Event) {
				if e.Finished {
					fetched <- struct{}{}
				}
			}
			_, err := c.Install(t.Context(), skillpm.InstallOptions{Packs: []string{server.URL("acme/wanted") + ":1.0.0"}})
			if err == nil {
				var r *skillpm.VerifyReport
				if r, err = c.Verify(t.Context(), skillpm.VerifyOptions{}); err == nil && len(r.Problems) > 0 {
					err = fmt.Errorf("%s: %v", filepath.Base(root), r.Problems)
				}
			}
			errs[i] = err
		})
	}
	installing.Wait()
	close(fetched)
	cleaning.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if cleaned == 0 {
		t.Error("nothing was removed meanwhile")
	}
}

// TestRemovalThatDied kills a process while it removes a tree that is fetched again later: the tree can be removed
// again.
func TestRemovalThatDied(t *testing.T) {
	c := newClient(t, t.TempDir(), t.TempDir())
	repository := filepath.Join(c.Paths.GitCache(), "repository")
	commit, left := filepath.Join(repository, "commit"), filepath.Join(repository, "tmp-gone-commit")
	for _, dir := range []string{commit, left} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.CacheGC(t.Context(), skillpm.CacheGCOptions{All: true})
	if err != nil || r.Git.Files != 1 || r.Git.Bytes != 1 {
		t.Errorf("removed %+v, %v", r.Git, err)
	}
	if got, err := filepath.Glob(filepath.Join(repository, "*")); err != nil || len(got) != 1 || got[0] != left {
		t.Errorf("it left %q, want what may be somebody's at work", got)
	}
}
