package scan

import "bytes"

// packedLiterals are programs that unpack archives, and words for a password.
var packedLiterals = []literal{
	{text: "unzip ", check: checkUnpack, name: "-P"},
	{text: "7z ", next: "xe", check: checkUnpack, name: "-p"},
	{text: "7za ", check: checkUnpack, name: "-p"},
	{text: "7zz ", check: checkUnpack, name: "-p"},
	{text: "7zr ", check: checkUnpack, name: "-p"},
	{text: "7z.exe ", check: checkUnpack, name: "-p"},
	{text: "unrar ", check: checkUnpack, name: "-p"},
	{text: "bsdtar ", check: checkUnpack, name: "--passphrase"},
	{text: "password", check: checkPassword},
	{text: "passphrase", check: checkPassword},
	{text: "passcode", check: checkPassword},
	{text: "using pass", gram: "g pa", check: checkPassword},
	{text: "with pass", gram: "h pa", check: checkPassword},
	{text: "pass:", check: checkPassword},
	{text: "(pass ", check: checkPassword},
	{text: "pwd:", check: checkPassword},
}

// encryptedUnpack finds a program that gets the password of an archive. A password in a variable comes from the user
// and does not count.
func (t *text) encryptedUnpack(start, end int, l *literal) {
	if start < t.checkedTo[checkUnpack] || is(t.before(start), isWordy) {
		return
	}
	c := t.command(start)
	t.checkedTo[checkUnpack] = c.end
	words := bytes.Fields(t.data[end:c.pipe])
	for i, w := range words {
		if !bytes.HasPrefix(w, []byte(l.name)) {
			continue
		}
		value := bytes.TrimLeft(w[len(l.name):], "=")
		if len(value) == 0 && l.name != "-p" && i+1 < len(words) {
			value = words[i+1]
		}
		if isPassword(value) {
			t.hit(EncryptedArchive, start, c.pipe, string(bytes.TrimSpace(t.data[start:end]))+" with a password")
			return
		}
	}
}

// isPassword reports whether a value is a password itself, and not a variable, a placeholder, or an option.
func isPassword(value []byte) bool {
	value = bytes.Trim(value, "\"'`*_,.;:()[]")
	if len(value) < 2 || len(value) > 64 || bytes.ContainsAny(value, "$<>{}%\\/") || value[0] == '-' {
		return false
	}
	return !containsAny(value, "...", "…", "***", "xxx", "XXX") &&
		!oneOf(value, "password", "pass", "your-password", "your_password", "mypassword", "yourpassword", "passphrase",
			"string", "str",
			"none", "null", "true", "false", "bytes", "required", "optional", "the", "here", "pwd", "secret")
}

// A window caches the answer for the text around an offset, for candidates that are close together.
type window struct {
	from, to int // it is known for candidates in this range
	fits     bool
}

// reach is how many bytes a window extends in both directions.
const reach = 400

// textAround moves the window to candidates from i on and returns the text around it, in lower case, or nil if the
// window already covers i.
func (w *window) textAround(t *text, i int) []byte {
	if i >= w.from && i < w.to {
		return nil
	}
	const step = 200
	w.from, w.to = i, i+step
	return t.around(i, reach, reach+step)
}

// archivePassword finds a password for an archive in prose: the password itself, and near it the address of an archive,
// or the name of one and a word for unpacking.
func (t *text) archivePassword(start, end int) {
	short := t.data[end-1] == 's' || t.data[end-1] == 'S' // "using pass", which may go on as "password"
	if !t.Markdown || start < t.checkedTo[checkPassword] || is(t.before(start), isWordy) || short &&
		is(t.after(end), isLetter) || !t.passwordFollows(end) {
		return
	}
	if t.aboutArchive(start) {
		t.checkedTo[checkPassword] = end + 8
		t.hit(EncryptedArchive, start, end, "a password for an archive")
		return
	}
	if near := t.passwordWindow.textAround(t, start); near != nil {
		t.passwordWindow.fits = linksArchive(near) ||
			namesArchive(near) && !makesArchive(near) && containsAny(near, "extract", "unzip", "unpack", "decompress", "unrar", "7-zip",
				"winrar")
	}
	if t.passwordWindow.fits && !t.aboutAccount(start) {
		t.checkedTo[checkPassword] = end + 8
		t.hit(EncryptedArchive, start, end, "a password for an archive")
	}
}

// makesArchive reports whether a text, in small letters, has commands that create archives, and nothing that is
// downloaded.
func makesArchive(b []byte) bool {
	return containsAny(b, " create ", "zip -e", "zip -r", "7z a ", "zip --encrypt") &&
		!containsAny(bytes.ReplaceAll(b, []byte("/downloads"), nil), "://", "download", "curl", "wget", "release")
}

