package rulefile

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minAtom is the length in bytes of the shortest text that the scanner can search for.
const minAtom = 4

// maxAtoms is how many texts may start the search for one pattern.
const maxAtoms = 64

// atomsOf returns texts in lower case of which every match of a regular expression has one, or nil if there are none of
// at least [minAtom] bytes.
//
// The scanner folds only ASCII, so that a text in other letters starts after its first letter, which may be a capital.
func atomsOf(re *syntax.Regexp) []string {
	list := slices.Clone(better(atoms(re.Simplify())))
	for i, s := range list {
		if r, n := utf8.DecodeRuneInString(s); n > 1 && unicode.ToUpper(r) != r {
			list[i] = s[n:]
		}
	}
	if score(list) < minAtom {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// atoms returns the texts that re matches exactly, if they are few, and the best atoms inside of re.
func atoms(re *syntax.Regexp) (exact, best []string) {
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
		return atoms(re.Sub[0])
	case syntax.OpPlus:
		e, b := atoms(re.Sub[0])
		return nil, better(e, b)
	case syntax.OpQuest:
		if e, _ := atoms(re.Sub[0]); e != nil {
			return append(e, ""), nil
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return nil, nil
}

// concat joins the exact texts of neighbors, and keeps the best atoms of the whole.
func concat(subs []*syntax.Regexp) (exact, best []string) {
	run := []string{""}
	whole := true
	for _, sub := range subs {
		repeats := sub.Op == syntax.OpPlus
		if repeats { // the first time it follows the run, and the last time it starts the next
			sub = sub.Sub[0]
		}
		e, b := atoms(sub)
		best = better(best, b)
		if product := join(run, e); product != nil {
			run = product
			if repeats {
				best, whole, run = better(best, run), false, e
			}
			continue
		}
		best = better(best, run)
		whole = false
		run = []string{""}
		if e != nil {
			run = e
		}
	}
	best = better(best, run)
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

func alternate(subs []*syntax.Regexp) (exact, best []string) {
	allExact, allBest := true, true
	for _, sub := range subs {
		e, b := atoms(sub)
		if allExact = allExact && e != nil; allExact {
			exact = append(exact, e...)
		}
		if b = better(e, b); score(b) < minAtom {
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

// better returns the list whose shortest text is longer.
func better(a, b []string) []string {
	if score(a) < minAtom && score(b) < minAtom {
		return nil
	}
	if score(b) > score(a) {
		return b
	}
	return a
}

// score rates a list of texts: the length of the shortest, and less if a text is common in skills, because each
// occurrence starts a check.
func score(list []string) int {
	if len(list) == 0 {
		return 0
	}
	n := 12
	for _, s := range list {
		k := 2 * min(len(s), 12)
		if len(s) >= minAtom && common[strings.TrimSpace(s)] {
			k = 2 * minAtom
		}
		n = min(n, k/2)
	}
	return n
}

// common are texts that are frequent in skills.
var common = map[string]bool{
	"https://": true, "http://": true, "http": true, "https": true, "user": true, "users": true, "function": true,
	"python": true, "this": true, "that": true, "these": true, "them": true, "your": true, "search": true, "find": true,
	"without": true, "before": true, "after": true, "always": true, "once": true, "server": true, "update": true,
	"content": true, "command": true, "filter": true, "remove": true, "message": true, "collect": true, "look": true,
	"location": true, "script": true, "owner": true, "skip": true, "clean": true, "cloud": true, "keep": true,
	"ensure": true, "instruction": true, "permission": true, "code": true, "file": true, "data": true, "with": true,
	"from": true, "must": true, "required": true, "requires": true, "need": true, "first": true, "write": true,
	"](https://": true, "output": true, "system": true, "agent": true, "model": true, "text": true, "steps": true,
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
