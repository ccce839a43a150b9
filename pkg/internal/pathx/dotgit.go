package pathx

import (
	"path"
	"strings"
	"unicode"
)

// MeansDotGit reports whether some file system takes name for .git: because case does not count, because it ignores
// invisible characters (macOS) or trailing dots, spaces and streams (Windows), or as a short name.
func MeansDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1" || path.Base(strings.ReplaceAll(name, `\`, "/")) == ".git"
}
