package catalog_test

import (
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func TestMissingWords(t *testing.T) {
	c := catalog.Candidate{Name: "slide-deck", Description: "Creates presentations.", Tags: []string{"office"}}
	for task, want := range map[string][]string{
		"please make a slide about our quarterly results": {"quarterly", "results"},
		"create a presentation for the office":            nil,
		"zebra crossing zebra":                            {"zebra", "crossing"},
		"":                                                nil,
	} {
		if got, err := catalog.MissingWords(task, c); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", task, got, err, want)
		}
	}
}
