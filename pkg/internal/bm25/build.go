package bm25

import (
	"encoding/binary"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// The bounds of an index.
const (
	maxDocs   = 4 << 20
	maxWords  = 20_000    // of one document
	maxMemory = 512 << 20 // bytes of words and postings while an index is built
)

// Document is input for an index.
type Document struct {
	Key     string // unique
	Texts   []Text
	Demoted bool   // it counts half
	Data    []byte // returned with the document
}

// Text is one text of a document.
type Text struct {
	Field int // its number in the schema
	Text  string
}

// Build writes an index of documents. It ends with the first error of the documents. The keys of documents that have
// data must be in order.
func Build(w io.Writer, s *Schema, docs iter.Seq2[Document, error]) error {
	b := &builder{
		schema: s, out: &writer{w: w}, words: map[string]int{}, stems: map[string]int{},
		inField: make([][]int, len(s.Fields)), lengths: make([]int, len(s.Fields)),
	}
	last := ""
	for d, err := range docs {
		if err != nil {
			return err
		}
		if d.Data != nil {
			if d.Key <= last {
				return diag.Errorf(diag.Internal,
					"the documents of a search index must be sorted: %q comes after %q",
					d.Key, last)
			}
			last = d.Key
			if err := b.out.document(d); err != nil {
				return err
			}
		}
		if err := b.add(&d); err != nil {
			return err
		}
	}
	return b.out.finish(b.docs, b.learned.table(), b.sorted())
}

// builder holds the words of the documents and where they are.
type builder struct {
	schema *Schema
	out    *writer
	docs   int
	words  map[string]int // a word as it is written -> the position of its stem's list
	stems  map[string]int // a stem -> the position of its list
	lists  []*postings
	memory int // bytes, approximately

	learned learner

	// For the current document:
	sums    []int   // by position of the list: the sum of the shares
	touched []int   // positions whose sum isn't 0
	inField [][]int // positions of the words of each field
	lengths []int   // words of each field, common ones included
}

// postings lists the documents with a word.
type postings struct {
	docs int
	last int    // document
	list []byte // for each document how many further on it is, and the impact of the word
}

// add adds a document.
func (b *builder) add(d *Document) error {
	if b.docs == maxDocs || b.memory > maxMemory {
		return diag.Errorf(diag.Invalid, "too many documents for a search index: %d", b.docs+1)
	}
	title := b.readTexts(d)
	for f, field := range b.schema.Fields {
		slices.Sort(b.inField[f])
		for list := b.inField[f]; len(list) > 0; {
			posting, times := list[0], 1
			for times < len(list) && list[times] == posting {
				times++
			}
			if b.sums[posting] == 0 {
				b.touched = append(b.touched, posting)
			}
			b.sums[posting] += b.schema.sum(field, times, b.lengths[f])
			list = list[times:]
		}
	}
	for _, posting := range b.touched {
		impact := b.schema.impact(b.sums[posting])
		b.sums[posting] = 0
		switch {
		case d.Demoted:
			impact = impact/2 + 1
		case posting == title:
			impact |= exact
		}
		p := b.lists[posting]
		before := cap(p.list)
		p.list = append(binary.AppendUvarint(p.list, uint64(b.docs-p.last)), impact)
		p.docs, p.last = p.docs+1, b.docs
		b.memory += cap(p.list) - before
	}
	b.touched = b.touched[:0]
	b.docs++
	return nil
}

// readTexts finds the words of a document's fields. It returns the position of the list of its title, -1 for none.
func (b *builder) readTexts(d *Document) (title int) {
	clear(b.lengths)
	for f := range b.inField {
		b.inField[f] = b.inField[f][:0]
	}
	title = -1
	budget := maxWords
	for _, t := range d.Texts {
		field, count := b.schema.Fields[t.Field], 0
		if field.Prose {
			b.learned.read(b.docs, t.Text)
		}
		field.tokens(t.Text, func(k token) bool {
			if !k.joined {
				budget--
				count++
			}
			switch {
			case field.Prose && isStopWord(k.word):
				return budget > 0
			case k.title:
				title = b.position(k.word)
				if count <= 2 { // one word is itself, and two are joined already
					return false
				}
			}
			b.inField[t.Field] = append(b.inField[t.Field], b.position(k.word))
			return budget > 0
		})
		b.lengths[t.Field] += count
	}
	return title
}

// position returns the position of a word's list.
func (b *builder) position(word string) int {
	if id, ok := b.words[word]; ok {
		return id
	}
	const overhead = 100 // bytes of maps and headers
	word = strings.Clone(word)
	key := stem(word)
	id, ok := b.stems[key]
	if !ok {
		id = len(b.lists)
		b.lists = append(b.lists, &postings{})
		b.sums = append(b.sums, 0)
		b.stems[key] = id
		b.memory += len(key) + 2*overhead
	}
	b.words[word] = id
	b.memory += len(word) + overhead
	return id
}

// sorted yields the words and stems in order. A word that has another stem has no documents of its own.
func (b *builder) sorted() iter.Seq2[string, *postings] {
	for w := range b.words {
		if _, ok := b.stems[w]; !ok {
			b.stems[w] = -1
		}
	}
	return func(yield func(string, *postings) bool) {
		none := &postings{}
		for _, word := range slices.Sorted(maps.Keys(b.stems)) {
			p := none
			if id := b.stems[word]; id >= 0 {
				p = b.lists[id]
			}
			if !yield(word, p) {
				return
			}
		}
	}
}
