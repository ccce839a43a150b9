package catalog

import (
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The bounds of what is searched of a skill's instructions, in bytes.
const (
	maxSearchedBody = 4 << 10  // prose and code
	maxSearchedText = 64 << 10 // headings and names of files
	maxSearchedList = 128      // headings, files, tags
)

// The numbers of the fields in the schema.
const (
	inName = iota
	inTags
	inDescription
	inWhen
	inHeadings
	inFiles
	inBody
)

// matchSchema returns the searched fields and their weights. A word that an author repeats counts only a few times. All
// fields of the instructions together count less than a description of usual length, so that instructions full of
// popular words do not match better than a name or a description.
func matchSchema() *bm25.Schema {
	return &bm25.Schema{Saturation: 30, LengthShare: 60, Fields: []bm25.Field{
		inName:        {Name: "name", Weight: 50, Usual: 3, Most: 1, Title: true},
		inTags:        {Name: "tags", Weight: 35, Usual: 4, Most: 1},
		inDescription: {Name: "description", Weight: 28, Usual: 35, Most: 2, Prose: true},
		inWhen:        {Name: "when to use", Weight: 28, Usual: 25, Most: 2, Prose: true},
		inHeadings:    {Name: "headings", Weight: 5, Usual: 40, Most: 2, Prose: true},
		inFiles:       {Name: "files", Weight: 3, Usual: 20, Most: 1, Prose: true},
		inBody:        {Name: "instructions", Weight: 3, Usual: 500, Most: 3, Prose: true},
	}}
}

// texts returns the texts of a skill, in the order of the schema's fields.
func (c *Candidate) texts() []bm25.Text {
	texts := []bm25.Text{{Field: inName, Text: c.Name}}
	for _, t := range c.Tags[:min(len(c.Tags), maxSearchedList)] {
		texts = append(texts, bm25.Text{Field: inTags, Text: t})
	}
	headings, files := outline(textx.Prefix(c.Body, maxSearchedText))
	files = append(slices.Clone(c.Files[:min(len(c.Files), maxSearchedList)]), files...)
	return append(texts,
		bm25.Text{Field: inDescription, Text: c.Description}, bm25.Text{Field: inWhen, Text: c.WhenToUse},
		bm25.Text{Field: inHeadings, Text: strings.Join(headings, "\n")},
		bm25.Text{Field: inFiles, Text: strings.Join(files, "\n")},
		bm25.Text{Field: inBody, Text: textx.Prefix(c.Body, maxSearchedBody)})
}

// outline returns the headings of instructions, and the base names of the files that they mention with a directory.
func outline(body string) (headings, files []string) {
	fenced := false
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fenced = !fenced
		case !fenced && strings.HasPrefix(line, "#") && len(headings) < maxSearchedList:
			headings = append(headings, strings.TrimLeft(line, "# "))
		}
		if !strings.Contains(line, "/") {
			continue
		}
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t`'\"()[]<>,;", r) }) {
			name := path.Base(word)
			if strings.Contains(word, "/") && !strings.Contains(word, "://") && path.Ext(name) != "" &&
				len(files) < maxSearchedList && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return headings, files
}
