package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/url"
	"path"
	"strconv"
	"strings"

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
		sum := sha256.Sum256(data)
		versions[name] = hex.EncodeToString(sum[:4])
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

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'"

// write writes a page around what main writes.
func (s *Site) write(w Write, p page, main func(*out)) error {
	o := &out{root: p.Root}
	if o.root == "" {
		o.root = rootOf(p.Path)
	}
	s.head(o, p)
	o.put(`<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<div class="bar">
<a class="brand" href="%">%</a>
`, o.href("index.html"), s.options.Title)
	if !p.Home {
		o.put(`<form class="find" role="search" action="%" method="get">
<label class="unseen" for="q">Search packs</label>
<input id="q" name="q" type="search" placeholder="Search packs" autocomplete="off" autocapitalize="none" spellcheck="false">
</form>
`, o.href("index.html"))
	}
	o.put(`<nav aria-label="Catalogue"><a href="%">Packs</a> <a href="%">Tags</a></nav>
</div>
</header>
<main id="main" tabindex="-1">
`, o.href("index.html"), o.href("tags.html"))
	main(o)
	o.put(`</main>
<footer class="end">
<p>Made with <code>skillpm index site</code>. What packs say of themselves is their authors’ word.</p>
</footer>
<p class="unseen" id="said" role="status" aria-live="polite"></p>
</body>
</html>
`)
	return w(p.Path, o.Bytes())
}

func (s *Site) head(o *out, p page) {
	o.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%</title>
`, markup(policy), p.Title)
	if text := short(p.Description, 200); text != "" {
		o.put(`<meta name="description" content="%">
`, text)
	}
	if s.options.BaseURL != "" && !p.NoAddress {
		o.put(`<link rel="canonical" href="%">
`, s.options.BaseURL+"/"+p.Path)
	}
	o.put(`<link rel="icon" href="%" type="image/svg+xml">
<link rel="stylesheet" href="%">
<script defer src="%" data-root="%"></script>
</head>
`, o.href(s.asset("icon.svg")), o.href(s.asset("site.css")), o.href(s.asset("site.js")), o.root)
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
