package resolve

import (
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// release is a version without pre-release and build metadata as one number: 20 bits of major, 22 of minor and 22 of
// patch. Releases are ordered as their versions are. What does not fit is left to the library.
type release uint64

const (
	numberBits = 22
	maxNumber  = 1<<numberBits - 1
	maxMajor   = 1<<(64-2*numberBits) - 2

	onePatch release = 1
	oneMinor release = 1 << numberBits
	oneMajor release = 1 << (2 * numberBits)
)

// forever is above every release.
const forever = ^release(0)

// parseRelease reads three plain numbers. What it does not read may still be a version.
func parseRelease(s string) (r release, ok bool) {
	r, parts, rest := parseNumbers(s)
	return r, parts == 3 && rest == ""
}

// parseNumbers reads up to three numbers with points between them, and returns how many there were and what follows.
func parseNumbers(s string) (r release, parts int, rest string) {
	for i, unit := range [...]release{oneMajor, oneMinor, onePatch} {
		n, rest, ok := parseNumber(s)
		if !ok || i == 0 && n > maxMajor {
			return 0, 0, s
		}
		r, s = r+release(n)*unit, rest
		if i == 2 || s == "" || s[0] != '.' {
			return r, i + 1, s
		}
		s = s[1:]
	}
	return 0, 0, s
}

// parseNumber reads digits without a leading zero.
func parseNumber(s string) (n uint32, rest string, ok bool) {
	i := 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		if n = n*10 + uint32(s[i]-'0'); n > maxNumber {
			return 0, s, false
		}
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return 0, s, false
	}
	return n, s[i:], true
}

// span is the releases from low up to and without high.
type span struct{ low, high release }

// versionRange is a range of versions. Most ranges are a few spans, and releases are checked by these; what is left,
// with the rules for pre-releases, is the library's. Both agree.
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
		return r.has(c.release)
	}
	if r.library == nil && r.compile() != nil {
		return false // not reached: what has spans is a range
	}
	return r.library.Check(c.semver())
}

// has reports whether a release is in one of the spans.
func (r *versionRange) has(v release) bool {
	for _, s := range r.spans {
		if s.low <= v && v < s.high {
			return true
		}
	}
	return false
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

func (s span) and(o span) span { return span{max(s.low, o.low), min(s.high, o.high)} }

// parseSpan reads an operator and one to three numbers.
func parseSpan(word string) (span, bool) {
	op := word[:len(word)-len(strings.TrimLeft(word, "^~<>="))]
	r, parts, rest := parseNumbers(word[len(op):])
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
		return r - r%oneMajor + oneMajor
	case 2:
		return r - r%oneMinor + oneMinor
	default:
		return r + onePatch
	}
}

// afterCaret returns the first release after r that differs in the first number that is not zero.
func (r release) afterCaret(parts int) release {
	switch {
	case r >= oneMajor || parts == 1:
		return r.after(1)
	case r >= oneMinor || parts == 2:
		return r.after(2)
	default:
		return r.after(3)
	}
}