// aboutAccount reports whether the words around a password are about logging in.
func (t *text) aboutAccount(start int) bool {
	return containsAny(t.around(start, 120, 40), "login", "log in", "sign in", "username", "user name", "user:",
		"account", "admin", "root",
		"database", "mysql", "postgres", "smtp", "ssh", "wi-fi", "connect", "credential")
}

// aboutArchive reports whether the words before a password are about an archive: "archive password", "extract with
// password".
func (t *text) aboutArchive(start int) bool {
	head := t.data[t.lineStart(start, 50):start]
	head = bytes.TrimRight(head, " *_")
	k := bytes.LastIndexAny(head, " *_(`")
	if oneOf(head[k+1:], "archive", "zip", "rar", "7z", "unzip", "extraction") {
		return true
	}
	if !t.wordsBefore(head, "with", "using") && !hasFold(t.data[start:], "using pass") &&
		!hasFold(t.data[start:], "with pass") {
		return false
	}
	for _, verb := range []string{"extract", "unzip", "unpack", "decompress", "unrar"} {
		for i := 0; i+len(verb) <= len(head); i++ {
			if isFold(head[i:i+len(verb)], verb) {
				return true
			}
		}
	}
	return false
}

// wordsBefore reports whether head ends with one of two words, and perhaps an article.
func (t *text) wordsBefore(head []byte, a, b string) bool {
	words := bytes.Fields(head)
	n := len(words)
	if n > 0 && oneOf(words[n-1], "the", "this") {
		n--
	}
	return n > 0 && oneOf(words[n-1], a, b)
}

// passwordFollows reports whether a password follows: after a colon or an equals sign, or in quotes.
func (t *text) passwordFollows(i int) bool {
	line := t.data[i:t.lineEnd(i, 60)]
	if hasFold(line, "word") {
		line = line[4:]
	}
	rest := bytes.TrimLeft(line, " *_)")
	sign, is := t.data[i-1] == 's' && len(line) > 0 && line[0] == ' ', false // "using pass 4711"
	switch {
	case len(rest) == 0:
		return false
	case rest[0] == ':' || rest[0] == '=':
		sign = true
		rest = bytes.TrimLeft(rest[1:], " *_")
	case t.data[i-1] == ':':
		sign = true
	case hasFold(rest, "is ") || hasFold(rest, "is:"):
		is, rest = true, bytes.TrimLeft(rest[3:], " *_")
	}
	if len(rest) == 0 {
		return false
	}
	if q := rest[0]; q == '`' || q == '"' || q == '\'' {
		k := bytes.IndexByte(rest[1:], q)
		return k > 0 && bytes.IndexByte(rest[1:1+k], ' ') < 0 && isPassword(rest[1:1+k])
	}
	value, _, _ := bytes.Cut(rest, []byte(" "))
	value = bytes.TrimRight(value, ").,;|\r")
	after := bytes.TrimLeft(rest[min(len(rest), len(value)):], ").,;|\r ")
	return isPassword(value) && isWord(value) && (sign && len(after) < 40 || is && hasNumber(value))
}

// isWord reports whether b holds only letters, digits and what passwords have between them.
func isWord(b []byte) bool {
	for _, c := range b {
		if !is(c, isWordy) && bytes.IndexByte([]byte("-@!#.+"), c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

func hasNumber(b []byte) bool { return bytes.ContainsAny(b, "0123456789") }

// archives are the endings of archives that can have a password.
var archives = [...]string{".zip", ".rar", ".7z"}

// linksArchive reports whether a text, in small letters, holds the address of an archive.
func linksArchive(b []byte) bool {
	for i := 0; ; {
		k := bytes.Index(b[i:], []byte("://"))
		if k < 0 {
			return false
		}
		i += k + 3
		end := i
		for end < len(b) && is(b[end], isURL) {
			end++
		}
		if namesArchive(b[i:end]) {
			return true
		}
		i = end
	}
}

// namesArchive reports whether a text, in small letters, holds the name of an archive.
func namesArchive(b []byte) bool {
	for _, ending := range archives {
		for i := 0; ; {
			k := bytes.Index(b[i:], []byte(ending))
			if k < 0 {
				break
			}
			k += i
			i = k + len(ending)
			if k > 0 && is(b[k-1], isWordy) && (i == len(b) || !is(b[i], isWordy)) {
				return true
			}
		}
	}
	return false
}
