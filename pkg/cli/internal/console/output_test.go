package console

import (
	"strings"
	"testing"
)

// TestTable checks that columns are aligned whatever cells are empty, and that nothing in a cell ends its line.
func TestTable(t *testing.T) {
	rows := [][]string{{"PACK", "VERSION", "NOTE"}, {"acme/deploy", "", ""}, {"acme/x", "1.0.0", "a\tnote\nof two lines"}, {"\u4e2d/y", "2", "z"}}
	want := `PACK         VERSION  NOTE
acme/deploy
acme/x       1.0.0    a note of two lines
` + "\u4e2d/y         2        z\n"
	var b strings.Builder
	if err := Table(&b, rows); err != nil || b.String() != want {
		t.Errorf("got, with %v,\n%swant\n%s", err, b.String(), want)
	}
}
