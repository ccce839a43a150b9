package report

import (
	"math"
	"strconv"
)

// series is one of the colours of a chart.
type series struct {
	name, class string
	of          func(counts) int64
}

// colours returns what is told apart, each with its colour.
func colours() []series {
	return []series{
		{"activations", "accent", func(c counts) int64 { return c.activations }},
		{"worked", "good", func(c counts) int64 { return c.worked }},
		{"failed", "bad", func(c counts) int64 { return c.failed }},
		{"refused", "warn", func(c counts) int64 { return c.refused }},
	}
}

// time writes what was done over time: three charts with one axis of time.
func (s *Summary) time(p *out) {
	step, bars := s.bars()
	if len(bars) == 0 {
		return
	}
	begin(p, "time", "Over time", "")
	p.put("<div class=\"charts\">\n")
	of := colours()
	activations, worked, failed, refused := of[0], of[1], of[2], of[3]
	chart(p, "Activations", step.name, bars, activations)
	chart(p, "Scripts, commands, hooks and tasks", step.name, bars, worked, failed)
	chart(p, "Refusals", step.name, bars, refused)
	p.put("</div>\n<details><summary>The numbers of these charts</summary>\n")
	table(p, "What was done, by the "+step.name, step.name, "Activations", "Worked", "Failed", "Refused")
	for _, b := range bars {
		p.put(`<tr><th scope="row">%</th>`, b.label)
		for _, of := range []int64{b.activations, b.worked, b.failed, b.refused} {
			n(p, of)
		}
		p.put("</tr>\n")
	}
	endTable(p, 0, "")
	p.put("</details>\n")
	end(p)
}

// The units of a chart, which is stretched to the width that there is.
const (
	chartWidth  = 1000.0
	chartHeight = 100.0
)

// chart writes bars, if there is anything to show. Those who cannot see it are told what it shows; the numbers are in
// the table below.
func chart(p *out, title, step string, bars []bar, all ...series) {
	sum, most, at := int64(0), int64(0), 0
	for i, b := range bars {
		n := int64(0)
		for _, s := range all {
			n += s.of(b.counts)
		}
		sum += n
		if n > most {
			most, at = n, i
		}
	}
	if sum == 0 {
		return
	}
	top := nice(most)
	p.put("<figure class=\"card\">\n<figcaption><span>% by the %</span>", title, step)
	if len(all) > 1 {
		legend(p, all...)
	}
	p.put("</figcaption>\n<div class=\"plot\">\n<div class=\"scale\" aria-hidden=\"true\"><span>%</span><span>%</span><span>0</span></div>\n", top, half(top))
	label := title + ": " + thousands(sum) + " in all, at most " + thousands(most) + " in the " + step + " of " +
		bars[at].label
	p.put(`<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="%">`, label)
	for _, y := range []float64{0, chartHeight / 2, chartHeight} {
		p.put(`<line class="grid" x1="0" x2="1000" y1="%" y2="%"/>`, y, y)
	}
	stacks(p, top, bars, all)
	p.put("</svg>\n<div class=\"days\" aria-hidden=\"true\">")
	for _, i := range marks(len(bars)) {
		p.put("<span>%</span>", bars[i].label)
	}
	p.put("</div>\n</div>\n</figure>\n")
}

// legend writes what colours mean.
func legend(p *out, all ...series) {
	p.put(`<span class="legend">`)
	for _, s := range all {
		p.put(`<span><i class="%"></i>%</span>`, s.class, s.name)
	}
	p.put(`</span>`)
}

// stacks writes the columns of a chart, one series on the other.
func stacks(p *out, top int64, bars []bar, all []series) {
	each := chartWidth / float64(len(bars))
	width := min(each*0.8, 60)
	for i, b := range bars {
		y := chartHeight
		for _, s := range all {
			n := s.of(b.counts)
			if n == 0 {
				continue
			}
			height := max(chartHeight*float64(n)/float64(top), 0.8)
			y -= height
			p.put(`<rect class="%" x="%" y="%" width="%" height="%"><title>%</title></rect>`,
				s.class, each*float64(i)+(each-width)/2, max(0, y), width, height, b.label+": "+thousands(n)+" "+s.name)
		}
	}
}

// nice returns a round number that is not below another, and even from two on, so that its half is a number as well.
func nice(n int64) int64 {
	if n <= 1 {
		return 1
	}
	unit := int64(math.Pow(10, math.Floor(math.Log10(float64(n)))))
	for _, of := range []int64{1, 2, 4, 6, 8, 10} {
		if top := of * unit; top >= n && top%2 == 0 {
			return top
		}
	}
	return 10 * unit
}

// half returns what stands in the middle of a scale.
func half(top int64) string {
	if top < 2 {
		return ""
	}
	return thousands(top / 2)
}

// marks returns which bars have their names below them: the first, the last, and one between.
func marks(n int) []int {
	switch {
	case n == 1:
		return []int{0}
	case n < 5:
		return []int{0, n - 1}
	}
	return []int{0, n / 2, n - 1}
}

// duration writes how long something took.
func duration(ms int64) string {
	switch s := float64(ms) / 1000; {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case s < 60:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 3600:
		return strconv.FormatFloat(s/60, 'f', 1, 64) + " min"
	default:
		return strconv.FormatFloat(s/3600, 'f', 1, 64) + " h"
	}
}
