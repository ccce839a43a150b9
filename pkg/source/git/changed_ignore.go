package git

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ignores are the patterns of one .gitignore, and behind them those of the directories above.
type ignores struct {
	above    *ignores
	base     int // length of the path of its directory, with the slash
	patterns []pattern
	fold     bool
}

// readIgnores reads a file of patterns. One that cannot be read has none.
func readIgnores(above *ignores, name string, base int, fold bool) *ignores {
	text, err := readSmall(name)
	if err != nil {
		return above
	}
	r := &ignores{above: above, base: base, fold: fold}
	for line := range strings.Lines(strings.TrimPrefix(string(text), bom)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if p, ok := parsePattern(trimSpaces(line), fold); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	if len(r.patterns) == 0 {
		return above
	}
	return r
}

const bom = "\xef\xbb\xbf"

// trimSpaces removes the spaces at the end of a pattern that have no backslash before them.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") {
		rest := s[:len(s)-1]
		if (len(rest)-len(strings.TrimRight(rest, `\`)))%2 == 1 {
			break
		}
		s = rest
	}
	return s
}

// match reports whether a path is ignored: the last pattern of the nearest file that matches decides.
func (r *ignores) match(path string, dir bool) bool {
	if r == nil {
		return false
	}
	if r.fold {
		path = lower(path)
	}
	for ; r != nil; r = r.above {
		for _, p := range slices.Backward(r.patterns) {
			if (dir || !p.dirOnly) && p.match(path[r.base:]) {
				return !p.negated
			}
		}
	}
	return false
}

// lower returns s with small letters for A to Z, which leaves all other bytes where they are.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// pattern is a line of a .gitignore or .gitattributes. It is matched part by part, so that brackets never hold a slash,
// and two asterisks that are not all of a part are one, as git's documentation has it.
type pattern struct {
	parts    []string
	anchored bool // the whole path is matched, not the name alone
	dirOnly  bool
	negated  bool
}

func parsePattern(s string, fold bool) (p pattern, ok bool) {
	if fold {
		s = lower(s)
	}
	s, p.negated = strings.CutPrefix(s, "!")
	s, p.dirOnly = strings.CutSuffix(s, "/")
	p.anchored = strings.Contains(s, "/")
	p.parts = strings.Split(strings.TrimPrefix(s, "/"), "/")
	for i, part := range p.parts {
		if len(part) > 2 && strings.Trim(part, "*") == "" {
			p.parts[i] = "**"
		}
		if end := len(strings.TrimRight(part, `\`)); i+1 < len(p.parts) && (len(part)-end)%2 == 1 {
			p.parts[i] = part[:len(part)-1] // the backslash was the slash's
		}
	}
	return p, s != "" && s != "/"
}

// match reports whether a path, relative to the file of the pattern, matches.
func (p pattern) match(path string) bool {
	if !p.anchored {
		return glob(p.parts[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	parts, more := p.parts, true
	var again []string // the parts after the last **, and what is left of the path there
	var rest string
	for more {
		if len(parts) > 0 && parts[0] == "**" {
			if parts = parts[1:]; len(parts) == 0 {
				return true
			}
			again, rest = parts, path
			continue
		}
		name, after, slash := strings.Cut(path, "/")
		if len(parts) > 0 && glob(parts[0], name) {
			parts, path, more = parts[1:], after, slash
			if more || len(parts) == 0 {
				continue
			}
		}
		if again == nil {
			return false
		}
		if _, rest, more = strings.Cut(rest, "/"); !more {
			return false
		}
		parts, path = again, rest
	}
	return len(parts) == 0
}

// glob matches a name with the wildcards of the shell, as git does: bytewise, with [!a-z] and classes.
func glob(p, s string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if i < len(p) {
			if n, ok := element(p[i:], s[j]); ok {
				i, j = i+n, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	return strings.Trim(p[i:], "*") == ""
}

// element matches one byte with what a pattern starts with, and returns how long that is.
func element(p string, c byte) (n int, ok bool) {
	switch {
	case p[0] == '?':
		return 1, true
	case p[0] == '\\' && len(p) > 1:
		return 2, p[1] == c
	case p[0] == '[':
		return class(p, c)
	}
	return 1, p[0] == c && c != '\\'
}

// class matches one byte with a bracket expression. One that does not end matches nothing.
func class(p string, c byte) (n int, ok bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	for first := i; i < len(p); i++ {
		if p[i] == ']' && i > first {
			return i + 1, ok != negated
		}
		if name, _, found := strings.Cut(p[i:], ":]"); found && strings.HasPrefix(name, "[:") {
			ok = ok || inClass(name[2:], c)
			i += len(name) + 1
			continue
		}
		low := p[i]
		if low == '\\' && i+1 < len(p) {
			i++
			low = p[i]
		}
		high := low
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			i += 2
			if high = p[i]; high == '\\' && i+1 < len(p) {
				i++
				high = p[i]
			}
		}
		ok = ok || c == low || low <= c && c <= high
	}
	return 0, false
}

// inClass reports whether a byte is in a class of POSIX.
func inClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	space, print := c == ' ' || '\t' <= c && c <= '\r', ' ' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "digit":
		return digit
	case "graph":
		return print && c != ' '
	case "lower":
		return lower
	case "print":
		return print
	case "punct":
		return print && c != ' ' && !lower && !upper && !digit
	case "space":
		return space
	case "upper":
		return upper
	case "xdigit":
		return digit || 'a' <= c|0x20 && c|0x20 <= 'f'
	}
	return false
}

// attribute is what a line of a .gitattributes says of a file's line ends.
type attribute struct {
	pattern
	text string // "set", "unset", "auto" or "unspecified"; "" for nothing
	eol  bool   // eol=lf or eol=crlf, which makes a text of what is not said to be none
}

// textAttribute returns what attributes say of a file's line ends: "set", "unset", "auto", or "" for nothing.
func (w *workTree) textAttribute(path string) string {
	name := path
	if w.config.ignoreCase {
		name = lower(path)
	}
	text, eol := "", false
	apply := func(list []attribute, base int) {
		for _, a := range list {
			if a.match(name[base:]) {
				text, eol = cmp.Or(a.text, text), eol || a.eol
			}
		}
	}
	for at := 0; ; {
		file := filepath.Join(w.root, filepath.FromSlash(path[:at]), ".gitattributes")
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
			apply(w.attributes(file), at)
		}
		dir, _, more := strings.Cut(path[at:], "/")
		if !more {
			break
		}
		at += len(dir) + 1
	}
	apply(w.attributes(filepath.Join(w.common, "info", "attributes")), 0)
	if eol && (text == "" || text == "unspecified") {
		return "set"
	}
	return text
}

// attributes reads a file of attributes once. One that cannot be read has none.
func (w *workTree) attributes(file string) []attribute {
	list, done := w.attrs[file]
	if done {
		return list
	}
	text, err := readSmall(file)
	if err != nil {
		text = nil
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), bom)) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(words[0], "#") || strings.HasPrefix(words[0], "!") {
			continue
		}
		p, ok := parsePattern(words[0], w.config.ignoreCase)
		if a := textOf(words[1:]); ok && !p.dirOnly && (a.text != "" || a.eol) {
			a.pattern = p
			list = append(list, a)
		}
	}
	w.attrs[file] = list
	return list
}

// textOf returns what attributes say of line ends.
func textOf(words []string) (a attribute) {
	for _, word := range words {
		switch word {
		case "text", "crlf", "crlf=input":
			a.text = "set"
		case "-text", "-crlf", "binary":
			a.text = "unset"
		case "text=auto", "crlf=auto":
			a.text = "auto"
		case "!text", "!crlf":
			a.text = "unspecified"
		case "eol=lf", "eol=crlf":
			a.eol = true
		}
	}
	return a
}
