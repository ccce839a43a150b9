package skillpm_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// BenchmarkNothingToDo measures an install of a project that has all of its 1,000 skills of five files, as a new process
// does it, without the start of the process.
func BenchmarkNothingToDo(b *testing.B) {
	src, dir, home := b.TempDir(), b.TempDir(), b.TempDir()
	writePack(b, src, "acme/large", "1.0.0", 1000)
	if _, err := newClient(b, src, home).Publish(b.Context(), skillpm.PublishOptions{}); err != nil {
		b.Fatal(err)
	}
	if _, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{Packs: []string{"acme/large"}}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := newClient(b, dir, home).Install(b.Context(), skillpm.InstallOptions{})
		if err != nil || r.Changed {
			b.Fatalf("%v, changed %v", err, r != nil && r.Changed)
		}
	}
}
