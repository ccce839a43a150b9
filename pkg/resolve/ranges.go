package resolve

import (
	"cmp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// release is the number of a version without pre-release and build metadata, each part below 10⁹.
type release struct{ major, minor, patch uint32 }

// forever is above every release.
var forever = release{major: 1<<32 - 1}

func (r release) compare(o release) int {
	return cmp.Or(cmp.Compare(r.major, o.major), cmp.Compare(r.minor, o.minor), cmp.Compare(r.patch, o.patch))
}

// parseRelease reads three plain numbers. What it does not read may still be a version.
func parseRelease(s string) (r release, ok bool) {
	parts, rest := parseNumbers(s, &r)
	return r, parts == 3 && rest == ""
}

// parseNumbers reads up to three numbers with points between them, and returns how many there were and what follows.
func parseNumbers(s string, r *release) (parts int, rest string) {
	for i, into := range [...]*uint32{&r.major, &r.minor, &r.patch} {
		n, rest, ok := parseNumber(s)
		if !ok {
			return 0, s
		}
		*into, s = n, rest
		if i == 2 || !strings.HasPrefix(s, ".") {
			return i + 1, s
		}
		s = s[1:]
	}
	return 0, s
}

// parseNumber reads digits without a leading zero, at most nine.
func parseNumber(s string) (n uint32, rest string, ok bool) {
	i := 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		if i == 9 {
			return 0, s, false
		}
		n = n*10 + uint32(s[i]-'0')
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return 0, s, false
	}
	return n, s[i:], true
}

// span is the releases from low up to and without high.
type span struct{ low, high release }

// versionRange is a range of versions. Most ranges are a few spans, and releases are checked by these; what is left, with
// the rules for pre-releases, is the library's. Both agree.
type versionRange struct {
	text    string
	spans   []span // nil for a range that only the library understands
	library *semver.Constraints
}

// parseRange reads a range in the syntax of Masterminds/semver.
func parseRange(text string) (*versionRange, error) {
	r := &versionRange{text: text, spans: parseSpans(text)}
	if r.spans != nil {
		return r, nil
	}
	return r, r.compile()
}

func (r *versionRange) compile() (err error) {
	if r.library, err = semver.NewConstraint(r.text); err != nil {
		return diag.Errorf(diag.Invalid, "%q is not a range of versions", r.text)
	}
	return nil
}

// fits reports whether a version is in the range.
func (r *versionRange) fits(c *candidate) bool {
	if c.plain && r.spans != nil {
		for _, s := range r.spans {
			if s.low.compare(c.release) <= 0 && c.release.compare(s.high) < 0 {
				return true
			}
		}
		return false
	}
	if r.library == nil && r.compile() != nil {
		return false // not reached: what has spans is a range
	}
	return r.library.Check(c.semver())
}

// The library's limits.
const (
	maxRange  = semver.MaxConstraintLen
	maxGroups = semver.MaxConstraintGroups
)

// parseSpans returns the spans of a range that is written plainly: numbers, without pre-releases, wildcards, hyphens
// and exclusions. It returns nil for every other text.
func parseSpans(text string) []span {
	if len(text) > maxRange || strings.Count(text, "||") >= maxGroups {
		return nil
	}
	if text == "*" {
		return []span{{high: forever}}
	}
	spans := make([]span, 0, 1)
	for group := range strings.SplitSeq(text, "||") {
		all := span{high: forever}
		n := 0
		for word := range strings.FieldsFuncSeq(group, func(r rune) bool { return r == ' ' }) {
			s, ok := parseSpan(strings.TrimSuffix(word, ","))
			if !ok {
				return nil
			}
			all = all.and(s)
			n++
		}
		if n == 0 || strings.HasSuffix(strings.TrimRight(group, " "), ",") {
			return nil
		}
		spans = append(spans, all)
	}
	return spans
}

func (s span) and(o span) span {
	if s.low.compare(o.low) < 0 {
		s.low = o.low
	}
	if o.high.compare(s.high) < 0 {
		s.high = o.high
	}
	return s
}

// parseSpan reads an operator and one to three numbers.
func parseSpan(word string) (span, bool) {
	op := word[:len(word)-len(strings.TrimLeft(word, "^~<>="))]
	var r release
	parts, rest := parseNumbers(word[len(op):], &r)
	if parts == 0 || rest != "" {
		return span{}, false
	}
	switch op {
	case "", "=":
		return span{r, r.after(parts)}, true
	case "^":
		return span{r, r.afterCaret(parts)}, true
	case "~":
		return span{r, r.after(min(parts, 2))}, true
	case ">=":
		return span{r, forever}, true
	case ">":
		return span{r.after(parts), forever}, true
	case "<":
		return span{high: r}, true
	case "<=":
		return span{high: r.after(parts)}, true
	}
	return span{}, false
}

// after returns the first release that differs from r in one of the first parts numbers.
func (r release) after(parts int) release {
	switch parts {
	case 1:
		return release{major: r.major + 1}
	case 2:
		return release{major: r.major, minor: r.minor + 1}
	default:
		return release{major: r.major, minor: r.minor, patch: r.patch + 1}
	}
}

// afterCaret returns the first release after r that differs in the first number that is not zero.
func (r release) afterCaret(parts int) release {
	switch {
	case r.major > 0 || parts == 1:
		return r.after(1)
	case r.minor > 0 || parts == 2:
		return r.after(2)
	default:
		return r.after(3)
	}
}
