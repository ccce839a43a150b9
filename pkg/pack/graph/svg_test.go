package graph_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// drawn is the parsed content of an SVG.
type drawn struct {
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Title  string `xml:"title"`
	Groups []struct {
		Class string `xml:"class,attr"`
		Title string `xml:"title"`
		Rect  struct {
			X      int `xml:"x,attr"`
			Y      int `xml:"y,attr"`
			Width  int `xml:"width,attr"`
			Height int `xml:"height,attr"`
		} `xml:"rect"`
	} `xml:"g"`
}

// TestBoxes draws graphs, and requires that no box overlaps another or the edge, and that all packs and edges are
// drawn.
func TestBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "packs")
		packs, edges := chain(n), 0
		for i := range packs {
			packs[i].Requires = nil
			for _, to := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 5), rapid.ID[int]).Draw(t, fmt.Sprintf("required by %d", i)) {
				packs[i].Requires = append(packs[i].Requires, graph.Edge{To: chainID(to), Constraint: "^1"})
				edges++
			}
			for k := range rapid.IntRange(0, 5).Draw(t, "skills") {
				packs[i].Skills = append(packs[i].Skills, graph.Skill{Name: strings.Repeat("s", k+1)})
			}
		}
		text := graph.New("app", []graph.Edge{{To: chainID(0)}}, packs).SVG(graph.Options{Skills: true})
		var d drawn
		if err := xml.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		boxes, wires := 0, 0
		for i, a := range d.Groups {
			if a.Title == "" {
				t.Errorf("a %s without a title", a.Class)
			}
			if a.Class == "wire" {
				wires++
				continue
			}
			boxes++
			if a.Rect.X < 0 || a.Rect.Y < 0 || a.Rect.X+a.Rect.Width > d.Width || a.Rect.Y+a.Rect.Height > d.Height {
				t.Errorf("%s stands beyond the edge: %+v", a.Title, a.Rect)
			}
			for _, b := range d.Groups[:i] {
				if b.Class != "wire" && a.Rect.X < b.Rect.X+b.Rect.Width && b.Rect.X < a.Rect.X+a.Rect.Width &&
					a.Rect.Y < b.Rect.Y+b.Rect.Height && b.Rect.Y < a.Rect.Y+a.Rect.Height {
					t.Errorf("%s stands upon %s: %+v, %+v", a.Title, b.Title, a.Rect, b.Rect)
				}
			}
		}
		if boxes != n+1 || wires != edges+1 || !strings.Contains(d.Title, "app") {
			t.Errorf("%d boxes, %d arrows, title %q; want %d, %d and the name", boxes, wires, d.Title, n+1, edges+1)
		}
	})
}

// TestColumns checks that requirements are to the right, and that one arrow back closes a cycle.
func TestColumns(t *testing.T) {
	g := build(t, "root: a/a a/c\na/a=1: a/b\na/b=1: a/c\na/c=1: a/a")
	var d drawn
	if err := xml.Unmarshal([]byte(g.SVG(graph.Options{})), &d); err != nil {
		t.Fatal(err)
	}
	var x []int
	for _, a := range d.Groups {
		if a.Class != "wire" {
			x = append(x, a.Rect.X)
		}
	}
	for i := range x[1:] {
		if x[i] >= x[i+1] {
			t.Errorf("columns %v", x)
		}
	}
	if !strings.Contains(g.SVG(graph.Options{}), "<title>a/c 1 requires a/a 1</title>") {
		t.Error("the arrow that closes the cycle has another title")
	}
}

// TestLabels draws graphs, and requires that no two labels of one gap overlap.
func TestLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "packs")
		packs := chain(n)
		for i := range packs {
			packs[i].Requires = nil
			for _, to := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 6), rapid.ID[int]).Draw(t, fmt.Sprintf("required by %d", i)) {
				packs[i].Requires = append(packs[i].Requires, graph.Edge{To: chainID(to), Constraint: "^1.2"})
			}
		}
		var d struct {
			Height int `xml:"height,attr"`
			Labels []struct {
				Class string `xml:"class,attr"`
				X     int    `xml:"x,attr"`
				Y     int    `xml:"y,attr"`
			} `xml:"text"`
		}
		if err := xml.Unmarshal([]byte(graph.New("app", []graph.Edge{{To: chainID(0)}}, packs).SVG(graph.Options{})), &d); err != nil {
			t.Fatal(err)
		}
		for i, a := range d.Labels {
			if a.Y < 0 || a.Y > d.Height {
				t.Errorf("label %d stands beyond the edge: %v of %d", i, a, d.Height)
			}
			for _, b := range d.Labels[:i] {
				if a.X == b.X && a.Y-b.Y < 12 && b.Y-a.Y < 12 {
					t.Errorf("two labels at %d,%d and %d,%d", a.X, a.Y, b.X, b.Y)
				}
			}
		}
	})
}
