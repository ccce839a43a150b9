package site

// packPage writes the page of a pack.
func (o *out) packPage(p *packPage) {
	o.crumbs(toPacks, link{Name: p.ID.Owner, Href: ownerPath(p.ID.Owner)})
	o.put(`<div class="title"><h1><span class="owner">%/</span>%</h1> <span class="version">%</span></div>
<p class="lead">%</p>
`, p.ID.Owner, p.ID.Name, p.Version, p.Summary)
	if len(p.Tags) > 0 {
		o.put(`<p class="tags">`)
		o.tags(p.Tags)
		o.put("</p>\n")
	}
	o.notice("warn", "Deprecated.", p.Deprecated)
	o.notice("bad", "Every version was withdrawn.", p.Yanked)
	o.notice("bad", "This version could not be fetched when the catalogue was made.", p.Problem)
	o.put("<div class=\"columns-pack\">\n")
	o.about(p)
	o.put("<div class=\"content\">\n")
	for _, section := range []func(*packPage){o.skills, o.versions, o.dependencies, o.dependents} {
		section(p)
	}
	if p.Problem == "" {
		o.checks(p)
		o.signatures(p)
	}
	o.digests(p)
	o.put("</div>\n</div>\n")
}

func (o *out) notice(class, what, text string) {
	if text != "" {
		o.put("<p class=\"notice %\"><strong>%</strong> %</p>\n", class, what, text)
	}
}

// about writes what stands beside the text: how to install the pack, and what it is in short.
func (o *out) about(p *packPage) {
	o.put("<aside aria-label=\"About this pack\">\n<h2 class=\"small\">Install</h2>\n")
	o.copied(p.Install, "the install command")
	if p.Registry != "" {
		o.put("<p class=\"hint\">From <code>%</code></p>\n", p.Registry)
	}
	o.put("<h2 class=\"small\">About</h2>\n<dl class=\"about\">\n<div><dt>Version</dt><dd>%</dd></div>\n", p.Version)
	if human, _ := date(p.Published); human != "" {
		o.put("<div><dt>Published</dt><dd>")
		o.when(p.Published)
		o.put("</dd></div>\n")
	}
	license := p.License
	if license == "" {
		license = "not stated"
	}
	o.put("<div><dt>License</dt><dd>%</dd></div>\n", license)
	if p.Problem == "" {
		o.put("<div><dt>Content</dt><dd>%, %</dd></div>\n<div><dt>Checks</dt><dd><a href=\"#checks\">", count(p.Files, "file", "files"), size(p.Bytes))
		o.checked(p.tally)
		o.put("</a></dd></div>\n<div><dt>Signatures</dt><dd><a href=\"#signatures\">")
		switch {
		case p.Verified > 0:
			o.badge("good", "verified")
		case len(p.Signatures) > 0:
			o.badge("", "not checked")
		case p.Signed != "":
			o.badge("", "not known")
		default:
			o.badge("", "none")
		}
		o.put("</a></dd></div>\n")
	}
	o.put(`<div><dt>Source</dt><dd class="place">`)
	o.external(p.Source, "%")
	o.put(`</dd></div>
</dl>
<nav aria-label="On this page"><h2 class="small">On this page</h2>
<ul class="toc"><li><a href="#skills">Skills</a></li><li><a href="#versions">Versions</a></li><li><a href="#dependencies">Dependencies</a></li><li><a href="#dependents">Dependents</a></li>`)
	if p.Problem == "" {
		o.put(`<li><a href="#checks">Checks</a></li><li><a href="#signatures">Signatures</a></li>`)
	}
	o.put("<li><a href=\"#digests\">Digests</a></li></ul></nav>\n</aside>\n")
}

// section begins a part of the page of a pack, which the table of contents leads to.
func (o *out) section(id, heading string) {
	o.put("<section aria-labelledby=\"%\"><h2 id=\"%\">%</h2>\n", id, id, heading)
}

func (o *out) skills(p *packPage) {
	o.section("skills", count(len(p.Skills), "skill", "skills"))
	if p.Separate {
		o.put("<ul class=\"packs\">\n")
	}
	for i := range p.Skills {
		s := &p.Skills[i]
		if p.Separate {
			o.skillLine(s)
		} else {
			o.skill(s, len(p.Skills) > 1, i == 0)
		}
	}
	if p.Separate {
		o.put("</ul>\n")
	}
	o.put("</section>\n")
}

// skillLine writes a skill in the list of those that have pages of their own.
func (o *out) skillLine(s *skillView) {
	o.put("<li><div class=\"line\"><a class=\"name\" href=\"%\">%</a></div>\n<p>%</p>\n<div class=\"meta\">", o.href(s.Href), s.Name, s.Description)
	if s.Fetched {
		o.put("<span>%</span> ", count(s.FileCount, "file", "files"))
		o.tally(s.tally)
	}
	o.put("</div></li>\n")
}

// skill writes a skill with its text, folded where there are several and it is not the first.
func (o *out) skill(s *skillView, several, first bool) {
	o.put("<article class=\"skill\" aria-labelledby=\"%\">\n<h3 id=\"%\">%</h3>\n<p class=\"description\">%</p>\n", s.Anchor, s.Anchor, s.Name, s.Description)
	o.fields(s.Fields)
	fold := several && s.Fetched
	if fold {
		open := markup("")
		if first {
			open = " open"
		}
		o.put("<details class=\"body\"%><summary>SKILL.md<span class=\"unseen\"> of %</span></summary>\n", open, s.Name)
	}
	o.text(s)
	if fold {
		o.put("</details>\n")
	}
	o.files(s)
	o.put("</article>\n")
}

