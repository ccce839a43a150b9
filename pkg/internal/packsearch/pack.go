// Package packsearch finds packs of registries by words, in indexes on disk, and writes the index that websites search.
//
// Packs are ranked by [bm25]: a word in the name weighs most, then one in the tags, in the names of the skills, and in
// the descriptions. A name that is exactly what was searched for comes first. Packs that have all words come before
// those that have some of them, and deprecated ones come late.
//
// The texts of packs are untrusted: what is longer than its bound is cut. Start reading at [Find] and [Cache].
package packsearch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Pack is a pack as it is found.
type Pack struct {
	Name        string   `json:"n"` // owner/name
	Version     string   `json:"v"`
	Description string   `json:"d,omitempty"`
	License     string   `json:"l,omitempty"`
	Published   string   `json:"p,omitempty"` // RFC 3339
	Deprecated  string   `json:"x,omitempty"` // why nobody should start to use it, "" for not
	Tags        []string `json:"t,omitempty"`
	Skills      []Skill  `json:"s,omitempty"`
	Content     string   `json:"c,omitempty"` // equal for packs with the same skills
	Since       string   `json:"o,omitempty"` // when the pack first published the content
	First       string   `json:"f,omitempty"` // when the pack first published anything
}

// Skill is a skill of a pack.
type Skill struct {
	Name        string `json:"n"`
	Description string `json:"d,omitempty"`
}

// The bounds of a pack. What is beyond them is neither kept nor found.
const (
	maxText   = 2 << 10 // bytes of a description
	maxShort  = 256     // bytes of a name, a version, a tag
	maxTags   = 64
	maxSkills = 4096
	maxPack   = 1 << 20 // bytes of the skills together
)

// The numbers of the fields in the schema.
const (
	inName = iota
	inOwner
	inTag
	inSkill
	inText
	inSkillText
)

// schema returns the fields of packs and how their words count.
func schema() *bm25.Schema {
	return &bm25.Schema{Saturation: 6, LengthShare: 60, Fields: []bm25.Field{
		inName:      {Name: "name", Weight: 10, Usual: 2, Title: true},
		inOwner:     {Name: "owner", Weight: 4, Usual: 1},
		inTag:       {Name: "tag", Weight: 6, Usual: 4},
		inSkill:     {Name: "skill", Weight: 4, Usual: 4},
		inText:      {Name: "description", Weight: 2, Usual: 15, Prose: true},
		inSkillText: {Name: "skill description", Weight: 1, Usual: 40, Prose: true},
	}}
}

// limitLengths returns the pack with everything that is too long cut.
func (p Pack) limitLengths() Pack {
	for _, s := range []*string{&p.Name, &p.Version, &p.License, &p.Published, &p.Content, &p.Since, &p.First} {
		*s = cut(*s, maxShort)
	}
	p.Description, p.Deprecated = cut(p.Description, maxText), cut(p.Deprecated, maxText)
	p.Tags = slices.Clone(p.Tags[:min(len(p.Tags), maxTags)])
	for i, t := range p.Tags {
		p.Tags[i] = cut(t, maxShort)
	}
	p.Skills = slices.Clone(p.Skills[:min(len(p.Skills), maxSkills)])
	size := 0
	for i, s := range p.Skills {
		s.Name, s.Description = cut(s.Name, maxShort), cut(s.Description, maxText)
		if size += len(s.Name) + len(s.Description); size > maxPack {
			p.Skills = p.Skills[:i]
			break
		}
		p.Skills[i] = s
	}
	return p
}

// cut returns the first bytes of a text, at most n, that are whole characters.
func cut(s string, n int) string {
	return strings.ToValidUTF8(textx.Prefix(s, n), "\uFFFD")
}

// texts returns the texts of a pack, the weightiest first; skillOf knows which are of its skills.
func (p *Pack) texts() []bm25.Text {
	owner, name, _ := strings.Cut(p.Name, "/")
	texts := []bm25.Text{{Field: inName, Text: name}, {Field: inOwner, Text: owner}}
	for _, t := range p.Tags {
		texts = append(texts, bm25.Text{Field: inTag, Text: t})
	}
	for _, s := range p.Skills {
		texts = append(texts, bm25.Text{Field: inSkill, Text: s.Name})
	}
	texts = append(texts, bm25.Text{Field: inText, Text: p.Description})
	for _, s := range p.Skills {
		texts = append(texts, bm25.Text{Field: inSkillText, Text: s.Description})
	}
	return texts
}

// skillOf returns the number of the skill that a text belongs to, -1 for none.
func (p *Pack) skillOf(field, text int) int {
	switch before := 2 + len(p.Tags); field {
	case inSkill:
		return text - before
	case inSkillText:
		return text - before - len(p.Skills) - 1
	}
	return -1
}

