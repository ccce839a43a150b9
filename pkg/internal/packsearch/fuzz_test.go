package packsearch

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// FuzzRead reads any bytes as an index: it is rejected, or answers, and never panics.
func FuzzRead(f *testing.F) {
	f.Add(built(f, nil), "deploy")
	f.Add(built(f, readPacks(f)[:20]), "kubernetes deplyo")
	f.Fuzz(func(t *testing.T, data []byte, query string) {
		x, err := read(data)
		if err != nil {
			return
		}
		if _, err := find(x, query, 3); err != nil && diag.CodeOf(err) != diag.Invalid {
			t.Fatal(err)
		}
	})
}
