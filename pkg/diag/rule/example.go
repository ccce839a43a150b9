package rule

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// head is the frontmatter of most examples.
const head = "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n---\n\n"

// baseLock is a lock with one pack, which examples of packs require.
const baseLock = "-- skillpm.lock\n" +
	"# Written by skillpm. Keep it in version control; change it with skillpm only.\n" +
	"version: 1\n" +
	"packs:\n" +
	"  acme/base:\n" +
	"    version: \"1.2.0\"\n" +
	"    source: \"oci://registry.example/acme/base\"\n" +
	"    resolved: \"sha256:0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd\"\n" +
	"    integrity: \"t1:sha256:abd03e921e15b962d42a7629797c0f2a675f8d143c0860e66f4a56b4c3c434ef\"\n" +
	"    skills:\n" +
	"      base: \"t1:sha256:89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd\"\n"

// baseEntry is what follows the version in an entry of an index.
const baseEntry = `", "published": "2026-11-20T12:00:00Z", "source": "oci://registry.example/acme/base", ` +
	`"digest": "sha256:0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd", ` +
	`"integrity": "t1:sha256:abd03e921e15b962d42a7629797c0f2a675f8d143c0860e66f4a56b4c3c434ef", ` +
	`"skills": [{"name": "base", "description": "Shared steps for all skills. Use first.", ` +
	`"tree": "t1:sha256:89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd89efabcd"}]}` + "\n"

// File is one file of an example.
type File struct {
	// "" where the example is a SKILL.md and says no more; {1..9} in it stands for a file for each number
	Path       string
	Executable bool
	Target     string // of a symbolic link
	MiB        int    // how large the file is at least, with more text after what is shown
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
			files = append(files, newFile(strings.Fields(head)))
			continue
		}
		files[len(files)-1].Text += line
	}
	return files
}

// newFile reads the line above a file: its path, then 755, or -> and a link's target, or a size and MiB.
func newFile(words []string) File {
	f := File{Path: words[0]}
	if len(words) == 2 && words[1] == "755" {
		f.Executable = true
	}
	if len(words) == 3 && words[1] == "->" {
		f.Target = words[2]
	}
	if len(words) == 3 && words[2] == "MiB" {
		f.MiB, _ = strconv.Atoi(words[1]) // a test reads them all
	}
	return f
}

// About describes a special property of a file in a few words, or returns "".
func (f File) About() string {
	switch {
	case f.Executable:
		return "executable"
	case f.Target != "":
		return "a symbolic link to " + f.Target
	case f.MiB > 0:
		return strconv.Itoa(f.MiB) + " MiB"
	}
	return ""
}

// manyLines is how many equal lines in a row are shown as they are.
const manyLines = 5

// Visible returns an example's text with everything that cannot be seen written as an escape: tabs, carriage returns,
// control and format characters, bytes that are not UTF-8. Many equal lines are counted, and of a long word that looks
// like a secret or like encoded text only the start is left, so that no scanner takes the documentation for what it
// warns of.
func Visible(text string) string {
	var b strings.Builder
	last, times := "", 0
	flush := func() {
		switch {
		case times > manyLines && last == "\n":
			fmt.Fprintf(&b, "[%d blank lines]\n", times)
		case times > manyLines:
			visibleLine(&b, last)
			fmt.Fprintf(&b, "[%d more lines like this one]\n", times-1)
		default:
			for range times {
				visibleLine(&b, last)
			}
		}
	}
	for line := range strings.Lines(text) {
		if line != last {
			flush()
			last, times = line, 0
		}
		times++
	}
	flush()
	return shortWords(b.String())
}

// The length from which a word is shortened, and the length to which it is shortened.
const (
	longWord  = 32
	shortWord = 10
)

// shortWords cuts words of letters and digits that are too long to be words of a language.
func shortWords(text string) string {
	var b strings.Builder
	start := 0
	flush := func(end int) {
		if word := text[start:end]; len(word) >= longWord && strings.ContainsAny(word, "0123456789") {
			b.WriteString(word[:shortWord] + "…")
		} else {
			b.WriteString(word)
		}
	}
	for i := range len(text) {
		c := text[i]
		if c < '0' && c != '+' || c > '9' && c < 'A' && c != '=' || c > 'Z' && c < 'a' && c != '_' || c > 'z' {
			flush(i)
			b.WriteByte(c)
			start = i + 1
		}
	}
	flush(len(text))
	return b.String()
}

// manyHidden is how many escapes in a row are written out.
const manyHidden = 8

func visibleLine(b *strings.Builder, line string) {
	run := 0
	for i, r := range line {
		escape := escaped(line[i:], r)
		if escape == "" {
			b.WriteRune(r)
			run = 0
			continue
		}
		switch run++; {
		case run <= manyHidden:
			b.WriteString(escape)
		case run == manyHidden+1:
			b.WriteString("…")
		}
	}
}

// escaped returns the escape of an invisible character, or "".
func escaped(text string, r rune) string {
	switch {
	case r == '\n':
		return ""
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == utf8.RuneError && !strings.HasPrefix(text, "\ufffd"):
		return fmt.Sprintf(`\x%02x`, text[0])
	case r > 0xffff && hidden(r):
		return fmt.Sprintf(`\U%08x`, r)
	case hidden(r):
		return fmt.Sprintf(`\u%04x`, r)
	}
	return ""
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
		unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Co, r) || unicode.Is(unicode.Variation_Selector, r)
}
