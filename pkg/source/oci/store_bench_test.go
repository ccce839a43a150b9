package oci_test

import (
	"fmt"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/ocitest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/store"
)

// BenchmarkFetchIntoStore measures a cold fetch like that of an installation: from a registry into an empty store.
func BenchmarkFetchIntoStore(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("skills=%d", n), func(b *testing.B) {
			s := ocitest.New(b)
			ref := pack.Ref{Kind: pack.KindOCI, URL: s.URL("acme/many"), Rev: "1.0.0"}
			rel, trees := largePack(n)
			if _, err := s.Client(b, "").Push(b.Context(), ref, rel, trees, oci.PushOptions{}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				into, err := store.Open(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				c := s.Client(b, "")
				p, err := c.Open(b.Context(), ref)
				if err != nil {
					b.Fatal(err)
				}
				w, err := into.Writer(bundle.DefaultLimits())
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Fetch(b.Context(), p, nil, w); err != nil {
					b.Fatal(err)
				}
				if _, err := w.Commit(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
