package bm25

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"math"

	"github.com/klauspost/compress/flate"

	"github.com/skillpm/skillpm/pkg/diag"
)

// An index file consists of parts, each followed by its checksum:
//
//	the data of the documents, compressed, docsPerBlock to a part
//	the postings of each word that documents have
//	the directory: sizes of the blocks of documents, the abbreviations, then the dictionary
//	the footer: magic, offset and size of the directory
//
// The dictionary has a record of fixed size for each word, in order, and the texts of the words. It is searched as it
// was read.
const (
	Magic        = "skillpm search 4\n" // the number changes with the format, and with how words are made and weighed
	docsPerBlock = 16
	maxPart      = 1 << 28
	sumSize      = 4
	footerSize   = len(Magic) + 8 + 8
	recordSize   = 4 + 4 + 8 + 4 // where the text starts, how many documents, offset and size of the postings
)

// castagnoli returns the table of the checksums; hash/crc32 makes it once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func damaged(what string) error {
	return diag.Errorf(diag.Invalid, "the search index is damaged: %s", what)
}

// writer writes the parts of an index in their order.
type writer struct {
	w   io.Writer
	off int

	inBlock    int          // documents of the current block
	block      []byte       // their keys and data
	compressed bytes.Buffer // the same
	deflate    *flate.Writer
	blocks     []byte // the sizes of each block: compressed, uncompressed
	count      int
}

// part writes bytes and their checksum.
func (w *writer) part(b []byte) error {
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	n, err := w.w.Write(b)
	w.off += n
	return err
}

// document adds what the index returns for a document.
func (w *writer) document(d Document) error {
	for _, b := range [][]byte{[]byte(d.Key), d.Data} {
		w.block = append(binary.AppendUvarint(w.block, uint64(len(b))), b...)
	}
	if w.inBlock++; w.inBlock == docsPerBlock {
		return w.flush()
	}
	return nil
}

// flush writes the current block of documents.
func (w *writer) flush() (err error) {
	if w.inBlock == 0 {
		return nil
	}
	w.compressed.Reset()
	if w.deflate == nil {
		if w.deflate, err = flate.NewWriter(&w.compressed, 3); err != nil {
			return err
		}
	}
	w.deflate.Reset(&w.compressed)
	if _, err := w.deflate.Write(w.block); err != nil {
		return err
	}
	if err := w.deflate.Close(); err != nil {
		return err
	}
	w.blocks = binary.AppendUvarint(w.blocks, uint64(w.compressed.Len()))
	w.blocks = binary.AppendUvarint(w.blocks, uint64(len(w.block)))
	w.count++
	w.inBlock, w.block = 0, w.block[:0]
	return w.part(w.compressed.Bytes())
}

// finish writes the postings, the directory, and the footer.
func (w *writer) finish(docs int, learned []abbreviation, dictionary iter.Seq2[string, *postings]) error {
	if err := w.flush(); err != nil {
		return err
	}
	var records, texts []byte
	words := 0
	for word, p := range dictionary {
		records = binary.LittleEndian.AppendUint32(records, uint32(len(texts)))
		records = binary.LittleEndian.AppendUint32(records, uint32(p.docs))
		records = binary.LittleEndian.AppendUint64(records, uint64(w.off))
		records = binary.LittleEndian.AppendUint32(records, uint32(len(p.list)))
		texts = append(texts, word...)
		words++
		if p.docs > 0 {
			if err := w.part(p.list); err != nil {
				return err
			}
		}
	}
	var directory []byte
	for _, n := range []int{docs, w.count, words} {
		directory = binary.AppendUvarint(directory, uint64(n))
	}
	directory = appendTable(append(directory, w.blocks...), learned)
	directory = append(append(directory, records...), texts...)
	if len(directory) > maxPart {
		return diag.Errorf(diag.Invalid, "too many words for a search index: %d", words)
	}
	footer := binary.LittleEndian.AppendUint64([]byte(Magic), uint64(w.off))
	footer = binary.LittleEndian.AppendUint64(footer, uint64(len(directory)))
	if err := w.part(directory); err != nil {
		return err
	}
	return w.part(footer)
}

// file reads the parts of an index.
type file struct {
	io.ReaderAt
	size int64
}

// part reads a part and compares its checksum.
func (f file) part(off, size int) ([]byte, error) {
	if off < 0 || size < 0 || size > maxPart || int64(off)+int64(size)+sumSize > f.size {
		return nil, damaged("a section is outside of the file")
	}
	b := make([]byte, size+sumSize)
	if _, err := f.ReadAt(b, int64(off)); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, damaged("the file is too short")
		}
		return nil, err
	}
	if binary.LittleEndian.Uint32(b[size:]) != crc32.Checksum(b[:size], castagnoli()) {
		return nil, damaged("a checksum does not match")
	}
	return b[:size], nil
}

// directory reads the directory, which the footer points to.
func (f file) directory() ([]byte, error) {
	b, err := f.part(int(f.size)-footerSize-sumSize, footerSize)
	if err != nil {
		return nil, err
	}
	at, ok := bytes.CutPrefix(b, []byte(Magic))
	if !ok {
		return nil, damaged("its format is unknown")
	}
	off, size := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
	if off > math.MaxInt64/2 || size > maxPart {
		return nil, damaged("a section is outside of the file")
	}
	return f.part(int(off), int(size))
}

// inflate returns a block of documents, which has size bytes.
func inflate(b []byte, size int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), int64(size)+1))
	if err != nil || len(text) != size {
		return nil, damaged("cannot decompress the documents")
	}
	return text, nil
}

// cutUvarint returns the number, at most limit, that bytes begin with, and the rest of them.
func cutUvarint(b []byte, limit int) (n int, rest []byte, ok bool) {
	v, size := binary.Uvarint(b)
	if size <= 0 || v > uint64(limit) {
		return 0, nil, false
	}
	return int(v), b[size:], true
}
