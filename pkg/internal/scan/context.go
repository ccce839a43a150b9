package scan

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
)

// Surface is where in a skill a text is, as a set.
type Surface uint8

// The surfaces.
const (
	InScript  Surface = 1 << iota // code of a file that runs
	InRemark                      // a comment or a message in such a file
	InShell                       // shell code in a page
	InCode                        // other code in a page
	InProse                       // the text of a page, with its frontmatter
	InComment                     // an HTML comment, which rendered pages hide
	InData                        // a file that is none of these
)

// Surfaces are their names in rule files.
var Surfaces = map[string]Surface{
	"script": InScript, "remark": InRemark, "shell": InShell, "code": InCode, "prose": InProse,
	"comment": InComment, "data": InData,
}

// A Context describes a position in a file of a skill.
type Context struct {
	Surface Surface
	Quoted  bool // the text around the position quotes, documents, or warns about attacks, or belongs to a test
}

// A Locator finds the contexts of the hits in one file.
type Locator struct {
	Path   string         // in the skill
	Data   []byte         // the file
	Page   *markdown.Page // if the file is a page
	Body   int            // where the page starts, after its frontmatter
	Script bool
	Called bool // SKILL.md mentions the file, so it counts even in a directory of tests
}

// At returns the context of a hit.
func (l *Locator) At(start, end int) Context {
	c := Context{Surface: InData}
	switch {
	case l.Page != nil:
		c.Surface = l.pageSurface(start)
		c.Quoted = l.pageQuotes(start, end, c.Surface)
		if c.Surface == InShell && !l.Page.InCode(start) {
			c.Surface |= InProse // a command without marks of code
		}
	case l.Script:
		c.Surface = InScript
		if l.inRemark(start) {
			c.Surface = InRemark
		}
		c.Quoted = l.inTable(start) || l.isSample(start)
	case strings.EqualFold(path.Ext(l.Path), ".svg"):
		if l.inScriptElement(start) {
			c.Surface = InScript
		}
	case strings.EqualFold(path.Ext(l.Path), ".json"):
		c.Quoted = l.isExample(start)
	case strings.EqualFold(path.Ext(l.Path), ".txt"):
		c.Surface = InProse
		c.Quoted = l.pageQuotes(start, end, InProse)
	}
	if !c.Quoted && strings.EqualFold(path.Ext(l.Path), ".rs") {
		c.Quoted = bytes.Contains(l.Data[:start], []byte("#[cfg(test)]")) // the tests of a module are at its end
	}
	if !c.Quoted && !l.Called {
		c.Quoted = isTestPath(l.Path)
	}
	return c
}

func (l *Locator) pageSurface(start int) Surface {
	for _, b := range l.Page.Blocks {
		if b.Offset <= start && start < b.End {
			if b.Shell {
				return InShell
			}
			return InCode
		}
	}
	for _, c := range l.Page.Comments {
		if c.Offset <= start && start < c.End {
			return InComment
		}
	}
	for _, s := range l.Page.Spans {
		if s.Offset <= start && start < s.End {
			if strings.ContainsAny(strings.TrimSpace(s.Text), " \t\n") {
				return InShell
			}
			return InProse // a name
		}
	}
	if start >= l.Body && l.inCommand(start) {
		return InShell
	}
	return InProse
}

// inCommand reports whether a position in prose is in a command without marks of code.
func (l *Locator) inCommand(start int) bool {
	const reach = 1000
	low := max(l.Body, start-reach)
	from := low + bytes.LastIndexByte(l.Data[low:start], '\n') + 1
	line := l.Data[from:min(len(l.Data), start+reach)]
	if k := bytes.IndexByte(line, '\n'); k >= 0 {
		line = line[:k]
	}
	first, end, ok := flow.CommandIn(line)
	return ok && from+first <= start && start < from+end
}

