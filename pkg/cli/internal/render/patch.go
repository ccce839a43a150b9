package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// renderPatch prints the changes of --fix as a patch for git apply and patch -p1. On a terminal it uses colors and
// escapes control characters.
func renderPatch(a *console.App, w io.Writer, o Outcome) error {
	var b bytes.Buffer
	for _, f := range o.Fixed {
		if f.Executable {
			fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nold mode 100644\nnew mode 100755\n", f.Path)
		}
		b.WriteString(f.Diff)
	}
	if !console.Terminal(w) {
		_, err := w.Write(b.Bytes())
		return err
	}
	p := a.Palette(w)
	for line := range strings.Lines(console.PrintableText(b.String())) {
		if _, err := io.WriteString(w, p.DiffLine(strings.TrimSuffix(line, "\n"))+"\n"); err != nil {
			return err
		}
	}
	return nil
}
