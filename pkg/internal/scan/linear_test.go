package scan

import (
	"strings"
	"testing"
)

// TestLinear limits the work beyond the single pass to a fixed number of bytes for each byte of the text, for texts of
// only candidates.
func TestLinear(t *testing.T) {
	const size, most = 1 << 14, 64
	s := New()
	worst, where := 0, ""
	seen := map[int]bool{} // shapes
	for _, l := range s.literals {
		if l.check == checkShape && seen[l.arg] {
			continue
		}
		seen[l.arg] = seen[l.arg] || l.check == checkShape
		separators := []string{"", " ", "\n", " x ", "\"", "(", " -d ", " -e x ", ": abcd ", " to this ", "`"}
		size := size
		if l.check == checkShape { // all alike
			separators, size = []string{" ", "\n"}, 1<<10
		}
		for _, between := range separators {
			piece := l.text + between
			if l.next != "" {
				piece = l.text + l.next[:1] + between
			}
			work := [2]int{}
			for i := range work {
				data := []byte(strings.Repeat(piece, (i+1)*size/len(piece)))
				x := text{data: data, Options: Options{Markdown: true, Script: true, Skill: true}}
				s.scan(&x)
				work[i] = x.scanned
				if x.scanned > most*len(data) {
					t.Errorf("%q: %d bytes looked at for %d", piece, x.scanned, len(data))
				}
			}
			if work[1] > 2*work[0]+8*size {
				t.Errorf("%q: %d bytes looked at, and %d for twice the text", piece, work[0], work[1])
			}
			if work[1] > worst {
				worst, where = work[1], piece
			}
		}
	}
	t.Logf("worst: %q, %d bytes looked at for each", where, worst/(2*size))
}