// isTestPath reports whether a file belongs to tests, or to documents about attacks, by its path.
func isTestPath(name string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '/' || r == '.' }) {
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return r == '-' || r == '_' }) {
			switch word {
			case "test", "tests", "spec", "fixture", "fixtures", "testdata", "eval", "evals", "examples", "mock", "mocks",
				"attack", "attacks", "threat", "threats", "vulnerabilities", "vulnerability", "injection", "injections",
				"malware", "malicious", "payloads", "exploit", "exploits", "exploitation", "pentest", "redteam",
				"signatures", "antipatterns", "owasp", "cve", "cwe", "ioc", "iocs", "detection", "detections",
				"cheatsheet", "escalation", "forensics", "changelog", "benchmarks", "csv", "tsv":
				return true
			}
		}
	}
	return false
}

// inScriptElement reports whether a position of a picture is in a script.
func (l *Locator) inScriptElement(start int) bool {
	head := l.Data[max(0, start-1<<16):start]
	k := lastIndexFold(head, "<script")
	return k >= 0 && k > lastIndexFold(head, "</script")
}

// lastIndexFold returns the index of the last occurrence of a text in lower case, or -1.
func lastIndexFold(data []byte, text string) int {
	return bytes.LastIndex(toLowerASCII(data), []byte(text))
}

// inRemark reports whether a position of a script is in a comment, or in a message that the script prints.
func (l *Locator) inRemark(start int) bool {
	from := max(0, start-300)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := bytes.TrimLeft(l.Data[from:start], " \t")
	switch {
	case len(head) == 0:
		return l.atCommentStart(start) || l.inHeredoc(start)
	case bytes.HasPrefix(head, []byte("#")), bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("* ")),
		bytes.HasPrefix(head, []byte("/*")), bytes.HasPrefix(head, []byte("--")), bytes.HasPrefix(head, []byte("REM ")):
		return true
	case bytes.Contains(head, []byte(" # ")), bytes.Contains(head, []byte(" // ")):
		return true
	}
	if inQuotes(head) && containsAny(head, "echo ", "printf ", "print(", "console.", "log(", "log.", "info(", "warn(",
		"error(", "die ", "raise ", "throw ", "Write-Host", "Write-Output", "help=", "description", "fail ", "puts ",
		"print ", "echo(", "logger", "Error(", "Exception(", "hint", "msg", "message") {
		return true
	}
	return l.inHeredoc(start)
}

func (l *Locator) atCommentStart(start int) bool {
	return start < len(l.Data) && (l.Data[start] == '#' || bytes.HasPrefix(l.Data[start:], []byte("//")))
}

// inQuotes reports whether a quotation is open at the end of head.
func inQuotes(head []byte) bool {
	var open byte
	for i := 0; i < len(head); i++ {
		switch c := head[i]; {
		case c == '\\':
			i++
		case open == 0 && (c == '"' || c == '\'' || c == '`'):
			open = c
		case c == open:
			open = 0
		}
	}
	return open != 0
}

// inHeredoc reports whether a position is in a text that a shell script only prints: cat <<EOF.
func (l *Locator) inHeredoc(start int) bool {
	from := max(0, start-3000)
	head := l.Data[from:start]
	k := bytes.LastIndex(head, []byte("<<"))
	if k < 0 || k+2 >= len(head) || head[k+2] == '<' {
		return false
	}
	line := head[bytes.LastIndexByte(head[:k], '\n')+1:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	} else {
		return false // the here-document starts on this line
	}
	word := bytes.TrimLeft(head[k+2:], "- \t'\"\\")
	n := 0
	for n < len(word) && is(word[n], isWordy) {
		n++
	}
	if n == 0 || bytes.Contains(word[n:], append([]byte("\n"), word[:n]...)) {
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("cat ")) && !bytes.ContainsAny(line, ">|")
}

// inTable reports whether a line of a script is an element of a list of texts, or a pattern: what scanners and
// documentation consist of.
func (l *Locator) inTable(start int) bool {
	from := max(0, start-300)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := bytes.TrimLeft(l.Data[from:start], " \t([{,")
	if len(head) > 1 && (head[0] == 'r' || head[0] == 'f' || head[0] == 'b') && (head[1] == '"' || head[1] == '\'') {
		head = head[1:]
	}
	switch {
	case len(head) > 0 && (head[0] == '"' || head[0] == '\'' || head[0] == '/'):
		return true
	case containsAny(head, "re.compile(", "RegExp(", "regexp.", "pattern", "Pattern", "PATTERN", "grep ", "rg ", " r'",
		" r\"", "(r'", "(r\"", "[r\"", "[r'", ".match(", ".test(", "=~", "assert", "expect(", "regex", "BLOCKED",
		"DENY", "DANGER", "FORBIDDEN", "blocked", "deny",
		"dangerous", "forbidden", "example"):
		return true
	}
	return false
}

