package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// minEncoded is the length in characters of the shortest encoded text that is decoded.
const minEncoded = 24

// maxDecoded bounds how many characters of a blob are decoded for one candidate, in each direction.
const maxDecoded = 4096

// encodedWords are parts of commands. Only blobs with the encoded form of one of them are decoded.
var encodedWords = [...]string{
	"http", "curl", "wget", "/bin/", "bash", "powershell", "Invoke-", "IEX", "iex ", "iwr ",
	"eval",
}

// encodedLiterals are the base64 forms of those words at each of the three offsets in a group, also as UTF-16, also
// encoded twice, and their hexadecimal forms.
func encodedLiterals() []literal {
	var table []literal
	add := func(word string, check check) {
		for lead := range 3 {
			s, phase := aligned(word, lead)
			if len(s) >= 4 {
				table = append(table, literal{text: s, exact: true, check: check, arg: phase})
			}
		}
	}
	for i, word := range encodedWords {
		add(word, checkEncoded)
		add(strings.Join(strings.Split(word, ""), "\x00")+"\x00", checkEncoded)
		if i < 5 {
			for lead := range 3 {
				inner, _ := aligned(word, lead)
				add(inner, checkNested)
			}
			digits := hex.EncodeToString([]byte(word))
			table = append(table, literal{text: digits, check: checkHex})
			var escaped strings.Builder
			for k := 0; k < len(digits); k += 2 {
				escaped.WriteString(`\x` + digits[k:k+2])
			}
			table = append(table, literal{text: escaped.String(), check: checkEscapedHex})
		}
	}
	return table
}

// aligned returns the characters of base64 that a word determines completely if it starts lead bytes into a group, and
// how far into a group of four characters the first of them is.
func aligned(word string, lead int) (s string, phase int) {
	all := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", lead) + word))
	first := (8*lead + 5) / 6
	last := 8 * (lead + len(word)) / 6
	return all[first:last], first % 4
}

// encodedCommand decodes the blob around a literal and reports it if it is a command. The literal's first character is
// at i, which is phase characters into a group.
func (t *text) encodedCommand(i, phase int, nested bool) {
	slot := (i - phase) & 3
	if i < t.phase[slot] {
		return
	}
	group := i - phase
	start := i
	for start > 0 && i-start < maxDecoded && is(t.data[start-1], isBase64) {
		start--
	}
	end, breaks := t.blobEnd(i)
	t.phase[slot] = end
	t.scanned += end - start
	if end-start < minEncoded || !t.looksDecodable(group, end) {
		return
	}
	if group < start {
		group += 4
	}
	group -= (group - start) / 4 * 4
	decoded := decode64(t.data[group:end], breaks)
	what, ok := commandIn(decoded)
	if !ok && nested {
		what, ok = nestedCommand(decoded)
	}
	if ok {
		t.hit(EncodedCommand, start, end, what)
		t.phase = [4]int{end, end, end, end}
	}
}

// looksDecodable reports whether the groups from i on decode to text. The other phases of a blob do not, and are not
// worth decoding completely.
func (t *text) looksDecodable(i, end int) bool {
	var blob [16]byte
	if i < 0 || min(i+len(blob), end) != i+len(blob) {
		return true
	}
	copy(blob[:], t.data[i:])
	for k, c := range blob {
		switch {
		case is(c, isBlank):
			return true // it goes on in the next line
		case c == '-':
			blob[k] = '+'
		case c == '_':
			blob[k] = '/'
		}
	}
	var decoded [12]byte
	n, err := base64.RawStdEncoding.Decode(decoded[:], blob[:])
	if err != nil {
		return true
	}
	for _, c := range decoded[:n] {
		if !readable(c) && c != 0 {
			return false
		}
	}
	return true
}

// blobEnd returns the end of the base64 around i. A blob that is broken into long lines goes on in the next.
func (t *text) blobEnd(i int) (end int, breaks bool) {
	limit := min(len(t.data), i+maxDecoded)
	line := i
	for end = i; end < limit; end++ {
		switch c := t.data[end]; {
		case is(c, isBase64):
		case (c == '\n' || c == '\r' && t.after(end+1) == '\n') && end-t.lineStart(end, 80) >= 60 && end > line:
			if c == '\r' {
				end++
			}
			if !is(t.after(end+1), isBase64) {
				return end, breaks
			}
			breaks, line = true, end
		default:
			return end, breaks
		}
	}
	return end, breaks
}

// decode64 decodes text that starts with a complete group and ignores an incomplete group at the end.
func decode64(blob []byte, breaks bool) []byte {
	clean := make([]byte, 0, len(blob))
	for _, c := range blob {
		switch {
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case breaks && (c == '\n' || c == '\r'):
			continue
		}
		clean = append(clean, c)
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	decoded, _ := base64.RawStdEncoding.AppendDecode(nil, clean)
	return withoutUTF16Zeros(decoded)
}

// withoutUTF16Zeros returns ASCII text that is encoded as UTF-16 without its zero bytes.
func withoutUTF16Zeros(b []byte) []byte {
	zeros := bytes.Count(b, []byte{0})
	if zeros*5 < len(b)*2 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{0}, nil)
}

