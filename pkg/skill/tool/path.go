package tool

import (
	"path"
	"strings"
	"unicode"
)

// maxPath is how many bytes a path may have that patterns are held against.
const maxPath = 4 << 10

// readPath makes an absolute path of what a call says, cleaned, or says why that can't be done. Raw is the path before
// it was cleaned: where links are followed, a .. after a link is not what the cleaned path says.
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
		return "", "", "has characters that a path should not have"
	case strings.HasPrefix(p, "$") || strings.HasPrefix(p, "%"):
		return "", "", "starts with a variable"
	case strings.Contains(first, ":") && !(drive(first) && drive(c.Project)):
		return "", "", "is an address, or has a drive"
	case p == "~" || strings.HasPrefix(p, "~/"):
		if c.Home == "" {
			return "", "", "is in a home directory that is not known"
		}
		raw = slash(c.Home) + p[1:]
	case strings.HasPrefix(p, "~"):
		return "", "", "is in somebody's home directory"
	case strings.HasPrefix(p, "/") || drive(first):
		raw = p
	default:
		raw = c.base() + "/" + p
	}
	return path.Clean(raw), raw, ""
}

// base is the directory that the call's paths are relative to. Where none is known paths stay below a root that nothing
// else is in.
func (c Call) base() string {
	switch {
	case c.Dir != "":
		return slash(c.Dir)
	case c.Project != "":
		return slash(c.Project)
	}
	return unknownRoot
}

// unknownRoot stands for the project's directory where that is not known.
const unknownRoot = "/\x00"

func (c Call) root() string {
	if c.Project == "" {
		return unknownRoot
	}
	return path.Clean(slash(c.Project))
}

// slash writes a path of Windows with slashes.
func slash(p string) string {
	if drive(p) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// drive reports whether a path starts with a drive of Windows.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}

// allowsPath reports whether a pattern of files allows a path, and where links are followed also what it leads to.
func (c Call) allowsPath(pattern, p string) bool {
	cleaned, raw, refused := c.readPath(p)
	if refused != "" || !matchPath(pattern, cleaned, c.root(), c.Home) {
		return false
	}
	for _, path := range c.resolvedPaths(cleaned, raw) {
		if path == "" || !matchPath(c.resolved(pattern), path, c.real(c.root()), c.real(c.Home)) {
			return false
		}
	}
	return true
}

// resolved returns a pattern of the machine's files whose beginning, before the first wildcard, is where that leads.
// Those of the project and of the home directory begin with directories that are resolved themselves.
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

// anchored returns a pattern whose beginning, before the first wildcard, is where that leads on this machine, as a
// pattern of the machine's files. It is "" where the pattern has no such beginning, or where that can't be told.
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

// resolvedPaths returns where a path may lead once links are followed, "" for what can't be told: there are agents that
// clean a path before they open it, and agents that do not.
func (c Call) resolvedPaths(cleaned, raw string) []string {
	if c.Real == nil || strings.HasPrefix(raw, unknownRoot) {
		return nil
	}
	return []string{c.real(cleaned), c.real(raw)}
}

// real returns where a path leads once links are followed, "" where that is not known.
func (c Call) real(p string) string {
	if p == "" || p == unknownRoot {
		return p
	}
	if p = c.Real(p); p == "" {
		return ""
	}
	return path.Clean(slash(p))
}

// matchPath reports whether a pattern has an absolute, cleaned path:
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

// matchBelow matches a path below a directory, step by step.
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
			return false // a pattern that leaves its directory allows nothing
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

// matchSteps goes back to the last ** only, which is enough: what an earlier one could take, the last one can.
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

// matchName matches one step: * is any characters, ? any one.
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
