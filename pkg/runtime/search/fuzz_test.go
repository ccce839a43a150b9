package search

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// FuzzRead reads anything as an index: it is refused, or answers, and never panics.
func FuzzRead(f *testing.F) {
	f.Add(built(f, nil), "deploy")
	f.Add(built(f, readPacks(f)[:20]), "kubernetes deplyo")
	f.Fuzz(func(t *testing.T, data []byte, query string) {
		x, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if _, err := x.Find(query, 3); err != nil && diag.CodeOf(err) != diag.Invalid {
			t.Fatal(err)
		}
	})
}

// FuzzPiece repairs the checksums of what is read, so that the parts behind them are tried, too.
func FuzzPiece(f *testing.F) {
	f.Add([]byte("\x00\x06deploy\x01\x00\x42"), []byte("\x01\x42\x01\x10"), "deploy")
	f.Fuzz(func(t *testing.T, words, places []byte, query string) {
		var buf bytes.Buffer
		w := &writer{w: &buf}
		for _, name := range []string{"a/a", "b/b", "c/c"} {
			if err := w.doc(&Doc{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.flushDocs() // to memory
		start := w.off
		_ = w.piece(bytes.Clone(places))
		at := w.off
		_ = w.piece(bytes.Clone(words))
		index := appendString(nil, "")
		for _, n := range []int{start, at - start, len(words)} {
			index = appendNumber(index, n)
		}
		foot := footer{docs: 3, spans: w.off, spansLen: len(w.spans), index: w.off + len(w.spans) + sumSize, indexLen: len(index)}
		for _, p := range [][]byte{w.spans, index, foot.append(nil)} {
			_ = w.piece(bytes.Clone(p))
		}
		x, err := Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.Find(query, 3)
		if err != nil && diag.CodeOf(err) != diag.Invalid {
			t.Fatal(err)
		}
		if err == nil && len(a.Hits) > 3 {
			t.Fatalf("%d hits", len(a.Hits))
		}
	})
}

// FuzzRoundTrip indexes packs of any text: each comes back as it was, and is found by each of its words.
func FuzzRoundTrip(f *testing.F) {
	f.Add("deploy", "Roll out services", "k8s", "rollout", "c++")
	f.Add("日本", "ﬁ \xff", "Ü", "'s", "")
	f.Fuzz(func(t *testing.T, name, description, tag, skill, other string) {
		if len(name+description+tag+skill+other) > 4096 {
			return
		}
		docs := []Doc{
			{Name: "a/" + name, Version: "1.0.0", Description: description, Tags: []string{tag}, Skills: []Skill{{skill, other}}},
			{Name: "b/plain", Version: "1.0.0", Description: "Nothing of interest"},
		}
		x := opened(t, docs)
		want := docs[0].bounded()
		got, err := x.doc(0)
		if err != nil || got.Name != want.Name || got.Description != want.Description || !slices.Equal(got.Tags, want.Tags) || !slices.Equal(got.Skills, want.Skills) {
			t.Fatalf("%+v, want %+v (%v)", got, want, err)
		}
		words(strings.Join([]string{want.Description, tag, skill}, " "), func(w string) bool {
			if common(w) || !utf8.ValidString(want.Description+tag+skill) {
				return true
			}
			a, err := x.Find(w, 5)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(a.Hits, func(h Hit) bool { return h.Name == want.Name }) {
				t.Fatalf("%q does not find %+v", w, want)
			}
			return true
		})
	})
}
