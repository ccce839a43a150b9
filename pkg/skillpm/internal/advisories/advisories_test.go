package advisories_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/advisories"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// index is a registry with a feed.
type index struct {
	registry.Registry
	feed  *registry.Feed
	err   error
	asked int
}

func (i *index) Feed(context.Context) (*registry.Feed, error) {
	i.asked++
	return i.feed, i.err
}

func newKey(t *testing.T) *sign.PrivateKey {
	t.Helper()
	key, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// edition returns a signed feed with one malicious pack.
func edition(t *testing.T, key *sign.PrivateKey, number int64, name string) *registry.Feed {
	t.Helper()
	data, err := advisory.EncodeFeed([]*advisory.Advisory{{
		ID: "MAL-2026-1", Modified: start, Affected: []advisory.Affected{{
			Package:  advisory.Package{Ecosystem: advisory.Ecosystem, Name: name},
			Versions: []string{"1.0.0"},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, key, number, data)
}

// signed returns a feed with a valid signature of any bytes.
func signed(t *testing.T, key *sign.PrivateKey, number int64, data []byte) *registry.Feed {
	t.Helper()
	statement, err := sign.Statement("advisories", advisory.Digest(data), advisory.PredicateType, advisory.Edition{
		Number: number, Issued: start, Expires: start.AddDate(0, 1, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := sign.Bundle(key, statement)
	if err != nil {
		t.Fatal(err)
	}
	return &registry.Feed{Data: data, Signature: signature, Key: key.Public().Encode()}
}

// newStore returns an empty store.
func newStore(t *testing.T) advisories.Store {
	t.Helper()
	return advisories.Store{Dir: filepath.Join(t.TempDir(), "advisories"), Now: func() time.Time { return start }}
}

// source returns a source with the address of its name.
func source(name string, at *index) advisories.Source {
	return advisories.Source{
		Name: name, URL: "https://" + name + ".example",
		Open: func(context.Context) (registry.Registry, error) { return at, nil },
	}
}

// update updates the feeds of sources.
func update(t *testing.T, s advisories.Store, offline bool, sources ...advisories.Source) *advisories.Set {
	t.Helper()
	set, err := s.Update(t.Context(), sources, offline, 0)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// blocked returns the list that activations read.
func blocked(t *testing.T, s advisories.Store) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Dir, enforce.BlockedName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// TestUpdate checks which feeds of advisories replace the stored one (O22).
func TestUpdate(t *testing.T) {
	key, other := newKey(t), newKey(t)
	tests := []struct {
		name    string
		keys    []*sign.PublicKey
		next    func() *registry.Feed
		err     error
		after   time.Duration
		want    string // the malicious pack
		warning string
	}{
		{name: "newer", next: func() *registry.Feed { return edition(t, key, 3, "acme/new") }, want: "acme/new"},
		{name: "same", next: func() *registry.Feed { return edition(t, key, 2, "acme/old") }, want: "acme/old"},
		{name: "older", next: func() *registry.Feed { return edition(t, key, 1, "acme/new") }, want: "acme/old", warning: "is older than edition 2"},
		{name: "changed", next: func() *registry.Feed { return edition(t, key, 2, "acme/new") }, want: "acme/old", warning: "edition 2 changed"},
		{name: "another key", next: func() *registry.Feed { return edition(t, other, 3, "acme/new") }, want: "acme/old", warning: "no trusted key"},
		{name: "a key of the settings", keys: []*sign.PublicKey{other.Public()}, next: func() *registry.Feed { return edition(t, other, 3, "acme/new") }, want: "acme/new"},
		{name: "not of the settings", keys: []*sign.PublicKey{other.Public()}, next: func() *registry.Feed { return edition(t, key, 3, "acme/new") }, want: "acme/old", warning: "no trusted key"},
		{name: "oversized", next: func() *registry.Feed {
			return signed(t, key, 3, []byte(strings.Repeat("\n", advisory.MaxFeedBytes+1)))
		}, want: "acme/old", warning: "the limit is"},
		{name: "path in a name", next: func() *registry.Feed { return edition(t, key, 3, "acme/../../new") }, want: "acme/old", warning: `the package name "acme/../../new"`},
		{name: "path in an id", next: func() *registry.Feed {
			return signed(t, key, 3, []byte(`{"id":"../MAL-1","modified":"2026-11-01T00:00:00Z","affected":[{"package":{"ecosystem":"AgentSkills","name":"acme/new"},"versions":["1.0.0"]}]}`))
		}, want: "acme/old", warning: `the advisory id "../MAL-1"`},
		{name: "duplicate id", next: func() *registry.Feed {
			one, other := edition(t, key, 1, "acme/new"), edition(t, key, 1, "acme/other")
			return signed(t, key, 3, append(one.Data, other.Data...))
		}, want: "acme/old", warning: "the id MAL-2026-1 is duplicated"},
		{name: "too much malicious content", next: func() *registry.Feed { return signed(t, key, 3, manyTrees()) }, want: "acme/old", warning: "the list of malicious content has more than"},
		{name: "of another kind", next: func() *registry.Feed {
			f := edition(t, key, 3, "acme/new")
			statement, _ := sign.Statement("pack", advisory.Digest(f.Data), "https://example.com/other", advisory.Edition{})
			f.Signature, _ = sign.Bundle(key, statement)
			return f
		}, want: "acme/old", warning: "the signature is not for a feed"},
		{name: "gone", next: func() *registry.Feed { return nil }, want: "acme/old", warning: "no longer has advisories"},
		{name: "unreachable", next: func() *registry.Feed { return nil }, err: errors.New("no route"), want: "acme/old", warning: "no route"},
		{name: "expired", next: func() *registry.Feed { return edition(t, key, 2, "acme/old") }, after: 40 * 24 * time.Hour, want: "acme/old", warning: "expired on 2026-12-01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := start
			store := advisories.Store{Dir: filepath.Join(t.TempDir(), "advisories"), Now: func() time.Time { return now }}
			at := &index{feed: edition(t, key, 2, "acme/old")}
			source := advisories.Source{
				Name: "acme", URL: "https://packs.example",
				Open: func(context.Context) (registry.Registry, error) { return at, nil },
			}
			update := func() *advisories.Set {
				t.Helper()
				set, err := store.Update(t.Context(), []advisories.Source{source}, false, 0)
				if err != nil {
					t.Fatal(err)
				}
				return set
			}
			if set := update(); len(set.Warnings) > 0 || len(set.Feeds) != 1 {
				t.Fatalf("at first: %+v", set)
			}
			now, source.Keys, at.feed, at.err = now.Add(tt.after), tt.keys, tt.next(), tt.err
			set := update()
			if got := strings.Join(set.Warnings, "\n"); (got == "") != (tt.warning == "") || !strings.Contains(got, tt.warning) {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
			if (set.NotCurrent(now) == "") != (tt.warning == "") {
				t.Errorf("not current: %q", set.NotCurrent(now))
			}
			if found := set.Matching(advisory.Subject{Pack: tt.want, Version: "1.0.0"}); len(found) != 1 {
				t.Errorf("%s is not malicious", tt.want)
			}
			data, err := os.ReadFile(filepath.Join(store.Dir, enforce.BlockedName))
			if err != nil || !strings.HasPrefix(string(data), tt.want+"\t") {
				t.Errorf("blocked: %v, %s", err, data)
			}
		})
	}
}

// TestProjectFeed checks that the feed of a project's registry is used, and blocks nothing at run time.
func TestProjectFeed(t *testing.T) {
	store := advisories.Store{Dir: filepath.Join(t.TempDir(), "advisories"), Now: func() time.Time { return start }}
	at := &index{feed: edition(t, newKey(t), 1, "acme/deploy")}
	source := advisories.Source{
		Name: "project", URL: "https://packs.example", Project: true,
		Open: func(context.Context) (registry.Registry, error) { return at, nil },
	}
	set, err := store.Update(t.Context(), []advisories.Source{source}, false, 0)
	if err != nil || len(set.Matching(advisory.Subject{Pack: "acme/deploy", Version: "1.0.0"})) != 1 {
		t.Errorf("got %+v, %v", set, err)
	}
	if _, err := os.Stat(filepath.Join(store.Dir, enforce.BlockedName)); err == nil {
		t.Error("a project blocks a pack for all projects")
	}
	if set.NotCurrent(start) == "" {
		t.Error("the advisories of a project are enough for policies that require some")
	}
}

// TestMaxAge checks that registries are asked again only after the given time, also those without advisories, and not
// offline.
func TestMaxAge(t *testing.T) {
	for name, feed := range map[string]*registry.Feed{"feed": edition(t, newKey(t), 1, "acme/deploy"), "none": nil} {
		t.Run(name, func(t *testing.T) {
			now := start
			store := advisories.Store{Dir: filepath.Join(t.TempDir(), "advisories"), Now: func() time.Time { return now }}
			at := &index{feed: feed}
			sources := []advisories.Source{{
				Name: "acme", URL: "https://packs.example",
				Open: func(context.Context) (registry.Registry, error) { return at, nil },
			}}
			for _, step := range []struct {
				after   time.Duration
				offline bool
				want    int
			}{{0, true, 0}, {0, false, 1}, {59 * time.Minute, false, 1}, {time.Hour, false, 2}, {time.Hour, true, 2}, {-2 * time.Hour, false, 3}} {
				now = now.Add(step.after)
				if _, err := store.Update(t.Context(), sources, step.offline, time.Hour); err != nil {
					t.Fatal(err)
				}
				if at.asked != step.want {
					t.Errorf("after %v: asked %d times, want %d", step.after, at.asked, step.want)
				}
			}
		})
	}
}

// manyTrees returns a small feed whose list of malicious content would be large, because each line repeats the summary.
func manyTrees() []byte {
	var feed []byte
	for i := range 10 {
		var trees []string
		for j := range 10_000 {
			trees = append(trees, fmt.Sprintf(`"t1:sha256:%064x"`, i*10_000+j))
		}
		feed = fmt.Appendf(feed, `{"id":"MAL-%d","modified":"2026-11-01T00:00:00Z","summary":"%s","affected":[{"package":{"ecosystem":"AgentSkills","name":"*"},"database_specific":{"trees":[%s]}}]}`+"\n",
			i, strings.Repeat("x", 1000), strings.Join(trees, ","))
	}
	return feed
}

// TestDamage checks that a damaged copy of a feed unblocks nothing and keeps its key and edition, and that a fetch
// repairs it.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"changed": func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) },
		"deleted": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			key, store := newKey(t), newStore(t)
			at := &index{feed: edition(t, key, 5, "acme/deploy")}
			src := source("acme", at)
			update(t, store, false, src)
			files, err := filepath.Glob(filepath.Join(store.Dir, "*.ndjson"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if err := damage(files[0]); err != nil {
				t.Fatal(err)
			}
			set := update(t, store, true, src)
			if len(set.Missing) != 1 || !strings.Contains(strings.Join(set.Warnings, ""), "is damaged") {
				t.Errorf("offline: %+v", set)
			}
			for _, wrong := range []struct {
				feed    *registry.Feed
				warning string
			}{
				{edition(t, key, 4, "acme/other"), "is older than edition 5"},
				{edition(t, newKey(t), 6, "acme/other"), "no trusted key"},
				{nil, "no longer has advisories"},
			} {
				at.feed = wrong.feed
				if set := update(t, store, false, src); !strings.Contains(strings.Join(set.Warnings, ""), wrong.warning) {
					t.Errorf("want a warning with %q: %+v", wrong.warning, set)
				}
				if list := blocked(t, store); !strings.HasPrefix(list, "acme/deploy\t") {
					t.Errorf("blocked: %s", list)
				}
			}
			at.feed = edition(t, key, 5, "acme/deploy")
			if set := update(t, store, false, src); len(set.Warnings) > 0 || len(set.Feeds) != 1 {
				t.Errorf("repaired: %+v", set)
			}
			if set := update(t, store, true, src); len(set.Feeds) != 1 {
				t.Errorf("offline, after the repair: %+v", set)
			}
		})
	}
}

// TestSeveralFeeds checks that all feeds count, also if they give one id to different advisories, that an unreachable
// one does not matter to the others, and that a project cannot end the blocking of a user's feed by its name.
func TestSeveralFeeds(t *testing.T) {
	store := newStore(t)
	one, two := &index{feed: edition(t, newKey(t), 1, "acme/one")}, &index{feed: edition(t, newKey(t), 1, "acme/two")}
	mine, project := source("acme", one), source("project", two)
	project.Name, project.Project = "acme", true
	check := func(set *advisories.Set) {
		t.Helper()
		for _, name := range []string{"acme/one", "acme/two"} {
			if found := set.Matching(advisory.Subject{Pack: name, Version: "1.0.0"}); len(found) != 1 {
				t.Errorf("%s: %v", name, found)
			}
		}
		if list := blocked(t, store); !strings.HasPrefix(list, "acme/one\t") || strings.Contains(list, "acme/two") {
			t.Errorf("blocked: %s", list)
		}
	}
	check(update(t, store, false, mine, project))
	one.err = errors.New("no route")
	set := update(t, store, false, mine, project)
	if len(set.Missing) != 1 {
		t.Errorf("missing: %q", set.Missing)
	}
	check(set)
	check(update(t, store, true, mine, project))

	list, err := store.Blocked([]advisories.Source{mine, project})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = list.Close() })
	for name, want := range map[string]bool{"acme/one": true, "acme/two": true, "acme/three": false} {
		if found, err := list.Find(advisory.Subject{Pack: name, Version: "1.0.0"}); err != nil || (found != nil) != want {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	update(t, store, true)
	if list := blocked(t, store); list != "" {
		t.Errorf("after the feeds were removed from the settings: %s", list)
	}
}

// TestDamagedRecord checks that a record without a readable key is never replaced automatically, because any key would
// then count, and that it unblocks nothing.
func TestDamagedRecord(t *testing.T) {
	store, at := newStore(t), &index{feed: edition(t, newKey(t), 1, "acme/deploy")}
	src := source("acme", at)
	update(t, store, false, src)
	files, err := filepath.Glob(filepath.Join(store.Dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	at.feed = edition(t, newKey(t), 2, "acme/other")
	set := update(t, store, false, src)
	if len(set.Feeds) > 0 || !strings.Contains(strings.Join(set.Warnings, ""), filepath.Base(files[0])) {
		t.Errorf("got %+v", set)
	}
	if list := blocked(t, store); !strings.HasPrefix(list, "acme/deploy\t") {
		t.Errorf("blocked: %s", list)
	}
}
