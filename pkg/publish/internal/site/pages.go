package site

import (
	"bytes"
	"context"
	"embed"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

//go:embed assets
var assets embed.FS

// fixed are the files that are the same for every website.
var fixed = []string{"site.css", "search.js", "site.js", "icon.svg"}

// digests returns a digest for each fixed file. It is part of the file's address, so that browsers fetch new versions.
func digests() (map[string]string, error) {
	versions := map[string]string{}
	for _, name := range fixed {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		versions[name] = textx.SHA256(data)[:8]
	}
	return versions, nil
}

// page is the common data of all pages.
type page struct {
	Title       string // for the browser's tab
	Description string
	Path        string
	Root        string // the path to the website's root, if it does not follow from the page's path
	Home        bool
	NoAddress   bool // it is shown at other addresses
}

// root returns the path from a page to the website's root.
type root string

// href returns the address of a path relative to the root. Paths come only from this package.
func (r root) href(path string) templ.SafeURL { return templ.SafeURL(string(r) + path) }

// write writes a page with its content.
func (s *Site) write(w Write, p page, content func(root) templ.Component) error {
	r := root(p.Root)
	if r == "" {
		r = root(rootOf(p.Path))
	}
	var out bytes.Buffer
	if err := s.layout(p, r, content(r)).Render(context.Background(), &out); err != nil {
		return err
	}
	return w(p.Path, out.Bytes())
}

func (s *Site) asset(name string) string { return "assets/" + name + "?v=" + s.versions[name] }

func packPath(id pack.ID) string     { return "packs/" + id.Owner + "/" + id.Name + ".html" }
func ownerPath(owner string) string  { return "owners/" + owner + ".html" }
func tagPath(tag string) string      { return "tags/" + fileName(tag) + ".html" }
func skillAnchor(name string) string { return "skill-" + fileName(name) }
func skillPath(id pack.ID, name string) string {
	return path.Join("packs", id.Owner, id.Name, fileName(name)+".html")
}

// numbered returns the path of page n of a list whose first page has the given path.
func numbered(first string, n int) string {
	if n <= 1 {
		return first
	}
	base := first[:len(first)-len(".html")]
	if base == "index" {
		base = "all"
	}
	return base + "/" + strconv.Itoa(n) + ".html"
}

// basePath returns the path of the website's published URL, with a trailing slash.
func basePath(base string) string {
	u, err := url.Parse(base)
	if err != nil || base == "" {
		return "/"
	}
	return strings.TrimRight(path.Join("/", u.EscapedPath()), "/") + "/"
}
