package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/source"
)

//go:embed assets
var assets embed.FS

// files of the catalogue that are the same for every index.
var fixed = []string{"site.css", "site.js", "icon.svg"}

// pages are the templates.
type pages struct {
	templates map[string]*template.Template
	versions  map[string]string // of the fixed files: a digest, so that browsers fetch those that changed
}

func newPages(s *Site) (*pages, error) {
	p := &pages{templates: map[string]*template.Template{}, versions: map[string]string{}}
	for _, name := range fixed {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		p.versions[name] = hex.EncodeToString(sum[:4])
	}
	funcs := template.FuncMap{
		"asset":     func(name string) string { return "assets/" + name + "?v=" + p.versions[name] },
		"title":     func() string { return s.options.Title },
		"plural":    func(n int, one, many string) string { return plural(int64(n), one, many) },
		"thousands": func(n int) string { return thousands(int64(n)) },
		"size":      size,
		"abbrev":    abbreviated,
		"outside":   outside,
		"line":      oneLine,
		"items":     func(root string, items []item) any { return itemList{root, items} },
		"copied":    func(text, what string) any { return copied{text, what} },
		"day":       func(s string) string { human, _ := date(s); return human },
		"instant":   func(s string) string { _, machine := date(s); return machine },
	}
	for _, name := range []string{"home", "list", "tags", "pack", "skill", "lost"} {
		t, err := template.New("layout.html").Funcs(funcs).ParseFS(assets, "assets/layout.html", "assets/parts.html", "assets/"+name+".html")
		if err != nil {
			return nil, err
		}
		p.templates[name] = t
	}
	return p, nil
}

// itemList is what the list of packs is given, copied what a line with a button to copy it is.
type (
	itemList struct {
		Root  string
		Items []item
	}
	copied struct{ Text, What string }
)

// page is what every template is given.
type page struct {
	Title       string // of the browser's tab
	Description string
	Path        string // of the page
	Root        string // what leads to the root of the catalogue
	Canonical   string // where the page will be, "" where that is not known
	Home        bool
	Data        any
}

// write renders a page.
func (s *Site) write(w Write, template string, p page) error {
	if p.Root == "" {
		p.Root = rootOf(p.Path)
	}
	if s.options.BaseURL != "" && template != "lost" {
		p.Canonical = s.options.BaseURL + "/" + p.Path
	}
	p.Description = short(p.Description, 200)
	var out bytes.Buffer
	if err := s.pages.templates[template].Execute(&out, p); err != nil {
		return err
	}
	return w(p.Path, out.Bytes())
}

func packPath(id source.ID) string   { return "packs/" + id.Owner + "/" + id.Name + ".html" }
func ownerPath(owner string) string  { return "owners/" + owner + ".html" }
func tagPath(tag string) string      { return "tags/" + fileName(tag) + ".html" }
func skillAnchor(name string) string { return "skill-" + fileName(name) }
func skillPath(id source.ID, name string) string {
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
