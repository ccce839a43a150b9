package bundle

import (
	"path"
	"slices"
	"strings"
)

// ignoredNames are left out in every directory of a skill: files of version control, operating systems and
// interpreters, and skillpm's own directory.
const ignoredNames = " .git .hg .svn .jj .skillpm .ds_store thumbs.db desktop.ini __macosx __pycache__ node_modules "

// ignoredAtRoot are left out at the root of a skill, because they belong to the pack there.
const ignoredAtRoot = " skillpm.yaml skillpm.lock .skillpmignore "

// Ignored reports whether a path inside a skill is never part of it: it is not hashed, archived or unpacked. dir says
// whether path is a directory. The content of an ignored directory is ignored too. The list is fixed, because digests
// depend on it.
func Ignored(p string, dir bool) bool {
	for {
		parent, name := path.Split(p)
		if ignoredName(name, dir, parent == "") {
			return true
		}
		if parent == "" {
			return false
		}
		p, dir = parent[:len(parent)-1], true
	}
}

func ignoredName(name string, dir, root bool) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.ContainsRune(name, ' '):
		return false
	case strings.Contains(ignoredNames, " "+lower+" "):
		return true
	case dir:
		return false
	case root && strings.Contains(ignoredAtRoot, " "+lower+" "):
		return true
	}
	return strings.HasPrefix(lower, "._") || // AppleDouble
		strings.HasSuffix(lower, ".pyc") || strings.HasSuffix(lower, ".pyo") ||
		strings.HasPrefix(lower, ".") && (strings.HasSuffix(lower, ".swp") || strings.HasSuffix(lower, ".swo"))
}

// IgnoreFile is a parsed .skillpmignore: patterns in the syntax of gitignore(5), relative to the pack's root.
type IgnoreFile struct {
	rules []ignoreRule
}

type ignoreRule struct {
	segments []string // path components of the pattern; "**" matches any number
	negate   bool
	dirOnly  bool
}

// ParseIgnore parses an ignore file. As in git, every text is valid, and an invalid line matches nothing.
func ParseIgnore(data []byte) *IgnoreFile {
	f := &IgnoreFile{}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		if rule, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			f.rules = append(f.rules, rule)
		}
	}
	return f
}

func parseRule(line string) (rule ignoreRule, ok bool) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return rule, false
	}
	if line[0] == '!' {
		rule.negate, line = true, line[1:]
	}
	if dir, ok := strings.CutSuffix(line, "/"); ok {
		rule.dirOnly, line = true, dir
	}
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule, false
	}
	if !anchored {
		rule.segments = append(rule.segments, "**")
	}
	for segment := range strings.SplitSeq(line, "/") {
		if len(segment) > 1 && strings.Trim(segment, "*") == "" {
			segment = "**"
		}
		if n := len(rule.segments); segment == "**" && n > 0 && rule.segments[n-1] == "**" {
			continue
		}
		rule.segments = append(rule.segments, segment)
	}
	return rule, true
}

// trimSpaces removes trailing spaces that are not escaped by a backslash.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if strings.HasSuffix(trimmed, `\`) && len(trimmed) < len(line) {
		trimmed += " "
	}
	return trimmed
}

// Match reports whether a path relative to the root of the pack is ignored, or a directory above it.
func (f *IgnoreFile) Match(p string, dir bool) bool {
	if f == nil || len(f.rules) == 0 {
		return false
	}
	components := strings.Split(p, "/")
	for n := 1; n <= len(components); n++ {
		if f.matchOne(components[:n], dir || n < len(components)) {
			return true
		}
	}
	return false
}

func (f *IgnoreFile) matchOne(components []string, dir bool) bool {
	for _, rule := range slices.Backward(f.rules) {
		if (dir || !rule.dirOnly) && matchSegments(rule.segments, components) {
			return !rule.negate
		}
	}
	return false
}

// matchSegments matches components with a pattern in which "**" matches any number of components, at the end one or
// more. After a mismatch, only the last "**" has to match more.
func matchSegments(pattern, components []string) bool {
	p, c := 0, 0
	star, retry := -1, 0
	for c < len(components) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, retry = p, c
			p++
		case p < len(pattern) && matchGlob(pattern[p], components[c]):
			p++
			c++
		case star >= 0:
			retry++
			p, c = star+1, retry
		default:
			return false
		}
	}
	return p == len(pattern)
}

// matchGlob matches one component against a pattern with *, ?, [classes] and backslash escapes.
func matchGlob(pattern, name string) bool {
	p, n := 0, 0
	star, retry := -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, retry = p, n
			p++
			continue
		}
		if p < len(pattern) {
			if next, ok := matchByte(pattern[p:], name[n]); ok {
				p += next
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		retry++
		p, n = star+1, retry
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchByte matches one byte of a name with the first element of a pattern, and returns the length of the element. Like
// git, it matches the bytes of longer characters one by one.
func matchByte(pattern string, b byte) (length int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		if len(pattern) < 2 {
			return 1, false
		}
		return 2, pattern[1] == b
	case '[':
		return matchClass(pattern, b)
	}
	return 1, pattern[0] == b
}

func matchClass(pattern string, b byte) (length int, ok bool) {
	i := 1
	negate := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negate {
		i++
	}
	matched := false
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, matched != negate
		}
		if name, n := namedClass(pattern[i:]); n > 0 {
			matched = matched || inNamedClass(name, b)
			i += n
			continue
		}
		lo, next := classByte(pattern, i)
		hi := lo
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			hi, next = classByte(pattern, next+1)
		}
		matched = matched || lo <= b && b <= hi
		i = next
	}
	return 1, false // the class is not closed
}

func classByte(pattern string, i int) (b byte, next int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	return pattern[i], i + 1
}

// namedClass returns the name in "[:name:]" and the length of the whole, 0 if pattern does not start with that.
func namedClass(pattern string) (name string, length int) {
	rest, ok := strings.CutPrefix(pattern, "[:")
	if !ok {
		return "", 0
	}
	name, _, ok = strings.Cut(rest, ":]")
	if !ok || strings.ContainsRune(name, ']') {
		return "", 0
	}
	return name, len(name) + len("[::]")
}

func inNamedClass(name string, b byte) bool {
	lower, upper, digit := b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9'
	graph := b > ' ' && b < 0x7f
	switch name {
	case "lower":
		return lower
	case "upper":
		return upper
	case "digit":
		return digit
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || digit
	case "xdigit":
		return digit || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
	case "punct":
		return graph && !lower && !upper && !digit
	case "graph":
		return graph
	case "print":
		return graph || b == ' '
	case "blank":
		return b == ' ' || b == '\t'
	case "space":
		return b == ' ' || b >= '\t' && b <= '\r'
	case "cntrl":
		return b < ' ' || b == 0x7f
	}
	return false
}
