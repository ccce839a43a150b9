package packsearch

import (
	"bytes"
	"iter"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// all yields packs without errors.
func all(docs []Pack) iter.Seq2[Pack, error] {
	return func(yield func(Pack, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// built returns the bytes of an index of packs.
func built(t testing.TB, packs []Pack) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := build(&buf, all(packs)); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// opened returns an index of packs.
func opened(t testing.TB, packs []Pack) *Index {
	t.Helper()
	x, err := New(all(packs))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// read opens the bytes of an index.
func read(data []byte) (*Index, error) {
	x, err := bm25.Read(schema(), bytes.NewReader(data), int64(len(data)))
	return &Index{Index: x}, err
}

// find searches one index.
func find(x *Index, query string, n int) (*Answer, error) { return Find([]*Index{x}, query, n) }

func TestFind(t *testing.T) {
	x := opened(t, []Pack{
		{Name: "acme/change-log", Version: "1.0.0", Description: "Write release notes", Skills: []Skill{{"changelog", "Write a changelog"}}},
		{Name: "acme/deploy", Version: "1.0.0", Description: "Deploy services to Kubernetes", Tags: []string{"k8s"}, Skills: []Skill{{"rollout", "Roll out a new version"}}},
		{Name: "acme/talks", Version: "1.0.0", Description: "For speakers", Skills: []Skill{{"slide-deck", "Builds decks"}}},
		{Name: "globex/deployment-notes", Version: "2.0.0", Description: "Notes about deployments"},
	})
	for _, tt := range []struct{ query, want string }{
		{"deploy", "acme/deploy"},
		{"deployments", "acme/deploy"},
		{"acme/deploy", "acme/deploy"},
		{"kubern", "acme/deploy"},
		{"kubrenetes", "acme/deploy"},
		{"k8s", "acme/deploy"},
		{"rollout", "acme/deploy"},
		{"changelog", "acme/change-log"},
		{"change log", "acme/change-log"},
		{"globex", "globex/deployment-notes"},
		{"make a powerpoint", "acme/talks"},
	} {
		a, err := find(x, tt.query, 3)
		if err != nil || len(a.Hits) == 0 || a.Hits[0].Name != tt.want {
			t.Errorf("%q: %+v, %v; want %s", tt.query, a, err, tt.want)
		}
	}
}
