package site

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Owns reports whether a website may have a file with this path. Paths below a dot directory are excluded, except the
// discovery files of other tools.
func Owns(path string) bool {
	if slices.Contains([]string{"index.html", "404.html", "tags.html", ".nojekyll", CatalogPath}, path) {
		return true
	}
	rest, known := strings.CutPrefix(path, WellKnown)
	if !known {
		var top string
		top, rest, known = strings.Cut(path, "/")
		known = known && slices.Contains([]string{"all", "assets", "owners", "packs", "search", "tags"}, top)
	}
	if !known || !fs.ValidPath(path) || strings.ContainsAny(path, `\:~`) {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

// OwnsPlugin reports whether a marketplace may have a file with this path: its list, a plugin's description, or a file
// of a plugin's skill.
func OwnsPlugin(path string) bool {
	if path == marketplacePath {
		return true
	}
	parts := strings.SplitN(path, "/", 5)
	if len(parts) < 4 || parts[0] != "plugins" || !plainName().MatchString(parts[1]) || bundle.CheckPath(path) != nil {
		return false
	}
	return strings.Join(parts[2:], "/") == pluginPath || len(parts) == 5 && parts[2] == "skills"
}