// pageQuotes reports whether a page quotes or documents what is at a position.
func (l *Locator) pageQuotes(start, end int, surface Surface) bool {
	switch {
	case surface == InComment:
		return false
	case l.inTableRow(start), l.inReport(start), surface == InProse && start >= l.Body && l.quotedWords(start, end),
		surface == InShell && l.isSearch(start), surface&(InShell|InCode) != 0 && l.isSample(start):
		return true
	}
	return l.warns(start, end, surface) || l.underWarning(start) || surface == InProse && l.inForbidden(start)
}

// inForbidden reports whether a position is in a list below a label such as "Must not:".
func (l *Locator) inForbidden(start int) bool {
	low := max(0, start-2000)
	at := low + bytes.LastIndexByte(l.Data[low:start], '\n') + 1
	line := l.Data[at:min(len(l.Data), at+200)]
	for item := true; item || len(bytes.TrimSpace(line)) == 0; {
		if at <= low+1 {
			return false
		}
		end := at - 1
		at = low + bytes.LastIndexByte(l.Data[low:end], '\n') + 1
		if item && !isItem(line) && len(bytes.TrimSpace(line)) > 0 {
			return false
		}
		line = l.Data[at:end]
		item = isItem(line)
	}
	switch string(toLowerASCII(bytes.Trim(line, "#*_: \t\r"))) {
	case "must not", "must not do", "do not", "don't", "don'ts", "never", "never do", "avoid", "what not to do", "not allowed":
		return true
	}
	return false
}

// isItem reports whether a line begins an item of a list.
func isItem(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 2 && bytes.IndexByte([]byte("-*+"), line[0]) >= 0 && line[1] == ' '
}

// isSearch reports whether a position is in the quoted pattern of a program that searches.
func (l *Locator) isSearch(start int) bool {
	from := max(0, start-300)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := l.Data[from:start]
	return inQuotes(head) && containsAny(head, "grep ", "rg ", "ag ", "semgrep", "Grep(", "findstr ", "Select-String")
}

// isSample reports whether a position is within a quoted text that code checks or cleans, or that is the input of a user:
// validate("a; rm -rf b"), user_input="a; rm -rf b". A text that begins with the position could be a command.
func (l *Locator) isSample(start int) bool {
	from := max(0, start-300)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := toLowerASCII(l.Data[from:start])
	k := bytes.IndexAny(head, "\"'")
	if k >= 0 && head[k] == '"' && bytes.ContainsAny(head[k:], "$`") {
		return false // a shell runs what it substitutes
	}
	if k < 1 || k+1 == len(head) || !inQuotes(head) || bytes.IndexByte(head[k+1:], head[k]) >= 0 {
		return false
	}
	head = bytes.TrimRight(head[:k], " ")
	n := len(head) - 1
	if n < 0 || head[n] != '(' && head[n] != '=' {
		return false
	}
	word := bytes.TrimRight(head[:n], " ")
	word = word[bytes.LastIndexAny(word, " \t(=.;&|$")+1:]
	if head[n] == '=' {
		return containsAny(word, "input", "untrusted") && !bytes.Contains(l.Data, []byte("eval "))
	}
	return containsAny(word, "sanitize", "validate", "escape", "quote")
}

// isExample reports whether a line of JSON is an example, or a pattern to search for.
func (l *Locator) isExample(start int) bool {
	from := max(0, start-300)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := bytes.TrimLeft(l.Data[from:start], " \t{")
	return len(head) > 0 && head[0] == '"' && containsAny(head[:min(len(head), 12)], "\"example\":", "\"pattern\":", "\"regex\":")
}

