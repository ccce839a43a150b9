package lint

import (
	"encoding/binary"
	"iter"

	"github.com/skillpm/skillpm/pkg/diag"
)

// The results of each skill are kept until all skills are read. There can be tens of thousands of skills, so the results
// are encoded as strings, which the garbage collector does not scan.

// compactWriter writes numbers and texts one after the other.
type compactWriter []byte

func (w *compactWriter) number(n int) { *w = binary.AppendUvarint(*w, uint64(n)) }

func (w *compactWriter) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

// change writes a text that is often the same as the one before it.
func (w *compactWriter) change(last *string, s string) {
	if s == *last {
		w.number(0)
		return
	}
	*last = s
	w.number(1)
	w.text(s)
}

// compactReader reads what a compactWriter wrote. The texts that it returns are parts of it.
type compactReader string

func (r *compactReader) number() (n int) {
	rest := string(*r)
	for i := range len(rest) {
		n |= int(rest[i]&0x7f) << (7 * i)
		if rest[i] < 0x80 {
			*r = compactReader(rest[i+1:])
			break
		}
	}
	return n
}

func (r *compactReader) text() string {
	n := r.number()
	s := string(*r)[:n]
	*r = (*r)[n:]
	return s
}

func (r *compactReader) change(last *string) string {
	if r.number() == 1 {
		*last = r.text()
	}
	return *last
}

// compactFindings is the number of findings without edits, and the findings.
type compactFindings string

func newCompactFindings(list []diag.Finding) compactFindings {
	var w compactWriter
	w.number(len(list))
	path := ""
	for i := range list {
		f := &list[i]
		w.change(&path, f.Path)
		for _, s := range [...]string{f.Rule, f.Message, f.Fix, f.Profile} {
			w.text(s)
		}
		fixable := 0
		if f.Fixable {
			fixable = 1
		}
		for _, n := range [...]int{int(f.Severity), f.Line, f.Column, f.EndLine, f.EndColumn, fixable, len(f.Related)} {
			w.number(n)
		}
		for _, s := range f.Related {
			w.text(s)
		}
	}
	return compactFindings(w)
}

func (c compactFindings) len() int {
	r := compactReader(c)
	return r.number()
}

// list returns the findings. Their strings share the memory of c.
func (c compactFindings) list() []diag.Finding {
	r := compactReader(c)
	list := make([]diag.Finding, 0, r.number())
	path := ""
	for r != "" {
		f := diag.Finding{Path: r.change(&path), Rule: r.text(), Message: r.text(), Fix: r.text(), Profile: r.text()}
		f.Severity, f.Line, f.Column = diag.Severity(r.number()), r.number(), r.number()
		f.EndLine, f.EndColumn, f.Fixable = r.number(), r.number(), r.number() == 1
		for range r.number() {
			f.Related = append(f.Related, r.text())
		}
		list = append(list, f)
	}
	return list
}

// compactMentions is mentions of skills.
type compactMentions string

func newCompactMentions(list []mention) compactMentions {
	var w compactWriter
	file := ""
	for _, m := range list {
		w.change(&file, m.file)
		w.text(m.name)
		for _, n := range [...]int32{m.line, m.column, m.width} {
			w.number(int(n))
		}
	}
	return compactMentions(w)
}

func (c compactMentions) all() iter.Seq[mention] {
	return func(yield func(mention) bool) {
		r := compactReader(c)
		file := ""
		for r != "" {
			m := mention{file: r.change(&file), name: r.text()}
			m.line, m.column, m.width = int32(r.number()), int32(r.number()), int32(r.number())
			if !yield(m) {
				return
			}
		}
	}
}
