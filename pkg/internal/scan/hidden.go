package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minZeroWidth is the length of the shortest run of invisible characters that is reported. Joiners in emoji and in
// words occur alone or in pairs.
const minZeroWidth = 4

const highBits = 0x8080808080808080

// invisibleCharacters finds characters that readers cannot see or that change the order of text.
func (t *text) invisibleCharacters() {
	var run invisible
	for i := t.nextHigh(0); i >= 0; i = t.nextHigh(i) {
		for i < len(t.data) && t.data[i] >= utf8.RuneSelf {
			switch c := t.data[i]; {
			case is(c, isHidden):
				i += t.invisibleAt(i, &run)
			case is(c, isForeign) && is(t.before(i), isLetter):
				i += t.foreignLetter(i)
			default:
				i++
			}
		}
	}
	t.endRun(&run)
	if run.breaks > 0 {
		t.hit(ZeroWidthBreak, run.broken[0], run.broken[1], fmt.Sprintf("%d between the words of names", run.breaks))
	}
}

// nextHigh returns the first position at or after i of a byte that is not ASCII, or -1.
func (t *text) nextHigh(i int) int {
	for ; i+8 <= len(t.data); i += 8 {
		if v := binary.LittleEndian.Uint64(t.data[i:]) & highBits; v != 0 {
			return i + bits.TrailingZeros64(v)/8
		}
	}
	for ; i < len(t.data); i++ {
		if t.data[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// invisible is a run of zero-width characters.
type invisible struct {
	start, end, count int
	breaks            int // how many were where an identifier may be broken, before
	broken            [2]int
}

// invisibleAt checks the character at i and returns how many bytes to advance.
func (t *text) invisibleAt(i int, run *invisible) int {
	r, n := utf8.DecodeRune(t.data[i:])
	switch {
	case isTag(r):
		return t.tagRun(i)
	case isBidi(r):
		if t.reverses(r, i+n) {
			t.hit(BidiControls, i, i+n, fmt.Sprintf("U+%04X", r))
		}
	case isZeroWidth(r):
		if run.count == 0 || run.end != i {
			t.endRun(run)
			run.start, run.count = i, 0
		}
		run.count++
		run.end = i + n
	}
	return n
}

func (t *text) endRun(run *invisible) {
	switch {
	case run.count >= minZeroWidth && t.isTableOf(run.start, run.end):
	case run.count >= minZeroWidth:
		t.hit(ZeroWidthRun, run.start, run.end, fmt.Sprintf("%d invisible characters in a row", run.count))
	case run.count == 1 && is(t.before(run.start), isLower) && t.after(run.end) >= 'A' && t.after(run.end) <= 'Z' &&
		bytes.Equal(t.data[run.start:run.end], []byte("\u200b")):
		if run.breaks++; run.breaks == 1 {
			run.broken = [2]int{run.start, run.end}
		}
	case run.count > 0 && t.count[ZeroWidthWord] < maxHits && is(t.before(run.start), isLetter) &&
		is(t.after(run.end), isLetter):
		from, to := t.word(run.start, run.end)
		t.hit(ZeroWidthWord, from, to, fmt.Sprintf("%d in %q", run.count, t.withoutRun(from, run, to)))
	}
}

// isTableOf reports whether a run is a text in quotes or brackets of characters that all differ: what code removes.
func (t *text) isTableOf(start, end int) bool {
	run := string(t.data[start:end])
	if bytes.IndexByte([]byte("\"'[`"), t.before(start)) < 0 || bytes.IndexByte([]byte("\"']`"), t.after(end)) < 0 {
		return false
	}
	for i, r := range run {
		if strings.ContainsRune(run[:i], r) {
			return false
		}
	}
	return true
}

// reverses reports whether a bidirectional control before i can show text in another order than it has. Overrides do,
// and so does text from left to right that is embedded as text from right to left. Other embeddings and isolates have
// the direction of their text. What closes them counts with them. In scripts, each control counts.
func (t *text) reverses(r rune, i int) bool {
	switch {
	case r == '\u202c' || r == '\u2069':
		return false
	case r == '\u202d' || r == '\u202e' || t.Script && !t.startsRange(r, i):
		return true
	case t.Script:
		return false
	case r != '\u202b' && r != '\u2067':
		return false
	}
	latin, other, inner := 0, 0, 0
	for _, r := range string(t.data[i:t.lineEnd(i, reach)]) {
		switch {
		case r == '\u202c' || r == '\u2069':
			if inner--; inner < 0 {
				return latin > 1 && other <= latin
			}
		case isBidi(r):
			inner++
			latin++ // what it embeds keeps its order, but not its position
		case inner > 0:
		case r < utf8.RuneSelf && is(byte(r), isLetter):
			latin++
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana):
			other++
		}
	}
	return latin > 1 && other <= latin
}

// startsRange reports whether a control before i starts a range of characters in a regular expression, as in
// [\u202a-\ud7ff]. Such ranges start where a block of controls does.
func (t *text) startsRange(r rune, i int) bool {
	if r != '\u202a' && r != '\u2066' || t.after(i) != '-' {
		return false
	}
	last, _ := utf8.DecodeRune(t.data[i+1:])
	return last > '\u2069' && last != utf8.RuneError
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

func isBidi(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// isZeroWidth reports whether r is invisible: zero-width spaces and joiners, invisible operators, deprecated format
// characters, and variation selectors, which can carry text behind a single emoji.
func isZeroWidth(r rune) bool {
	switch {
	case r >= 0x200B && r <= 0x200F, r >= 0x2060 && r <= 0x2064, r >= 0x206A && r <= 0x206F:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	return r == 0xFEFF || r == 0x180E || r == 0x034F
}

// blackFlag is the emoji that tags may follow: with them it is the flag of a part of a country.
const blackFlag = "\U0001F3F4"

// tagRun reports a run of tag characters, unless it is part of a flag: after the black flag three to six lowercase
// letters and digits, and the closing tag. It returns the length of the run.
func (t *text) tagRun(i int) int {
	end, count := i, 0
	var read strings.Builder
	for end < len(t.data) {
		r, n := utf8.DecodeRune(t.data[end:])
		if !isTag(r) {
			break
		}
		t.scanned++
		if c := r - 0xE0000; c >= 0x20 && c < 0x7F && read.Len() < 60 {
			read.WriteByte(byte(c))
		}
		end += n
		count++
	}
	if bytes.HasSuffix(t.data[:i], []byte(blackFlag)) && isFlag(t.data[i:end]) {
		return end - i
	}
	detail := "1 character"
	if count > 1 {
		detail = fmt.Sprintf("%d characters", count)
	}
	if s := strings.TrimSpace(read.String()); s != "" {
		detail += fmt.Sprintf(" that read %q", s)
	}
	t.hit(TagCharacters, i, end, detail)
	return end - i
}

func isFlag(tags []byte) bool {
	const cancel = 0xE007F
	n := utf8.RuneCount(tags)
	for k, r := range []rune(string(tags[:min(len(tags), 4*8)])) {
		c := r - 0xE0000
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if k < n-1 && !letter || k == n-1 && r != cancel {
			return false
		}
	}
	return n >= 4 && n <= 7
}

// minBlankLines is the number of blank lines from which text below them counts as hidden.
const minBlankLines = 80

// blankPadding finds text below many blank lines. Such a run has at least minBlankLines bytes, so it is enough to
// sample one position in every half of that.
func (t *text) blankPadding() {
	const stride = minBlankLines / 2
	for i := stride; i+8 <= len(t.data); i += stride {
		if !allBlank(t.data[i : i+8]) {
			continue
		}
		start, end := i, i
		for start > 0 && is(t.data[start-1], isBlank) {
			start--
		}
		for end < len(t.data) && is(t.data[end], isBlank) {
			end++
		}
		t.scanned += end - start
		lines := bytes.Count(t.data[start:end], []byte("\n"))
		if start > 0 {
			lines-- // it ends the line before
		}
		if lines >= minBlankLines && end < len(t.data) {
			t.hit(BlankPadding, end, t.lineEnd(end, 80), fmt.Sprintf("%d blank lines", lines))
		}
		i = max(i, end-stride+1)
	}
}

func allBlank(b []byte) bool {
	for _, c := range b {
		if !is(c, isBlank) {
			return false
		}
	}
	return true
}

// dynamicShell finds commands that some agents run when they load a skill: !`command` at the start of a line or after a
// blank, and fenced blocks marked with an exclamation mark.
func (t *text) dynamicShell() {
	for i := 0; ; {
		k := bytes.Index(t.data[i:], []byte("!`"))
		if k < 0 {
			break
		}
		start := i + k
		i = start + 2
		if c := t.after(i); !is(t.before(start), isBlank) || !is(c, isWordy) &&
			bytes.IndexByte([]byte("./~$\"'({["), c) < 0 {
			continue
		}
		end := bytes.IndexByte(t.data[i:t.lineEnd(i, 1000)], '`')
		if end < 0 {
			continue
		}
		t.hit(DynamicShell, start, i+end+1, excerpt(t.data[i:i+end]))
		i += end + 1
	}
	for i := 0; ; {
		k := bytes.Index(t.data[i:], []byte("```!"))
		if k < 0 {
			return
		}
		start := i + k
		i = start + 4
		from := t.lineStart(start, 100)
		if len(bytes.Trim(t.data[from:start], " \t`")) == 0 && is(t.after(i), isBlank) {
			t.hit(DynamicShell, start, i, "a block of commands")
		}
	}
}

// maxExcerpt is the length in bytes of the longest excerpt in a Detail.
const maxExcerpt = 60

// excerpt returns a piece of the text that is safe for a terminal: short, on one line, and in ASCII.
func excerpt(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		switch {
		case s.Len() >= maxExcerpt:
			return s.String() + "…"
		case is(c, isBlank):
			if k := s.Len(); k > 0 && s.String()[k-1] != ' ' {
				s.WriteByte(' ')
			}
		case c < ' ' || c >= 0x7F:
			s.WriteByte('?')
		default:
			s.WriteByte(c)
		}
	}
	return strings.TrimSpace(s.String())
}
