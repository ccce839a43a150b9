package bm25

import (
	"math/bits"
	"strings"
)

// Schema says which fields documents have and how their words count. Weights don't depend on the other documents, so
// that documents of several indexes can be compared.
type Schema struct {
	Fields      []Field // the weightiest first
	Saturation  int     // the weight at which a word counts half of its maximum
	LengthShare int     // per cent of a weight that depend on the length of the field
}

// Field is a part of a document.
type Field struct {
	Name   string // as explanations print it
	Weight int
	Usual  int  // length in words that is usual, 0 if the length does not matter
	Most   int  // how many times its weight a word can count that is repeated in it, 0 for any number
	Prose  bool // it has sentences: common words are not indexed, and neighbors are not joined
	Title  bool // its whole text is a name of the document
}

const (
	unit      = 64  // of weights
	maxImpact = 127 // of a word in a document

	// exact is added to the impact of a word that is the whole title of a document.
	exact = 0x80
)

// share returns the contribution of one word in a field of so many words.
func (s *Schema) share(f Field, length int) int {
	if f.Usual == 0 {
		return f.Weight * unit
	}
	return max(1, f.Weight*unit*100/(100-s.LengthShare+s.LengthShare*max(length, 1)/f.Usual))
}

// sum returns the contribution of a word that is so many times in a field of so many words.
func (s *Schema) sum(f Field, times, length int) int {
	sum := times * s.share(f, length)
	if f.Most > 0 {
		sum = min(sum, f.Most*f.Weight*unit)
	}
	return sum
}

// impact returns the weight of a word in a document, from 1 to maxImpact, given the sum of its shares.
func (s *Schema) impact(sum int) byte {
	return byte(max(1, maxImpact*sum/(s.Saturation*unit+sum)))
}

// rarity returns the information of a word that so many of all documents have: the logarithm of BM25, in 256ths of a
// bit.
func rarity(have, all int) int {
	have = max(have, 1)
	return log2(uint64(all)<<16/uint64(have)+1<<16) - 16<<8
}

// log2 returns the logarithm of n, at least 1, in 256ths, with a straight line between powers of two.
func log2(n uint64) int {
	exponent := bits.Len64(n) - 1
	var fraction uint64
	if exponent >= 8 {
		fraction = n >> (exponent - 8) & 0xff
	} else {
		fraction = n << (8 - exponent) & 0xff
	}
	return exponent<<8 + int(fraction)
}

// token is a word of a field.
type token struct {
	word   string
	text   string // as in the text: joined words with a hyphen
	joined bool   // several words of the text, joined
	title  bool   // the complete title
}

// tokens calls yield with the words of a text in a field, then, for a title, with the complete title, until yield
// returns false. Each word of a name is followed by the join with the word before.
func (f Field) tokens(text string, yield func(token) bool) {
	var parts []string
	more := true
	words(text, func(w string) bool {
		more = yield(token{word: w, text: w})
		if f.Prose || !more {
			return more
		}
		if n := len(parts); n > 0 && len(parts[n-1]+w) <= maxWord {
			last := parts[n-1]
			more = yield(token{word: last + w, text: last + "-" + w, joined: true})
		}
		parts = append(parts, w)
		return more
	})
	if title := strings.Join(parts, ""); f.Title && more && title != "" && len(title) <= maxWord {
		yield(token{word: title, text: strings.Join(parts, "-"), joined: true, title: true})
	}
}
