package search

import (
	"bytes"
	"iter"
	"testing"
)

// all yields packs without errors.
func all(docs []Doc) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// built returns the bytes of an index of packs.
func built(t testing.TB, docs []Doc) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Build(&buf, Options{Tag: "t", Temp: t.TempDir()}, all(docs)); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// opened returns an index of packs.
func opened(t testing.TB, docs []Doc) *Index {
	t.Helper()
	b := built(t, docs)
	x, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFind(t *testing.T) {
	x := opened(t, []Doc{
		{Name: "acme/change-log", Version: "1.0.0", Description: "Write release notes", Skills: []Skill{{"changelog", "Write a changelog"}}},
		{Name: "acme/deploy", Version: "1.0.0", Description: "Deploy services to Kubernetes", Tags: []string{"k8s"}, Skills: []Skill{{"rollout", "Roll out a new version"}}},
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
	} {
		a, err := x.Find(tt.query, 3)
		if err != nil || len(a.Hits) == 0 || a.Hits[0].Name != tt.want {
			t.Errorf("%q: %+v, %v; want %s", tt.query, a, err, tt.want)
		}
	}
}
