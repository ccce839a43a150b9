package site

// items writes a list of packs.
func (o *out) items(items []item) {
	o.put("<ul class=\"packs\">\n")
	for i := range items {
		it := &items[i]
		o.put(`<li>
<div class="line"><a class="name" href="%"><span class="owner">%/</span>%</a> <span class="version">%</span>`, o.href(it.Href), it.ID.Owner, it.ID.Name, it.Version)
		if it.Deprecated {
			o.put(` <span class="badge warn">deprecated</span>`)
		}
		if it.Withdrawn {
			o.put(` <span class="badge bad">withdrawn</span>`)
		}
		o.put("</div>\n")
		if it.Description != "" {
			o.put("<p>%</p>\n", it.Description)
		}
		o.put(`<div class="meta"><span>%</span>`, count(it.Skills, "skill", "skills"))
		if human, _ := date(it.Published); human != "" {
			o.put(" <span>")
			o.when(it.Published)
			o.put("</span>")
		}
		if len(it.Tags) > 0 {
			o.put(` <span class="tagset">`)
			o.tags(it.Tags)
			o.put("</span>")
		}
		o.put("</div>\n</li>\n")
	}
	o.put("</ul>\n")
}

// tags writes links to the pages of tags.
func (o *out) tags(tags []link) {
	for _, t := range tags {
		o.put(`<a class="tag" href="%">%`, o.href(t.Href), t.Name)
		if t.Count > 0 {
			o.put(` <span class="count">%</span>`, thousands(int64(t.Count)))
		}
		o.put("</a> ")
	}
}

// pager writes links to the other pages of a list.
func (o *out) pager(l *list) {
	if len(l.Pages) == 0 {
		return
	}
	o.put("<nav class=\"pager\" aria-label=\"Pages of this list\">\n")
	if l.Previous != "" {
		o.put("<a rel=\"prev\" href=\"%\">Previous</a>\n", o.href(l.Previous))
	}
	for _, p := range l.Pages {
		switch p.Name {
		case "…":
			o.put("<span>…</span>\n")
		case thousands(int64(l.Number)):
			o.put("<a class=\"here\" aria-current=\"page\" href=\"%\">%</a>\n", o.href(p.Href), p.Name)
		default:
			o.put("<a aria-label=\"Page %\" href=\"%\">%</a>\n", p.Name, o.href(p.Href), p.Name)
		}
	}
	if l.Next != "" {
		o.put("<a rel=\"next\" href=\"%\">Next</a>\n", o.href(l.Next))
	}
	o.put("</nav>\n")
}

// crumbs writes the links to what a page is part of.
func (o *out) crumbs(links ...link) {
	o.put(`<nav class="crumbs" aria-label="Breadcrumb">`)
	for i, l := range links {
		if i > 0 {
			o.put(" ")
		}
		o.link(l.Href, l.Name)
	}
	o.put("</nav>\n")
}

var toPacks = link{Name: "Packs", Href: "index.html"}

// list writes a page of a list.
func (o *out) list(l *list) {
	o.crumbs(l.Crumb)
	o.put("<h1>%</h1>\n<p class=\"lead\">%", l.Heading, count(l.Total, "pack", "packs"))
	if len(l.Pages) > 0 {
		o.put(", page %", thousands(int64(l.Number)))
	}
	o.put("</p>\n")
	o.items(l.Items)
	o.pager(l)
}

// home writes the first page.
func (o *out) home(title string, h *home) {
	o.put("<section class=\"hero\" aria-labelledby=\"heading\">\n<h1 id=\"heading\">%</h1>\n", title)
	if h.Total == 0 {
		o.put(`<p class="lead">There are no packs here yet.</p>
</section>
<p>A pack comes here once <code>skillpm index add</code> has added it to the index and the catalogue was made again.</p>
`)
	} else {
		o.put(`<p class="lead">% with % by %.</p>
<form class="search" role="search" action="index.html" method="get">
<label for="q">Search packs and skills</label>
<div class="field"><input id="q" name="q" type="search" placeholder="What should an agent be able to do?" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="hint"><kbd aria-hidden="true">/</kbd></div>
<p class="hint" id="hint">Press <kbd>/</kbd> to search, arrow keys to choose.</p>
</form>
<noscript><p class="note">Search needs JavaScript. All packs are listed below, and by <a href="tags.html">tag</a>.</p></noscript>
<p id="status" class="status" role="status" aria-live="polite"></p>
</section>
<section id="found" aria-label="Search results" hidden><ul class="packs" id="results"></ul></section>
<div id="browse">
`, count(h.Total, "pack", "packs"), count(h.Skills, "skill", "skills"), count(h.Owners, "owner", "owners"))
		o.browse(h)
		o.put("</div>\n")
	}
	if h.Registry != "" {
		o.put(`<section aria-labelledby="use-heading"><h2 id="use-heading">Install from here</h2>
<p>Name this registry once, and <code>skillpm install</code> finds its packs.</p>
`)
		o.copied("skillpm registry add "+h.Registry, "the command that adds this registry")
		o.put("</section>\n")
	}
}

// browse writes what the first page has for those who do not search.
func (o *out) browse(h *home) {
	if len(h.Tags) > 0 {
		o.put("<section aria-labelledby=\"tags-heading\"><h2 id=\"tags-heading\">Tags</h2>\n<p class=\"tags\">")
		o.tags(h.Tags)
		if h.MoreTags {
			o.put(`<a class="more" href="tags.html">All tags</a>`)
		}
		o.put("</p></section>\n")
	}
	if len(h.Recent) > 0 {
		o.put("<section aria-labelledby=\"recent-heading\"><h2 id=\"recent-heading\">Published last</h2>\n<div class=\"cards\">")
		o.items(h.Recent)
		o.put("</div></section>\n")
	}
	o.put("<section aria-labelledby=\"all-heading\"><h2 id=\"all-heading\">All packs</h2>\n")
	o.items(h.Items)
	o.pager(&h.list)
	o.put("</section>\n")
}

// allTags writes the page of all tags.
func (o *out) allTags(tags []link) {
	o.crumbs(toPacks)
	o.put("<h1>Tags</h1>\n")
	if len(tags) == 0 {
		o.put("<p>No pack has a tag. Authors write them in <code>skillpm.yaml</code>, as <code>tags: [kubernetes]</code>.</p>\n")
		return
	}
	o.put("<ul class=\"tags columns\">\n")
	for _, t := range tags {
		o.put("<li>")
		o.tags([]link{t})
		o.put("</li>\n")
	}
	o.put("</ul>\n")
}

// lost writes what is shown where there is no page.
func (o *out) lost() {
	o.put(`<h1>There is no such page</h1>
<p>The pack may have another name, or was never in this catalogue.</p>
<p><a href="%">Search all packs</a></p>
`, o.href("index.html"))
}
