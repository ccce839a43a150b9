package rulefile_test

import (
	"regexp/syntax"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// maxProgram is the size in instructions from which package regexp uses its slowest engine for a window.
const maxProgram = 420

// TestProgramSize checks that the regular expressions are small enough for the fast engine of package regexp.
func TestProgramSize(t *testing.T) {
	check := func(id string, list []scan.Pattern) {
		for _, p := range list {
			if !p.Regexp {
				continue
			}
			re, err := syntax.Parse(p.Text, syntax.Perl|syntax.FoldCase)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := syntax.Compile(re.Simplify())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(prog.Inst); n > maxProgram {
				t.Errorf("%s: %d instructions: %.80s", id, n, p.Text)
			}
		}
	}
	for _, r := range builtin(t) {
		for _, s := range r.Shapes {
			check(r.ID, s.Any)
			check(r.ID, s.All)
			check(r.ID, s.Unless)
		}
	}
}
