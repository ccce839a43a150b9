package policy

import (
	"net/url"
	"slices"
	"strings"
)

// allows reports whether the pattern matches a source exactly as spelled.
func (p Pattern) allows(location sourceLocation) bool {
	if slices.Contains(localSchemes(), string(p)) {
		return string(p) == location.scheme
	}
	q, ok := p.location()
	return ok && q.scheme == location.scheme && matchHost(q.host, location.host) && q.port == location.port &&
		matchPath(q.path, location.path, exactCase) && (q.dir == nil || matchPath(q.dir, location.dir, exactCase))
}

// covers reports whether the pattern matches a source in any spelling. Restrictions use it, so that no spelling evades
// them: protocol, .git suffix, and letter case do not matter, a pattern without a port matches every port, and all
// names of a host are equal. A pattern that matches a directory also matches directories below it.
func (p Pattern) covers(location sourceLocation) bool {
	if slices.Contains(localSchemes(), string(p)) {
		return string(p) == location.scheme
	}
	q, ok := p.location()
	if !ok || protocolFamily(q.scheme) != protocolFamily(location.scheme) || location.host == "" ||
		q.port != "" && q.port != location.port && !samePort(q, location) {
		return false
	}
	if !matchHost(q.host, location.host) && !matchHost(canonicalHost(q.host), canonicalHost(location.host)) {
		return false
	}
	path := location.path
	if isGit(location.scheme) {
		q.path, path = withoutGit(q.path), withoutGit(path)
	}
	return matchPath(q.path, path, foldedCase) && containsDir(q.dir, location.dir)
}

// samePort reports whether the pattern's port is the default of another protocol, at which the source is.
func samePort(q, location sourceLocation) bool {
	port := location.port
	if port == "" {
		port = defaultPort(location.scheme)
	}
	return q.port == port
}

// containsDir reports whether a pattern matches a directory or one above it.
func containsDir(pattern, dir []string) bool {
	if pattern == nil {
		return true
	}
	for i := len(dir); i >= 0; i-- {
		if matchPath(pattern, dir[:i], foldedCase) {
			return true
		}
	}
	return false
}

// coversHost reports whether a pattern matches everything on a host.
func (p Pattern) coversHost(host, port string) bool {
	q, ok := p.location()
	if !ok || len(q.path) != 1 || q.path[0] != "**" || q.dir != nil || q.port != "" && q.port != port {
		return false
	}
	return matchHost(q.host, host) || matchHost(canonicalHost(q.host), canonicalHost(host))
}

// location parses a pattern like a source.
func (p Pattern) location() (sourceLocation, bool) {
	scheme, rest, ok := strings.Cut(string(p), "://")
	if !ok {
		return sourceLocation{}, false
	}
	q := sourceLocation{scheme: scheme}
	authority, rest, _ := strings.Cut(rest, "/")
	q.host, q.port = cutPort(authority)
	path, dir, hasDir := strings.Cut(rest, "//")
	q.path = strings.Split(path, "/")
	if hasDir {
		q.dir = strings.Split(dir, "/")
	}
	return q, true
}

func isGit(scheme string) bool { return protocolFamily(scheme) == "git" }

// protocolFamily returns what a scheme reaches, over whatever transport: git, oci, or well-known.
func protocolFamily(scheme string) string {
	family, _, _ := strings.Cut(scheme, "+")
	return family
}

// matchHost matches a host against a pattern that may start with *. for any names.
func matchHost(pattern, host string) bool {
	if domain, wild := strings.CutPrefix(pattern, "*"); wild {
		return len(host) > len(domain) && strings.HasSuffix(host, domain)
	}
	return pattern == host
}

// withoutGit removes a .git suffix from a repository's path.
func withoutGit(path []string) []string {
	last := len(path) - 1
	name := path[last]
	if len(name) <= len(".git") || !strings.EqualFold(name[len(name)-len(".git"):], ".git") {
		return path
	}
	path = slices.Clone(path)
	path[last] = name[:len(name)-len(".git")]
	return path
}

// normalizer normalizes path components before they are compared.
type normalizer func(string) string

func exactCase(s string) string { return s }

func foldedCase(s string) string { return strings.ToLower(s) }

// matchPath matches a path against a pattern in which ** stands for any number of components, including none.
func matchPath(pattern, path []string, read normalizer) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(path) {
		switch {
		case i < len(pattern) && pattern[i] == "**":
			star, mark = i, j
			i++
		case i < len(pattern) && matchPart(pattern[i], path[j], read):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == "**" {
		i++
	}
	return i == len(pattern)
}

// matchPart matches one component against a pattern in which * stands for any characters.
func matchPart(pattern, part string, read normalizer) bool {
	pieces := strings.Split(pattern, "*")
	for i, piece := range pieces {
		if decoded, err := url.PathUnescape(piece); err == nil {
			piece = decoded
		}
		pieces[i] = read(piece)
	}
	return matchPieces(pieces, read(part))
}

// matchStars matches a text against a pattern in which * stands for any characters.
func matchStars(pattern, text string) bool { return matchPieces(strings.Split(pattern, "*"), text) }

// matchPieces matches a text against the parts of a pattern between its stars.
func matchPieces(pieces []string, part string) bool {
	last := len(pieces) - 1
	if last == 0 {
		return pieces[0] == part
	}
	if !strings.HasPrefix(part, pieces[0]) {
		return false
	}
	part = part[len(pieces[0]):]
	for _, piece := range pieces[1:last] {
		_, rest, found := strings.Cut(part, piece)
		if !found {
			return false
		}
		part = rest
	}
	return strings.HasSuffix(part, pieces[last])
}
