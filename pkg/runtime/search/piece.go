package search

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/skillpm/skillpm/pkg/diag"
)

// An index is a file of pieces, each followed by its checksum, and a last one of a fixed size that says where the
// others are:
//
//	packs, compressed, so many to a piece
//	the words, sorted, so many to a piece, and before it, for each that more than one pack has, a piece that says which
//	the list of the pieces of packs, and that of the pieces of words
//	the footer
const (
	magic      = "skillpm search 1\n" // the number changes with the form, and with how words are made and weighed
	maxTag     = 256
	maxPiece   = 64 << 20
	sumSize    = 4
	footerSize = len(magic) + 4 + maxTag + 5*8 + sumSize
)

// castagnoli returns the table of the checksums; it is made once by hash/crc32.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func damaged(what string) error {
	return diag.Errorf(diag.Invalid, "the search index is damaged: %s", what)
}

func appendNumber(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendString(b []byte, s string) []byte { return append(appendNumber(b, len(s)), s...) }

// reader reads numbers and texts from a piece. Once something is missing it returns zeros, and bad is set.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) number() int {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n > 1<<48 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}

// count reads how many of something there are, at most most and at most one for each byte that is left.
func (r *reader) count(most int) int {
	n := r.number()
	if n > most || n > len(r.data) {
		r.bad, r.data = true, nil
		return 0
	}
	return n
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.bad, r.data = true, nil
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) string() string { return string(r.bytes(r.number())) }

func (r *reader) byte() byte {
	b := r.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}
