package main

import "slices"

// spread summarizes several measurements of one value.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of measurements, of which there is at least one. The median of an even number is the mean
// of the two in the middle.
func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// figures sums up the runs of one command.
type figures struct {
	Wall spread `json:"wall_seconds"`
	CPU  spread `json:"cpu_seconds"`
	Peak spread `json:"peak_bytes"`
}

func figuresOf(runs []usage) figures {
	pick := func(f func(usage) float64) spread {
		var values []float64
		for _, u := range runs {
			values = append(values, f(u))
		}
		return spreadOf(values)
	}
	return figures{
		Wall: pick(func(u usage) float64 { return u.Wall.Seconds() }),
		CPU:  pick(func(u usage) float64 { return u.CPU.Seconds() }),
		Peak: pick(func(u usage) float64 { return float64(u.Peak) }),
	}
}

// ratioOf returns the spread of the ratios of wall times, run by run: ours[i] and theirs[i] ran one after the other.
func ratioOf(ours, theirs []usage) spread {
	var values []float64
	for i := range min(len(ours), len(theirs)) {
		values = append(values, ours[i].Wall.Seconds()/theirs[i].Wall.Seconds())
	}
	return spreadOf(values)
}