func (o *out) versions(p *packPage) {
	o.section("versions", "Versions")
	o.put(`<table class="versions"><caption class="unseen">Versions of %</caption><thead><tr><th scope="col">Version</th><th scope="col">Published</th><th scope="col">State</th><th scope="col">Digest</th></tr></thead><tbody>
`, p.ID.String())
	for _, v := range p.Versions {
		row := markup("<tr>")
		if v.Shown {
			row = `<tr class="here">`
		}
		o.put("%<th scope=\"row\">%</th><td>", row, v.Version.Version)
		o.when(v.Published)
		o.put("</td><td>")
		switch {
		case v.Yanked != "":
			o.put(`<span class="badge bad">withdrawn</span> %`, v.Yanked)
		case v.Shown:
			o.put("shown here")
		case v.Prerelease:
			o.put("pre-release")
		}
		o.put("</td><td><code title=\"%\">%</code></td></tr>\n", v.Digest, abbreviated(v.Digest))
	}
	o.put("</tbody></table>\n")
	o.more(p.OlderCount, "older version", "older versions")
	o.put("</section>\n")
}

func (o *out) dependencies(p *packPage) {
	o.section("dependencies", "Dependencies")
	if len(p.Requires) == 0 {
		o.put("<p>It requires no other pack.</p></section>\n")
		return
	}
	o.put(`<table><caption class="unseen">What % requires</caption><thead><tr><th scope="col">Pack</th><th scope="col">Range</th><th scope="col">Highest that fits</th></tr></thead><tbody>
`, p.ID.String())
	for _, r := range p.Requires {
		o.put(`<tr><th scope="row">`)
		if r.Href != "" {
			o.link(r.Href, r.Name)
		} else {
			o.put("%", r.Name)
		}
		if r.Skills != "" {
			o.put(` <span class="hint">(%)</span>`, r.Skills)
		}
		o.put("</th><td><code>%</code></td><td>", r.Range)
		switch {
		case r.Version != "":
			o.put("%", r.Version)
		case r.Href != "":
			o.badge("bad", "none")
		default:
			o.put("not in this catalogue")
		}
		o.put("</td></tr>\n")
	}
	o.put("</tbody></table>\n<div class=\"graph\" role=\"group\" aria-label=\"Graph of dependencies\" tabindex=\"0\">%</div>\n", p.Graph)
	if p.GraphIsPart {
		o.put("<p class=\"note\">The graph is larger than what is drawn here.</p>\n")
	}
	o.put("</section>\n")
}

func (o *out) dependents(p *packPage) {
	o.section("dependents", "Dependents")
	if len(p.Dependents) == 0 {
		o.put("<p>No pack in this catalogue requires it.</p></section>\n")
		return
	}
	o.put(`<ul class="links">`)
	for _, d := range p.Dependents {
		o.put("<li>")
		o.link(d.Href, d.Name)
		o.put("</li>\n")
	}
	o.put("</ul>\n")
	o.more(p.MoreUsers, "pack", "packs")
	o.put("</section>\n")
}

func (o *out) checks(p *packPage) {
	o.section("checks", "Checks")
	o.put("<p>")
	o.checked(p.tally)
	o.put(" from <code>skillpm validate</code>")
	if p.Profiles != "" {
		o.put(" for %", p.Profiles)
	}
	if p.Advice > 0 {
		o.put(", and %", count(p.Advice, "piece of advice", "pieces of advice"))
	}
	o.put(".</p>\n")
	if p.Separate {
		o.put("<p class=\"hint\">The findings are on the pages of the skills.</p>\n")
	}
	for i := range p.Skills {
		if s := &p.Skills[i]; !p.Separate && len(s.Findings) > 0 {
			o.put("<h3>%</h3>\n", s.Name)
			o.findings(s)
		}
	}
	o.put("</section>\n")
}

func (o *out) signatures(p *packPage) {
	o.section("signatures", "Signatures")
	switch {
	case len(p.Signatures) == 0 && p.Signed != "":
		o.put("<p>%</p></section>\n", p.Signed)
		return
	case len(p.Signatures) == 0:
		o.put("<p>Nobody signed this version.</p></section>\n")
		return
	}
	o.put(`<table><caption class="unseen">Who signed % %</caption><thead><tr><th scope="col">Signer</th><th scope="col">State</th></tr></thead><tbody>
`, p.ID.String(), p.Version)
	for _, s := range p.Signatures {
		signer := oneLine(s.Signer)
		if signer == "" {
			signer = "not named"
		}
		o.put(`<tr><td class="digest"><code>%</code></td><td>`, signer)
		if s.Verified {
			o.badge("good", "verified")
		} else {
			o.badge("", "not checked")
		}
		o.put("</td></tr>\n")
	}
	o.put("</tbody></table></section>\n")
}

func (o *out) digests(p *packPage) {
	o.section("digests", "Digests and provenance")
	o.put("<dl class=\"digests\">\n<div><dt>Artifact</dt><dd><code>%</code></dd></div>\n", p.Digest)
	if p.Integrity != "" {
		o.put("<div><dt>Content</dt><dd><code>%</code></dd></div>\n", p.Integrity)
	}
	for _, s := range p.Skills {
		if s.Tree != "" {
			o.put("<div><dt>%</dt><dd><code>%</code></dd></div>\n", s.Name, s.Tree)
		}
	}
	for _, v := range p.Provenance {
		o.put("<div><dt>%</dt><dd>", oneLine(v.Label))
		o.external(oneLine(v.Value), "<code>%</code>")
		o.put("</dd></div>\n")
	}
	o.put("</dl></section>\n")
}
