package tool

import "strings"

// item is one element of a command pattern.
type item struct {
	text  string // a word, with star for each *
	any   bool   // any one word
	rest  bool   // any number of words
	exact bool   // the word has no star
}

// line is a command pattern.
type line struct {
	allowsAll bool   // allows everything
	raw       string // as written
	items     []item // nil if only the exact text matches
}

// readLine parses the argument of a command pattern.
//
//	git:*         git, and anything after it
//	npm run *     npm run, and anything after it
//	git * main    one word or more where the * is
//	ls*           a first word that starts with ls, and anything after it
//	git status    this, with nothing after it
//	a && b        a line that a shell would make several commands of is allowed as it is written
func readLine(argument string) line {
	l := line{raw: strings.Trim(argument, blanks)}
	if l.allowsAll = wholeLine(l.raw); l.allowsAll {
		return l
	}
	text, prefix := strings.CutSuffix(l.raw, ":*")
	words, ok := patternWords(text)
	if !ok {
		return l
	}
	for i, w := range words {
		last := i == len(words)-1
		switch {
		case w.text == string(star) && last:
			prefix = true
		case w.text == string(star):
			l.items = append(l.items, item{any: true}, item{rest: true})
		default:
			l.items = append(l.items, item{text: w.text, exact: strings.IndexByte(w.text, star) < 0})
			prefix = prefix || last && strings.HasSuffix(w.text, string(star))
		}
	}
	if prefix {
		l.items = append(l.items, item{rest: true})
	}
	return l
}

// anywhere reports whether a pattern applies in any working directory: it names a program without a directory, and
// allows any arguments.
func (l line) anywhere() bool {
	return l.allowsAll || len(l.items) > 0 && l.items[len(l.items)-1].rest && !strings.ContainsAny(l.raw, "./")
}

// wholeLine reports whether a command pattern allows all commands.
func wholeLine(argument string) bool { return argument == "*" || argument == "**" || argument == ":*" }

// fits reports whether the pattern allows a command. It backtracks only to the last place that could match more words,
// which suffices for these patterns.
func (l line) fits(c command) bool {
	if l.allowsAll {
		return true
	}
	if l.items == nil || l.assigns(c) {
		return false
	}
	i, w := 0, 0
	back, start := -1, 0
	for w < len(c.words) {
		switch {
		case i < len(l.items) && l.items[i].rest:
			back, start = i, w
			i++
		case i < len(l.items) && l.items[i].one(c.words[w]):
			i++
			w++
		case back >= 0:
			start++
			i, w = back+1, start
		default:
			return false
		}
	}
	for i < len(l.items) && l.items[i].rest {
		i++
	}
	return i == len(l.items)
}

// assigns reports whether a command starts with NAME=value that the pattern does not have. Such an assignment can
// change what the command runs.
func (l line) assigns(c command) bool {
	for i, w := range c.words {
		name, _, ok := strings.Cut(w.text, "=")
		if !ok || name == "" || strings.Trim(name,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+[]") != "" {
			return false
		}
		if i >= len(l.items) || !strings.Contains(l.items[i].text, "=") {
			return true
		}
	}
	return false
}

// one reports whether an item matches a word. A * does not match .. or text that the shell expands.
func (t item) one(w word) bool {
	switch {
	case t.any:
		return true
	case t.rest || w.loose:
		return false
	case t.exact:
		return t.text == w.text
	}
	return wildcard(t.text, w.text, star) && (!w.up() || strings.Contains(t.text, ".."))
}

// up reports whether a word contains .., or wildcards that some shells expand to it: .? and .*, or [.][.].
func (w word) up() bool {
	return strings.Contains(w.text, "..") || w.globs && (strings.Contains("/"+w.text, "/.") ||
		strings.Contains(w.text, "["))
}

// wildcard reports whether a text matches a pattern in which one character stands for any others.
func wildcard(pattern, text string, any byte) bool {
	p, t := 0, 0
	back, start := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == any:
			back, start = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case back >= 0:
			start++
			p, t = back+1, start
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], string(any)) == ""
}
