package graph_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// The possible forms of DOT and Mermaid lines: any name stays between its quotation marks.
const (
	dotQuoted     = `"(?:[^"\\&]|\\\\|\\"|\\n|&amp;)*"`
	mermaidQuoted = `"(?:[^"\\#;:&<>\x60|{}\[\]]|#[0-9]+;|<br/>)*"`
)

var (
	dotLine = regexp.MustCompile(`^(?:digraph skillpm \{|\}|  rankdir=LR;|  (?:node|edge) \[[a-z=, 0-9]+\];|` +
		`  (?:root|` + dotQuoted + `)(?: -> ` + dotQuoted + `)?(?: \[[a-z]+=[^"]*?` + dotQuoted + `(?:, [a-z]+=(?:[a-z0-9]+|"[a-z,]+"))*\]| \[style=dashed\])?;)$`)
	mermaidLine = regexp.MustCompile(`^(?:flowchart LR|  n[0-9]+\[` + mermaidQuoted + `\]|  n[0-9]+ (?:-->|-\.->)(?:\|` + mermaidQuoted + `\|)? n[0-9]+|` +
		`  classDef [a-z]+ [a-z-]+: [a-z0-9 ]+|  class n[0-9]+(?:,n[0-9]+)* [a-z]+)$`)
)

// FuzzNames draws a graph with untrusted names, and requires that only its texts differ.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"acme", `"];evil[label="`, `\`, `\N\"`, "&lt;script&gt;", `<script>alert(1)</script>`, "]]>", "-->", "`md`", "#quot;", "#34;",
		"a\nb", "a\r\nb", "\x1b[31m", "\u202egnp.exe", "\u2028", "\ufeff", "\xff\xfe", "\x00", "end", "style x:#;", "click n0 \"javascript:\"",
		"subgraph", "%% comment", "%%{init: {}}%%", "%s%n", "}", "</title>", "' onload='", "日本語", "e\u0301", "\ufffe", "\U0010ffff", strings.Repeat("x", 300), "*", "1. a", "",
	} {
		f.Add(s, s, s)
		f.Add("acme", s, "^1")
		f.Add(s, "1.0.0", s)
	}
	f.Fuzz(func(t *testing.T, name, version, constraint string) {
		g := hostile(name, version, constraint)
		benign := hostile("n", "v", "c")
		o := graph.Options{Skills: true}
		checkLines(t, "tree", g.Tree(o), benign.Tree(o), nil)
		checkLines(t, "inverted", g.Inverted(pack.ID{Owner: "a", Name: name}, o), benign.Inverted(pack.ID{Owner: "a", Name: "n"}, o), nil)
		checkLines(t, "dot", g.DOT(o), benign.DOT(o), dotLine)
		checkLines(t, "mermaid", g.Mermaid(o), benign.Mermaid(o), mermaidLine)
		checkSVG(t, g.SVG(o), benign.SVG(o))
		data, err := json.Marshal(g.Document())
		if err != nil || !json.Valid(data) {
			t.Errorf("json: %v", err)
		}
	})
}

// hostile returns a graph with three texts in the positions of untrusted names. All its edges have labels.
func hostile(name, version, constraint string) *graph.Graph {
	a, b := pack.ID{Owner: "a", Name: name}, pack.ID{Owner: "b", Name: name}
	gone := pack.ID{Owner: "c", Name: name}
	constraint = "=" + constraint
	return graph.New("root "+name, []graph.Edge{{To: a, Constraint: constraint, Dev: true}}, []graph.Pack{
		{ID: a, Version: "v" + version, Source: name, Linked: "/" + name, Skills: []graph.Skill{{Name: "s" + name, Link: "l" + name}}, Requires: []graph.Edge{{To: b, Constraint: constraint}, {To: gone, Constraint: constraint}}},
		{ID: b, Version: "v" + version, Requires: []graph.Edge{{To: a, Constraint: constraint}}},
	})
}

// checkLines requires the same number of lines as a benign graph has, all of a known form and with printable characters
// only.
func checkLines(t *testing.T, what, got, benign string, form *regexp.Regexp) {
	t.Helper()
	if g, w := strings.Count(got, "\n"), strings.Count(benign, "\n"); g != w {
		t.Errorf("%s: %d lines, want %d:\n%s", what, g, w, got)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }); i >= 0 {
			t.Errorf("%s: %q has what can't be read", what, line)
		}
		if form != nil && !form.MatchString(line) {
			t.Errorf("%s: %q is not of the form that a line has", what, line)
		}
	}
}

// checkSVG requires XML with the same elements and attributes as a benign graph has.
func checkSVG(t *testing.T, got, benign string) {
	t.Helper()
	if g, w := elements(t, got), elements(t, benign); g != w {
		t.Errorf("svg: elements\n%s\nwant\n%s", g, w)
	}
}

// elements lists the elements of a document with the names of their attributes.
func elements(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("svg: %v\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			b.WriteString(e.Name.Local)
			for _, a := range e.Attr {
				b.WriteString(" " + a.Name.Local)
			}
			b.WriteByte('\n')
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("svg: %T", token)
		}
	}
}