// nestedCommand searches decoded text for base64, decodes that, and searches it for a command.
func nestedCommand(b []byte) (string, bool) {
	for i := 0; i < len(b); i++ {
		start := i
		for i < len(b) && is(b[i], isBase64) {
			i++
		}
		if i-start >= minEncoded {
			if what, ok := commandIn(decode64(b[start:i], false)); ok {
				return what, true
			}
		}
	}
	return "", false
}

// hexadecimal decodes the digits around start to end and reports them if they are a command.
func (t *text) hexadecimal(start, end int, check check) {
	if start < t.checkedTo[check] {
		return
	}
	var blob []byte
	from, to := start, end
	if check == checkHex {
		for from > 1 && start-from < maxDecoded && is(t.data[from-1], isHex) && is(t.data[from-2], isHex) {
			from -= 2
		}
		for to+1 < len(t.data) && to-end < maxDecoded && is(t.data[to], isHex) && is(t.data[to+1], isHex) {
			to += 2
		}
		blob = t.data[from:to]
	} else {
		for from >= 4 && start-from < maxDecoded && t.isEscape(from-4) {
			from -= 4
		}
		for to-end < maxDecoded && t.isEscape(to) {
			to += 4
		}
		blob = bytes.ReplaceAll(t.data[from:to], []byte(`\x`), nil)
	}
	t.checkedTo[check] = to
	t.scanned += to - from
	if len(blob) < minEncoded {
		return
	}
	decoded, err := hex.AppendDecode(nil, blob)
	if err != nil {
		return
	}
	if what, ok := commandIn(withoutUTF16Zeros(decoded)); ok {
		t.hit(EncodedCommand, from, to, what)
	}
}

// isEscape reports whether \x and two hexadecimal digits stand at i.
func (t *text) isEscape(i int) bool {
	return i+4 <= len(t.data) && t.data[i] == '\\' && t.data[i+1] == 'x' && is(t.data[i+2], isHex) &&
		is(t.data[i+3], isHex)
}

// commandIn returns the first command in decoded text that downloads or runs something.
func commandIn(b []byte) (string, bool) {
	small := toLowerASCII(b)
	for _, word := range [...]string{
		"curl ", "wget ", "iwr ", "irm ", "invoke-webrequest", "invoke-restmethod", "downloadstring", "downloadfile",
		"urlopen(",
		"urlretrieve(", "requests.get(", "start-bitstransfer", "sh -c", "bash -i", "/dev/tcp/", "iex ", "iex(",
		"invoke-expression",
		"os.system(", "subprocess.", "child_process", "| sh", "|sh", "| bash", "|bash", "bash -c", "powershell ",
		"eval $(", "eval \"$(",
	} {
		k := bytes.Index(small, []byte(word))
		if k < 0 || k > 0 && is(small[k-1], isWordy) && is(word[0], isWordy) {
			continue
		}
		from, to := k, k
		for from > 0 && k-from < 100 && readable(b[from-1]) {
			from--
		}
		for to < len(b) && to-k < 200 && readable(b[to]) {
			to++
		}
		near := small[from:to]
		if to >= k+len(word) && len(near) >= 12 && isCommandAt(word, near) && !onlyPlaceholderHosts(near) {
			return excerpt(b[from:to]), true
		}
	}
	return "", false
}

// isCommandAt reports whether a word is a command, given the text near it: a download needs an address.
func isCommandAt(word string, near []byte) bool {
	switch word {
	case "sh -c", "bash -c", "bash -i", "/dev/tcp/", "os.system(", "powershell ", "eval $(", "eval \"$(":
		return true
	}
	return containsAny(near, "://", "ftp.") || dotted(near)
}

// dotted reports whether near has a host name: a dot between letters or digits.
func dotted(near []byte) bool {
	for i := 1; i+1 < len(near); i++ {
		if near[i] == '.' && is(near[i-1], isWordy) && is(near[i+1], isWordy) {
			return true
		}
	}
	return false
}

// onlyPlaceholderHosts reports whether there are addresses in a text and all of them are placeholders.
func onlyPlaceholderHosts(b []byte) bool {
	found, real := false, false
	for _, word := range bytes.FieldsFunc(b, func(r rune) bool {
		return r <= ' ' ||
			strings.ContainsRune("\"'`()|;", r)
	}) {
		if looksLikeAddress(word) && (bytes.Contains(word, []byte("://")) || bytes.IndexByte(word, '_') < 0 &&
			word[0] != '$') {
			if hostname := parseAddress(toLowerASCII(word)); hostname.isPlaceholder() {
				found = true
			} else if !isModule(hostname.host) {
				real = true
			}
		}
	}
	return found && !real
}

// isModule reports whether a supposed host is an identifier in code.
func isModule(host []byte) bool {
	name, _, _ := bytes.Cut(host, []byte("."))
	return oneOf(name, "os", "sys", "subprocess", "urllib", "requests", "base64", "socket", "process", "self")
}

// printable reports whether text holds only what a program's text does.
func printable(b []byte) bool {
	for _, c := range b {
		if !readable(c) {
			return false
		}
	}
	return true
}

func readable(c byte) bool { return c >= ' ' && c < 0x7F || is(c, isBlank) }
