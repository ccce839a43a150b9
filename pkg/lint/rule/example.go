package rule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is one file of an example.
type File struct {
	Path       string // "" where the example is a SKILL.md and says no more
	Executable bool
	Text       string
}

// Files returns the files of an example, as [Rule] describes them.
func Files(example string) []File {
	if !strings.HasPrefix(example, "-- ") {
		return []File{{Text: example}}
	}
	var files []File
	for line := range strings.Lines(example) {
		if head, ok := strings.CutPrefix(line, "-- "); ok {
			name, executable := strings.CutSuffix(strings.TrimSpace(head), " 755")
			files = append(files, File{Path: name, Executable: executable})
			continue
		}
		files[len(files)-1].Text += line
	}
	return files
}

// manyBlank is how many blank lines in a row are shown as what they are.
const manyBlank = 5

// Visible returns an example's text with everything that cannot be seen written as an escape: tabs, carriage returns,
// control and format characters, bytes that are not UTF-8; many blank lines are counted.
func Visible(text string) string {
	var b strings.Builder
	blank := 0
	flush := func() {
		if blank > manyBlank {
			fmt.Fprintf(&b, "[%d blank lines]\n", blank)
		} else {
			b.WriteString(strings.Repeat("\n", blank))
		}
		blank = 0
	}
	for line := range strings.Lines(text) {
		if line == "\n" {
			blank++
			continue
		}
		flush()
		visibleLine(&b, line)
	}
	flush()
	return b.String()
}

func visibleLine(b *strings.Builder, line string) {
	for i, r := range line {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\ufffd"):
			fmt.Fprintf(b, `\x%02x`, line[i])
		case r > 0xffff && hidden(r):
			fmt.Fprintf(b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Co, r) || unicode.Is(unicode.Variation_Selector, r)
}
