package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestO20Watch checks that a change of a skill creates a new catalog, even in new directories, and that changes of
// other files do not.
func TestO20Watch(t *testing.T) {
	w := newFixture(t, "omniforge", `
link app/.claude/skills/linked ../../../elsewhere/linked
-- home/.skillpm/skills/a/SKILL.md --
first
-- home/src/elsewhere/linked/SKILL.md --
l
`)
	w.options.Cache = w.path("cache")
	c := w.expect("a=first linked=l")
	ctx, stop := context.WithCancel(t.Context())
	news := make(chan *catalog.Catalog)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, func(c *catalog.Catalog) {
			select {
			case news <- c:
			case <-ctx.Done():
			}
		})
	}()
	said := func(c *catalog.Catalog) string { return inForce(c) + fmt.Sprintf("%q", messages(c)) }
	last := said(c)
	wait := func(want string) {
		t.Helper()
		for {
			select {
			case c := <-news:
				if said(c) == last {
					t.Errorf("a catalog that says nothing new: %s", last)
				}
				last = said(c)
				if inForce(c) == want {
					return
				}
				t.Logf("on the way: %s", inForce(c))
			case err := <-ended:
				t.Fatalf("it ended: %v", err)
			case <-t.Context().Done():
				t.Fatalf("no catalog with %s", want)
			}
		}
	}
	w.write("home/.skillpm/skills/a/SKILL.md", "second")
	wait("a=second linked=l")
	w.write("app/.agents/skills/new/SKILL.md", "n") // .agents is not there yet
	wait("a=second linked=l new=n")
	w.write("home/src/elsewhere/linked/SKILL.md", "other")
	wait("a=second linked=other new=n")
	w.write("home/.skillpm/plugins/acme/ops/deploy/SKILL.md", "d")
	wait("a=second deploy=d linked=other new=n")
	w.write("home/.skillpm/skills/a/references/deep/SKILL.md", "no skill of its own")
	w.write("home/.skillpm/skills/a/notes.md", "nor this")
	if err := os.RemoveAll(w.path("app/.agents")); err != nil {
		t.Fatal(err)
	}
	wait("a=second deploy=d linked=other")
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
