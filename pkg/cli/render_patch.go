package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// renderPatch prints what --fix would change as a patch that git apply and patch -p1 take. On a terminal it has colours, and
// what could steer the terminal is escaped.
func (a *app) renderPatch(w io.Writer, o outcome) error {
	var b bytes.Buffer
	for _, f := range o.mended {
		if f.Executable {
			fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nold mode 100644\nnew mode 100755\n", f.Path)
		}
		b.WriteString(f.Diff)
	}
	if !terminal(w) {
		_, err := w.Write(b.Bytes())
		return err
	}
	p := a.palette(w)
	for line := range strings.Lines(printable(b.String())) {
		if _, err := io.WriteString(w, p.patchLine(line)); err != nil {
			return err
		}
	}
	return nil
}

func (p palette) patchLine(line string) string {
	text, end, _ := strings.Cut(line, "\n")
	switch {
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "):
		text = p.bold(text)
	case strings.HasPrefix(line, "@@ "):
		text = p.cyan(text)
	case strings.HasPrefix(line, "+"):
		text = p.green(text)
	case strings.HasPrefix(line, "-"):
		text = p.red(text)
	}
	return text + "\n" + end
}
