package skillpm

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/textdiff"
)

// TestFrontNotes uses frontmatter that agents may read differently from skillpm, and that our registries do not accept.
func TestFrontNotes(t *testing.T) {
	const otherwise = "agents may read the frontmatter in different ways: line "
	for _, tt := range []struct{ name, data, want string }{
		{"key that is duplicated", "---\nname: a\nname: b\n---\n", otherwise + `3: the key "name" is duplicated; it first appears on line 2`},
		{"plain", "---\nname: a\n---\n", ""},
	} {
		n := noteTaker{}
		n.front(textdiff.File{Path: "SKILL.md", Data: []byte(tt.data)})
		got := ""
		for _, note := range n.notes {
			got += note.Text
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
