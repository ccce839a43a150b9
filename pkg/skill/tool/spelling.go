package tool

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Spellings are the ways in which the file tools of an agent change a path before they open it. The zero value stands
// for all of them: those of an unknown program.
type Spellings uint16

// The spellings that agents accept for a path.
const (
	Literal      Spellings = 1 << iota // none but the following
	Trimmed                            // white space and byte-order marks at the ends are removed
	Percent                            // %2e is decoded
	At                                 // a leading @ is removed
	Control                            // NUL and other control characters are removed, or end the path
	FileURL                            // file:///docs/a
	Tilde                              // ~ is the home directory
	Variable                           // $HOME and ${HOME} are the home directory
	Quoted                             // quotes around the path are removed
	Backslash                          // \ separates directories
	Escaped                            // \u002e and "\." are decoded
	Unicode                            // composed and decomposed characters are equal
	Suffix                             // a missing file is searched by the end of its path
	allSpellings = 1<<iota - 1
)

// has reports whether an agent accepts a spelling.
func (s Spellings) has(one Spellings) bool { return s == 0 || s&one != 0 }

// Limits of the spellings of one path, and of all paths of a call: an agent does not wait long for a decision.
const (
	maxSpellings     = 256
	maxAllSpellings  = 20_000
	maxSpellingBytes = 64 << 20
)

// work counts the spellings of a call's paths.
type work struct{ spellings, bytes int }

// spell returns each path that a tool may open for p: every composition of the spellings. It returns false if there are
// too many to check.
func (c Call) spell(p string, accepted Spellings) (all []string, ok bool) {
	spent := c.work
	if spent == nil {
		spent = new(work)
	}
	seen := map[string]bool{}
	add := func(s string) bool {
		if seen[s] {
			return true
		}
		seen[s] = true
		all = append(all, s)
		spent.spellings++
		spent.bytes += len(s)
		return len(all) <= maxSpellings && spent.spellings <= maxAllSpellings && spent.bytes <= maxSpellingBytes
	}
	if !add(p) {
		return nil, false
	}
	for i := 0; i < len(all); i++ {
		for _, s := range c.spelledOnce(all[i], accepted) {
			if !add(s) {
				return nil, false
			}
		}
	}
	return all, true
}

// spelledOnce returns what single spellings make of a path.
func (c Call) spelledOnce(p string, accepted Spellings) (out []string) {
	add := func(s Spellings, texts ...string) {
		if accepted.has(s) {
			out = append(out, texts...)
		}
	}
	if strings.TrimFunc(p, isSpace) != p {
		add(Trimmed, strings.TrimLeftFunc(p, isSpace), strings.TrimRightFunc(p, isSpace))
	}
	if strings.Contains(p, "%") {
		add(Percent, percentDecoded(p))
	}
	if rest, ok := strings.CutPrefix(p, "@"); ok {
		add(At, rest, strings.TrimLeft(rest, `/\`))
	}
	if i := strings.IndexFunc(p, unicode.IsControl); i >= 0 {
		add(Control, p[:i], without(p, unicode.IsControl))
	}
	if strings.ContainsFunc(p, isFormat) {
		add(Control, without(p, isFormat))
	}
	if len(p) > 5 && strings.EqualFold(p[:5], "file:") {
		add(FileURL, fileURLPaths(p[5:])...)
	}
	if home := c.ofHome(p); home != "" {
		add(Tilde, home)
	}
	if home := c.expanded(p); home != "" {
		add(Variable, home)
	}
	if n := len(p); n > 1 && strings.Contains("\"\"''``<>“”‘’", p[:1]) {
		add(Quoted, strings.Trim(p, "\"'`<>"))
	}
	switch {
	case !strings.Contains(p, `\`):
	case c.onWindows():
		add(Escaped, decodedEscapes(p))
	default:
		add(Backslash, strings.ReplaceAll(p, `\`, "/"))
		add(Escaped, unescaped(p), decodedEscapes(p))
	}
	if c.onWindows() {
		out = append(out, withoutTrailing(p))
	}
	add(Unicode, norm.NFC.String(p), norm.NFD.String(p))
	return out
}

// isSpace reports whether some program trims a character: by Unicode's definition, or JavaScript's.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// isFormat reports whether a character is invisible, such as a byte-order mark.
func isFormat(r rune) bool { return unicode.Is(unicode.Cf, r) }

// isBlank reports whether some program ignores a character at the ends of a text.
func isBlank(r rune) bool { return isSpace(r) || isFormat(r) || unicode.IsControl(r) }

// without removes characters from a text.
func without(p string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, p)
}

// percentDecoded decodes every valid %xx of a text.
func percentDecoded(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '%' && i+2 < len(p) {
			if n, err := strconv.ParseUint(p[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// fileURLPaths returns the paths of a file URL without its scheme: //HOST/PATH or /PATH, with and without a query.
func fileURLPaths(rest string) (out []string) {
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		out = append(out, after) // not absolute: file://docs/a
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		rest = after[i:]
	}
	if drive(strings.TrimPrefix(rest, "/")) {
		out = append(out, rest[1:])
	}
	out = append(out, rest)
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		out = append(out, rest[:i])
	}
	return out
}

// ofHome returns a path that begins with ~ or ~USER, for the user of the home directory; "" for others.
func (c Call) ofHome(p string) string {
	if c.Home == "" || !strings.HasPrefix(p, "~") {
		return ""
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(p, `\`, "/"), "/")
	if first == "~" || first[1:] == path.Base(slash(c.Home)) {
		return slash(c.Home) + "/" + rest
	}
	return ""
}

// expanded returns a path with the variables of the home directory and the working directory; "" if it has none.
func (c Call) expanded(p string) string {
	out := p
	for name, dir := range map[string]string{
		"HOME": c.Home, "USERPROFILE": c.Home, "PWD": c.Dir, "CLAUDE_PROJECT_DIR": c.Project,
	} {
		for _, form := range []string{"${" + name + "}", "$env:" + name, "%" + name + "%", "$" + name} {
			if dir != "" && strings.Contains(out, form) {
				out = strings.ReplaceAll(out, form, slash(dir))
			}
		}
	}
	if out == p {
		return ""
	}
	return out
}

// unescaped removes the backslashes with which a shell quotes characters.
func unescaped(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// decodedEscapes decodes \u002e and \x2e.
func decodedEscapes(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		digits := map[byte]int{'u': 4, 'x': 2}
		if p[i] == '\\' && i+1 < len(p) {
			if n := digits[p[i+1]]; n > 0 && i+2+n <= len(p) {
				if r, err := strconv.ParseUint(p[i+2:i+2+n], 16, 32); err == nil {
					b.WriteRune(rune(r))
					i += 1 + n
					continue
				}
			}
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// hasScheme reports whether a path begins with the scheme of a URL.
func hasScheme(p string) bool {
	scheme, _, ok := strings.Cut(p, ":/")
	u, err := url.Parse(scheme + ":/")
	return ok && len(scheme) > 1 && err == nil && u.Scheme != ""
}
