package bm25

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Deploy to K8s, team's way":           "deploy to k8s team way",
		"C++, C# and F#; plain c":             "cpp csharp and fsharp plain c",
		"Ünïcode Ångström ﬁle":                "unicode angstrom file",
		"code-review_v2":                      "code review v2",
		"日本語 text 東":                          "日本 本語 text 東",
		"rock’n’roll don’t":                   "rock n roll don t",
		strings.Repeat("x", maxWord+1) + " y": "y",
		"\xff\xfe bad":                        "bad",
		"":                                    "",
	} {
		var got []string
		words(text, func(w string) bool { got = append(got, w); return true })
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}

// testSchema has names and sentences.
func testSchema() *Schema {
	return &Schema{Saturation: 6, LengthShare: 60, Fields: []Field{
		{Name: "name", Weight: 10, Usual: 2, Title: true}, {Name: "text", Weight: 2, Usual: 15, Prose: true},
	}}
}

// FuzzParts reads any bytes as the postings and the dictionary of an index with correct checksums.
func FuzzParts(f *testing.F) {
	f.Add([]byte("\x00\x42\x01\x10"), []byte("deploy"), uint32(0), uint32(2), uint64(0), uint32(4), "deploy")
	f.Add([]byte("\x00\x42\x01\x10"), []byte("deploy"), uint32(9), uint32(9), uint64(1<<63), uint32(1<<31), "deploy")
	f.Fuzz(func(t *testing.T, postings, texts []byte, start, docs uint32, off uint64, size uint32, query string) {
		var buf bytes.Buffer
		w := &writer{w: &buf}
		if err := w.part(bytes.Clone(postings)); err != nil {
			t.Fatal(err)
		}
		directory := []byte{3, 0, 1, 0}
		directory = binary.LittleEndian.AppendUint32(directory, start)
		directory = binary.LittleEndian.AppendUint32(directory, docs)
		directory = binary.LittleEndian.AppendUint64(directory, off)
		directory = append(binary.LittleEndian.AppendUint32(directory, size), texts...)
		footer := binary.LittleEndian.AppendUint64([]byte(Magic), uint64(w.off))
		footer = binary.LittleEndian.AppendUint64(footer, uint64(len(directory)))
		for _, p := range [][]byte{directory, footer} {
			if err := w.part(bytes.Clone(p)); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Read(testSchema(), bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err == nil {
			var a *Answer
			a, err = Find([]*Index{x}, Query{Text: query, Key: query}, 3)
			if err == nil && len(a.Hits) > 3 {
				t.Fatalf("%d hits", len(a.Hits))
			}
		}
		if err != nil && diag.CodeOf(err) != diag.Invalid {
			t.Fatal(err)
		}
	})
}

// FuzzRoundTrip indexes any text: each document is returned unchanged, and each of its words finds it.
func FuzzRoundTrip(f *testing.F) {
	f.Add("deploy", "Roll out services", "k8s rollout", "c++")
	f.Add("日本", "ﬁ \xff", "Ü", "'s")
	f.Add("ŀ", "ﷺ", "ŉ", "")
	f.Fuzz(func(t *testing.T, name, text, other, data string) {
		if len(name+text+other) > 4096 || !utf8.ValidString(name+text+other) {
			return
		}
		docs := []Document{
			{Key: "a", Data: []byte(data), Texts: []Text{{0, name}, {1, text}, {1, other}}},
			{Key: "b", Data: []byte("b"), Texts: []Text{{0, "plain"}, {1, "Nothing of interest"}}},
		}
		var buf bytes.Buffer
		err := Build(&buf, testSchema(), func(yield func(Document, error) bool) { _ = yield(docs[0], nil) && yield(docs[1], nil) })
		if err != nil {
			t.Fatal(err)
		}
		x, err := Read(testSchema(), bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if key, got, err := x.Document(0); key != "a" || string(got) != data || err != nil {
			t.Fatalf("%q is %q (%v), want %q", key, got, err, data)
		}
		words(strings.Join([]string{text, other, name}, " "), func(w string) bool {
			if isStopWord(w) {
				return true
			}
			a, err := Find([]*Index{x}, Query{Text: w}, 5)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(a.Hits, func(h Hit) bool { return h.Number == 0 }) {
				t.Fatalf("%q does not find %+v", w, docs[0])
			}
			return true
		})
	})
}

// TestNoMoreThanFits builds an index that exceeds the memory limit.
func TestNoMoreThanFits(t *testing.T) {
	b := &builder{schema: testSchema(), memory: maxMemory + 1}
	if err := b.add(&Document{}); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("got %v", err)
	}
}
