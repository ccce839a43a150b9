package tool

import (
	"path"
	"strings"
	"unicode"
)

// maxPath is the maximum length of a path that is matched, in bytes.
const maxPath = 4 << 10

// readPath returns the cleaned absolute path of a call's path, or why it is unknown. raw is the path before cleaning,
// because .. after a link may lead elsewhere.
func (c Call) readPath(p string) (cleaned, raw, refused string) {
	if strings.ContainsRune(p, '\\') && drive(c.Project) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	first, _, _ := strings.Cut(p, "/")
	switch {
	case p == "":
		return "", "", "is empty"
	case len(p) > maxPath:
		return "", "", "is too long"
	case strings.ContainsFunc(p, unicode.IsControl) || strings.ContainsRune(p, '\\'):
		return "", "", "contains characters that are not allowed in a path"
	case strings.HasPrefix(p, "$") || strings.HasPrefix(p, "%"):
		return "", "", "starts with a variable"
	case strings.Contains(first, ":") && !(drive(first) && drive(c.Project)):
		return "", "", "is a URL, or contains a drive letter"
	case p == "~" || strings.HasPrefix(p, "~/"):
		if c.Home == "" {
			return "", "", "is in the home directory, which skillpm cannot find"
		}
		raw = slash(c.Home) + p[1:]
	case strings.HasPrefix(p, "~"):
		return "", "", "is in the home directory of another user"
	case strings.HasPrefix(p, "/") || drive(first):
		raw = p
	default:
		raw = c.base() + "/" + p
	}
	return path.Clean(raw), raw, ""
}

// base is the base directory of the call's paths. If it is unknown, paths are below a root that contains nothing else.
func (c Call) base() string {
	switch {
	case c.Dir != "":
		return slash(c.Dir)
	case c.Project != "":
		return slash(c.Project)
	}
	return unknownRoot
}

// unknownRoot stands for the project's directory if it is unknown.
const unknownRoot = "/\x00"

func (c Call) root() string {
	if c.Project == "" {
		return unknownRoot
	}
	return path.Clean(slash(c.Project))
}

// slash converts a Windows path to slashes.
func slash(p string) string {
	if drive(p) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// drive reports whether a path starts with a Windows drive.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}

// allowsPath reports whether a file pattern allows a path and, if links are resolved, its target. If tree is set, the
// pattern must also allow everything below the path.
func (c Call) allowsPath(pattern, p string, tree bool) bool {
	allows := func(pattern, p, root, home string) bool {
		return matchPath(pattern, p, root, home) &&
			(!tree || matchPath(pattern, path.Join(p, unknownName, unknownName), root, home))
	}
	cleaned, raw, refused := c.readPath(p)
	if refused != "" || !allows(pattern, cleaned, c.root(), c.Home) {
		return false
	}
	for _, path := range c.resolvedPaths(cleaned, raw) {
		if path == "" || !allows(c.resolved(pattern), path, c.real(c.root()), c.real(c.Home)) {
			return false
		}
	}
	return true
}

// unknownName is a name that only a wildcard matches.
const unknownName = "\x00"

// resolved returns an absolute file pattern whose prefix, up to the first wildcard, is resolved. Patterns of the
// project and the home directory start with directories that are resolved separately.
func (c Call) resolved(pattern string) string {
	if !strings.HasPrefix(pattern, "//") {
		return pattern
	}
	fixed, rest := pattern[1:], ""
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		i = strings.LastIndexByte(fixed[:i], '/') + 1
		fixed, rest = fixed[:i], fixed[i:]
	}
	dir := c.real(fixed)
	if dir == "" || !strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, "*?") {
		return pattern
	}
	if rest != "" || strings.HasSuffix(fixed, "/") {
		dir = strings.TrimSuffix(dir, "/") + "/"
	}
	return "/" + dir + rest
}

