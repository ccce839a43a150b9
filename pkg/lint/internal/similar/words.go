package similar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shingle returns, for each text, the numbers of its pairs of neighbouring words, each once, and how many numbers there
// are. Texts that are the same as an earlier one have none.
func shingle(texts []string) (lists [][]uint32, kinds int) {
	ids := make(map[uint64]uint32)
	var last []uint32 // by number, the last text that had it, counted from 1
	distinct := make(map[string]struct{}, len(texts))
	lists = make([][]uint32, len(texts))
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	flat := make([]uint32, 0, size/6) // a word and the space after it, as it is in English
	for i, text := range texts {
		if _, dup := distinct[text]; dup {
			continue
		}
		distinct[text] = struct{}{}
		start := len(flat)
		add := func(h uint64) {
			id, ok := ids[h]
			if !ok {
				id = uint32(len(last))
				ids[h] = id
				last = append(last, 0)
			}
			if last[id] != uint32(i)+1 {
				last[id] = uint32(i) + 1
				flat = append(flat, id)
			}
		}
		n, before := 0, uint64(0)
		words(text, func(word uint64) {
			if n++; n > 1 {
				add(mix(before*prime + word))
			}
			before = word
		})
		if n == 1 {
			add(before)
		}
		lists[i] = flat[start:len(flat):len(flat)]
	}
	return lists, len(last)
}

const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// words calls each with the hash (64 bits of FNV-1a) of every word of a text, in small letters. That two words have one
// hash is left out of account: it is far less likely than any other mistake.
func words(text string, each func(uint64)) {
	h, inside := uint64(offset), false
	end := func() {
		if inside {
			each(mix(h))
		}
		h, inside = offset, false
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if lower := c | 0x20; 'a' <= lower && lower <= 'z' {
				c = lower
			} else if c < '0' || '9' < c {
				end()
				continue
			}
			h, inside = (h^uint64(c))*prime, true
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if alone || !unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) {
			end()
		}
		if r = unicode.ToLower(r); alone || unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) {
			h, inside = (h^uint64(r))*prime, true
		}
		if alone {
			end()
		}
	}
	end()
}

// Distinguishable reports whether two similar texts are nevertheless about different things, as descriptions from one
// template are: each has a word of its own name that the other text lacks (pdf-to-text and word-to-text), or each has a
// proper name or a number that the other lacks (one about Welsh, and one about Ukrainian).
func Distinguishable(nameA, textA, nameB, textB string) bool {
	a, b := wordSet(textA), wordSet(textB)
	return has(nameA, a, b) && has(nameB, b, a) || hasProperName(textA, b) && hasProperName(textB, a)
}

// has reports whether a word of name is in the one set and not in the other.
func has(name string, in, out map[uint64]bool) bool {
	found := false
	words(name, func(w uint64) { found = found || in[w] && !out[w] })
	return found
}

// hasProperName reports whether a text has a word that is not in a set, with a digit, or with a capital letter although
// it does not start a sentence.
func hasProperName(text string, out map[uint64]bool) bool {
	start := true
	for word := range strings.FieldsSeq(text) {
		inside := strings.TrimLeftFunc(word, isSymbol)
		if !start && strings.ContainsFunc(inside, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) }) {
			found := false
			words(inside, func(w uint64) { found = found || !out[w] })
			if found {
				return true
			}
		}
		start = strings.ContainsAny(word[len(word)-1:], ".!?:")
	}
	return false
}

func isSymbol(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func wordSet(text string) map[uint64]bool {
	set := make(map[uint64]bool)
	words(text, func(w uint64) { set[w] = true })
	return set
}

// Squash returns a name in the form that it shares with names that are easily taken for it: in small letters, without
// hyphens and underscores, and without the s of a plural at the end of each word, so that pdf-tools, pdf-tool and
// pdftool are one. Words of less than four letters, and those that end in two, keep their s: aws, access.
func Squash(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' }) {
		if len(word) >= 4 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
			word = word[:len(word)-1]
		}
		b.WriteString(word)
	}
	return b.String()
}
