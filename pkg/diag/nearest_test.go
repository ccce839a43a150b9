package diag_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestNearest(t *testing.T) {
	words := []string{"dependencies", "description", "skills", "name", "version"}
	for _, tt := range []struct{ word, want string }{
		{"dependancies", "dependencies"},
		{"dependecnies", "dependencies"}, // two neighbours swapped
		{"skill", "skills"},
		{"nmae", "name"},
		{"name", ""}, // it is itself
		{"verbs", ""},
		{"x", ""},
		{"", ""},
		{"größe", ""},
	} {
		if got := diag.Nearest(tt.word, words); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
