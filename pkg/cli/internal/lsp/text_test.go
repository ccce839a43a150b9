package lsp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestPosition(t *testing.T) {
	const s = "é😀x\r\n\n\tz\rlast"
	for _, tt := range []struct {
		at                    string // what follows the byte
		line                  uint32
		utf8s, utf16s, utf32s uint32
	}{
		{"é😀", 0, 0, 0, 0},
		{"😀x", 0, 2, 1, 1},
		{"x\r", 0, 6, 3, 2},
		{"\r\n\n", 0, 7, 4, 3},
		{"\n\n", 0, 7, 4, 3},
		{"\n\tz", 1, 0, 0, 0},
		{"z\r", 2, 1, 1, 1},
		{"last", 3, 0, 0, 0},
		{"", 3, 4, 4, 4},
	} {
		text := newText(s)
		offset := strings.Index(s, tt.at)
		if tt.at == "" {
			offset = len(s)
		}
		for e, want := range map[encoding]uint32{utf8Units: tt.utf8s, utf16Units: tt.utf16s, utf32Units: tt.utf32s} {
			got := text.position(offset, e)
			if want := (protocol.Position{Line: tt.line, Character: want}); got != want {
				t.Errorf("before %q in %s: got %v, want %v", tt.at, e, got, want)
			}
		}
	}
}

func TestOffset(t *testing.T) {
	text := newText("a😀b\r\nc")
	for _, tt := range []struct {
		p    protocol.Position
		e    encoding
		want int
	}{
		{protocol.Position{}, utf16Units, 0},
		{protocol.Position{Character: 1}, utf16Units, 1},
		{protocol.Position{Character: 2}, utf16Units, 1}, // inside of the character
		{protocol.Position{Character: 3}, utf16Units, 5},
		{protocol.Position{Character: 2}, utf32Units, 5},
		{protocol.Position{Character: 5}, utf8Units, 5},
		{protocol.Position{Character: 99}, utf16Units, 6},
		{protocol.Position{Line: 1, Character: 1}, utf16Units, 9},
		{protocol.Position{Line: 9}, utf16Units, 9},
		{protocol.Position{Line: 1<<32 - 1, Character: 1<<32 - 1}, utf8Units, 9},
	} {
		if got := text.offset(tt.p, tt.e); got != tt.want {
			t.Errorf("%v in %s: got %d, want %d", tt.p, tt.e, got, tt.want)
		}
	}
}

// TestFound checks that a line of a finding ends only at a line feed.
func TestFound(t *testing.T) {
	text := newText("a\rb\r\nçd\n")
	for _, tt := range []struct{ line, column, want int }{
		{1, 1, 0}, {1, 3, 2}, {1, 99, 4}, {2, 1, 5}, {2, 2, 7}, {2, 99, 8}, {3, 1, 9}, {99, 1, 9}, {0, 0, 0},
	} {
		if got := text.findingOffset(tt.line, tt.column); got != tt.want {
			t.Errorf("%d:%d: got %d, want %d", tt.line, tt.column, got, tt.want)
		}
	}
}

func TestFindingRange(t *testing.T) {
	text := newText("---\nname: ö 😀 demo\n---\n")
	for _, tt := range []struct {
		finding diag.Finding
		want    string
	}{
		{diag.Finding{}, "0:0-0:0"},
		{diag.Finding{Line: 2, Column: 9, EndLine: 2, EndColumn: 10}, "1:8-1:10"},
		{diag.Finding{Line: 2, Column: 11, EndColumn: 15}, "1:11-1:15"},
		{diag.Finding{Line: 2, Column: 7}, "1:6-1:15"}, // without an end: the rest of the line
		{diag.Finding{Line: 1, Column: 1, EndLine: 3, EndColumn: 4}, "0:0-2:3"},
		{diag.Finding{Line: 99, Column: 9}, "3:0-3:0"},
	} {
		if got := rangeText(text.findingRange(tt.finding, utf16Units)); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.finding, got, tt.want)
		}
	}
}

// FuzzPosition checks that every byte has a position, every position a byte, and that both agree at the start of
// characters.
func FuzzPosition(f *testing.F) {
	f.Add("a\r\nb\rc\n", 3)
	f.Add("é😀\n\xff\xfe", 5)
	f.Fuzz(func(t *testing.T, s string, at int) {
		text := newText(s)
		if at < 0 || at > len(s) {
			at = 0
		}
		for _, e := range []encoding{utf8Units, utf16Units, utf32Units} {
			back := text.offset(text.position(at, e), e)
			ending := at < len(s) && s[at] == '\n' && at > 0 && s[at-1] == '\r'
			start := at == len(s) || utf8.RuneStart(s[at])
			if valid := utf8.ValidString(s); valid && start && !ending && back != at {
				t.Errorf("%q at %d in %s: got back %d", s, at, e, back)
			}
			if back < 0 || back > len(s) {
				t.Errorf("%q at %d in %s: got %d", s, at, e, back)
			}
		}
		if !slices.IsSorted(text.lines) || len(text.lines) < len(text.lineFeeds) {
			t.Errorf("%q: lines %v, feeds %v", s, text.lines, text.lineFeeds)
		}
	})
}

// rangeText writes a range as line:character-line:character.
func rangeText(r protocol.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}
