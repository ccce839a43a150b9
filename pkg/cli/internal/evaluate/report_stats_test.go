package evaluate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestProportion compares intervals with those of Newcombe, Two-sided confidence intervals for the single proportion,
// Statistics in Medicine 1998, 17, 857–872, table I, method 3, and with Wilson's formula.
func TestProportion(t *testing.T) {
	for _, c := range []struct {
		count, of int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{8, 10, 0.4902, 0.9433},
		{1, 1, 0.2065, 1},
		{10, 10, 0.7225, 1},
	} {
		p := newProportion(c.count, c.of)
		if math.Abs(p.Low-c.low) > 5e-5 || math.Abs(p.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.count, c.of, p.Low, p.High, c.low, c.high)
		}
	}
	if newProportion(0, 0) != nil {
		t.Error("0 of 0 is not a share")
	}
}

// TestDifference compares intervals with those of Newcombe, Interval estimation for the difference between independent
// proportions, Statistics in Medicine 1998, 17, 873–890, table II, method 10.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		a, m, b, n int
		low, high  float64
		verdict    Verdict
	}{
		{56, 70, 48, 80, 0.0524, 0.3339, Better},
		{48, 80, 56, 70, -0.3339, -0.0524, Worse},
		{9, 10, 3, 10, 0.1705, 0.8090, Better},
		{6, 7, 2, 7, 0.0582, 0.8062, Better},
		{5, 56, 0, 29, -0.0381, 0.1926, Unclear},
		{0, 10, 0, 20, -0.1611, 0.2775, Unclear},
		{0, 10, 0, 10, -0.2775, 0.2775, Unclear},
		{10, 10, 0, 20, 0.6791, 1, Better},
		{10, 10, 0, 10, 0.6075, 1, Better},
	} {
		d := newDifference(newProportion(c.a, c.m), newProportion(c.b, c.n))
		if math.Abs(d.Low-c.low) > 5e-5 || math.Abs(d.High-c.high) > 5e-5 || d.verdict() != c.verdict {
			t.Errorf("%d/%d − %d/%d: %.4f to %.4f, %s; want %.4f to %.4f, %s", c.a, c.m, c.b, c.n, d.Low, d.High, d.verdict(),
				c.low, c.high, c.verdict)
		}
	}
	if d := newDifference(newProportion(1, 2), nil); d != nil || d.verdict() != "" {
		t.Error("a difference to nothing is not a difference")
	}
}

// TestIntervals checks properties of intervals: they contain the estimate, stay in range, are symmetric, and become
// shorter with more runs.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := func(name string) *Proportion {
			of := rapid.IntRange(1, 2000).Draw(t, name+" of")
			return newProportion(rapid.IntRange(0, of).Draw(t, name), of)
		}
		a, b := share("a"), share("b")
		if !(0 <= a.Low && a.Low <= a.Rate && a.Rate <= a.High && a.High <= 1 && a.Low < a.High) {
			t.Errorf("%+v", *a)
		}
		if m := newProportion(a.Of-a.Count, a.Of); math.Abs(m.Low-(1-a.High)) > 1e-9 {
			t.Errorf("not symmetric: %+v, %+v", *a, *m)
		}
		if m := newProportion(2*a.Count, 2*a.Of); m.High-m.Low >= a.High-a.Low {
			t.Errorf("more runs make a longer interval: %+v, %+v", *a, *m)
		}
		d, m := newDifference(a, b), newDifference(b, a)
		if !(-1 <= d.Low && d.Low <= d.Value && d.Value <= d.High && d.High <= 1) {
			t.Errorf("%+v", *d)
		}
		if math.Abs(d.Low+m.High) > 1e-9 || math.Abs(d.High+m.Low) > 1e-9 {
			t.Errorf("not symmetric: %+v, %+v", *d, *m)
		}
		if d.verdict() == Better && m.verdict() != Worse {
			t.Errorf("better is not the opposite of worse: %+v", *d)
		}
	})
}

func TestAverage(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Average
	}{
		{[]float64{3}, Average{Runs: 1, Mean: 3, Median: 3, Total: 3}},
		{[]float64{9, 1}, Average{Runs: 2, Mean: 5, Median: 5, Total: 10}},
		{[]float64{100, 1, 2, 4, 3}, Average{Runs: 5, Mean: 22, Median: 3, Total: 110}},
	} {
		if got := newAverage(c.values); *got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.values, *got, c.want)
		}
	}
	if newAverage(nil) != nil {
		t.Error("nothing does not have an average")
	}
}
