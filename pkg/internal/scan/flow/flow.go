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
	path     string
	facts    []Fact
	programs []Fact // of kind Runs: the first run of each program
	nodes    []node
	edges    [][2]int32 // data passes from the first node to the second
	partial  bool
	valid    bool
}

// Facts returns what the code of the file does.
func (s *Summary) Facts() []Fact { return s.facts }

// Programs returns the first run of each program that shell code of the file runs, with its name without directories.
// Lines that are not valid shell code, and here-documents, count with the first words of their commands.
func (s *Summary) Programs() []Fact { return s.programs }

// Partial reports that the file has code that was not read: it is too large, too deeply nested, or not valid. Invalid
// code in Markdown does not count.
func (s *Summary) Partial() bool { return s.partial }

// ValidBash reports that the file is a shell script in the syntax of bash without errors.
func (s *Summary) ValidBash() bool { return s.valid }

// Analyze returns what the code in the files of one skill does.
func Analyze(files []File) *Facts {
	summaries, pool := make([]*Summary, len(files)), NewPool(1)
	for i, f := range files {
		summaries[i] = pool.Summarize(f)
	}
	return Join(summaries)
}

// Summarize reads one file, so that a caller need not keep the files of a skill. It may be called concurrently.
func Summarize(f File) *Summary { return Pool(nil).Summarize(f) }

// Summarize is the function [Summarize] with memory of the pool.
func (p Pool) Summarize(f File) *Summary {
	sum := &Summary{path: f.Path}
	m := p.take()
	defer p.put(m)
	r := newReader(f, sum, m)
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
		sum.valid = lang == Shell && !sum.partial
	}
	sum.number(f.Data)
	return sum
}

// number sets the lines of the facts.
func (s *Summary) number(text []byte) {
	order := make([]*Fact, 0, len(s.facts)+len(s.programs))
	for i := range s.facts {
		order = append(order, &s.facts[i])
	}
	for i := range s.programs {
		order = append(order, &s.programs[i])
	}
	slices.SortFunc(order, func(a, b *Fact) int { return a.Start - b.Start })
	at, line := 0, 1
	for _, f := range order {
		line += bytes.Count(text[at:f.Start], []byte("\n"))
		at, f.Line = f.Start, line
	}
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
