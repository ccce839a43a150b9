package site

import "github.com/skillpm/skillpm/pkg/diag"

// fields writes what the frontmatter of a skill says.
func (o *out) fields(fields []field) {
	if len(fields) == 0 {
		return
	}
	o.put(`<dl class="fields">`)
	for _, f := range fields {
		o.put("<div><dt>%</dt><dd>%</dd></div>", f.Name, f.Value)
	}
	o.put("</dl>\n")
}

// text writes the rendered SKILL.md.
func (o *out) text(s *skillView) {
	switch {
	case !s.Fetched:
		o.put("<p class=\"note\">The text of this skill could not be fetched when the catalogue was made.</p>\n")
		return
	default:
		o.put("<div class=\"prose\">\n%</div>\n", s.Body)
	}
	if s.Cut {
		o.put("<p class=\"note\">The text is longer than what is shown here. The whole of it comes with the pack.</p>\n")
	}
}

// files writes the list of a skill's files, folded.
func (o *out) files(s *skillView) {
	if len(s.Files) == 0 {
		return
	}
	o.put(`<details class="files"><summary>%, %</summary>
<table><caption class="unseen">Files of %</caption><thead><tr><th scope="col">File</th><th scope="col">Size</th></tr></thead><tbody>
`, count(s.FileCount, "file", "files"), size(s.Bytes), s.Name)
	for _, f := range s.Files {
		o.put("<tr><td><code>%</code>", oneLine(f.Path))
		if f.Executable {
			o.put(` <span class="badge">executable</span>`)
		}
		o.put("</td><td class=\"number\">%</td></tr>\n", size(f.Size))
	}
	o.put("</tbody></table>")
	o.more(s.MoreFiles, "file", "files")
	o.put("</details>\n")
}

// more writes how many of a list are left out.
func (o *out) more(n int, one, many string) {
	if n > 0 {
		o.put("<p class=\"note\">And % more.</p>\n", count(n, one, many))
	}
}

// findings writes what the checks say of a skill.
func (o *out) findings(s *skillView) {
	o.put(`<table class="findings"><caption class="unseen">What the checks say of %</caption>
<thead><tr><th scope="col">Severity</th><th scope="col">Rule</th><th scope="col">Where</th><th scope="col">What</th></tr></thead><tbody>
`, s.Name)
	for _, f := range s.Findings {
		o.put("<tr><td>")
		o.badge(f.Severity.String(), f.Severity.String())
		o.put("</td><td><code>%</code></td><td><code>%", oneLine(f.Rule), oneLine(f.Path))
		if f.Line > 0 {
			o.put(":%", f.Line)
		}
		o.put("</code></td><td>%</td></tr>\n", oneLine(f.Message))
	}
	o.put("</tbody></table>\n")
	o.more(s.MoreFound, "finding", "findings")
}

// tally is how many findings of which severity there are.
type tally struct{ Errors, Warnings, Advice int }

func (t *tally) add(s diag.Severity) {
	switch s {
	case diag.SeverityError:
		t.Errors++
	case diag.SeverityWarning:
		t.Warnings++
	default:
		t.Advice++
	}
}

func (t *tally) sum(other tally) {
	t.Errors, t.Warnings, t.Advice = t.Errors+other.Errors, t.Warnings+other.Warnings, t.Advice+other.Advice
}

// tally writes how many errors and warnings there are.
func (o *out) tally(t tally) {
	if t.Errors > 0 {
		o.badge("bad", count(t.Errors, "error", "errors"))
		o.put(" ")
	}
	if t.Warnings > 0 {
		o.badge("warn", count(t.Warnings, "warning", "warnings"))
	}
}

// checked is tally, and where there are none says that.
func (o *out) checked(t tally) {
	if t.Errors+t.Warnings == 0 {
		o.badge("good", "no errors or warnings")
	}
	o.tally(t)
}

// skillPage writes the page of one skill of a pack that has many.
func (o *out) skillPage(s *skillView) {
	o.crumbs(toPacks, link{Name: s.Pack.String(), Href: packPath(s.Pack)})
	o.put("<h1>%</h1>\n<p class=\"lead\">%</p>\n", s.Name, s.Description)
	o.fields(s.Fields)
	o.put("<section aria-labelledby=\"text-heading\"><h2 id=\"text-heading\">SKILL.md</h2>\n")
	o.text(s)
	o.files(s)
	o.put("</section>\n")
	if len(s.Findings) > 0 {
		o.put("<section aria-labelledby=\"checks-heading\"><h2 id=\"checks-heading\">Checks</h2>\n")
		o.findings(s)
		o.put("</section>\n")
	}
	o.put(`<section aria-labelledby="digest-heading"><h2 id="digest-heading">Digest</h2>
<p class="digest"><code>%</code></p></section>
`, s.Tree)
}
