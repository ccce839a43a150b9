package report

import (
	_ "embed" // the style of the page
	"io"
	"time"
)

//go:embed page.css
var style string

// mostRows is how many rows a table of the page has.
const mostRows = 100

// PageOptions say what a page is of.
type PageOptions struct {
	Title   string    // "" for the usual one
	Now     time.Time // when it is written
	Damaged int64     // lines of the logs that are no records
	Chain   string    // what is known of the logs' chains, "" for nothing
}

// Page writes a summary as one HTML page, which needs no other file and has no script.
func (s *Summary) Page(w io.Writer, o PageOptions) error {
	if o.Title == "" {
		o.Title = "Skills on record"
	}
	p := &out{}
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%</title>
<style>
%</style>
</head>
<body>
<main>
<h1>%</h1>
`, o.Title, markup(style), o.Title)
	s.lead(p, o)
	if s.Records == 0 {
		p.put(`<section class="card empty"><p>There are no records yet. Activate a skill, and write this page again.</p></section>
`)
	} else {
		s.tiles(p)
		s.time(p)
		s.skills(p)
		s.durations(p)
		s.whys(p)
		s.places(p)
	}
	p.put(`</main>
<footer>Written by skillpm audit stats on %. All times are UTC.</footer>
</body>
</html>
`, o.Now.UTC().Format("2 January 2006, 15:04"))
	_, err := w.Write(p.Bytes())
	return err
}

// lead says what the page is about.
func (s *Summary) lead(p *out, o PageOptions) {
	p.put(`<p class="lead">%`, plural(s.Records, "record"))
	if _, bars := s.bars(); len(bars) > 0 {
		first, last := s.span()
		day := last.Format(time.DateOnly) == first.Format(time.DateOnly)
		p.put(map[bool]markup{true: ` of <time datetime="%">%</time>`, false: ` from <time datetime="%">%</time>`}[day],
			first.Format(time.RFC3339), first.Format("2 January 2006"))
		if !day {
			p.put(` to <time datetime="%">%</time>`, last.Format(time.RFC3339), last.Format("2 January 2006"))
		}
	}
	if n := int64(len(s.machines)); n > 1 {
		p.put(`, on %`, plural(n, "machine"))
	}
	p.put(".")
	if o.Damaged > 0 {
		p.put(` % cannot be read.`, plural(o.Damaged, "line"))
	}
	if s.undated > 0 {
		p.put(` % no time, and in no chart.`,
			map[bool]string{true: "1 record has", false: thousands(s.undated) + " records have"}[s.undated == 1])
	}
	if o.Chain != "" {
		p.put(` %`, o.Chain)
	}
	p.put("</p>\n")
}

// span returns the first and the last hour in which something was done.
func (s *Summary) span() (first, last time.Time) {
	var from, to int64
	begun := false
	for h := range s.hours {
		if !begun || h < from {
			from = h
		}
		if !begun || h > to {
			to = h
		}
		begun = true
	}
	return time.Unix(from*3600, 0).UTC(), time.Unix(to*3600, 0).UTC()
}

func (s *Summary) tiles(p *out) {
	p.put(`<dl class="tiles">
`)
	for _, t := range []struct {
		name string
		n    int64
	}{
		{"Activations", s.total.activations},
		{"Runs that worked", s.total.worked},
		{"Failures", s.total.failed},
		{"Refusals", s.total.refused},
		{"Skills", int64(len(s.stats.Skills()))},
		{"Machines", int64(len(s.machines))},
	} {
		p.put("<div><dt>%</dt><dd>%</dd></div>\n", t.name, t.n)
	}
	p.put("</dl>\n")
}

// begin writes the heading of a part of the page.
func begin(p *out, id, title, hint string) {
	p.put(`<section>
<h2 id="%">%</h2>
`, id, title)
	if hint != "" {
		p.put("<p class=\"hint\">%</p>\n", hint)
	}
}

func end(p *out) { p.put("</section>\n") }

// table begins a table that may be wider than the page.
func table(p *out, label string, columns ...string) {
	p.put(`<div class="scroll" tabindex="0" role="region" aria-label="%">
<table>
<thead><tr>`, label)
	for i, c := range columns {
		switch {
		case c == "": // a picture of the numbers beside it
			p.put(`<td class="meter"></td>`)
		case i == 0:
			p.put(`<th scope="col">%</th>`, c)
		default:
			p.put(`<th scope="col" class="n">%</th>`, c)
		}
	}
	p.put("</tr></thead>\n<tbody>\n")
}

func endTable(p *out, left int, what string) {
	p.put("</tbody>\n</table>\n</div>\n")
	if left > 0 {
		p.put("<p class=\"hint\">% left out.</p>\n", plural(int64(left), "further "+what))
	}
}

// n writes a number in a table.
func n(p *out, of int64) {
	if of == 0 {
		p.put(`<td class="n zero">0</td>`)
		return
	}
	p.put(`<td class="n">%</td>`, of)
}

// day writes when something was done last.
func day(p *out, t time.Time) {
	if t.IsZero() {
		p.put(`<td class="n zero">–</td>`)
		return
	}
	p.put(`<td class="n"><time datetime="%">%</time></td>`, t.UTC().Format(time.RFC3339), t.UTC().Format("2 Jan 2006"))
}

// part is a piece of a bar.
type part struct {
	class string
	n     int64
}

// meter writes numbers as a bar, which is as long as they are of the most.
func meter(p *out, most int64, parts ...part) {
	p.put(`<td class="meter"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">`)
	x := 0.0
	for _, of := range parts {
		width := 100 * float64(of.n) / float64(max(1, most))
		if of.n > 0 {
			p.put(`<rect class="%" x="%" width="%" height="10"/>`, of.class, x, max(width, 0.6))
		}
		x += width
	}
	p.put(`</svg></td>`)
}
