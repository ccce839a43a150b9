package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   spread
	}{
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{3, 1}, spread{2, 1, 3}},
		{[]float64{9, 1, 2}, spread{2, 1, 9}},
		{[]float64{4, 1, 3, 2}, spread{2.5, 1, 4}},
	} {
		if got := spreadOf(tt.values); got != tt.want {
			t.Errorf("spreadOf(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
}

// TestRatioIsOfPairs checks that ratios stay the same on a machine that becomes four times slower after the first turn.
func TestRatioIsOfPairs(t *testing.T) {
	ours := []usage{{Wall: 10 * time.Second}, {Wall: 40 * time.Second}, {Wall: 44 * time.Second}}
	theirs := []usage{{Wall: 5 * time.Second}, {Wall: 20 * time.Second}, {Wall: 20 * time.Second}}
	if got, want := ratioOf(ours, theirs), (spread{2, 2, 2.2}); got != want {
		t.Errorf("ratio %v, want %v", got, want)
	}
	got := figuresOf([]usage{{Wall: time.Second, CPU: 3 * time.Second, Peak: 7}, {Wall: 2 * time.Second, CPU: time.Second, Peak: 9}})
	want := figures{Wall: spread{1.5, 1, 2}, CPU: spread{2, 1, 3}, Peak: spread{8, 7, 9}}
	if got != want {
		t.Errorf("figures %v, want %v", got, want)
	}
}

func TestVerdict(t *testing.T) {
	measured := result{Ours: figures{Wall: spread{Median: 0.010, Max: 0.030}, Peak: spread{Median: 50e6, Max: 120e6}}, Ratio: &spread{Median: 1.2, Max: 1.4}}
	for _, tt := range []struct {
		goal target
		text string
		want string
	}{
		{target{}, "", ""},
		{target{Ratio: 1.2}, "≤ 1.2×", "pass"},
		{target{Ratio: 1.1}, "≤ 1.1×", "miss"},
		{target{Ratio: 0.02}, "≤ 0.02×", "miss"},
		{target{Wall: 0.015}, "≤ 15 ms", "pass"},
		{target{Wall: 0.005}, "≤ 5 ms", "miss"},
		{target{Peak: 121e6}, "< 121 MB", "pass"},
		{target{Peak: 100e6}, "< 100 MB", "miss"},
	} {
		if got := tt.goal.verdict(measured); got != tt.want || tt.goal.String() != tt.text {
			t.Errorf("%v: verdict %q of %q, want %q of %q", tt.goal, got, tt.goal, tt.want, tt.text)
		}
	}
	for _, r := range []result{{Missing: "oras not found"}, {Ratio: &spread{}, Error: "exit status 1"}} {
		if got := (target{Ratio: 1.2}).verdict(r); got != "" {
			t.Errorf("verdict %q of what was not compared", got)
		}
	}
}

func TestTable(t *testing.T) {
	one := figures{Wall: spread{0.6, 0.5, 0.75}, CPU: spread{0.81, 0.8, 0.9}, Peak: spread{45e6, 44e6, 46e6}}
	two := figures{Wall: spread{0.5, 0.5, 0.5}, CPU: spread{0.7, 0.7, 0.7}, Peak: spread{20e6, 20e6, 20e6}}
	rep := report{OS: "plan9", Arch: "mips", CPUs: 2, Versions: map[string]string{"skillpm": "1.0.0", "git": "git version 2"}, Results: []result{
		{Row: "cold-git", Skills: 1000, Ours: one, Peer: "git clone", Theirs: &two, Ratio: &spread{1.2, 1, 1.5}, Runs: 7, Goal: target{Ratio: 1.5}, Verdict: "pass"},
		{Row: "cold-oci", Skills: 10, Ours: one, Peer: "oras pull", Missing: "oras not found", Runs: 7, Goal: target{Ratio: 1.2}},
		{Row: "restore", Skills: 10, Ours: one, Peer: "skills", Theirs: &two, Ratio: &spread{0.012, 0.012, 0.012}, Stopped: true, Runs: 1, Goal: target{Ratio: 0.02}, Verdict: "pass"},
		{Row: "large-oci", MiB: 256, Goal: target{Peak: 100e6}, Error: "exit status 1: a|b\nmore"},
		{Row: "start", Ours: two, Runs: 7},
	}}
	var got bytes.Buffer
	if err := rep.write(&got, false); err != nil {
		t.Fatal(err)
	}
	const want = `
| row       | pack    | skillpm ms    | peer                      | peer ms        | ratio            | goal     |       | cpu ms    | peak MB     | runs |
|-----------|---------|---------------|---------------------------|----------------|------------------|----------|-------|-----------|-------------|------|
| cold-git  | 1000    | 600 (500–750) | git clone                 | 500            | 1.20 (1.00–1.50) | ≤ 1.5×   | pass  | 810 / 700 | 45.0 / 20.0 | 7    |
| cold-oci  | 10      | 600 (500–750) | oras pull: oras not found |                |                  | ≤ 1.2×   |       | 810       | 45.0        | 7    |
| restore   | 10      | 600 (500–750) | skills                    | stopped at 500 | < 0.0120         | ≤ 0.02×  | pass  | 810       | 45.0        | 1    |
| large-oci | 256 MiB |               | exit status 1: a/b        |                |                  | < 100 MB | error |           |             |      |
| start     |         | 500           |                           |                |                  |          |       | 700       | 20.0        | 7    |

Median (minimum–maximum) of whole processes on plan9/mips with 2 CPUs. Ratio: the wall time of skillpm divided by the wall time of the peer, for each run.
CPU time (user and system) and peak resident memory: skillpm / peer.
git: git version 2; skillpm: 1.0.0
`
	if strings.TrimSpace(got.String()) != strings.TrimSpace(want) {
		t.Errorf("got\n%s", got.String())
	}
}
