package report

import (
	"math"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// series is what one color of a chart counts.
type series struct {
	name, class string
	value       func(counts) int64
}

// allSeries returns the series of all charts.
func allSeries() []series {
	return []series{
		{"activations", "accent", func(c counts) int64 { return c.activations }},
		{"succeeded", "good", func(c counts) int64 { return c.worked }},
		{"failed", "bad", func(c counts) int64 { return c.failed }},
		{"denied", "warn", func(c counts) int64 { return c.refused }},
	}
}

// legend returns the colors of series.
func legend(all []series) (keys []page.Key) {
	for _, s := range all {
		keys = append(keys, page.Key{Name: s.name, Class: s.class})
	}
	return keys
}

// Units of a chart, which is stretched to the available width.
const (
	chartWidth  = 1000.0
	chartHeight = 100.0
)

// chart shows series as stacked columns.
type chart struct {
	title, step string
	bars        []bar
	series      []series
	sum, most   int64
	busiest     int   // the height of the largest bar
	top         int64 // of the scale
}

func newChart(title, step string, bars []bar, all []series) chart {
	c := chart{title: title, step: step, bars: bars, series: all}
	for i, b := range bars {
		n := int64(0)
		for _, s := range all {
			n += s.value(b.counts)
		}
		c.sum += n
		if n > c.most {
			c.most, c.busiest = n, i
		}
	}
	c.top = nice(c.most)
	return c
}

// label describes the chart for screen readers. The table below it has the numbers.
func (c chart) label() string {
	return c.title + ": " + textx.Thousands(c.sum) + " in total, at most " + textx.Thousands(c.most) +
		" in the " + c.step + " of " + c.bars[c.busiest].label
}

// rects returns the columns of the chart.
func (c chart) rects() []page.Rect {
	var rects []page.Rect
	each := chartWidth / float64(len(c.bars))
	width := min(each*0.8, 60)
	for i, b := range c.bars {
		y := chartHeight
		for _, s := range c.series {
			n := s.value(b.counts)
			if n == 0 {
				continue
			}
			height := max(chartHeight*float64(n)/float64(c.top), 0.8)
			y -= height
			rects = append(rects, page.Rect{
				Class: s.class, Title: b.label + ": " + textx.Thousands(n) + " " + s.name,
				X: each*float64(i) + (each-width)/2, Y: max(0, y), Width: width, Height: height,
			})
		}
	}
	return rects
}

// nice returns a round number that is at least n, and even from two on, so that half of it is an integer.
func nice(n int64) int64 {
	if n <= 1 {
		return 1
	}
	unit := int64(math.Pow(10, math.Floor(math.Log10(float64(n)))))
	for _, step := range []int64{1, 2, 4, 6, 8, 10} {
		if top := step * unit; top >= n && top%2 == 0 {
			return top
		}
	}
	return 10 * unit
}

// half returns the label for the middle of a scale.
func half(top int64) string {
	if top < 2 {
		return ""
	}
	return textx.Thousands(top / 2)
}

// marks returns which bars have labels: the first, the last, and one between.
func marks(n int) []int {
	switch {
	case n == 1:
		return []int{0}
	case n < 5:
		return []int{0, n - 1}
	}
	return []int{0, n / 2, n - 1}
}
