package search

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"iter"

	"github.com/klauspost/compress/flate"
)

// How many are in a piece.
const (
	docsPerPiece  = 16
	wordsPerPiece = 64
)

// writer writes the pieces of an index in their order.
type writer struct {
	w   io.Writer
	off int

	docs   int          // of the piece at hand
	text   []byte       // of it
	packed bytes.Buffer // it, compressed
	flate  *flate.Writer
	spans  []byte // the list of the pieces of packs: the length of each, and of its text
	pieces int
}

// piece writes bytes and their checksum.
func (w *writer) piece(b []byte) error {
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	n, err := w.w.Write(b)
	w.off += n
	return err
}

// doc adds a pack.
func (w *writer) doc(d *Doc) error {
	w.text = d.append(w.text)
	if w.docs++; w.docs == docsPerPiece {
		return w.flushDocs()
	}
	return nil
}

func (w *writer) flushDocs() error {
	if w.docs == 0 {
		return nil
	}
	w.packed.Reset()
	if w.flate == nil {
		var err error
		if w.flate, err = flate.NewWriter(&w.packed, 3); err != nil {
			return err
		}
	}
	w.flate.Reset(&w.packed)
	if _, err := w.flate.Write(w.text); err != nil {
		return err
	}
	if err := w.flate.Close(); err != nil {
		return err
	}
	w.spans = appendNumber(appendNumber(w.spans, w.packed.Len()), len(w.text))
	w.pieces++
	w.docs, w.text = 0, w.text[:0]
	return w.piece(w.packed.Bytes())
}

// finish writes the words and where they are, the lists, and the footer.
func (w *writer) finish(tag string, docs int, terms iter.Seq2[*term, error]) error {
	if err := w.flushDocs(); err != nil {
		return err
	}
	d := dictionary{out: w}
	for t, err := range terms {
		if err == nil {
			err = d.add(t)
		}
		if err != nil {
			return err
		}
	}
	if err := d.flush(); err != nil {
		return err
	}
	f := footer{tag: tag, docs: docs, spans: w.off, spansLen: len(w.spans), index: w.off + len(w.spans) + sumSize, indexLen: len(d.index)}
	for _, list := range [][]byte{w.spans, d.index} {
		if err := w.piece(list); err != nil {
			return err
		}
	}
	return w.piece(f.append(nil))
}

// dictionary writes the words. A piece has words without what they share with the one before, how many packs have each,
// and how long the pieces are that say which; these come before it. A word of one pack has it in place of such a piece.
type dictionary struct {
	out   *writer
	index []byte // of each piece of words: the first one, where the places of its words start, how long they are, and its length

	piece  []byte
	places []byte
	first  string
	last   string
	start  int
	words  int
}

func (d *dictionary) add(t *term) error {
	if d.words == 0 {
		d.first, d.start, d.last = t.key, d.out.off, ""
	}
	shared := 0
	for shared < min(len(d.last), len(t.key)) && d.last[shared] == t.key[shared] {
		shared++
	}
	d.piece = appendString(appendNumber(d.piece, shared), t.key[shared:])
	d.piece = appendNumber(d.piece, t.count)
	switch t.count {
	case 0:
	case 1:
		d.piece = append(appendNumber(d.piece, t.first), t.mark)
	default:
		d.places = append(append(appendNumber(d.places[:0], t.first), t.mark), t.more...)
		d.piece = appendNumber(d.piece, len(d.places))
		if err := d.out.piece(d.places); err != nil {
			return err
		}
	}
	d.last = t.key
	if d.words++; d.words == wordsPerPiece {
		return d.flush()
	}
	return nil
}

func (d *dictionary) flush() error {
	if d.words == 0 {
		return nil
	}
	d.index = appendString(d.index, d.first)
	for _, n := range []int{d.start, d.out.off - d.start, len(d.piece)} {
		d.index = appendNumber(d.index, n)
	}
	err := d.out.piece(d.piece)
	d.piece, d.words = d.piece[:0], 0
	return err
}

// footer says where the rest is.
type footer struct {
	tag             string
	docs            int
	spans, spansLen int // the list of the pieces of packs
	index, indexLen int // the list of the pieces of words
}

func (f footer) append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.tag)))
	b = append(b, f.tag...)
	b = append(b, make([]byte, maxTag-len(f.tag))...)
	for _, n := range []int{f.docs, f.spans, f.spansLen, f.index, f.indexLen} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func readFooter(b []byte) (f footer, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) != footerSize-len(magic)-sumSize {
		return f, false
	}
	size := binary.LittleEndian.Uint32(rest)
	if size > maxTag {
		return f, false
	}
	f.tag = string(rest[4 : 4+size])
	rest = rest[4+maxTag:]
	for i, n := range []*int{&f.docs, &f.spans, &f.spansLen, &f.index, &f.indexLen} {
		v := binary.LittleEndian.Uint64(rest[8*i:])
		if v > 1<<48 {
			return f, false
		}
		*n = int(v)
	}
	return f, f.docs <= maxDocs
}
