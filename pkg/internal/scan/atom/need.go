package atom

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sequence is groups of texts in lower case. A match of an expression contains a text of each group, in the order of
// the groups and without overlap.
type Sequence [][]string

// shortest is the length in bytes of the shortest text in a [Sequence].
const shortest = 3

const needed = finder(shortest)

// Needs returns what every match of a regular expression contains. It is empty if nothing is known.
func Needs(re *syntax.Regexp) Sequence {
	var q Sequence
	for _, g := range flat(re.Simplify(), nil) {
		if slices.ContainsFunc(g, unsearchable) || len(g) == 0 || len(g) > maxAtoms {
			continue
		}
		q = append(q, slices.Compact(slices.Sorted(slices.Values(g))))
	}
	return q
}

// flat appends the groups of an expression to q.
func flat(re *syntax.Regexp, q Sequence) Sequence {
	switch re.Op {
	case syntax.OpCapture:
		return flat(re.Sub[0], q)
	case syntax.OpConcat:
	default:
		return append(q, needed.best(needed.atoms(re)))
	}
	run := []string{""} // what the last expressions match exactly
	for _, sub := range re.Sub {
		exact, _ := needed.atoms(sub)
		if product := join(run, exact); product != nil {
			run = product
			continue
		}
		q = append(q, run)
		if run = exact; exact == nil {
			q, run = flat(sub, q), []string{""}
		}
	}
	return append(q, run)
}

// unsearchable reports whether a text is too short, or has letters whose case the scanner does not fold.
func unsearchable(text string) bool {
	return len(text) < shortest ||
		strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.SimpleFold(r) != r })
}

// In reports whether a window contains what a match needs.
func (q Sequence) In(w *Window) bool {
	text := w.Text
	for _, group := range q {
		end := -1 // of the text that ends first
		for _, s := range group {
			if !w.may(s) {
				continue
			}
			limit := text
			if end >= 0 {
				limit = text[:end-1]
			}
			if i := bytes.Index(limit, []byte(s)); i >= 0 {
				end = i + len(s)
			}
		}
		if end < 0 {
			return false
		}
		text = text[end:]
	}
	return true
}
