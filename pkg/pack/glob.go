package pack

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// MatchGlob reports whether a slash-separated pattern means a path: * stands for any characters but a slash, ? for one,
// and a segment ** for any number of segments, also none. Everything else stands for itself. The pattern is about the
// whole path; "**/x" means x at every depth. The time is at most the product of the two lengths.
func MatchGlob(pattern, name string) bool {
	var again glob // what is tried when the pattern does not fit: one more segment for the last **
	p := glob{pattern, name}
	for {
		if p.pattern == "" && p.name == "" {
			return true
		}
		want, rest := cutSegment(p.pattern)
		if want == "**" {
			if rest == "" {
				return true
			}
			again = glob{rest, p.name}
			p.pattern = rest
			continue
		}
		have, below := cutSegment(p.name)
		if p.pattern != "" && p.name != "" && matchSegment(want, have) {
			p = glob{rest, below}
			continue
		}
		if again.pattern == "" || again.name == "" {
			return false
		}
		_, again.name = cutSegment(again.name)
		p = again
	}
}

// glob is a pattern and a path that are still to be compared.
type glob struct{ pattern, name string }

func cutSegment(s string) (first, rest string) {
	first, rest, _ = strings.Cut(s, "/")
	return first, rest
}

// matchSegment compares one segment. After a * that does not fit, only the last one has to take more.
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

// checkRelative refuses what is no path below the manifest; what names it in the message.
func checkRelative(what, s string) error {
	clean := strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/")
	switch {
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "%s %q has a backslash", what, s).WithHint("write forward slashes")
	case clean == "." || path.Clean(clean) != clean || pathx.Escapes(clean):
		return diag.Errorf(diag.Invalid, "%s %q is not below the directory of this file", what, s).
			WithHint("write a path relative to this file, as in \"skills/x\"")
	}
	return nil
}
