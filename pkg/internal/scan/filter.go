package scan

import (
	"encoding/binary"
	"strings"
)

// A filter finds quickly where one of many literals may be. It knows each literal by four of its bytes, its gram, in
// lower case. A table of bits, indexed by a hash of the four bytes at each position of a text, lets few positions
// through, and those are looked up exactly. A filter is read-only once it is made.
type filter struct {
	bits    [1 << (filterBits - 6)]uint64
	keys    [slots]uint32 // grams, open addressing; 0 is free
	first   [slots]uint16 // the first entry of a gram, plus one
	entries []gramEntry
}

// gramEntry is one literal under one of its grams.
type gramEntry struct {
	literal uint16
	offset  uint8  // of the gram in the literal
	next    uint16 // the next entry of the gram plus one, 0 for the last
}

const (
	filterBits = 17
	slotBits   = 12
	slots      = 1 << slotBits

	fold32 = 0x20202020
	fold64 = 0x2020202020202020

	// mixer is odd, and has few false positives among English words.
	mixer = 0x6311F1A1
)

// add adds a literal under one gram.
func (f *filter) add(gram uint32, literal, offset int) {
	h := gram * mixer
	b := h >> (32 - filterBits)
	f.bits[b>>6] |= 1 << (b & 63)
	s := h >> (32 - slotBits)
	for f.keys[s] != 0 && f.keys[s] != gram {
		s = (s + 1) % slots
	}
	f.keys[s] = gram
	f.entries = append(f.entries, gramEntry{literal: uint16(literal), offset: uint8(offset), next: f.first[s]})
	f.first[s] = uint16(len(f.entries))
}

// lookup returns the first entry of a gram plus one, or 0.
func (f *filter) lookup(gram uint32) uint16 {
	for s := gram * mixer >> (32 - slotBits); f.keys[s] != 0; s = (s + 1) % slots {
		if f.keys[s] == gram {
			return f.first[s]
		}
	}
	return 0
}

// next returns the first position at or after i where a gram may be, or -1.
func (f *filter) next(data []byte, i int) int {
	const shift = 32 - filterBits
	for ; i+8 <= len(data); i += 4 {
		v := binary.LittleEndian.Uint64(data[i:]) | fold64
		a := uint32(v) * mixer >> shift
		b := uint32(v>>8) * mixer >> shift
		c := uint32(v>>16) * mixer >> shift
		d := uint32(v>>24) * mixer >> shift
		switch {
		case f.bits[a>>6]&(1<<(a&63)) != 0:
			return i
		case f.bits[b>>6]&(1<<(b&63)) != 0:
			return i + 1
		case f.bits[c>>6]&(1<<(c&63)) != 0:
			return i + 2
		case f.bits[d>>6]&(1<<(d&63)) != 0:
			return i + 3
		}
	}
	for ; i+4 <= len(data); i++ {
		h := gramAt(data, i) * mixer >> shift
		if f.bits[h>>6]&(1<<(h&63)) != 0 {
			return i
		}
	}
	return -1
}

// gramAt returns the folded four bytes at i.
func gramAt(data []byte, i int) uint32 { return binary.LittleEndian.Uint32(data[i:]) | fold32 }

// gramOf is gramAt for a literal.
func gramOf(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24 | fold32
}

// rarest returns the offset of the four bytes of a literal that are least likely to occur in a text by chance.
func rarest(s string) int {
	best, at := 1<<30, 0
	for i := 0; i+4 <= len(s); i++ {
		sum := 0
		for _, c := range []byte(s[i : i+4]) {
			sum += commonness(lower(c))
		}
		if strings.Contains(s[i:i+4], "--") {
			sum += 100 // rules and the heads of tables
		}
		if sum < best {
			best, at = sum, i
		}
	}
	return at
}

// commonness estimates how often text has a byte: ten times the logarithm to base 2 of the share in 100,000.
func commonness(c byte) int {
	if k := c - 'a'; k < 26 {
		return int(letterCommonness[k])
	}
	switch c {
	case ' ':
		return 139
	case '-':
		return 100
	}
	return 90
}

// letterCommonness is commonness for the letters of English.
var letterCommonness = [26]uint8{
	128, 104, 114, 118, 134, 109, 108, 124, 126, 68, 91, 119, 110,
	126, 127, 107, 64, 125, 126, 130, 113, 98, 107, 80, 104, 63,
}
