package lsp

import (
	"net/url"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// encoding is the unit in which a position's character counts.
type encoding string

// The encodings of the protocol. UTF-16 is the default.
const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// width returns how many units a character has; size is its length in bytes.
func (e encoding) width(r rune, size int) int {
	switch {
	case e == utf8Units:
		return size
	case e == utf16Units && r > 0xFFFF:
		return 2
	}
	return 1
}

// text is a file's content with its lines.
type text struct {
	string
	lines     []int // where each line starts, in bytes; lines end as the protocol says
	lineFeeds []int // where each line starts for findings: only \n ends one
}

func newText(s string) *text {
	t := &text{s, []int{0}, []int{0}}
	for i := range len(s) {
		if s[i] == '\n' {
			t.lineFeeds = append(t.lineFeeds, i+1)
		}
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// lineAt returns the line, from 0, of a byte.
func (t *text) lineAt(offset int) int {
	return sort.SearchInts(t.lines, offset+1) - 1
}

// line returns a line, from 0, without its ending, and where it starts; "" beyond the last.
func (t *text) line(n int) (line string, start int) {
	if n < 0 || n >= len(t.lines) {
		return "", len(t.string)
	}
	start, end := t.lines[n], len(t.string)
	if n+1 < len(t.lines) {
		end = t.lines[n+1]
	}
	return strings.TrimRight(t.string[start:end], "\r\n"), start
}

// position returns the position of a byte in the client's encoding. A byte of a line's ending is at the end of the
// line.
func (t *text) position(offset int, e encoding) protocol.Position {
	offset = max(0, min(offset, len(t.string)))
	n := t.lineAt(offset)
	line, start := t.line(n)
	units := 0
	for i := 0; i < min(offset-start, len(line)); {
		r, size := utf8.DecodeRuneInString(line[i:])
		units += e.width(r, size)
		i += size
	}
	return protocol.Position{Line: uint32(n), Character: uint32(units)} //nolint:gosec // bounded by the text
}

// offset returns the byte at a client's position. A position beyond the end of a line is its end, one inside of a
// character its start.
func (t *text) offset(p protocol.Position, e encoding) int {
	if int64(p.Line) >= int64(len(t.lines)) {
		return len(t.string)
	}
	line, start := t.line(int(p.Line))
	units := int64(0)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		units += int64(e.width(r, size))
		if units > int64(p.Character) {
			return start + i
		}
		i += size
	}
	return start + len(line)
}

// span returns the range between two bytes.
func (t *text) span(start, end int, e encoding) protocol.Range {
	return protocol.Range{Start: t.position(start, e), End: t.position(end, e)}
}

// findingOffset returns the byte at a finding's line and column: both from 1, columns in characters.
func (t *text) findingOffset(line, column int) int {
	if line > len(t.lineFeeds) {
		return len(t.string)
	}
	at := t.lineFeeds[max(line, 1)-1]
	for ; column > 1 && at < len(t.string) && t.string[at] != '\n'; column-- {
		_, size := utf8.DecodeRuneInString(t.string[at:])
		at += size
	}
	return at
}

// Paths in this package are absolute and have slashes on every system: /home/me/x, C:/x, //server/share/x.

// pathOf returns the path of a file URI, "" for other URIs. With windows, paths may start with a drive or a server.
func pathOf(uri protocol.DocumentURI, windows bool) string {
	u, err := url.Parse(string(uri))
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	remote := u.Host != "" && !strings.EqualFold(u.Host, "localhost")
	if !windows {
		if remote || u.Path[0] != '/' {
			return ""
		}
		return path.Clean(u.Path)
	}
	p := path.Clean("/" + strings.ReplaceAll(u.Path, `\`, "/"))
	switch {
	case remote && !strings.ContainsAny(u.Host, `/\:@`):
		return "//" + u.Host + p
	case !remote && hasDrive(p[1:]):
		return cleanDrive(p[1:])
	}
	return ""
}

// toSlash converts a path of the system to this package's form.
func toSlash(p string, windows bool) string {
	if windows {
		if p = strings.ReplaceAll(p, `\`, "/"); hasDrive(p) {
			return cleanDrive(p)
		}
		if strings.HasPrefix(p, "//") {
			return "/" + path.Clean(p[1:])
		}
	}
	return path.Clean(p)
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/')
}

// cleanDrive writes the drive's letter in upper case, because clients differ.
func cleanDrive(p string) string {
	return strings.ToUpper(p[:2]) + path.Clean("/"+p[2:])
}

// uriOf returns the file URI of a path.
func uriOf(p string) protocol.DocumentURI {
	u := url.URL{Scheme: "file", Path: p}
	switch {
	case hasDrive(p):
		u.Path = "/" + p
	case strings.HasPrefix(p, "//"):
		u.Host, u.Path, _ = strings.Cut(p[2:], "/")
		u.Path = "/" + u.Path
	}
	return protocol.DocumentURI(u.String())
}

// splitVolume splits a path into the root of its volume, such as / or C:/ or //server/share/, and the rest in package
// fs's form.
func splitVolume(p string) (root, name string) {
	n := 1
	switch {
	case hasDrive(p):
		n = min(3, len(p))
	case strings.HasPrefix(p, "//"):
		n = len(p)
		if parts := strings.SplitN(p[2:], "/", 3); len(parts) == 3 {
			n = len(p) - len(parts[2])
		}
	}
	if name = p[n:]; name == "" {
		name = "."
	}
	return strings.TrimSuffix(p[:n], "/") + "/", name
}

// relativeTo returns the path relative to a directory; ok is false if it is not inside of it.
func relativeTo(dir, p string) (rel string, ok bool) {
	if p == dir {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// isAbsolute reports whether a path is absolute in this package's form.
func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || hasDrive(p) }
