package evaluate

import (
	"math"
	"slices"
)

// z is the quantile of the normal distribution for intervals of 95%.
const z = 1.959963984540054

// Proportion is a share of runs, with its 95% confidence interval by Wilson's score method.
//
// Runs of one case resemble each other. For the same cases run again, the interval is therefore too wide rather than
// too narrow. It is not about other prompts.
type Proportion struct {
	Count int     `json:"count"` // runs that have the property
	Of    int     `json:"of"`    // runs that count
	Rate  float64 `json:"rate"`  // count divided by of
	Low   float64 `json:"low"`   // lower end of the interval
	High  float64 `json:"high"`  // upper end of the interval
}

// newProportion returns nil if nothing counts.
func newProportion(count, of int) *Proportion {
	if of == 0 {
		return nil
	}
	n, p := float64(of), float64(count)/float64(of)
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high := max(0, center-half), min(1, center+half)
	if count == 0 {
		low = 0 // and not a rounding error
	}
	if count == of {
		high = 1
	}
	return &Proportion{Count: count, Of: of, Rate: p, Low: low, High: high}
}

// Difference is the difference of two shares, with its 95% confidence interval by Newcombe's hybrid score method
// (method 10 of Newcombe, Statistics in Medicine 1998, 17, 873–890).
type Difference struct {
	Value float64 `json:"value"` // first share minus second share
	Low   float64 `json:"low"`   // lower end of the interval
	High  float64 `json:"high"`  // upper end of the interval
}

// newDifference returns nil if one of the shares is nil.
func newDifference(a, b *Proportion) *Difference {
	if a == nil || b == nil {
		return nil
	}
	d := a.Rate - b.Rate
	return &Difference{
		Value: d,
		Low:   max(-1, d-math.Hypot(a.Rate-a.Low, b.High-b.Rate)),
		High:  min(1, d+math.Hypot(a.High-a.Rate, b.Rate-b.Low)),
	}
}

// verdict reports whether a difference is more than chance. It decides by whole points, which the reports show.
func (d *Difference) verdict() Verdict {
	switch {
	case d == nil:
		return ""
	case math.Round(100*d.Low) > 0:
		return Better
	case math.Round(100*d.High) < 0:
		return Worse
	}
	return Unclear
}

// Average summarizes a number that was measured in several runs.
type Average struct {
	Runs   int     `json:"runs"`   // runs that report the number
	Mean   float64 `json:"mean"`   // arithmetic mean of these runs
	Median float64 `json:"median"` // median of these runs
	Total  float64 `json:"total"`  // sum of these runs
}

// newAverage returns nil without values. It sorts them.
func newAverage(values []float64) *Average {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	a := &Average{Runs: n, Median: (values[(n-1)/2] + values[n/2]) / 2}
	for _, v := range values {
		a.Total += v
	}
	a.Mean = a.Total / float64(n)
	return a
}
