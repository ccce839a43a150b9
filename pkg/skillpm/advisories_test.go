package skillpm_test

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// advise adds advisories to the index of the fixture, publishes the feed, and fetches it.
func (w *fixture) advise(list ...indexer.AdvisoryOptions) {
	w.t.Helper()
	c := indexer.New(newOptions(w.t, filepath.Join(w.dir, "index"), w.home))
	w.t.Cleanup(c.Close)
	for _, o := range list {
		if _, err := c.AddAdvisory(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.PublishAdvisories(w.t.Context(), indexer.PublishAdvisoriesOptions{Key: key, ValidFor: time.Hour}); err != nil {
		w.t.Fatal(err)
	}
	if r, err := w.client().Audit(w.t.Context(), skillpm.AuditOptions{}); err != nil || len(r.Warnings) > 0 {
		w.t.Fatal(r, err)
	}
}

// TestMaliciousInstalled checks what operations do with malicious packs that are already installed: one that a call
// names is an error, others are warnings with what to do. No feed is fetched for it.
func TestMaliciousInstalled(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.publish("acme/top", "1.0.0", map[string]string{"acme/tool": "^1"}, "top")
	w.publish("acme/other", "1.0.0", nil, "other")
	w.publish("acme/linked", "1.0.0", nil, "linked")
	w.manifest(`acme/top: "^1"`, `acme/other: "^1"`, `acme/linked: "^1"`)
	w.install()
	writePack(t, filepath.Join(w.dir, "copy"), "acme/linked", "1.0.0", 1)
	if _, err := w.client().Link(t.Context(), skillpm.LinkOptions{Dir: "copy"}); err != nil {
		t.Fatal(err)
	}
	w.advise(
		indexer.AdvisoryOptions{Pack: "acme/tool", Malicious: true, ID: "MAL-2026-1", Summary: "Sends keys"},
		indexer.AdvisoryOptions{Pack: "acme/other", Fixed: "1.1.0", Malicious: true, ID: "MAL-2026-2", Summary: "Deletes all"},
		indexer.AdvisoryOptions{Pack: "acme/linked", Malicious: true, ID: "MAL-2026-3", Summary: "Is replaced by a working copy"},
	)
	// From here on, the feed is not reachable.
	if err := os.RemoveAll(filepath.Join(w.dir, "index", advisory.Dir)); err != nil {
		t.Fatal(err)
	}

	check := func(what string, r *skillpm.InstallReport, err error, want ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := strings.Join(r.Warnings, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("%s warns:\n%s\nwant:\n%s", what, got, strings.Join(want, "\n"))
		}
	}
	const (
		other = "acme/other 1.0.0 is malicious (advisory MAL-2026-2: Deletes all); update the pack to 1.1.0 with: skillpm update acme/other"
		tool  = "acme/tool 1.0.0 is malicious (advisory MAL-2026-1: Sends keys); remove the packs that require it; show them with: skillpm why acme/tool"
	)
	r, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	check("install", r, err, other, tool)
	r, err = w.client().Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/top"}})
	check("install acme/top", r, err, other, tool)
	r, err = w.client().Update(t.Context(), skillpm.UpdateOptions{})
	check("update", r, err, other, tool)
	r, err = w.client().Update(t.Context(), skillpm.UpdateOptions{Packs: []string{"acme/top"}})
	check("update acme/top", r, err, other, tool)

	refuses := func(what string, err error, hint string) {
		t.Helper()
		blocked, ok := errors.AsType[*advisory.BlockedError](err)
		if !ok || diag.CodeOf(err) != diag.Denied || !strings.Contains(blocked.Hint(), hint) {
			t.Errorf("%s: %v, want the hint %q", what, err, hint)
		}
	}
	_, err = w.client().Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/other"}})
	refuses("install acme/other", err, "skillpm update acme/other")
	_, err = w.client().Update(t.Context(), skillpm.UpdateOptions{Packs: []string{"acme/tool"}})
	refuses("update acme/tool", err, "skillpm why acme/tool")

	if err := os.RemoveAll(filepath.Join(w.dir, "index")); err != nil {
		t.Fatal(err)
	}
	r, err = w.client().Remove(t.Context(), skillpm.RemoveOptions{Packs: []string{"acme/other"}})
	check("remove acme/other", r, err, tool)
	r, err = w.client().Remove(t.Context(), skillpm.RemoveOptions{Packs: []string{"acme/top"}})
	check("remove acme/top", r, err)
}

// TestOutdatedMalicious checks that outdated shows a wanted version with malicious content, although no advisory names the
// version.
func TestOutdatedMalicious(t *testing.T) {
	w := newIncreaseWorld(t)
	writeFiles(t, w.dir, sends("tool"))
	w.advise(indexer.AdvisoryOptions{Trees: []string{filepath.Join(w.dir, "tool")}, Malicious: true, ID: "MAL-2026-1", Summary: "Sends keys"})
	r, err := w.client().Outdated(t.Context(), skillpm.OutdatedOptions{})
	if err != nil || len(r.Packs) != 1 || len(r.Packs[0].Advisories) > 0 || len(r.Packs[0].WantedAdvisories) != 1 ||
		!r.Packs[0].WantedAdvisories[0].Malicious {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMissingFeedKey checks that an audit fails if the key of a feed does not exist, and that an installation without
// changes warns.
func TestMissingFeedKey(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.manifest(`acme/tool: "^1"`)
	w.install()
	writeFiles(t, w.home, map[string]string{
		".config/skillpm/config.yaml": "advisories: [{url: " + filepath.ToSlash(filepath.Join(w.dir, "index")) + ", keys: [none.pub]}]\n",
	})
	if _, err := w.client().Audit(t.Context(), skillpm.AuditOptions{}); diag.CodeOf(err) != diag.NotFound ||
		!strings.Contains(err.Error(), "none.pub of the advisories of") {
		t.Errorf("audit: %v", err)
	}
	r, err := w.client().Install(t.Context(), skillpm.InstallOptions{})
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "none.pub") {
		t.Errorf("install: %+v, %v", r, err)
	}
}
