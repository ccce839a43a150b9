package flow

import (
	"bytes"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// File is one file of a skill.
type File struct {
	Path string // in the skill, with slashes
	Data []byte
	// Page is the parsed text of a Markdown file. If it is nil, the file is parsed.
	Page *markdown.Page
}

// Summary is what one file does. It is small, and keeps nothing of the file's text but short names. The zero value is
// that of a file without code.
type Summary struct {
	path    string
	facts   []Fact
	nodes   []node
	edges   [][2]int32 // data passes from the first node to the second
	partial bool
}

// Analyze returns what the code in the files of one skill does.
func Analyze(files []File) *Facts {
	summaries := make([]*Summary, len(files))
	for i, f := range files {
		summaries[i] = Summarize(f)
	}
	return Join(summaries)
}

// Summarize reads one file, so that a caller need not keep the files of a skill. It may be called concurrently.
func Summarize(f File) *Summary {
	sum := &Summary{path: f.Path}
	r := newReader(f, sum)
	switch lang := LanguageOf(f.Path, f.Data); {
	case isMarkdown(f.Path):
		page := f.Page
		if page == nil {
			page = markdown.Read(f.Data, 0)
		}
		r.shown = true
		r.page(page)
	case lang == Other:
		return sum
	case len(f.Data) > maxFile:
		sum.partial = true
	default:
		r.program(lang, string(f.Data))
	}
	sum.number(f.Data)
	return sum
}

// number sets the lines of the facts.
func (s *Summary) number(text []byte) {
	order := make([]int, len(s.facts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return s.facts[a].Start - s.facts[b].Start })
	at, line := 0, 1
	for _, i := range order {
		f := &s.facts[i]
		line += bytes.Count(text[at:f.Start], []byte("\n"))
		at, f.Line = f.Start, line
	}
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
