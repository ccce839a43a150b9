package render

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// maxAnnotations is how many annotations of a severity GitHub shows for a step. It drops the others.
const maxAnnotations = 10

// GitHub writes findings as GitHub Actions workflow commands, which GitHub shows in the diff of a change: the worst
// first, and as many as GitHub shows. The job summary gets the counts and the other findings.
func GitHub(out io.Writer, r Outcome) error {
	w := bufio.NewWriter(console.Raw(out))
	var others []diag.Finding
	for _, s := range severities {
		count := 0
		for _, f := range r.Findings {
			if f.Severity != s {
				continue
			}
			if count++; count > maxAnnotations {
				others = append(others, f)
				continue
			}
			r.annotate(w, f)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.writeJobSummary(others)
}

// annotate writes one workflow command.
func (o Outcome) annotate(w io.Writer, f diag.Finding) {
	fmt.Fprintf(w, "::%s file=%s", githubLevel(f.Severity), githubProperty(o.inWorkspace(f.Path)))
	if f.Line > 0 {
		fmt.Fprintf(w, ",line=%d,col=%d", f.Line, max(1, f.Column))
	}
	if f.EndLine > 0 {
		fmt.Fprintf(w, ",endLine=%d,endColumn=%d", f.EndLine, f.EndColumn)
	}
	message := f.Message
	if f.Fix != "" {
		message += "\n" + f.Fix
	}
	fmt.Fprintf(w, ",title=%s::%s\n", githubProperty(f.Rule), githubText(message))
}

// maxJobSummary is how many bytes of findings a job summary gets. GitHub accepts 1 MiB for each step.
const maxJobSummary = 512 << 10

// writeJobSummary appends to the job summary in GitHub Actions. It writes HTML without blank lines, in which GitHub
// does not read Markdown, because texts of a pack may contain any.
func (o Outcome) writeJobSummary(others []diag.Finding) error {
	if o.JobSummary == "" || len(o.Findings) == 0 && len(o.Skills) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("<h3>skillpm</h3>\n")
	cell := func(text string) { b.WriteString("<td>" + html.EscapeString(console.OneLine(text)) + "</td>") }
	if len(o.Findings) > 0 {
		b.WriteString("<table>\n<tr><th>Severity</th><th>Rule</th><th>Findings</th><th>Skills</th></tr>\n")
		for _, r := range o.rules() {
			b.WriteString("<tr>")
			cell(r.Severity.String())
			cell(r.Rule)
			cell(strconv.Itoa(r.Findings))
			cell(strconv.Itoa(r.Skills))
			b.WriteString("</tr>\n")
		}
		b.WriteString("</table>\n")
	}
	b.WriteString("<p>" + html.EscapeString(textReport{}.summary(o)) + "</p>\n")
	if len(others) > 0 {
		fmt.Fprintf(&b, "<details><summary>%s without an annotation</summary>\n<table>\n",
			textx.Count(len(others), "finding"))
	}
	for i, f := range others {
		if b.Len() > maxJobSummary {
			fmt.Fprintf(&b, "<tr><td>and %d more</td></tr>\n", len(others)-i)
			break
		}
		b.WriteString("<tr>")
		cell(f.Severity.String())
		cell(f.Rule)
		cell(textx.Position(o.inWorkspace(f.Path), f.Line))
		cell(f.Message)
		b.WriteString("</tr>\n")
	}
	if len(others) > 0 {
		b.WriteString("</table></details>\n")
	}
	return appendTo(o.JobSummary, b.String()+"\n")
}

// appendTo appends text to a file, which may not exist.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot write the job summary: %w", err)
	}
	return nil
}

// inWorkspace formats a path relative to GitHub's checkout, if the working directory is inside it.
func (o Outcome) inWorkspace(path string) string {
	if o.Workspace == "" || filepath.IsAbs(path) {
		return path
	}
	rel, ok := pathx.Rel(o.Workspace, filepath.Join(o.Dir, filepath.FromSlash(path)))
	if !ok {
		return path
	}
	return filepath.ToSlash(rel)
}

func githubLevel(s diag.Severity) string {
	switch s {
	case diag.SeverityError:
		return "error"
	case diag.SeverityWarning:
		return "warning"
	default:
		return "notice"
	}
}

var (
	githubData  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProps = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubText(s string) string {
	return githubData.Replace(console.PrintableText(strings.ToValidUTF8(s, "\ufffd")))
}

func githubProperty(s string) string {
	return githubProps.Replace(console.PrintableText(strings.ToValidUTF8(s, "\ufffd")))
}
