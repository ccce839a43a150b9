package bundle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CheckPath returns an [EntryError] if p can't be the path of a file in a skill.
//
// A path is relative, slash-separated and clean, in UTF-8. Every component can be created on Linux, macOS and Windows
// and means the same there: no control, formatting or invisible characters, none of <>:"|?*\, no device names, no
// trailing dot, no space at an end, no short (8.3) form. No shell reads a component as an option or a substitution (a
// leading hyphen, a back quote, "$(", "${"), and none is .git or .skillpm in any spelling.
func CheckPath(p string) error {
	if p == "" {
		return entryErrorf(p, "is empty")
	}
	if !utf8.ValidString(p) {
		return entryErrorf(p, "is not valid UTF-8")
	}
	if p[0] == '/' {
		return entryErrorf(p, "is an absolute path")
	}
	name := Normal(p) // NFC turns U+1FEF, for example, into a back quote
	if rule := checkRunes(name); rule != "" {
		return entryErrorf(p, "%s", rule)
	}
	for component := range strings.SplitSeq(name, "/") {
		if rule := checkComponent(component); rule != "" {
			return entryErrorf(p, "%s", rule)
		}
	}
	if fold(name) == "skillpm.lock" {
		return entryErrorf(p, "is reserved for skillpm")
	}
	return nil
}

func checkRunes(p string) string {
	for i, r := range p {
		switch {
		case 'a' <= r && r <= 'z', '-' <= r && r <= '9', 'A' <= r && r <= 'Z': // nearly all characters
		case r < 0x20 || r == 0x7f:
			return "contains a control character"
		case strings.ContainsRune(`<>:"|?*`, r):
			return "contains a character that is not allowed on Windows: " + string(r)
		case r == '\\':
			return "contains a backslash"
		case r == '`':
			return "contains a backquote"
		case r == '$' && (strings.HasPrefix(p[i+1:], "(") || strings.HasPrefix(p[i+1:], "{")):
			return "contains a shell substitution"
		case r >= 0x80 && invisible(r):
			return "contains an invisible or direction-changing character"
		}
	}
	return ""
}

// invisibleRanges are characters that show nothing, besides those that Unicode calls control, formatting or private.
var invisibleRanges = [...][2]rune{
	// fillers
	{0x034f, 0x034f},
	{0x115f, 0x1160},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x2028, 0x2029},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0e},
	{0xffa0, 0xffa0},
	{0xfff0, 0xffff},
	{0xe0000, 0xe0fff}, // variation selectors, specials, tags
}

// invisible reports whether r is invisible in a file name or changes how its neighbors look. U+FE0F is allowed, because
// emoji need it.
func invisible(r rune) bool {
	for _, pair := range invisibleRanges {
		if r >= pair[0] && r <= pair[1] {
			return true
		}
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

func checkComponent(c string) string {
	switch {
	case c == "":
		return "contains an empty path component"
	case c == ".":
		return `contains a "." component`
	case c == "..":
		return `contains a ".." component`
	case c[0] == '-':
		return "contains a component that starts with a hyphen"
	case strings.HasSuffix(c, "."):
		return "contains a component that ends with a dot"
	case strings.TrimSpace(c) != c:
		return "contains a component that starts or ends with a space"
	}
	lower := fold(c)
	stem, _, _ := strings.Cut(lower, ".")
	switch {
	case isDevice(strings.TrimRight(stem, " ")):
		return "has the name of a Windows device"
	case lower == ".git":
		return "is inside a .git directory"
	case lower == ".skillpm":
		return "is reserved for skillpm"
	case isShortName(stem):
		return "has a Windows short name (8.3)"
	}
	return ""
}

// isDevice reports whether a name with that stem, in lower case, is a device on Windows, whatever its extension.
func isDevice(stem string) bool {
	switch stem {
	case "aux", "con", "nul", "prn", "clock$", "conin$", "conout$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "com")
	if !ok {
		number, ok = strings.CutPrefix(stem, "lpt")
	}
	return ok && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}

// isShortName reports whether stem ends in a tilde and digits, like the short names of Windows.
func isShortName(stem string) bool {
	digits := strings.TrimRight(stem, "0123456789")
	return len(digits) < len(stem) && len(digits) > 1 && strings.HasSuffix(digits, "~")
}

// Normal returns p in NFC, the form of paths in inventories and in the store.
func Normal(p string) string {
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			return norm.NFC.String(p)
		}
	}
	return p
}
