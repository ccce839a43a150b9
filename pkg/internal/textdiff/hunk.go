package textdiff

import (
	"context"
	"fmt"
	"strings"
)

// hunks is the difference of two texts, written down.
type hunks struct {
	text                  string
	insertions, deletions int
	cut                   bool // the text would be too long
}

// diffHunks compares two texts.
func diffHunks(ctx context.Context, before, after []byte, o Options) hunks {
	a, b := split(before), split(after)
	changes := diffLines(ctx, a, b, o.Budget)
	var h hunks
	for _, c := range changes {
		h.deletions += c.a1 - c.a0
		h.insertions += c.b1 - c.b0
	}
	w := &writer{a: a, b: b, limit: o.MaxText}
	if w.limit >= 0 {
		w.limit = min(w.limit, o.Budget.Text)
	}
	for len(changes) > 0 && !w.cut {
		n := 1
		for n < len(changes) && changes[n].a0-changes[n-1].a1 <= 2*o.Context {
			n++
		}
		w.hunk(changes[:n], o.Context)
		changes = changes[n:]
	}
	h.cut = w.cut
	if !h.cut {
		h.text = w.out.String()
		o.Budget.Text -= len(h.text)
	}
	return h
}

// split returns the lines of a text, each with its end.
func split(data []byte) []string {
	text := string(data)
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// writer writes hunks.
type writer struct {
	a, b  []string
	out   strings.Builder
	limit int // bytes; less than 0 for none
	cut   bool
}

// hunk writes changes that are near each other with the lines around and between them.
func (w *writer) hunk(changes []span, context int) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(context, first.a0)
	after := min(context, len(w.a)-last.a1)
	a0, a1, b0, b1 := first.a0-before, last.a1+after, first.b0-before, last.b1+after
	w.write(fmt.Sprintf("@@ -%s +%s @@\n", extent(a0, a1), extent(b0, b1)))
	at := a0
	for _, c := range changes {
		w.lines(' ', w.a[at:c.a0])
		w.lines('-', w.a[c.a0:c.a1])
		w.lines('+', w.b[c.b0:c.b1])
		at = c.a1
	}
	w.lines(' ', w.a[at:a1])
}

// extent writes which lines a hunk is about: the first, counted from 1, and how many. Of no lines the one before.
func extent(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
}

func (w *writer) lines(mark byte, lines []string) {
	for _, line := range lines {
		if w.cut {
			return
		}
		w.out.WriteByte(mark)
		w.write(line)
		if !strings.HasSuffix(line, "\n") {
			w.write("\n\\ No newline at end of file\n")
		}
	}
}

func (w *writer) write(s string) {
	if w.limit >= 0 && w.out.Len()+len(s) > w.limit {
		w.cut = true
		return
	}
	w.out.WriteString(s)
}
