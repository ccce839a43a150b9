//go:build unix

package catalog_test

import (
	"syscall"
	"testing"
)

// processor measures how long processors worked for a benchmark, which other programs on the machine change less than how
// long it took.
type processor struct {
	b      *testing.B
	before syscall.Rusage
}

func startProcessor(b *testing.B) *processor {
	b.Helper()
	p := &processor{b: b}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &p.before); err != nil {
		b.Fatal(err)
	}
	return p
}

// report adds the time to what the benchmark reports. The index is warmed, and the collector's work counts.
func (p *processor) report() {
	var after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		p.b.Fatal(err)
	}
	ns := after.Utime.Nano() + after.Stime.Nano() - p.before.Utime.Nano() - p.before.Stime.Nano()
	p.b.ReportMetric(float64(ns)/float64(p.b.N), "cpu-ns/op")
}