// anchored returns a pattern with its resolved prefix, up to the first wildcard, as an absolute pattern. It is "" if
// there is no such prefix or its target is unknown.
func (c Call) anchored(pattern string) string {
	pattern = slash(pattern)
	base, rest := c.root(), strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, rest = "/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, rest = slash(c.Home), pattern[2:]
	case strings.HasPrefix(pattern, "~") || drive(pattern):
		return ""
	}
	fixed, suffix := rest, ""
	if i := strings.IndexAny(rest, "*?"); i >= 0 {
		i = strings.LastIndexByte(rest[:i], '/') + 1
		fixed, suffix = rest[:i], rest[i:]
	}
	if c.Real == nil || base == "" || base == unknownRoot || fixed == "" || drive(base) {
		return ""
	}
	dir := c.real(path.Join(base, fixed))
	if !strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, "*?") {
		return ""
	}
	if suffix != "" {
		dir = strings.TrimSuffix(dir, "/") + "/"
	}
	return "/" + dir + suffix
}

// resolvedPaths returns the possible targets of a path, "" for an unknown one. Some agents clean a path before they
// open it, and some do not.
func (c Call) resolvedPaths(cleaned, raw string) []string {
	if c.Real == nil || strings.HasPrefix(raw, unknownRoot) {
		return nil
	}
	return []string{c.real(cleaned), c.real(raw)}
}

// real returns the target of a path, "" if unknown.
func (c Call) real(p string) string {
	if p == "" || p == unknownRoot {
		return p
	}
	if p = c.Real(p); p == "" {
		return ""
	}
	return path.Clean(slash(p))
}

// matchPath reports whether a pattern matches an absolute, cleaned path:
//
//	docs/**        docs, and everything below it
//	./docs/*.md    files of docs itself
//	/docs/**       the same: a slash at the beginning is the project's directory
//	*.md           files of that name in any directory of the project
//	docs           docs, and everything below it
//	~/notes/**     below the home directory
//	//etc/agents    of the machine
func matchPath(pattern, p, root, home string) bool {
	pattern = slash(pattern)
	switch {
	case strings.HasPrefix(pattern, "//"):
		return matchBelow("/", pattern[2:], p)
	case drive(pattern):
		return matchBelow(pattern[:2], strings.TrimPrefix(pattern[2:], "/"), p)
	case strings.HasPrefix(pattern, "~/"):
		return home != "" && matchBelow(path.Clean(slash(home)), pattern[2:], p)
	case strings.HasPrefix(pattern, "~"):
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	if rest == pattern && !strings.Contains(pattern, "/") && strings.ContainsAny(pattern, "*?") {
		rest = "**/" + rest
	}
	return matchBelow(root, rest, p)
}

// matchBelow matches a path below a directory, element by element.
func matchBelow(root, pattern, p string) bool {
	if root == "" || root == "." {
		return false
	}
	if p != root && root != "/" {
		var below bool
		if p, below = strings.CutPrefix(p, root+"/"); !below {
			return false
		}
	} else {
		p = strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
	}
	steps := strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' })
	for i, s := range steps {
		switch s {
		case "..":
			return false // a pattern that leaves its directory matches nothing
		case ".":
			steps[i] = ""
		}
	}
	if len(steps) == 0 || !strings.ContainsAny(pattern, "*?") || strings.HasSuffix(pattern, "/") {
		steps = append(steps, "**")
	}
	var names []string
	if p != "" {
		names = strings.Split(p, "/")
	}
	return matchSteps(steps, names)
}

// matchSteps backtracks only to the last **, which suffices: the last one can match whatever an earlier one could.
func matchSteps(steps, names []string) bool {
	s, n := 0, 0
	back, start := -1, 0
	for n < len(names) {
		switch {
		case s < len(steps) && steps[s] == "":
			s++
		case s < len(steps) && steps[s] == "**":
			back, start = s, n
			s++
		case s < len(steps) && matchName(steps[s], names[n]):
			s++
			n++
		case back >= 0:
			start++
			s, n = back+1, start
		default:
			return false
		}
	}
	for s < len(steps) && (steps[s] == "**" || steps[s] == "") {
		s++
	}
	return s == len(steps)
}

// matchName matches one element: * matches any characters, ? any one.
func matchName(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	i, j := 0, 0
	back, start := -1, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			back, start = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case back >= 0:
			start++
			i, j = back+1, start
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}
