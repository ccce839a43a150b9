package indexer_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/testkit/registrytest"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
	"github.com/skillpm/skillpm/pkg/sign"
)

// emptyIndex creates an index without packs.
func emptyIndex(t *testing.T) (string, *indexer.Client) {
	t.Helper()
	dir := t.TempDir()
	c := client(t, dir)
	if _, err := c.Init(t.Context(), indexer.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir, c
}

// TestAddAdvisoryRefuses checks that errors name the argument or flag that is wrong.
func TestAddAdvisoryRefuses(t *testing.T) {
	dir, c := emptyIndex(t)
	npm := filepath.Join(dir, "npm.json")
	if err := os.WriteFile(npm, []byte(`{"id":"X-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"npm","name":"x"}}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	// about returns options that are valid apart from what edit changes.
	about := func(edit func(*indexer.AdvisoryOptions)) indexer.AdvisoryOptions {
		o := indexer.AdvisoryOptions{Pack: "acme/deploy", Summary: "Runs text"}
		edit(&o)
		return o
	}
	for _, tt := range []struct {
		options indexer.AdvisoryOptions
		code    diag.Code
		want    string
	}{
		{indexer.AdvisoryOptions{}, diag.Usage, "needs PACK, --tree, --file, or --withdraw"},
		{indexer.AdvisoryOptions{Pack: "acme/deploy"}, diag.Usage, "needs --summary"},
		{indexer.AdvisoryOptions{Pack: "acme/deploy", File: "x"}, diag.Usage, "use only one of"},
		{indexer.AdvisoryOptions{File: "x", Summary: "y"}, diag.Usage, "--summary cannot be used with --file"},
		{indexer.AdvisoryOptions{Withdraw: "X-1", Malicious: true}, diag.Usage, "--malicious cannot be used with --file or --withdraw"},
		{indexer.AdvisoryOptions{Withdraw: "../x"}, diag.Invalid, `the advisory id "../x"`},
		{indexer.AdvisoryOptions{Withdraw: "X-1"}, diag.NotFound, "advisory X-1 does not exist"},
		{indexer.AdvisoryOptions{File: "none.json"}, diag.NotFound, "none.json does not exist"},
		{indexer.AdvisoryOptions{File: "npm.json"}, diag.Invalid, "npm.json: no affected package has the ecosystem AgentSkills"},
		{indexer.AdvisoryOptions{Trees: []string{"none"}, Summary: "x"}, diag.NotFound, "none does not exist"},
		{indexer.AdvisoryOptions{Trees: []string{"packs"}, Summary: "x"}, diag.NotFound, "packs does not contain SKILL.md"},
		{indexer.AdvisoryOptions{Trees: []string{"npm.json"}, Summary: "x"}, diag.Invalid, "npm.json is not a directory"},
		{indexer.AdvisoryOptions{Trees: []string{"t1:sha256:1"}, Summary: "x"}, diag.Invalid, `the tree digest "t1:sha256:1"`},
		{indexer.AdvisoryOptions{Trees: []string{"x"}, Summary: "x", Fixed: "1.0.0"}, diag.Usage, "--fixed requires PACK"},
		{about(func(o *indexer.AdvisoryOptions) { o.Pack = "acme" }), diag.Usage, `invalid pack name "acme"`},
		{about(func(o *indexer.AdvisoryOptions) { o.Fixed = "1" }), diag.Usage, `--fixed: invalid version "1"`},
		{about(func(o *indexer.AdvisoryOptions) { o.Versions = []string{"1.0.0", "x"} }), diag.Usage, `--affected: invalid version "x"`},
		{about(func(o *indexer.AdvisoryOptions) { o.Fixed, o.LastAffected = "1.0.0", "1.0.0" }), diag.Usage, "--fixed cannot be used with --last-affected"},
		{about(func(o *indexer.AdvisoryOptions) { o.Introduced, o.Fixed = "1.0.0", "1.0.0" }), diag.Usage, "--introduced 1.0.0 is not lower than --fixed 1.0.0"},
		{about(func(o *indexer.AdvisoryOptions) { o.Introduced, o.LastAffected = "1.0.1", "1.0.0" }), diag.Usage, "--introduced 1.0.1 is higher than --last-affected 1.0.0"},
		{about(func(o *indexer.AdvisoryOptions) { o.ID = "../x" }), diag.Usage, `the advisory id "../x"`},
		{about(func(o *indexer.AdvisoryOptions) { o.Capabilities = []string{"fly"} }), diag.Usage, `unknown capability "fly"`},
		{about(func(o *indexer.AdvisoryOptions) { o.References = []string{"javascript:x"} }), diag.Usage, "--reference"},
		{about(func(o *indexer.AdvisoryOptions) { o.Summary = "a\u009bb" }), diag.Invalid, "control character"},
		{about(func(o *indexer.AdvisoryOptions) { o.Summary = strings.Repeat("x", 1001) }), diag.Invalid, "summary has 1001 bytes"},
	} {
		r, err := c.AddAdvisory(t.Context(), tt.options)
		if err == nil || diag.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %+v, %v, want %q", tt.options, r, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, advisory.Dir)); err == nil {
		t.Error("a refused advisory was written")
	}
}

// TestPublishAdvisories checks that a second withdrawal changes nothing, that a damaged feed is replaced with the same
// key only, and that the number of the edition grows.
func TestPublishAdvisories(t *testing.T) {
	dir, c := emptyIndex(t)
	add := func(o indexer.AdvisoryOptions) *indexer.AdvisoryReport {
		t.Helper()
		r, err := c.AddAdvisory(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := add(indexer.AdvisoryOptions{Pack: "acme/deploy", Summary: "Runs text", Capabilities: []string{"scripts", "hooks"}})
	if got := r.Advisory.Capabilities(advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"}); strings.Join(got, " ") != "hooks scripts" {
		t.Errorf("capabilities %q", got)
	}
	if r := add(indexer.AdvisoryOptions{Withdraw: r.Advisory.ID}); !r.Changed || r.Advisory.Withdrawn == nil {
		t.Errorf("got %+v", r)
	}
	if r := add(indexer.AdvisoryOptions{Withdraw: r.Advisory.ID}); r.Changed {
		t.Errorf("withdrawn again: %+v", r)
	}
	key, other := newKey(t), newKey(t)
	publish := func(key *sign.PrivateKey) (*indexer.PublishedAdvisories, error) {
		return c.PublishAdvisories(t.Context(), indexer.PublishAdvisoriesOptions{Key: key, ValidFor: time.Hour})
	}
	first, err := publish(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish(other); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("another key: %v", err)
	}
	feed := filepath.Join(dir, filepath.FromSlash(advisory.FeedPath))
	good, err := os.ReadFile(feed)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{advisory.FeedPath, advisory.SignaturePath} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte("<<<<<<< HEAD\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := c.CheckAdvisories(t.Context(), ""); err != nil || r.OK {
			t.Errorf("%s is damaged: %+v, %v", file, r, err)
		}
		if _, err := publish(other); diag.CodeOf(err) != diag.Conflict {
			t.Errorf("%s is damaged, another key: %v", file, err)
		}
		again, err := publish(key)
		if err != nil || again.Edition.Number < first.Edition.Number {
			t.Errorf("%s is damaged: %+v, %v", file, again, err)
		}
		if now, err := os.ReadFile(feed); err != nil || !bytes.Equal(now, good) {
			t.Errorf("%s: %v\n%s", file, err, now)
		}
	}
	if second, err := publish(key); err != nil || second.Edition.Number <= first.Edition.Number {
		t.Errorf("got %+v after %+v, %v", second, first, err)
	}
}

func newKey(t *testing.T) *sign.PrivateKey {
	t.Helper()
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestMaliciousTrees checks that an advisory about malicious versions has the content of their skills, but not of skills
// that other versions also have: a client would reject these versions.
func TestMaliciousTrees(t *testing.T) {
	bad := registrytest.Pack("acme/deploy", "1.0.0", "deploy", "shared")
	fixed := registrytest.Pack("acme/deploy", "1.1.0", "deploy")
	fixed.Trees = append(fixed.Trees, bad.Trees[1])
	fixed.Release.Skills = append(fixed.Release.Skills, bad.Release.Skills[1])
	dir := layoutIndex(t, bad, fixed)
	r, err := client(t, dir).AddAdvisory(t.Context(), indexer.AdvisoryOptions{
		Pack: "acme/deploy", Fixed: "1.1.0", Malicious: true, Summary: "Sends keys",
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		tree string
		want bool
	}{
		{bad.Trees[0].Inventory.Digest(), true}, {bad.Trees[1].Inventory.Digest(), false}, {fixed.Trees[0].Inventory.Digest(), false},
	} {
		if got := r.Advisory.Affects(advisory.Subject{Trees: []string{tt.tree}}); got != tt.want {
			t.Errorf("skill %d is affected: %v, want %v", i, got, tt.want)
		}
	}
}