// quotedWords reports whether quotation marks enclose the words.
func (l *Locator) quotedWords(start, end int) bool {
	if bytes.IndexByte(l.Data[start:end], ' ') < 0 {
		return false // a path or a host
	}
	from := max(0, start-120)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	head := l.Data[from:start]
	to := min(len(l.Data), end+120)
	tail := l.Data[end:to]
	if k := bytes.IndexByte(tail, '\n'); k >= 0 {
		tail = tail[:k]
	}
	for _, pair := range [...][2]string{
		{"\"", "\""}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"`", "`"}, {"‘", "’"},
	} {
		k := bytes.LastIndex(head, []byte(pair[0]))
		if k < 0 || !bytes.Contains(tail, []byte(pair[1])) {
			continue
		}
		if pair[0] != pair[1] && !bytes.Contains(head[k:], []byte(pair[1])) ||
			pair[0] == pair[1] && bytes.Count(head, []byte(pair[0]))%2 == 1 {
			return true
		}
	}
	return bytes.HasSuffix(head, []byte(" '")) && bytes.IndexByte(tail, '\'') >= 0
}

// inTableRow reports whether the line is a row of a table.
func (l *Locator) inTableRow(start int) bool {
	from := max(0, start-600)
	from += bytes.LastIndexByte(l.Data[from:start], '\n') + 1
	return bytes.HasPrefix(bytes.TrimLeft(l.Data[from:min(len(l.Data), from+20)], " \t>"), []byte("|"))
}

// inReport reports whether a position is in a report or in the output of a program that the page shows: a block without
// a programming language in which the line is a row of a table that begins with a number or a date, or has a label, as
// others of the block have.
func (l *Locator) inReport(start int) bool {
	if l.Page == nil {
		return false
	}
	for _, b := range l.Page.Blocks {
		if start < b.Offset || start >= b.End {
			continue
		}
		switch strings.ToLower(b.Language) {
		case "", "text", "txt", "plaintext", "log", "output":
		default:
			return false
		}
		from := b.Offset + bytes.LastIndexByte(l.Data[b.Offset:start], '\n') + 1
		return b.Fenced && (isRecord(l.Data[from:start]) ||
			labelEnd(l.Data[from:start]) > 0 && countLabels(l.Data[b.Offset:b.End]) >= minLabels)
	}
	return false
}

// minLabels is how many lines of a report have labels.
const minLabels = 4

// countLabels returns how many lines of a block have labels.
func countLabels(block []byte) (n int) {
	for line := range bytes.Lines(block) {
		if labelEnd(line) > 0 {
			n++
		}
	}
	return n
}

// isRecord reports whether a line begins with a cell of a table that is a number or a date. No command does.
func isRecord(line []byte) bool {
	cell, _, ok := bytes.Cut(line, []byte("|"))
	cell = bytes.TrimSpace(cell)
	return ok && len(cell) > 0 && len(bytes.Trim(cell, "0123456789-/:.,+TZ ")) == 0
}

// labelEnd returns where the label of a line ends, such as "- Process:" or "PID 4012:", or 0 if it does not have one. A
// label that asks to do something is not one of a report.
func labelEnd(line []byte) int {
	text := bytes.TrimLeft(line, " \t-*•0123456789.)")
	skipped := len(line) - len(text)
	k := bytes.IndexByte(text, ':')
	if k < 1 || k > 30 || k+1 == len(text) || !is(text[k+1], isBlank) || text[0] < 'A' || text[0] > 'Z' {
		return 0
	}
	for _, c := range text[:k] {
		if !is(c, isWordy) && c != ' ' && c != '-' && c != '/' {
			return 0
		}
	}
	if first, _ := cutWord(text[:k]); oneOf(first, "run", "execute", "install", "paste", "copy", "enter", "type", "step",
		"use", "then", "first", "next", "now", "please", "important", "note", "macos", "windows", "linux") {
		return 0
	}
	return skipped + k
}

