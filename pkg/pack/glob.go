package pack

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// MatchGlob reports whether a slash-separated pattern matches a whole path: * matches any characters but a slash, ? one
// character but a slash, and a segment ** any number of segments. Other characters match themselves. The time is at
// most the product of the two lengths.
func MatchGlob(pattern, name string) bool {
	var retry glob // after a mismatch: the last ** matches one more segment
	p := glob{pattern, name}
	for {
		if p.pattern == "" && p.name == "" {
			return true
		}
		segment, rest := cutSegment(p.pattern)
		if segment == "**" {
			if rest == "" {
				return true
			}
			retry = glob{rest, p.name}
			p.pattern = rest
			continue
		}
		name, restOfName := cutSegment(p.name)
		if p.pattern != "" && p.name != "" && matchSegment(segment, name) {
			p = glob{rest, restOfName}
			continue
		}
		if retry.pattern == "" || retry.name == "" {
			return false
		}
		_, retry.name = cutSegment(retry.name)
		p = retry
	}
}

// glob is the rest of a pattern and the rest of a path to match.
type glob struct{ pattern, name string }

func cutSegment(s string) (first, rest string) {
	first, rest, _ = strings.Cut(s, "/")
	return first, rest
}

// matchSegment matches one segment. After a mismatch, only the last * has to match more.
func matchSegment(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		_, size := utf8.DecodeRuneInString(name[n:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			n += size
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			_, size := utf8.DecodeRuneInString(name[from:])
			from += size
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// checkRelative rejects a path that is not below the manifest. noun names it in the message.
func checkRelative(noun, s string) error {
	clean := strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/")
	switch {
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "%s %q contains a backslash", noun, s).WithHint("use forward slashes")
	case clean == "." || path.Clean(clean) != clean || pathx.Escapes(clean):
		return diag.Errorf(diag.Invalid, "%s %q is not a path below the directory of this file", noun, s).
			WithHint("use a path relative to this file and without . and .., such as \"skills/x\"")
	}
	return nil
}
