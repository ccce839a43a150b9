package render

import (
	"bytes"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// sarifFix is a proposed fix for a finding. A deleted region is given in lines and columns, which viewers support best,
// or in bytes if the file cannot be read.
type sarifFix struct {
	Description sarifText     `json:"description"`
	Changes     []sarifChange `json:"artifactChanges"`
}

type sarifChange struct {
	Artifact     sarifArtifact      `json:"artifactLocation"`
	Replacements []sarifReplacement `json:"replacements"`
}

type sarifReplacement struct {
	Deleted  any        `json:"deletedRegion"` // a sarifRegion or a sarifBytes
	Inserted *sarifText `json:"insertedContent,omitempty"`
}

type sarifBytes struct {
	Offset int `json:"byteOffset"`
	Length int `json:"byteLength"`
}

// fixes returns the fixes of a finding, or nil if they are not text edits.
func (s *sarifWriter) fixes(f diag.Finding) []sarifFix {
	fix := sarifFix{Description: sarifText{f.Fix}}
	index := map[string]int{}
	for _, e := range f.Edits {
		if e.Executable {
			return nil
		}
		i, known := index[e.Path]
		if !known {
			i = len(fix.Changes)
			index[e.Path] = i
			fix.Changes = append(fix.Changes, sarifChange{Artifact: s.artifact(e.Path)})
		}
		r := sarifReplacement{Deleted: s.region(e)}
		if e.Text != "" {
			r.Inserted = &sarifText{e.Text}
		}
		fix.Changes[i].Replacements = append(fix.Changes[i].Replacements, r)
	}
	if len(fix.Changes) == 0 {
		return nil
	}
	return []sarifFix{fix}
}

func (s *sarifWriter) region(e diag.Edit) any {
	text := s.text(e.Path)
	if e.Start > e.End || e.End > len(text.data) {
		return sarifBytes{e.Start, e.End - e.Start}
	}
	var r sarifRegion
	r.StartLine, r.StartColumn = text.position(e.Start)
	r.EndLine, r.EndColumn = text.position(e.End)
	return r
}

// text reads a file to fix. It returns an empty text if the file cannot be read, if it is standard input, or if readers
// of the log would count its columns differently, because it is not UTF-8 or has a byte order mark.
func (s *sarifWriter) text(name string) *fileText {
	if s.name == name && s.file != nil { // findings are in the order of files
		return s.file
	}
	s.name, s.file = name, new(fileText)
	file := filepath.FromSlash(name)
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.Dir, file)
	}
	data, err := os.ReadFile(file)
	if err == nil && name != s.Stdin && utf8.Valid(data) && !bytes.HasPrefix(data, []byte("\ufeff")) {
		s.file.data = data
	}
	return s.file
}

// fileText converts offsets in a file to lines and columns. Ascending offsets are fast.
type fileText struct {
	data   []byte
	offset int // the offset of the last line found
	line   int // its number, from 0
}

// position returns the line and column of an offset, from 1 and in characters.
func (t *fileText) position(offset int) (line, column int) {
	if offset < t.offset {
		t.offset, t.line = 0, 0
	}
	for i := t.offset; i < offset; i++ {
		if t.data[i] == '\n' {
			t.offset, t.line = i+1, t.line+1
		}
	}
	return t.line + 1, utf8.RuneCount(t.data[t.offset:offset]) + 1
}
