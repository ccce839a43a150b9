package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
)

// JUnitSuites is a report in the part of the JUnit XML format that Jenkins and GitLab read. Each skill is a suite, and
// so is each file outside of skills with a finding. Each finding is a test case. Errors are failures. Warnings and
// notes are skipped cases, because both programs show their text and do not fail the build. A skill without findings is
// one passed case.
type JUnitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []JUnitSuite `xml:"testsuite"`
}

// JUnitSuite has the test cases of one skill.
type JUnitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []JUnitCase `xml:"testcase"`
}

// JUnitCase is a finding as a test case.
type JUnitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	File    string     `xml:"file,attr,omitempty"`
	Line    int        `xml:"line,attr,omitempty"`
	Time    string     `xml:"time,attr"`
	Failure *JUnitText `xml:"failure"`
	Skipped *JUnitText `xml:"skipped"`
}

// JUnitText is a message of a test case.
type JUnitText struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func renderJUnit(w io.Writer, o Outcome) error {
	doc := JUnitSuites{Name: "skillpm validate"}
	suites := map[string][]diag.Finding{}
	names := slices.Clone(o.Skills)
	for _, f := range o.Findings {
		home := o.home(f.Path)
		if _, known := suites[home]; !known && !slices.Contains(o.Skills, home) {
			names = append(names, home)
		}
		suites[home] = append(suites[home], f)
	}
	slices.Sort(names)
	for _, name := range names {
		doc.Add(o.newSuite(name, suites[name]))
	}
	return doc.Write(w)
}

// Add adds a suite and its counts.
func (d *JUnitSuites) Add(s JUnitSuite) {
	d.Suites = append(d.Suites, s)
	d.Tests += s.Tests
	d.Failures += s.Failures
	d.Errors += s.Errors
	d.Skipped += s.Skipped
}

// Write writes the report as XML.
func (d *JUnitSuites) Write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(d); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// home returns the innermost skill that contains a path, or else the path itself.
func (o Outcome) home(file string) string {
	for dir := file; ; dir = path.Dir(dir) {
		if _, known := slices.BinarySearch(o.Skills, dir); known {
			return dir
		}
		if dir == path.Dir(dir) || dir == ".." || strings.HasSuffix(dir, "/..") {
			return file
		}
	}
}

func (o Outcome) newSuite(name string, findings []diag.Finding) JUnitSuite {
	s := JUnitSuite{Name: console.Printable(name)}
	class := JUnitClass(name)
	if len(findings) == 0 {
		s.Cases = append(s.Cases, JUnitCase{Class: class, Name: "no findings", Time: "0"})
	}
	seen := map[string]int{} // GitLab drops cases with duplicate names
	for _, f := range findings {
		c := JUnitCase{
			Class: class, Name: f.Rule + ": " + console.OneLine(f.Message), File: console.Printable(f.Path),
			Line: f.Line, Time: "0",
		}
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name += " (" + strconv.Itoa(seen[c.Name]) + ")"
		}
		text := &JUnitText{Type: f.Rule, Message: console.OneLine(f.Message), Text: o.junitText(f)}
		if f.Severity == diag.SeverityError {
			c.Failure = text
			s.Failures++
		} else {
			text.Type = "" // skipped cases cannot have one
			text.Message = f.Severity.String() + ": " + text.Message
			c.Skipped = text
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	s.Tests = len(s.Cases)
	return s
}

// junitText returns the text of a case: the position, the line, and how to fix it.
func (o Outcome) junitText(f diag.Finding) string {
	var b strings.Builder
	b.WriteString(f.Path)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, max(1, f.Column))
	}
	fmt.Fprintf(&b, ": %s %s: %s", f.Severity, f.Rule, f.Message)
	if f.Profile != "" {
		fmt.Fprintf(&b, " (%s)", strings.ReplaceAll(f.Profile, ",", ", "))
	}
	if line := o.Line(f); line != "" {
		text, marks := excerpt(line, f.Column, mark(f), excerptWidth)
		fmt.Fprintf(&b, "\n  %s\n  %s", text, marks)
	}
	if f.Fix != "" {
		fmt.Fprintf(&b, "\nfix: %s", f.Fix)
	}
	return console.PrintableText(b.String())
}

// JUnitClass converts a path to the dotted name that readers expect. They use the part before the last dot as the
// package.
func JUnitClass(path string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		parts = append(parts, strings.ReplaceAll(console.Printable(part), ".", "_"))
	}
	return strings.Join(parts, ".")
}
