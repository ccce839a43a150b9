package flow

import (
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
	path  string
	facts []Fact
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
	return &Summary{path: f.Path}
}

// Join returns what the files of one skill do together. The order of summaries does not matter. nil ones are ignored.
func Join(summaries []*Summary) *Facts {
	facts := &Facts{}
	for _, s := range summaries {
		if s != nil {
			facts.All = append(facts.All, s.facts...)
		}
	}
	return facts
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
