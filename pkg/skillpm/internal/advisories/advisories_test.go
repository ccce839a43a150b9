package advisories_test

import (
	"context"
	"crypto/rand"
	"errors"
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
