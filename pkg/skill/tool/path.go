package tool

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// location is where a path of a call leads, for one spelling of it. raw is the path before cleaning, because .. after a
// link may lead elsewhere.
type location struct{ cleaned, raw string }

// locations returns where a path may lead by the agent's spellings, or why that is unknown.
func (c Call) locations(p string) (all []location, refused string) {
	spellings, ok := c.spell(p, c.Spellings)
	if !ok {
		return nil, "can be read in too many ways"
	}
	for _, s := range spellings {
		if c.onlyExpanded(s) {
			continue
		}
		l, refused := c.locate(s)
		if refused == "" {
			refused = c.foreign(s)
		}
		if refused != "" {
			return nil, refused
		}
		all = append(all, l)
	}
	return all, ""
}

// locations returns where a path of a use may lead.
func (u *use) locations(c Call, p string) (all []location, refused string) {
	if u.exact {
		c.Spellings = Literal | Tilde
	}
	if all, refused = c.locations(p); refused != "" {
		return nil, refused
	}
	spellings, _ := c.spell(p, c.Spellings)
	return append(all, c.searchedFor(u, spellings)...), ""
}

// searchedFor returns the files that a tool that edits may find by the end of a relative path that does not exist.
func (c Call) searchedFor(u *use, spellings []string) (all []location) {
	if u.tool != "Edit" || c.Find == nil || !c.Spellings.has(Suffix) {
		return nil
	}
	relative := slices.DeleteFunc(slices.Clone(spellings), func(p string) bool {
		return strings.HasPrefix(p, "/") || drive(p)
	})
	if len(relative) == 0 {
		return nil
	}
	files, ok := c.Find(relative)
	if !ok {
		files = []string{"/"}
	}
	for _, file := range files {
		file = slash(file)
		all = append(all, location{file, file})
	}
	return all
}

// onlyExpanded reports whether a spelling is not a file in a directory that is called ~: it does not leave that.
func (c Call) onlyExpanded(p string) bool {
	return c.Spellings.has(Tilde) && c.Home != "" && (p == "~" || strings.HasPrefix(p, "~/")) &&
		!strings.Contains(p, "..")
}

// foreign returns why an agent may read the beginning of a path as something that only it knows.
func (c Call) foreign(p string) string {
	first, _, _ := strings.Cut(p, "/")
	switch {
	case c.Spellings.has(Variable) &&
		(strings.HasPrefix(p, "$") || strings.HasPrefix(p, "%") && strings.Count(first, "%") > 1) &&
		c.expanded(p) == "":
		return "starts with a variable"
	case c.Spellings.has(Tilde) && strings.HasPrefix(p, "~") && c.Home == "":
		return "is in the home directory, which skillpm cannot find"
	case c.Spellings.has(Tilde) && strings.HasPrefix(p, "~") && c.ofHome(p) == "":
		return "is in the home directory of another user"
	case strings.Contains(first, ":") && !c.onWindows() && !drive(first) && !hasFileScheme(first):
		return "is a URL, or contains a drive letter"
	}
	return ""
}

// locate returns where one spelling of a path leads, or why that is unknown.
func (c Call) locate(p string) (l location, refused string) {
	if c.onWindows() {
		if p, refused = c.windowsPath(p); refused != "" {
			return location{}, refused
		}
	}
	switch {
	case p == "":
		return location{}, "is empty"
	case strings.ContainsFunc(p, unicode.IsControl):
		return location{}, "contains characters that are not allowed in a path"
	case hasScheme(p) && !drive(p) && !hasFileScheme(p):
		return location{}, "is a URL"
	case drive(p) && !c.onWindows():
		return location{}, "contains a drive letter"
	case strings.HasPrefix(p, "/") || drive(p):
		l.raw = p
	default:
		l.raw = c.base() + "/" + p
	}
	l.cleaned = path.Clean(l.raw)
	if len(l.cleaned) > maxPath {
		return location{}, "is too long"
	}
	if ofProcess(l.cleaned) || ofProcess(l.raw) {
		return location{}, processPath
	}
	return l, ""
}

// processPath is why the target of a path is unknown that depends on the process.
const processPath = "differs for each process"

// maxPath is the maximum length of a clean path, in bytes: systems do not open longer ones.
const maxPath = 4 << 10

// hasFileScheme reports whether a path is a file URL, which is one of its spellings.
func hasFileScheme(p string) bool { return len(p) >= 5 && strings.EqualFold(p[:5], "file:") }

// ofProcess reports whether a path leads somewhere else for each process that opens it, as /proc/self/cwd.
func ofProcess(p string) bool {
	p = path.Clean("/" + strings.ReplaceAll(p, "/../", "/")) // .. after a link leads above its target
	for _, prefix := range [...]string{
		"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self", "/proc/thread-self",
	} {
		if p == prefix || strings.HasPrefix(p, prefix+"/") {
			return true
		}
	}
	id, ok := strings.CutPrefix(p, "/proc/")
	return ok && id != "" && id[0] >= '0' && id[0] <= '9'
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

// slash converts a Windows path to slashes, and its drive letter to upper case.
func slash(p string) string {
	if drive(p) {
		return strings.ToUpper(p[:1]) + strings.ReplaceAll(p[1:], `\`, "/")
	}
	return p
}

// drive reports whether a path starts with a Windows drive.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}

// allowsPath reports whether a file pattern allows a location and, if links are resolved, its target. If tree is set,
// the pattern must also allow everything below it.
func (c Call) allowsPath(pattern string, l location, tree bool) bool {
	allows := func(pattern, p, root, home string) bool {
		return matchPath(pattern, p, root, home) &&
			(!tree || matchPath(pattern, path.Join(p, unknownName, unknownName), root, home))
	}
	if !allows(pattern, l.cleaned, c.root(), c.Home) {
		return false
	}
	for _, path := range c.resolvedPaths(l) {
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

// prefix splits a pattern into its base directory, "" if unknown, the path up to the element with the first wildcard,
// and the rest.
func (c Call) prefix(pattern string) (base, fixed, rest string) {
	pattern = slash(pattern)
	base, fixed = c.root(), strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, fixed = "/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, fixed = slash(c.Home), pattern[2:]
	case drive(pattern):
		base, fixed = pattern[:2], strings.TrimPrefix(pattern[2:], "/")
	case strings.HasPrefix(pattern, "~"):
		return "", "", ""
	}
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		i = strings.LastIndexByte(fixed[:i], '/') + 1
		fixed, rest = fixed[:i], fixed[i:]
	}
	return base, fixed, rest
}

// anchored returns a pattern with its resolved prefix, up to the first wildcard, as an absolute pattern. It is "" if
// there is no such prefix or its target is unknown.
func (c Call) anchored(pattern string) string {
	base, fixed, suffix := c.prefix(pattern)
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
func (c Call) resolvedPaths(l location) []string {
	switch {
	case c.Real == nil || strings.HasPrefix(l.raw, unknownRoot):
		return nil
	case l.raw == l.cleaned:
		return []string{c.real(l.cleaned)}
	}
	return []string{c.real(l.cleaned), c.real(l.raw)}
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
