package tool

import "strings"

// WritesBelow returns the first path at or below a directory that a call creates, edits, or deletes, and that
// directory; "" for none. It checks the path as written and its target, ignoring case. It does not find what commands
// write, or unknown paths.
func (c Call) WritesBelow(dirs []string) (path, dir string) {
	for _, u := range c.uses() {
		switch u.tool {
		case "Write", "Edit", "NotebookEdit", "Delete":
		default:
			continue
		}
		for _, v := range u.values {
			cleaned, raw, refused := c.readPath(v)
			if refused != "" {
				continue
			}
			for _, path := range append(c.resolvedPaths(cleaned, raw), cleaned) {
				for _, d := range dirs {
					if below(path, slash(d)) || c.Real != nil && below(path, c.real(slash(d))) {
						return v, d
					}
				}
			}
		}
	}
	return "", ""
}

// below reports whether a path is at or below a directory.
func below(path, dir string) bool {
	path, dir = strings.ToLower(path), strings.ToLower(dir)
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
