package search

import (
	"io"
	"iter"
	"os"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// The bounds of an index.
const (
	maxDocs  = 4 << 20
	maxWords = 20_000   // of one pack
	runBytes = 24 << 20 // words and where they are that are held in memory
	maxRuns  = 400      // files of what was
)

// Options say what an index is made of, and where.
type Options struct {
	Tag  string // what it was made from, at most 256 bytes
	Temp string // a directory for what does not fit into memory; "" for the system's
}

// Build writes an index of packs, which come in order of their names. It takes a bounded amount of memory and ends with
// the first error of the packs.
func Build(w io.Writer, o Options, docs iter.Seq2[Doc, error]) error {
	if len(o.Tag) > maxTag {
		return diag.Errorf(diag.Internal, "a tag of a search index is at most %d bytes long", maxTag)
	}
	b := &builder{out: &writer{w: w}, temp: o.Temp}
	b.reset()
	defer b.discard()
	last := ""
	for d, err := range ahead(docs) {
		if err != nil {
			return err
		}
		if d = d.bounded(); d.Name <= last {
			return diag.Errorf(diag.Internal, "the packs of a search index are in order: %q comes after %q", d.Name, last)
		}
		last = d.Name
		if err := b.add(&d); err != nil {
			return err
		}
	}
	return b.finish(o.Tag)
}

// builder makes an index. It writes the packs as they come and keeps where words are in memory, until that is too much:
// then it sorts what it has and puts it into a temporary file, a run. In the end the runs are merged.
type builder struct {
	out  *writer
	temp string
	runs []*os.File
	docs int

	surfaces map[string]uint32 // a word as it is written -> the position of its stem in terms
	stems    map[string]uint32 // its stem -> the position in terms
	terms    []*term
	held     int // bytes, more or less

	sums    []int            // by position in terms: what the shares of the pack at hand are together
	seen    []uint32         // positions in sums that are not 0
	parts   []string         // the words of the name at hand
	lines   [fields][]uint32 // positions of the words of the fields of the pack at hand
	lengths [fields]int      // how many words those have, common ones too
}

// term is a stem and where it is.
type term struct {
	key   string
	count int    // packs
	first int    // pack
	last  int    // pack
	mark  byte   // of the first pack: what it counts for there
	more  []byte // the other packs: how many further on, and the mark
}

// exact marks the pack whose name is just this word.
const exact = 0x80

func (b *builder) reset() {
	b.surfaces, b.stems, b.terms, b.held = map[string]uint32{}, map[string]uint32{}, nil, 0
	b.sums = b.sums[:0]
}

// add takes a pack.
func (b *builder) add(d *Doc) error {
	if b.docs == maxDocs {
		return diag.Errorf(diag.Invalid, "there are more than %d packs to search", maxDocs)
	}
	if err := b.out.doc(d); err != nil {
		return err
	}
	whole := b.read(d)
	for f := range fields {
		share := f.share(b.lengths[f])
		for _, at := range b.lines[f] {
			if b.sums[at] == 0 {
				b.seen = append(b.seen, at)
			}
			b.sums[at] += share
		}
	}
	b.note(d.Deprecated != "", whole)
	b.docs++
	if b.held > runBytes {
		return b.spill()
	}
	return nil
}

// read finds the words of a pack's fields. It returns the term of its whole name, -1 for none.
func (b *builder) read(d *Doc) (whole int) {
	for f := range fields {
		b.lines[f], b.lengths[f] = b.lines[f][:0], 0
	}
	whole = -1
	left := maxWords
	d.texts(func(f field, _ int, text string) {
		b.parts = b.parts[:0]
		words(text, func(w string) bool {
			left--
			b.lengths[f]++
			if f.prose() && common(w) {
				return left > 0
			}
			b.lines[f] = append(b.lines[f], b.term(w))
			if !f.prose() {
				b.parts = append(b.parts, w)
			}
			return left > 0
		})
		b.joined(f)
		if f == inName {
			whole = b.whole()
		}
	})
	return whole
}

// joined adds to the words of a name what neighbours give when they are written as one.
func (b *builder) joined(f field) {
	for i := 1; i < len(b.parts); i++ {
		if joined := b.parts[i-1] + b.parts[i]; len(joined) <= maxWord {
			b.lines[f] = append(b.lines[f], b.term(joined))
		}
	}
}

// whole returns the term of a pack's whole name, written as one word; -1 for none.
func (b *builder) whole() int {
	joined := strings.Join(b.parts, "")
	if joined == "" || len(joined) > maxWord {
		return -1
	}
	at := b.term(joined)
	if len(b.parts) > 2 { // shorter ones are in the line anyway
		b.lines[inName] = append(b.lines[inName], at)
	}
	return int(at)
}

// term returns the position of a word's term.
func (b *builder) term(word string) uint32 {
	if at, ok := b.surfaces[word]; ok {
		return at
	}
	const overhead = 100 // bytes of maps and headers
	word = strings.Clone(word)
	key := stem(word)
	at, ok := b.stems[key]
	if !ok {
		at = uint32(len(b.terms))
		b.terms = append(b.terms, &term{key: key})
		b.sums = append(b.sums, 0)
		b.stems[key] = at
		b.held += len(key) + 2*overhead
	}
	b.surfaces[word] = at
	b.held += len(word) + overhead
	return at
}

// note writes down the words of the pack at hand.
func (b *builder) note(deprecated bool, whole int) {
	for _, at := range b.seen {
		mark := impact(b.sums[at])
		b.sums[at] = 0
		if deprecated {
			mark = mark/2 + 1
		}
		if int(at) == whole && !deprecated {
			mark |= exact
		}
		t := b.terms[at]
		if t.count == 0 {
			t.first, t.mark = b.docs, mark
		} else {
			before := cap(t.more)
			t.more = append(appendNumber(t.more, b.docs-t.last), mark)
			b.held += cap(t.more) - before
		}
		t.count, t.last = t.count+1, b.docs
	}
	b.seen = b.seen[:0]
}
