package tool

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Windows opens the same file by many paths. What has a second meaning is refused, as a pure function of the text, so
// that this is the same on every system.

// onWindows reports whether the paths of a call are those of Windows.
func (c Call) onWindows() bool { return drive(c.Project) || drive(c.Dir) }

// shortName matches a name such as PROGRA~1, which stands for a longer one.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)

// windowsPath returns a path with slashes and its drive, or why it cannot be checked.
func (c Call) windowsPath(p string) (out, refused string) {
	p = strings.ReplaceAll(p, `\`, "/")
	for _, prefix := range []string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			if p = rest; !drive(p) {
				return "", "is a device, or on another computer"
			}
		}
	}
	switch {
	case strings.HasPrefix(p, "//"):
		return "", "is on another computer"
	case drive(p) && (len(p) == 2 || p[2] != '/'):
		return "", "is relative to the working directory of a drive"
	case drive(p):
		p = slash(p)
	case strings.HasPrefix(p, "/") && drive(c.base()):
		p = c.base()[:2] + p
	}
	rest := p
	if drive(p) {
		rest = p[2:]
	}
	for name := range strings.SplitSeq(rest, "/") {
		if refused := refusedName(name); refused != "" {
			return "", refused
		}
	}
	return p, ""
}

// refusedName returns why a name in a path of Windows may be another file than it seems, or none.
func refusedName(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch {
	case name == "" || name == "." || name == "..":
		return ""
	case strings.Contains(name, ":"):
		return "contains a data stream or a second drive"
	case strings.Trim(name, ". ") == "":
		return "contains a name of dots"
	case strings.ContainsAny(name, `<>"|`):
		return "contains characters that are not allowed in a path"
	case shortName.MatchString(name):
		return "contains a short name"
	case isDevice(stem):
		return "is a device"
	}
	return ""
}

// isDevice reports whether a name without its extension is one that Windows reserves, in upper case.
func isDevice(stem string) bool {
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}, stem) {
		return true
	}
	number, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		number, ok = strings.CutPrefix(stem, "LPT")
	}
	digits := []rune(number)
	return ok && len(digits) == 1 && (unicode.IsDigit(digits[0]) || strings.ContainsRune("¹²³", digits[0]))
}

// withoutTrailing removes the dots and spaces that Windows ignores at the end of a name.
func withoutTrailing(p string) string {
	names := strings.Split(strings.ReplaceAll(p, `\`, "/"), "/")
	for i, name := range names {
		if short := strings.TrimRight(name, ". "); short != "" {
			names[i] = short
		}
	}
	return strings.Join(names, "/")
}
