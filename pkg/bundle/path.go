package bundle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// reservedDevices are the names that Windows takes for devices, whatever their extension.
const reservedDevices = " aux clock$ com0 com1 com2 com3 com4 com5 com6 com7 com8 com9 com¹ com² com³ con conin$ conout$" +
	" lpt0 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9 lpt¹ lpt² lpt³ nul prn "

// CheckPath reports why p can't be the path of a file in a skill, as an [EntryError], or nil.
//
// A path is relative, slash-separated and clean, in UTF-8. Every component can be created on Linux, macOS and Windows
// and means the same there: no control, formatting or invisible characters, none of <>:"|?*\, no device names, no
// trailing dot, no space at an end, no short (8.3) form. A component is not read as an option or a substitution by a
// shell (a leading hyphen, a back quote, "$(", "${"), and none is .git or .skillpm in any spelling.
func CheckPath(p string) error {
	if p == "" {
		return entryErrorf(p, "is empty")
	}
	if !utf8.ValidString(p) {
		return entryErrorf(p, "is not UTF-8")
	}
	if p[0] == '/' {
		return entryErrorf(p, "is an absolute path")
	}
	name := Normal(p) // what it will be called: U+1FEF, for one, is a back quote then
	if rule := checkRunes(name); rule != "" {
		return entryErrorf(p, "%s", rule)
	}
	for rest, component, more := name, "", true; more; {
		component, rest, more = strings.Cut(rest, "/")
		if rule := checkComponent(component); rule != "" {
			return entryErrorf(p, "%s", rule)
		}
	}
	if fold(name) == "skillpm.lock" {
		return entryErrorf(p, "is skillpm's own file")
	}
	return nil
}

func checkRunes(p string) string {
	for i, r := range p {
		switch {
		case r < 0x20 || r == 0x7f:
			return "has a control character"
		case strings.ContainsRune(`<>:"|?*`, r):
			return "has a character that Windows does not allow, " + string(r)
		case r == '\\':
			return "has a backslash"
		case r == '`':
			return "has a back quote"
		case r == '$' && (strings.HasPrefix(p[i+1:], "(") || strings.HasPrefix(p[i+1:], "{")):
			return "has a shell substitution"
		case r >= 0x80 && invisible(r):
			return "has an invisible or direction-changing character"
		}
	}
	return ""
}

// unseen are ranges of characters that show nothing, besides those that Unicode calls control, formatting or private.
var unseen = [...][2]rune{
	{0x034f, 0x034f}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2028, 0x2029}, {0x3164, 0x3164}, // fillers
	{0xfe00, 0xfe0e}, {0xffa0, 0xffa0}, {0xfff0, 0xffff}, {0xe0000, 0xe0fff}, // variation selectors, specials, tags
}

// invisible reports whether r can't be seen in a file name or changes how its neighbours are seen. U+FE0F, which is
// part of how emoji are written, is none of them.
func invisible(r rune) bool {
	for _, pair := range unseen {
		if r >= pair[0] && r <= pair[1] {
			return true
		}
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

func checkComponent(c string) string {
	switch {
	case c == "":
		return "has an empty path component"
	case c == ".":
		return `has a "." component`
	case c == "..":
		return `has a ".." component`
	case c[0] == '-':
		return "has a component that starts with a hyphen"
	case strings.HasSuffix(c, "."):
		return "has a component that ends in a dot"
	case strings.TrimSpace(c) != c:
		return "has a component that starts or ends with a space"
	}
	lower := fold(c)
	stem, _, _ := strings.Cut(lower, ".")
	switch {
	case strings.Contains(reservedDevices, " "+strings.TrimRight(stem, " ")+" ") && stem != "":
		return "has the name of a Windows device"
	case lower == ".git":
		return "is inside a .git directory"
	case lower == ".skillpm":
		return "is skillpm's own file"
	case shortName(stem):
		return "has a Windows short name (8.3)"
	}
	return ""
}

// shortName reports whether stem ends in a tilde and digits, as the names do that Windows makes up.
func shortName(stem string) bool {
	digits := strings.TrimRight(stem, "0123456789")
	return len(digits) < len(stem) && len(digits) > 1 && strings.HasSuffix(digits, "~")
}

// Normal returns p in NFC, the form that names have in inventories and in the store.
func Normal(p string) string {
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			return norm.NFC.String(p)
		}
	}
	return p
}
