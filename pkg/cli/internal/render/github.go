package render

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// GitHub writes findings as GitHub Actions workflow commands, which GitHub shows in the diff of a change.
func GitHub(out io.Writer, r Outcome) error {
	w := bufio.NewWriter(out)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "::%s file=%s", githubLevel(f.Severity), githubProperty(r.inWorkspace(f.Path)))
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
	return w.Flush()
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
	return githubData.Replace(console.Printable(strings.ToValidUTF8(s, "\ufffd")))
}

func githubProperty(s string) string {
	return githubProps.Replace(console.Printable(strings.ToValidUTF8(s, "\ufffd")))
}
