package bm25

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// built returns an index of texts with testSchema: "name | sentences".
func built(t *testing.T, docs ...string) *Index {
	t.Helper()
	var buf bytes.Buffer
	err := Build(&buf, testSchema(), func(yield func(Document, error) bool) {
		for _, d := range docs {
			name, text, _ := strings.Cut(d, " | ")
			if !yield(Document{Texts: []Text{{0, name}, {1, text}}}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := Read(testSchema(), bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func sentence(t *testing.T, x *Index, text string) *Answer {
	t.Helper()
	a, err := Find([]*Index{x}, Query{Text: text, Sentence: true}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// numbers returns the documents of an answer, the best first.
func numbers(a *Answer) (list []int) {
	for _, h := range a.Hits {
		list = append(list, h.Number)
	}
	return list
}

// TestStems checks that forms of a word have one stem.
func TestStems(t *testing.T) {
	for _, same := range []string{
		"verify verifies verified verification", "simplify simplification", "analyze analyse analysis analyses",
		"organize organise organisation organization", "color colour colours", "optimise optimizing optimization",
		"deploy deploys deployed deploying",
	} {
		list := strings.Fields(same)
		for _, w := range list[1:] {
			if Stem(w) != Stem(list[0]) {
				t.Errorf("the stem of %s is %s, that of %s is %s", w, Stem(w), list[0], Stem(list[0]))
			}
		}
	}
	for _, ending := range []string{"isation", "isations", "ization"} {
		if american(ending) != ending {
			t.Errorf("%s becomes %s", ending, american(ending))
		}
	}
	for _, pair := range [][2]string{{"revise", "revize"}, {"four", "for"}, {"wise", "wize"}} {
		if american(pair[0]) == pair[1] {
			t.Errorf("%s becomes %s", pair[0], pair[1])
		}
	}
}

// TestLongText checks that a long text is reduced to the words that distinguish documents, that words it repeats count
// more, and that a text of any length is answered.
func TestLongText(t *testing.T) {
	docs := []string{"invoices | Common words", "billing | Common words"}
	var long strings.Builder
	for i := range maxTerms {
		word := fmt.Sprintf("filler%c%c", 'a'+i%26, 'a'+i/26)
		docs = append(docs, "x | common "+word)
		long.WriteString(word + " ")
	}
	x := built(t, docs...)
	a := sentence(t, x, long.String()+"common nowhere invoices and invoices")
	if !slices.Equal(a.Dropped[len(a.Dropped)-2:], []string{"common", "nowhere"}) || len(a.Terms()) != maxTerms {
		t.Errorf("of %d words, %q are dropped", len(a.Terms()), a.Dropped)
	}
	if got := numbers(sentence(t, x, "billing of invoices, invoices, invoices")); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("a repeated word does not count more: %v", got)
	}
	if a := sentence(t, x, strings.Repeat("filler text invoices ", 50_000)); len(a.Hits) == 0 || a.Hits[0].Number != 0 {
		t.Errorf("1 MB of text finds %v", numbers(a))
	}
}

// TestSynonyms checks that synonyms of the list are found, and count no more than they are worth.
func TestSynonyms(t *testing.T) {
	x := built(t, "slide-deck | Makes talks", "pptx | Edits files", "powerpoint | Exports", "other | Nothing")
	a := sentence(t, x, "make a powerpoint")
	if got := numbers(a); len(got) != 3 || got[0] != 2 {
		t.Errorf("found %v", got)
	}
	if terms := a.Terms(); len(terms) != 1 || !slices.Contains(terms[0].Also, "deck") || terms[0].Documents != 1 {
		t.Errorf("searched for %+v", terms)
	}
	for word, others := range Synonyms() {
		for _, other := range others {
			if !slices.ContainsFunc(Synonyms()[Stem(other)], func(w string) bool { return Stem(w) == word }) {
				t.Errorf("%s is a synonym of %s, which is none of it", other, word)
			}
		}
	}
}

// TestLearned checks that abbreviations that two documents explain are understood in both directions, and that one
// document alone can't explain any.
func TestLearned(t *testing.T) {
	x := built(
		t, "a | Keeps architecture decision records (ADRs) and an architecture decision record (ADR)",
		"b | Writes an Architecture Decision Record (ADR).", "adr | Shows them", "decisions | Architecture with a record",
		"evil | Popular wonderful format (PWF)", "wonder | popular wonderful",
	)
	a := sentence(t, x, "write adr")
	if got := numbers(a); !slices.Contains(got, 3) || !slices.Contains(got, 2) {
		t.Errorf("an abbreviation finds %v", got)
	}
	if terms := a.Terms(); len(terms) != 5 || terms[2].From != "adr" {
		t.Errorf("searched for %+v", terms)
	}
	if got := numbers(sentence(t, x, "the architecture decision record")); !slices.Contains(got, 2) {
		t.Errorf("the words of an abbreviation find %v", got)
	}
	if got := numbers(sentence(t, x, "pwf")); slices.Contains(got, 5) {
		t.Errorf("one document explains an abbreviation: %v", got)
	}
}

// TestMost checks that repetition in a field has a limit.
func TestMost(t *testing.T) {
	s := testSchema()
	f := Field{Weight: 3, Usual: 100, Most: 2}
	if once, often := s.sum(f, 1, 100), s.sum(f, 500, 500); often != 2*f.Weight*unit || once >= often {
		t.Errorf("a word counts %d, often %d", once, often)
	}
}

// TestReasons checks that the shares of the words of a document add up to its points.
func TestReasons(t *testing.T) {
	x := built(t, "change-log | Keeps release notes with a powerpoint", "b | notes")
	a := sentence(t, x, "release the changelog as slides, notes")
	texts := []Text{{0, "change-log"}, {1, "Keeps release notes with a powerpoint"}}
	reasons, err := a.Reasons(a.Hits[0], testSchema(), texts)
	if err != nil || len(reasons) != 4 {
		t.Fatalf("%+v, %v", reasons, err)
	}
	sum := 0.0
	for _, r := range reasons {
		if sum += r.Share; r.Share <= 0 {
			t.Errorf("%+v", r)
		}
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("the shares add up to %f", sum)
	}
}
