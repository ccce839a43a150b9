package search

import (
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/pack/index"
)

// Doc is a pack as it is found.
type Doc struct {
	Name        string // owner/name
	Version     string
	Description string
	License     string
	Published   string // RFC 3339
	Deprecated  string // why nobody should start to use it, "" for not
	Tags        []string
	Skills      []Skill
}

// Skill is a skill of a pack.
type Skill struct {
	Name        string
	Description string
}

// The bounds of a pack. What is beyond them is neither kept nor found.
const (
	maxText   = 2 << 10 // bytes of a description
	maxShort  = 256     // bytes of a name, a version, a tag
	maxTags   = 64
	maxSkills = 4096
	maxPack   = 1 << 20 // bytes of the skills together
)

// FromCatalog returns a catalogue's entry as a Doc.
func FromCatalog(e index.CatalogEntry) Doc {
	d := Doc{
		Name: e.Name, Version: e.Version, Description: e.Description, License: e.License, Published: e.Published,
		Deprecated: e.Deprecated, Tags: e.Tags,
	}
	for _, s := range e.Skills {
		d.Skills = append(d.Skills, Skill{Name: s.Name, Description: s.Description})
	}
	return d
}

// bounded returns the pack with all that is too long cut.
func (d Doc) bounded() Doc {
	d.Name, d.Version = cut(d.Name, maxShort), cut(d.Version, maxShort)
	d.License, d.Published = cut(d.License, maxShort), cut(d.Published, maxShort)
	d.Description, d.Deprecated = cut(d.Description, maxText), cut(d.Deprecated, maxText)
	tags := make([]string, 0, min(len(d.Tags), maxTags))
	for _, t := range d.Tags[:min(len(d.Tags), maxTags)] {
		tags = append(tags, cut(t, maxShort))
	}
	skills := make([]Skill, 0, min(len(d.Skills), maxSkills))
	size := 0
	for _, s := range d.Skills[:min(len(d.Skills), maxSkills)] {
		s.Name, s.Description = cut(s.Name, maxShort), cut(s.Description, maxText)
		if size += len(s.Name) + len(s.Description); size > maxPack {
			break
		}
		skills = append(skills, s)
	}
	d.Tags, d.Skills = tags, skills
	return d
}

// cut returns the first bytes of a text, at most n, that are whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// append writes the pack as an index keeps it.
func (d Doc) append(b []byte) []byte {
	for _, s := range []string{d.Name, d.Version, d.Description, d.License, d.Published, d.Deprecated} {
		b = appendString(b, s)
	}
	b = appendNumber(b, len(d.Tags))
	for _, t := range d.Tags {
		b = appendString(b, t)
	}
	b = appendNumber(b, len(d.Skills))
	for _, s := range d.Skills {
		b = appendString(appendString(b, s.Name), s.Description)
	}
	return b
}

// readDoc reads what append wrote.
func readDoc(r *reader) Doc {
	var d Doc
	for _, s := range []*string{&d.Name, &d.Version, &d.Description, &d.License, &d.Published, &d.Deprecated} {
		*s = r.string()
	}
	for range r.count(maxTags) {
		d.Tags = append(d.Tags, r.string())
	}
	for range r.count(maxSkills) {
		d.Skills = append(d.Skills, Skill{Name: r.string(), Description: r.string()})
	}
	return d
}
