package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// MaxName is the maximum length of a skill's name, in characters.
const MaxName = 64

// LegalName reports whether the Agent Skills specification allows name for a skill.
func LegalName(name string) bool {
	if name == "" || len(name) > MaxName || name[0] == '-' || name[len(name)-1] == '-' {
		return false // without an error, which takes most of the time
	}
	for i := range len(name) {
		if !nameRune(rune(name[i])) || name[i] == '-' && name[i-1] == '-' {
			return false
		}
	}
	return true
}

// CheckName returns an error that explains why a skill's name is not legal: it must be 1 to [MaxName] characters of
// a-z, 0-9, and single inner hyphens.
func CheckName(name string) error {
	switch {
	case name == "":
		return diag.Errorf(diag.Invalid, "the name is empty")
	case utf8.RuneCountInString(name) > MaxName:
		return diag.Errorf(diag.Invalid, "the name has %d characters; the limit is %d", utf8.RuneCountInString(name),
			MaxName)
	}
	for _, r := range name {
		if !nameRune(r) {
			return diag.Errorf(diag.Invalid, "the name %q contains %s: only a-z, 0-9, and hyphens are allowed", name,
				describeRune(r))
		}
	}
	switch {
	case strings.HasPrefix(name, "-"), strings.HasSuffix(name, "-"):
		return diag.Errorf(diag.Invalid, "the name %q starts or ends with a hyphen", name)
	case strings.Contains(name, "--"):
		return diag.Errorf(diag.Invalid, "the name %q has two hyphens in a row", name)
	}
	return nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-'
}

func describeRune(r rune) string {
	switch {
	case r == ' ':
		return "a space"
	case r == '_':
		return "an underscore"
	case r >= 'A' && r <= 'Z':
		return "the capital letter " + string(r)
	default:
		return strings.TrimSpace(quoteRune(r))
	}
}

func quoteRune(r rune) string {
	if unicode.IsPrint(r) {
		return "“" + string(r) + "”"
	}
	return "an unprintable character"
}

// Slug converts s to a legal name: it removes accents, lowers case, and replaces other characters by single hyphens.
// Text without usable letters becomes "skill-" and eight hex digits of its SHA-256; "" stays "".
func Slug(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r):
		case r != '-' && nameRune(r):
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	out := b.String()
	if len(out) > MaxName {
		out = strings.TrimRight(out[:MaxName], "-")
	}
	if out == "" {
		return "skill-" + textx.SHA256(s)[:8]
	}
	return out
}
