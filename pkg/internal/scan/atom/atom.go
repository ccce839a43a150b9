// Package atom finds texts that every match of a regular expression contains, so that the scanner need not try
// expressions where they cannot match. Start reading at [Of]. It may change at any time.
package atom

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Min is the length in bytes of the shortest text that the scanner can search for.
const Min = 4

// maxAtoms is how many texts may start the search for one pattern.
const maxAtoms = 64

// Of returns texts in lower case of which every match of a regular expression has one, or nil if there are none of at
// least [Min] bytes.
//
// The scanner folds only ASCII, so that a text in other letters starts after its first letter, which may be a capital.
func Of(re *syntax.Regexp) []string {
	list := slices.Clone(starts.best(starts.atoms(re.Simplify())))
	for i, s := range list {
		if r, n := utf8.DecodeRuneInString(s); n > 1 && unicode.ToUpper(r) != r {
			list[i] = s[n:]
		}
	}
	if _, ok := starts.cost(list); !ok {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// finder finds texts of at least this many bytes.
type finder int

// starts finds texts that start a search.
const starts = finder(Min)

// atoms returns the texts that re matches exactly, if they are few, and the best atoms inside of re.
func (n finder) atoms(re *syntax.Regexp) (exact, best []string) {
	switch re.Op {
	case syntax.OpLiteral:
		text := []string{strings.ToLower(string(re.Rune))}
		return text, text
	case syntax.OpCharClass:
		if list := fewRunes(re.Rune); list != nil {
			return list, nil
		}
		return nil, nil
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, nil
	case syntax.OpCapture:
		return n.atoms(re.Sub[0])
	case syntax.OpPlus:
		e, b := n.atoms(re.Sub[0])
		return nil, n.best(e, b)
	case syntax.OpQuest:
		if e, _ := n.atoms(re.Sub[0]); e != nil {
			return append(e, ""), nil
		}
	case syntax.OpConcat:
		return n.concat(re.Sub)
	case syntax.OpAlternate:
		return n.alternate(re.Sub)
	}
	return nil, nil
}

// concat joins the exact texts of neighbors, and keeps the best atoms of the whole.
func (n finder) concat(subs []*syntax.Regexp) (exact, best []string) {
	run := []string{""}
	whole := true
	for _, sub := range subs {
		repeats := sub.Op == syntax.OpPlus
		if repeats { // the first time it follows the run, and the last time it starts the next
			sub = sub.Sub[0]
		}
		e, b := n.atoms(sub)
		best = n.best(best, b)
		if product := join(run, e); product != nil {
			run = product
			if repeats {
				best, whole, run = n.best(best, run), false, e
			}
			continue
		}
		best = n.best(best, run)
		whole = false
		run = []string{""}
		if e != nil {
			run = e
		}
	}
	best = n.best(best, run)
	if whole {
		exact = run
	}
	return exact, best
}

func join(a, b []string) []string {
	if b == nil || len(a)*len(b) > maxAtoms {
		return nil
	}
	var out []string
	for _, s := range a {
		for _, t := range b {
			out = append(out, s+t)
		}
	}
	return out
}

func (n finder) alternate(subs []*syntax.Regexp) (exact, best []string) {
	allExact, allBest := true, true
	for _, sub := range subs {
		e, b := n.atoms(sub)
		if allExact = allExact && e != nil; allExact {
			exact = append(exact, e...)
		}
		if b = n.best(e, b); b == nil {
			allBest = false
		}
		best = append(best, b...)
	}
	if !allExact || len(exact) > maxAtoms {
		exact = nil
	}
	if !allBest || len(best) > maxAtoms {
		best = nil
	}
	return exact, best
}

// Better returns whichever list of texts starts fewer checks.
func Better(a, b []string) []string { return starts.best(a, b) }

// best returns whichever list of texts starts fewer checks.
func (n finder) best(a, b []string) []string {
	ca, oka := n.cost(a)
	cb, okb := n.cost(b)
	switch {
	case !oka && !okb:
		return nil
	case !oka || okb && cb < ca:
		return b
	}
	return a
}

// cost estimates how many checks a list of texts starts in a MiB; false if it cannot start one.
func (n finder) cost(list []string) (int, bool) {
	sum := 0
	for _, s := range list {
		if len(s) < int(n) {
			return 0, false
		}
		sum += frequency(s)
	}
	return sum, len(list) > 0
}

// fewRunes returns the characters of a class in lower case if they are at most four.
func fewRunes(ranges []rune) []string {
	var list []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(list) == 12 {
				return nil
			}
			if s := strings.ToLower(string(r)); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	if len(list) > 6 {
		return nil
	}
	return list
}
