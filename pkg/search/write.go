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
	d := dictionary{at: w.off}
	for t, err := range terms {
		if err != nil {
			return err
		}
		if t.count > 1 {
			if err := w.piece(appendPlaces(nil, t)); err != nil {
				return err
			}
		}
		d.add(t)
	}
	d.flush()
	words := w.off
	for _, p := range d.pieces {
		if err := w.piece(p); err != nil {
			return err
		}
	}
	f := footer{tag: tag, docs: docs, words: words, spans: w.off, spansLen: len(w.spans), index: w.off + len(w.spans) + sumSize, indexLen: len(d.index)}
	for _, list := range [][]byte{w.spans, d.index} {
		if err := w.piece(list); err != nil {
			return err
		}
	}
	return w.piece(f.append(nil))
}

// appendPlaces writes in which packs a term is: the first, and how many further on each other one is, with their marks.
func appendPlaces(b []byte, t *term) []byte {
	return append(append(appendNumber(b, t.first), t.mark), t.more...)
}

// dictionary makes the pieces of words. Each has the words that share a beginning with the one before without it, how many
// packs have them, and how long the pieces are that say which.
type dictionary struct {
	at     int // where the next piece of places starts
	pieces [][]byte
	index  []byte // the first word of each piece, its length, and where the places of its words start

	piece []byte
	first string
	start int
	last  string
	words int
}

func (d *dictionary) add(t *term) {
	if d.words == 0 {
		d.first, d.start, d.last = t.key, d.at, ""
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
		size := len(appendPlaces(nil, t))
		d.piece = appendNumber(d.piece, size)
		d.at += size + sumSize
	}
	d.last = t.key
	if d.words++; d.words == wordsPerPiece {
		d.flush()
	}
}

func (d *dictionary) flush() {
	if d.words == 0 {
		return
	}
	d.pieces = append(d.pieces, d.piece)
	d.index = appendString(d.index, d.first)
	d.index = appendNumber(appendNumber(d.index, len(d.piece)), d.start)
	d.piece, d.words = nil, 0
}

// footer says where the rest is.
type footer struct {
	tag                 string
	docs                int
	words               int // where the pieces of words start
	spans, spansLen     int // the list of the pieces of packs
	index, indexLen     int // the list of the pieces of words
}

func (f footer) append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.tag)))
	b = append(b, f.tag...)
	b = append(b, make([]byte, maxTag-len(f.tag))...)
	for _, n := range []int{f.docs, f.words, f.spans, f.spansLen, f.index, f.indexLen} {
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
	for i, n := range []*int{&f.docs, &f.words, &f.spans, &f.spansLen, &f.index, &f.indexLen} {
		v := binary.LittleEndian.Uint64(rest[8*i:])
		if v > 1<<48 {
			return f, false
		}
		*n = int(v)
	}
	return f, f.docs <= maxDocs
}