// Index is an index of packs. It is for one goroutine at a time.
type Index struct {
	*bm25.Index
	closer io.Closer
}

// New indexes packs in memory.
func New(packs iter.Seq2[Pack, error]) (*Index, error) {
	var buf bytes.Buffer
	if err := build(&buf, packs); err != nil {
		return nil, err
	}
	x, err := bm25.Read(schema(), bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	return &Index{Index: x}, err
}

// Close closes the file.
func (x *Index) Close() {
	if x.closer != nil {
		x.closer.Close()
	}
}

// Pack returns the pack of a name, and whether there is one.
func (x *Index) Pack(name string) (Pack, bool, error) {
	i, err := x.Find(name)
	if err != nil || i < 0 {
		return Pack{}, false, err
	}
	p, err := x.pack(i)
	return p, err == nil, err
}

func (x *Index) pack(number int) (p Pack, err error) {
	_, data, err := x.Document(number)
	if err == nil && json.Unmarshal(data, &p) != nil {
		err = diag.Errorf(diag.Invalid, "the search index is damaged: invalid data of a pack")
	}
	return p, err
}

// Hit is a pack that was found.
type Hit struct {
	Pack
	Index  int      // which of the indexes has it
	Why    []Reason // the words of the query that it has, in their order
	Skills []string // its skills that have such words in name or description, those with the most first
}

// Reason says where a pack has a word of the query.
type Reason struct {
	Word  string     // of the query
	Match bm25.Match // how it was found
	Field string     // name, owner, tag, skill, description, skill description: the one that weighs most
	Found string     // as the pack has it
	Skill string     // whose name or description it is in, "" for the pack's own
}

// Answer is what was found.
type Answer struct {
	*bm25.Answer
	Hits []Hit
}

// Find returns the best packs of several indexes, at most n. A pack that several have is found several times.
func Find(indexes []*Index, query string, n int) (*Answer, error) {
	found, err := bm25.Find(inner(indexes), newQuery(query), n)
	if err != nil {
		return nil, err
	}
	a := &Answer{Answer: found}
	for _, h := range found.Hits {
		p, err := indexes[h.Index].pack(h.Number)
		if err != nil {
			return nil, err
		}
		a.Hits = append(a.Hits, a.explain(p, h.Index))
	}
	return a, nil
}

func newQuery(text string) bm25.Query {
	q := bm25.Query{Text: text}
	if name := strings.ToLower(strings.TrimSpace(text)); strings.Count(name, "/") == 1 && len(name) <= maxShort {
		q.Key = name
	}
	return q
}

// All returns all packs of several indexes, in their order.
func All(indexes []*Index) (hits []Hit, err error) {
	for i, x := range indexes {
		for number := range x.Len() {
			p, err := x.pack(number)
			if err != nil {
				return nil, err
			}
			h := Hit{Pack: p, Index: i}
			for _, s := range p.Skills[:min(len(p.Skills), maxMatchingSkills)] {
				h.Skills = append(h.Skills, s.Name)
			}
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// Near returns a word of the packs that a word may be meant for that nothing was found for, "" if there is none.
func Near(indexes []*Index, word string) string { return bm25.Nearest(inner(indexes), word) }

func inner(indexes []*Index) []*bm25.Index {
	list := make([]*bm25.Index, len(indexes))
	for i, x := range indexes {
		list[i] = x.Index
	}
	return list
}

// explain returns a hit with its reasons.
func (a *Answer) explain(p Pack, index int) Hit {
	h := Hit{Pack: p, Index: index}
	s, texts := schema(), p.texts()
	reasons, has := a.Explain(s, texts)
	for _, r := range reasons {
		field := texts[r.Text].Field
		one := Reason{Word: r.Word, Match: r.Match, Field: s.Fields[field].Name, Found: r.Found}
		if i := p.skillOf(field, r.Text); i >= 0 {
			one.Skill = p.Skills[i].Name
		}
		h.Why = append(h.Why, one)
	}
	words := make([]uint64, len(p.Skills))
	for i, t := range texts {
		if at := p.skillOf(t.Field, i); at >= 0 {
			words[at] |= has[i]
		}
	}
	h.Skills = matchingSkills(p.Skills, words)
	return h
}

// maxMatchingSkills limits the skills that are listed for one pack.
const maxMatchingSkills = 64

// matchingSkills returns the names of the skills that have words of the query, those with the most first.
func matchingSkills(skills []Skill, words []uint64) (names []string) {
	var order []int
	for i, w := range words {
		if w != 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(bits.OnesCount64(words[b]), bits.OnesCount64(words[a]))
	})
	for _, i := range order[:min(maxMatchingSkills, len(order))] {
		names = append(names, skills[i].Name)
	}
	return names
}
