package rulefile_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/rulefile"
)

var update = flag.Bool("update", false, "write builtin.go")

// builtin reads the rule files of skillpm.
func builtin(t *testing.T) []rulefile.Rule {
	t.Helper()
	names, err := filepath.Glob("../rules/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no rule files", err)
	}
	var rules []rulefile.Rule
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list, err := rulefile.Read(filepath.Base(name), data, rulefile.Options{Builtin: true})
		if err != nil {
			t.Error(err)
		}
		rules = append(rules, list...)
	}
	slices.SortStableFunc(rules, func(a, b rulefile.Rule) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(rules); i++ {
		if rules[i].ID == rules[i-1].ID {
			t.Errorf("%s is in two files", rules[i].ID)
		}
	}
	return rules
}

// TestBuiltin checks that builtin.go has the rules of the YAML files. -update writes it.
func TestBuiltin(t *testing.T) {
	want := source(t, builtin(t))
	if *update {
		if err := os.WriteFile("../builtin.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("../builtin.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("builtin.go is out of date; run: go test ./pkg/internal/scan/rulefile -update (%v)", err)
	}
}

// severityNames are the ends of the names of the constants.
var severityNames = [...]string{diag.SeverityError: "Error", diag.SeverityWarning: "Warning", diag.SeverityNote: "Note"}

// source returns the rules as Go.
func source(t *testing.T, rules []rulefile.Rule) []byte {
	t.Helper()
	var b strings.Builder
	b.WriteString("// Code generated from the rule files in rules; DO NOT EDIT.\n" +
		"// Write it with: go test ./pkg/internal/scan/rulefile -update\n\n")
	b.WriteString("package scan\n\nimport \"github.com/skillpm/skillpm/pkg/diag\"\n\n")
	b.WriteString("// Builtin returns the rules of skillpm.\nfunc Builtin() []*Rule {\n" +
		"list := make([]*Rule, len(builtin))\nfor i := range builtin {\nlist[i] = &builtin[i]\n}\nreturn list\n}\n\n")
	b.WriteString("var builtin = [...]Rule{\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "{\nID: %q, Title: %q, Severity: diag.Severity%s,\n", r.ID, r.Title, severityNames[r.Severity])
		if r.Signal != "" {
			fmt.Fprintf(&b, "Signal: %q, Points: %d,\n", r.Signal, r.Points)
		}
		if r.Intent {
			b.WriteString("Intent: true,\n")
		}
		b.WriteString("Shapes: []Shape{\n")
		for _, s := range r.Shapes {
			writeShape(&b, s)
		}
		b.WriteString("},\n},\n")
	}
	b.WriteString("}\n")
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeShape(b *strings.Builder, s scan.Shape) {
	b.WriteString("{\n")
	if s.About != "" {
		fmt.Fprintf(b, "About: %q,\n", s.About)
	}
	fmt.Fprintf(b, "In: %d,\n", s.In)
	if s.Quoted {
		b.WriteString("Quoted: true,\n")
	}
	if s.Intent {
		b.WriteString("Intent: true,\n")
	}
	writePatterns(b, "Any", s.Any)
	writePatterns(b, "All", s.All)
	writePatterns(b, "Unless", s.Unless)
	if len(s.Start) > 0 {
		b.WriteString("Start: []string{" + wrapList(s.Start) + "},\n")
	}
	if s.Lines > 0 {
		fmt.Fprintf(b, "Lines: %d,\n", s.Lines)
	}
	if s.Points > 0 {
		fmt.Fprintf(b, "Points: %d,\n", s.Points)
	}
	if s.Severity != nil {
		fmt.Fprintf(b, "Severity: new(diag.Severity%s),\n", severityNames[*s.Severity])
	}
	if s.Kind != 0 {
		fmt.Fprintf(b, "Kind: %s,\n", s.Kind)
	}
	b.WriteString("},\n")
}

func writePatterns(b *strings.Builder, name string, list []scan.Pattern) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s: []Pattern{\n", name)
	for _, p := range list {
		text, sep := wrapText(p.Text, p.Regexp), ", "
		if len(text)+len(wrapList(p.Atoms)) > lineWidth*2/3 {
			text, sep = "\nText: "+text, ",\n"
		} else {
			text = "Text: " + text
		}
		b.WriteString("{" + text)
		if p.Regexp {
			b.WriteString(sep + "Regexp: true")
		}
		if len(p.Atoms) > 0 {
			b.WriteString(sep + "Atoms: []string{" + wrapList(p.Atoms) + "}")
		}
		if sep != ", " {
			b.WriteString(",\n")
		}
		b.WriteString("},\n")
	}
	b.WriteString("},\n")
}

// lineWidth is how many bytes of a text a line of builtin.go has.
const lineWidth = 90

// wrapText returns a text as Go, over several lines if it is long.
func wrapText(text string, raw bool) string {
	var parts []string
	for {
		n := min(len(text), lineWidth)
		if !raw || strings.Contains(text, "`") {
			n = min(n, lineWidth*2/3) // escapes are longer
		}
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		part := fmt.Sprintf("%q", text[:n])
		if raw && !strings.Contains(text, "`") {
			part = "`" + text[:n] + "`"
		}
		parts = append(parts, part)
		if text = text[n:]; text == "" {
			return strings.Join(parts, " +\n")
		}
	}
}

// wrapList returns the elements of a list of texts as Go, over several lines if they are long.
func wrapList(list []string) string {
	var b strings.Builder
	used := 0
	for i, text := range list {
		quoted := fmt.Sprintf("%q", text)
		switch {
		case i == 0:
		case used+len(quoted) > lineWidth-30:
			b.WriteString(",\n")
			used = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(quoted)
		used += len(quoted) + 2
	}
	if strings.Contains(b.String(), "\n") {
		return "\n" + b.String() + ",\n"
	}
	return b.String()
}

// TestExamples checks each shape of each rule against its examples. Every shape has at least three that it finds.
func TestExamples(t *testing.T) {
	for _, r := range builtin(t) {
		if err := r.CheckExamples(); err != nil {
			t.Errorf("line %d: %v", r.Line, err)
		}
		for i, sh := range r.Shapes {
			if n := len(r.Examples[i].Match); sh.Kind == 0 && n < 3 {
				t.Errorf("%s, %s: %d examples", r.ID, sh.About, n)
			}
		}
	}
}
