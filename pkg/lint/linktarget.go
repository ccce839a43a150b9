package lint

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// linkKind classifies a link's target.
type linkKind int

const (
	linkExternal    linkKind = iota // a URL, or nothing that is checked
	linkAnchor                      // a place in the same file
	linkFile                        // a path
	linkAbsolute                    // a path from the root of a file system
	linkPlaceholder                 // a pattern that somebody fills in
)

// linkTarget is a parsed link target.
type linkTarget struct {
	kind      linkKind
	path      string // as written, percent-encoding resolved
	literal   string // as written
	fragment  string
	backslash bool
}

var (
	scheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`) })
	drive  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })
)

// parseLinkTarget parses a link's target.
func parseLinkTarget(s string) linkTarget {
	s = strings.TrimSpace(s)
	switch {
	case s == "" || strings.HasPrefix(s, "//"):
		return linkTarget{}
	case drive().MatchString(s):
		return linkTarget{kind: linkAbsolute, path: s, literal: s}
	case placeholder(s):
		return linkTarget{kind: linkPlaceholder, literal: s}
	case strings.HasPrefix(strings.ToLower(s), "file:/"):
		return linkTarget{kind: linkAbsolute, path: s, literal: s}
	case scheme().MatchString(s):
		return linkTarget{}
	}
	t := linkTarget{kind: linkFile}
	s, t.fragment, _ = strings.Cut(s, "#")
	t.literal = s
	if plain, err := url.PathUnescape(t.fragment); err == nil {
		t.fragment = plain
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if strings.Contains(s, `\`) {
		t.backslash = true
		s = strings.ReplaceAll(s, `\`, "/")
	}
	t.path = s
	switch {
	case s == "":
		t.kind = linkAnchor
	case s[0] == '/' || s[0] == '~':
		t.kind = linkAbsolute
	}
	return t
}

// placeholder reports whether a target is a pattern to be filled in: a variable, braces, angle brackets, a glob, or
// dots in place of a path.
func placeholder(s string) bool {
	if strings.HasPrefix(s, "%") && strings.HasSuffix(s, "%") || strings.ContainsAny(s, "{}<>$*|") ||
		strings.Contains(s, "...") || strings.ContainsRune(s, '…') {
		return true
	}
	if plain, err := url.PathUnescape(s); err == nil && plain != s && strings.ContainsAny(plain, "{}<>$*|") {
		return true
	}
	clean := strings.TrimPrefix(s, "./")
	return strings.HasPrefix(clean, "path/to/") || strings.Contains(clean, "/path/to/") ||
		placeholderWords[strings.ToLower(clean)]
}

// placeholderWords are stand-ins for a target in examples of Markdown.
var placeholderWords = map[string]bool{
	"url": true, "link": true, "uri": true, "href": true, "path": true, "target": true, "src": true, "source": true,
	"file": true, "filename": true, "filepath": true, "image": true, "image-url": true, "link-url": true,
	"permalink": true, "internal-link": true,
	"image_url": true, "link_url": true,
}

// withoutQuery returns a path without what follows a question mark.
func withoutQuery(p string) string {
	p, _, _ = strings.Cut(p, "?")
	return p
}

// isClean reports whether a path is clean and has no hidden or parent directories.
func isClean(p string) bool {
	return p != "" && p[0] != '.' && p[0] != '/' && p[len(p)-1] != '/' && !strings.Contains(p, "//") &&
		!strings.Contains(p, "/.")
}

// inside joins a path to a directory of the skill; ok is false when it leads out of the skill.
func inside(dir, p string) (rel string, ok bool) {
	if dir == "." && isClean(p) {
		return p, true
	}
	rel = path.Join(dir, p)
	return rel, !pathx.Escapes(rel)
}
