package console

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// TestTable checks that columns are aligned even if cells are empty, and that no cell breaks its line.
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

// TestTableHeadings checks that headings have the role of names, and that a first row without headings does not.
func TestTableHeadings(t *testing.T) {
	for _, test := range []struct {
		row  []string
		want string
	}{
		{[]string{"PACK", "USED BY"}, "\x1b[1mPACK\x1b[0m  \x1b[1mUSED BY\x1b[0m\n"},
		{[]string{"acme/x", "1.0.0"}, "acme/x  1.0.0\n"},
		{[]string{"1.0.0"}, "1.0.0\n"},
	} {
		var b strings.Builder
		if err := Table(&Output{Writer: &b, Colors: true}, [][]string{test.row}); err != nil || b.String() != test.want {
			t.Errorf("%v, %q, want %q", err, b.String(), test.want)
		}
	}
}

// TestRoles checks that severities have the colors of their roles, and that no role colors an empty text.
func TestRoles(t *testing.T) {
	for severity, want := range map[diag.Severity]string{
		diag.SeverityError: Palette(true).Red("x"), diag.SeverityWarning: Palette(true).Yellow("x"),
		diag.SeverityNote: Palette(true).Cyan("x"),
	} {
		if got := Palette(true).Severity(severity, "x"); got != want || got == "x" {
			t.Errorf("%v: %q, want %q", severity, got, want)
		}
	}
	if got := Palette(true).Paint(Bad, "") + Palette(true).Paint(Plain, "x") + Palette(false).Paint(Bad, "y"); got != "xy" {
		t.Errorf("got %q", got)
	}
}

// TestTableFits proves that a table fits the width of a terminal: the widest columns shrink, and their text is wrapped.
func TestTableFits(t *testing.T) {
	g := Grid{Width: 40}
	for _, row := range [][]string{
		{"PACK", "VERSION", "SKILLS"},
		{"acme/deploy", "1.4.0", "deploy, rollback, kubectl-basics"},
		{"\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d/y", "2.0.0", "a-skill-with-a-long-name"},
	} {
		g.Add(Cell{Text: row[0]}, Cell{Text: row[1]}, Cell{Text: row[2]})
	}
	var b strings.Builder
	g.Write(&b)
	want := `PACK                  VERSION  SKILLS
acme/deploy           1.4.0    deploy,
                               rollback,
                               kubectl-
                               basics
` + "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d  2.0.0    a-skill-\n" +
		"/y                             with-a-\n                               long-name\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	for line := range strings.Lines(b.String()) {
		if n := Cells([]rune(line)) - 1; n > g.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestTableBreaks checks where cells break: after the separators of names and paths, at hyphens if names are too wide
// for that, and never in a digest, which is shortened.
func TestTableBreaks(t *testing.T) {
	for _, test := range []struct {
		width int
		row   []string
		want  string
	}{
		{
			40,
			[]string{"user", "~/.config/skillpm/policy.yaml:30", "it has 5 files"},
			"user  ~/.config/skillpm/  it has 5 files\n      policy.yaml:30\n",
		},
		{
			30,
			[]string{"1.4.0", "kubectl-basics@acme/kubectl-basics"},
			"1.4.0  kubectl-basics@acme/\n       kubectl-basics\n",
		},
		{18, []string{"1.4.0", "kubectl-basics"}, "1.4.0  kubectl-\n       basics\n"},
		{
			40,
			[]string{"t1:sha256:1d4aee68614050af", "kubectl-basics@acme/k8s"},
			"t1:sha256:1d4aee68…  kubectl-basics@\n                     acme/k8s\n",
		},
	} {
		g := Grid{Width: test.width}
		var row []Cell
		for _, text := range test.row {
			row = append(row, Cell{Text: text})
		}
		g.Add(row...)
		var b strings.Builder
		g.Write(&b)
		if b.String() != test.want {
			t.Errorf("%d columns: got\n%swant\n%s", test.width, b.String(), test.want)
		}
	}
}

// TestWrapMessage proves that messages are wrapped at words, below their text, and that commands stay on one line.
func TestWrapMessage(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"short", "error: short", "error: short"},
		{"words", "error: the lockfile is out of date, and --frozen is set", "error: the lockfile is out of date, and\n  --frozen is set"},
		{"command at the end", "hint: add the registry that has it: skillpm registry add NAME", "hint: add the registry that has it:\n  skillpm registry add NAME"},
		{"quoted command", `hint: resolve it, or run "skillpm install --resolve"`, "hint: resolve it, or run\n  \"skillpm install --resolve\""},
		{"two commands", `use "skillpm remove" for packs, or "skillpm yank acme/x" for versions`, "use \"skillpm remove\" for packs, or\n  \"skillpm yank acme/x\" for versions"},
		{"label", "description:  Moves databases and checks every row", "description:  Moves databases and checks\n              every row"},
		{"indented", "  the first line of a text that goes on here", "  the first line of a text that goes on\n    here"},
		{"colored", "\x1b[31merror:\x1b[0m this text has forty columns, yes", "\x1b[31merror:\x1b[0m this text has forty columns, yes"},
		{"long word", "tree: sha256:3550cb7c20141b13505a3b5cf709efc7684846b4", "tree:\n  sha256:3550cb7c20141b13505a3b5cf709efc7684846b4"},
		{"lines", "one\n  two", "one\n  two"},
	} {
		if got := WrapMessage(test.text, 40); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestOutputWraps proves that wrapped output keeps lines that are written in parts, and that other streams get the text
// as it is.
func TestOutputWraps(t *testing.T) {
	var b strings.Builder
	o := &Output{Writer: &b, Wrap: true}
	for _, part := range []string{"one ", "line\nan", "other"} {
		if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	(&App{Environment: environ.Environment{Stdout: o}}).Verbatim("+ diff\n")
	if got, want := b.String(), "one line\nanother+ diff\n"; got != want || !o.Wrap {
		t.Errorf("verbatim: %q, want %q; wrap is %v", got, want, o.Wrap)
	}
	if _, err := o.Write([]byte("end")); err != nil {
		t.Error(err)
	}
	if err := o.Checked(nil); err != nil || !strings.HasSuffix(b.String(), "\nend") {
		t.Errorf("%v: %q", err, b.String())
	}
}
