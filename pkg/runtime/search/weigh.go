package search

import (
	"math/bits"
	"strings"
)

// field is a part of a pack that words are found in, the weightiest first.
type field int

const (
	inName field = iota
	inOwner
	inTag
	inSkill
	inText
	inSkillText
	fields
)

// fieldNames are what the fields are called in answers.
func (f field) String() string {
	return [...]string{"name", "owner", "tag", "skill", "description", "skill description"}[f]
}

// What weighs how much. The lengths are what is usual in words, and are fixed: a pack's weights do not depend on the
// other packs, so that packs of several indexes can be compared.
const (
	unit       = 64  // of weights
	saturation = 6   // the weight at which a word counts half of what it can count at most
	most       = 127 // what it counts at most
	lengthPart = 60  // per cent of a weight that depends on how long the field is
)

func (f field) weight() (weight, usual int) {
	switch f {
	case inName:
		return 10, 2
	case inOwner:
		return 4, 1
	case inTag:
		return 6, 4
	case inSkill:
		return 4, 4
	case inText:
		return 2, 15
	default:
		return 1, 40
	}
}

// share returns what one word of a field adds where the field has so many words.
func (f field) share(length int) int {
	weight, usual := f.weight()
	return max(1, weight*unit*100/(100-lengthPart+lengthPart*max(length, 1)/usual))
}

// impact returns what a word counts for in a pack, from 1 to most, from the sum of its shares.
func impact(sum int) byte {
	return byte(max(1, most*sum/(saturation*unit+sum)))
}

// rarity returns how much a word says that so many of all packs have: the logarithm of BM25, in 256ths of a bit.
func rarity(have, all int) int {
	have = max(have, 1)
	return log2(uint64(all)<<16/uint64(have)+1<<16) - 16<<8
}

// log2 returns the logarithm of n, at least 1, in 256ths, with a straight line between powers of two.
func log2(n uint64) int {
	whole := bits.Len64(n) - 1
	var part uint64
	if whole >= 8 {
		part = n >> (whole - 8) & 0xff
	} else {
		part = n << (8 - whole) & 0xff
	}
	return whole<<8 + int(part)
}

// texts calls found with each text of a pack that words are looked for in, and the skill that it is of, -1 for none.
func (d *Doc) texts(found func(f field, skill int, text string)) {
	owner, name, _ := strings.Cut(d.Name, "/")
	found(inName, -1, name)
	found(inOwner, -1, owner)
	for _, t := range d.Tags {
		found(inTag, -1, t)
	}
	for i, s := range d.Skills {
		found(inSkill, i, s.Name)
	}
	found(inText, -1, d.Description)
	for i, s := range d.Skills {
		found(inSkillText, i, s.Description)
	}
}

// prose reports whether a field has sentences, in which common words say nothing.
func (f field) prose() bool { return f >= inText }
