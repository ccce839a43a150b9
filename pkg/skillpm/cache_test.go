package skillpm_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/oci/ocitest"
)

// TestInstallWhileCleaning has everything removed from the caches, again and again, when a pack has just been fetched: all
// projects are as locked in the end.
func TestInstallWhileCleaning(t *testing.T) {
	server := ocitest.New(t)
	home, src := t.TempDir(), t.TempDir()
	writePack(t, src, "acme/wanted", "1.0.0", 4)
	if _, err := newClient(t, src, home).Publish(t.Context(), skillpm.PublishOptions{To: server.URL("acme")}); err != nil {
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
