package govern

import (
	"slices"
	"testing"
)

// TestNarrowed has a table lose the columns that matter least where a terminal is too narrow, and none where nobody
// looks.
func TestNarrowed(t *testing.T) {
	rows := [][]string{{"SKILL", "PACK", "RUNS", "TOTAL", "MEAN"}, {"deploy", "acme/deploy", "12", "41.20s", "4.58s"}}
	for _, tt := range []struct {
		width int
		want  []string
	}{
		{0, rows[0]},
		{80, rows[0]},
		{40, rows[0]},
		{39, []string{"SKILL", "PACK", "RUNS", "MEAN"}},
		{32, []string{"SKILL", "PACK", "RUNS", "MEAN"}},
		{31, []string{"SKILL", "PACK", "RUNS"}},
		{5, []string{"SKILL", "PACK", "RUNS"}},
	} {
		got := dropColumns(rows, tt.width, "TOTAL", "MEAN")
		if !slices.Equal(got[0], tt.want) || len(got[1]) != len(tt.want) || got[1][2] != "12" {
			t.Errorf("%d columns: %v, want %v", tt.width, got, tt.want)
		}
	}
	if rows[0][3] != "TOTAL" || rows[1][3] != "41.20s" {
		t.Errorf("the table was changed: %v", rows)
	}
}
