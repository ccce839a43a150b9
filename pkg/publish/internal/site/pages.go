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

// fixed are the files of the catalogue that are the same for every index.
var fixed = []string{"site.css", "site.js", "icon.svg"}

// digests returns, for each fixed file, a digest that stands in its address, so that browsers fetch those that changed.
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

// page is what every page has.
type page struct {
	Title       string // of the browser's tab
	Description string
	Path        string
	Root        string // what leads to the root of the catalogue, "" where the path tells
	Home        bool
	NoAddress   bool // it is shown at addresses that are not its own
}

// root leads from a page to the root of the website.
type root string

// href returns the address of a path below the root. Paths are made by this package only.
func (r root) href(path string) templ.SafeURL { return templ.SafeURL(string(r) + path) }

// write writes a page around its content.
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

// numbered returns the path of a further page of a list whose first page has the given path.
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

// basePath returns the path of the address that the catalogue is published at, ending in a slash.
func basePath(base string) string {
	u, err := url.Parse(base)
	if err != nil || base == "" {
		return "/"
	}
	return strings.TrimRight(path.Join("/", u.EscapedPath()), "/") + "/"
}
