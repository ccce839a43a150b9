package site

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Owns reports whether a catalogue may have a file of this path. None is below a directory whose name begins with a
// dot, but for what other tools discover skills by.
func Owns(path string) bool {
	if slices.Contains([]string{"index.html", "404.html", "tags.html", ".nojekyll"}, path) {
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

// OwnsPlugin reports whether a marketplace may have a file of this path: its list, what describes a plugin, or a file
// of one of its skills.
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
