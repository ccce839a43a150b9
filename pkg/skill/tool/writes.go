package tool

import "strings"

// WritesBelow returns the first path that a call creates, edits or deletes in a directory or below it, and which
// directory that is; "" for none. A path is judged as it is named and by where it leads, and case does not count. What
// a command writes, and a path that can't be told, is not found.
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

// below reports whether a path is a directory or below it.
func below(path, dir string) bool {
	path, dir = strings.ToLower(path), strings.ToLower(dir)
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}
