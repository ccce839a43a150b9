package index_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/index"
)

// TestOriginals: the original has the content first and is the older pack. In doubt, nothing is a copy.
func TestOriginals(t *testing.T) {
	const may, june, july = "2026-05-01T00:00:00Z", "2026-06-01T02:00:00+02:00", "2026-07-01T00:00:00Z"
	for name, tt := range map[string]struct {
		origins []index.Origin
		want    []int
	}{
		"a fork":                {[]index.Origin{{"c", june, june, false}, {"c", may, may, false}}, []int{1, -1}},
		"three":                 {[]index.Origin{{"c", may, may, false}, {"c", june, june, false}, {"c", july, june, false}}, []int{-1, 0, 0}},
		"other content":         {[]index.Origin{{"c", may, may, false}, {"d", june, june, false}}, []int{-1, -1}},
		"at the same time":      {[]index.Origin{{"c", may, may, false}, {"c", may, may, false}}, []int{-1, -1}},
		"a quick copy":          {[]index.Origin{{"c", june, june, false}, {"c", july, may, false}}, []int{-1, -1}},
		"an old pack copies":    {[]index.Origin{{"c", june, may, false}, {"c", july, june, false}}, []int{-1, 0}},
		"a deprecated original": {[]index.Origin{{"c", may, may, true}, {"c", june, june, false}}, []int{-1, -1}},
		"a deprecated copy":     {[]index.Origin{{"c", may, may, false}, {"c", june, june, true}}, []int{-1, 0}},
		"unknown times":         {[]index.Origin{{"c", "", "", false}, {"c", may, may, false}, {"c", "x", "", false}}, []int{-1, -1, -1}},
		"unknown content":       {[]index.Origin{{"", may, may, false}, {"", june, june, false}}, []int{-1, -1}},
	} {
		if got := index.Originals(tt.origins); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestCatalogOrigin: the catalog says since when a pack has its content.
func TestCatalogOrigin(t *testing.T) {
	first, same, other := line("1.0.0"), line("1.1.0"), line("1.2.0")
	first.Published, same.Published, other.Published = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
	other.Skills = []index.Skill{{Name: "deploy", Tree: "t1:sha256:" + strings.Repeat("9", 64)}}
	catalog := func(lines ...index.Line) index.Origin {
		t.Helper()
		var data []byte
		for _, l := range lines {
			var err error
			if l.Integrity = ""; true {
				data, err = index.Append("f", data, l)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		entry, err := index.Parse("f", data)
		if err != nil {
			t.Fatal(err)
		}
		c, ok := entry.Catalog()
		if !ok {
			t.Fatal("no available version")
		}
		return c.Origin()
	}
	one, two, three := catalog(first), catalog(first, same), catalog(first, same, other)
	if one != two || one.ContentSince != first.Published || one.Since != first.Published || one.Content == "" {
		t.Errorf("got %+v and %+v", one, two)
	}
	if three.Content == one.Content || three.ContentSince != other.Published || three.Since != first.Published {
		t.Errorf("got %+v", three)
	}
}