// warningWords are words of texts about attacks. They count near what they are about.
var warningWords = [...]string{
	"attack", "malicious", "suspicious", "vulnerab", "exploit", "injection", "red flag", "red-flag",
	"anti-pattern", "antipattern", "unsafe", "insecure", "dangerous", "untrusted", "phish", "threat", "adversar",
	"jailbreak", "detect", "indicator", "malware", "harmful", "ctf", "pentest", "penetration", "❌", "🚫", "⛔",
	"bad:", "bad example", "wrong:", "incorrect", "never run", "never pipe", "never use", "do not use", "don't use",
	"do not run", "don't run", "avoid", "forbidden", "prohibited", "refuse", "reject", "blocked", "blocks", "denied",
	"look for", "flag ", "flags ", "flagged", "scan for", "search for", "check for", "hardcoded", "leak",
	"compromis", "risky", "hacktricks", "red team", "honeypot", "privesc", "escalation", "won't match",
	"识别", "检测", "阻断", "拦截", "禁止", "高风险", "恶意", "可疑",
}

// warns reports whether the words around a position warn about it: those of the same line and of the paragraph before
// it in prose, and those of the lines before it in code.
func (l *Locator) warns(start, end int, surface Surface) bool {
	reach := 220
	if surface != InProse {
		reach = 300
	}
	from := max(0, start-reach)
	head := l.Data[from:start]
	if surface == InProse {
		if k := bytes.LastIndex(head, []byte("\n\n")); k >= 0 {
			head = head[k:]
		}
	}
	to := min(len(l.Data), end+120)
	tail := l.Data[end:to]
	if k := bytes.IndexByte(tail, '\n'); k >= 0 {
		tail = tail[:k]
	}
	return hasWarning(toLowerASCII(head)) || hasWarning(toLowerASCII(tail))
}

// hasWarning reports whether a text in lower case has a warning word that is not part of an address or a name.
func hasWarning(text []byte) bool {
	for _, w := range warningWords {
		for i := 0; ; {
			k := bytes.Index(text[i:], []byte(w))
			if k < 0 {
				break
			}
			k += i
			i = k + len(w)
			if (k == 0 || bytes.IndexByte([]byte("./-_@:"), text[k-1]) < 0) && (i == len(text) || text[i] != '.' ||
				i+1 == len(text) || is(text[i+1], isBlank)) {
				return true
			}
		}
	}
	return false
}

// headingWords are words of headings above texts about attacks.
var headingWords = [...]string{
	"attack", "threat", "injection", "vulnerab", "malicious", "suspicious", "red flag", "anti-pattern", "antipattern",
	"anti pattern", "don't", "never", "avoid", "unsafe", "insecure", "dangerous", "forbidden", "prohibited", "detect",
	"indicator", "exploit", "payload", "pentest", "pitfall", "mistake", "bad ", "wrong", "hardening", "risk",
	"security review", "security check", "security audit", "security consider", "security rules", "guardrail",
	"what not", "must not", "do not", "not do", "escalation", "post-exploitation", "shells", "bypass", "red team", "reconnaissance", "evasion",
	"lateral", "warning signs", "blocked", "deny", "checklist", "false positive", "rationalization", "cve-", "owasp",
}

// underWarning reports whether one of the headings above a position announces a text about attacks.
func (l *Locator) underWarning(start int) bool {
	const reach = 6000
	low, level := max(0, start-reach), 7
	for at := start; at > low && level > 1; {
		k := bytes.LastIndexByte(l.Data[low:at], '\n')
		if k < 0 {
			break
		}
		at = low + k
		line := l.Data[at+1 : min(len(l.Data), at+160)]
		if len(line) < 2 || line[0] != '#' || l.Page != nil && l.Page.InCode(at+1) {
			continue // not a heading, or a comment of code
		}
		n := 0
		for n < len(line) && line[n] == '#' {
			n++
		}
		if n >= level || n > 6 || n == len(line) || line[n] != ' ' {
			continue
		}
		level = n
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		title := toLowerASCII(line)
		for _, w := range headingWords {
			if bytes.Contains(title, []byte(w)) {
				return true
			}
		}
	}
	return false
}

// AboutSecurity reports whether a description is one of a skill about security.
func AboutSecurity(description string) bool {
	small := toLowerASCII([]byte(description))
	return containsAny(small, "security", "vulnerab", "penetration", "pentest", "privilege escalation", "red team",
		"exploit", "attack", "malware", "forensic", "threat", "owasp", "hacking", "prompt injection", "hardening")
}
