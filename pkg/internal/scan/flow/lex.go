package flow

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Language is a language that this package reads.
type Language uint8

// The languages.
const (
	Other Language = iota
	Shell
	Python
	JavaScript // and TypeScript
	PowerShell
	Ruby
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenName tokenKind = iota + 1
	tokenText
	tokenNumber
	tokenOp
	tokenFormat    // the beginning of a text with expressions: texts, and expressions in parentheses
	tokenFormatEnd // its end
)

// token is a token of Python, JavaScript, or Ruby.
type token struct {
	text  string // a name, an operator, or the value of a text
	at    int32  // offset
	col   int32  // column of the first token of a line
	match int32  // of a bracket: the index of the other one; of an open one without a partner: the number of tokens
	kind  tokenKind
	first bool // begins a line, in Python a logical line
}

// maxNested is how deep texts with expressions may be nested in each other.
const maxNested = 4

// lexer splits code into tokens.
type lexer struct {
	lang   Language
	text   string
	tokens []token
	open   []int32
	base   int // offset of text
	nested int
}

// maxTokens is the number of tokens of a list that is used again: enough for nearly all files.
const maxTokens = 1 << 15

// lex returns the tokens of code in the memory of a list, if it is large enough.
func lex(lang Language, text string, list []token) []token {
	if n := len(text) / 4; n > maxTokens && n > cap(list) { // at once: growing would need several times as much
		list = make([]token, 0, n)
	}
	l := lexer{lang: lang, text: text, tokens: list[:0]}
	l.run()
	for _, i := range l.open {
		l.tokens[i].match = int32(len(l.tokens))
	}
	return l.tokens
}

func (l *lexer) add(kind tokenKind, text string, at int) *token {
	l.tokens = append(l.tokens, token{kind: kind, text: text, at: int32(l.base + at), match: -1})
	return &l.tokens[len(l.tokens)-1]
}

// bracket adds a bracket, and matches it with its partner.
func (l *lexer) bracket(kind tokenKind, text string, at int) {
	i := int32(len(l.tokens))
	l.add(kind, text, at)
	if kind == tokenFormat || kind == tokenOp && strings.Contains("([{", text) {
		l.open = append(l.open, i)
		return
	}
	for k := len(l.open) - 1; k >= max(0, len(l.open)-8); k-- {
		o := &l.tokens[l.open[k]]
		if o.kind == tokenFormat && kind == tokenFormatEnd || o.kind == tokenOp && closing(o.text) == text {
			for _, lost := range l.open[k+1:] {
				l.tokens[lost].match = i
			}
			o.match, l.tokens[i].match = i, l.open[k]
			l.open = l.open[:k]
			return
		}
	}
}

func closing(open string) string {
	switch open {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9' || c >= 0x80
}

func (l *lexer) run() {
	first, line := true, 0
	for i := 0; i < len(l.text); {
		c := l.text[i]
		switch {
		case c == '\n':
			first, line = true, i+1
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			i++
			continue
		case c == '\\' && i+1 < len(l.text) && (l.text[i+1] == '\n' || l.text[i+1] == '\r'):
			if i += 2; i < len(l.text) && l.text[i] == '\n' {
				i++
			}
			continue
		case c == '#' && l.lang != JavaScript, c == '#' && i == 0, c == '/' && l.lang == JavaScript &&
			strings.HasPrefix(l.text[i:], "//"):
			i += lineLength(l.text[i:])
			continue
		case c == '/' && l.lang == JavaScript && strings.HasPrefix(l.text[i:], "/*"):
			end := strings.Index(l.text[i+2:], "*/")
			if end < 0 {
				return
			}
			i += end + 4
			continue
		}
		n, at := len(l.tokens), i
		i = l.token(i)
		if n < len(l.tokens) {
			if first && l.nested == 0 && (l.lang != Python || len(l.open) == 0 || len(l.open) == 1 &&
				int(l.open[0]) == n) {
				l.tokens[n].first, l.tokens[n].col = true, int32(at-line)
			}
			first = false
		}
	}
}

func lineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// token adds the token at i, and returns the offset after it.
func (l *lexer) token(i int) int {
	c := l.text[i]
	switch {
	case c >= '0' && c <= '9':
		end := i + 1
		for end < len(l.text) && (isNameByte(l.text[end]) || l.text[end] == '.' && end+1 < len(l.text) &&
			l.text[end+1] >= '0' && l.text[end+1] <= '9') {
			end++
		}
		l.add(tokenNumber, l.text[i:end], i)
		return end
	case isNameByte(c) || c == '$' && l.lang != Python || c == '@' && l.lang == Ruby:
		end := i + 1
		for end < len(l.text) && (isNameByte(l.text[end]) || l.text[end] == '$' && l.lang == JavaScript) {
			end++
		}
		if l.lang == Ruby && end < len(l.text) && (l.text[end] == '?' || l.text[end] == '!') {
			end++
		}
		name := l.text[i:end]
		if l.lang == Python && len(name) <= 2 && end < len(l.text) && (l.text[end] == '"' || l.text[end] == '\'') &&
			strings.Trim(strings.ToLower(name), "rbfu") == "" {
			return l.quoted(end, strings.ToLower(name))
		}
		l.add(tokenName, name, i)
		return end
	case c == '"' || c == '\'':
		return l.quoted(i, "")
	case c == '`' && l.lang != Python:
		return l.quoted(i, "f")
	case c == '/' && l.lang == JavaScript && l.regexpFollows():
		return l.regexp(i)
	case strings.IndexByte("()[]{}", c) >= 0:
		l.bracket(tokenOp, l.text[i:i+1], i)
		return i + 1
	}
	end := i + operatorLength(l.text[i:])
	l.add(tokenOp, l.text[i:end], i)
	return end
}

// operatorLength returns the number of characters of the operator that a text begins with.
func operatorLength(text string) int {
	if len(text) > 2 {
		switch text[:3] {
		case "===", "!==", "...", "**=", "//=", ">>>", "<<=", ">>=", "||=", "&&=", "??=":
			return 3
		}
	}
	if len(text) > 1 {
		switch text[:2] {
		case "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "**", "//", "->", ":=", "+=", "-=", "*=", "/=", "%=",
			"|=", "&=", "^=", "++", "--", "<<", ">>", "::":
			return 2
		}
	}
	return 1
}

// regexpFollows reports whether a slash begins a regular expression: it does not follow an operand.
func (l *lexer) regexpFollows() bool {
	if len(l.tokens) == 0 {
		return true
	}
	switch t := l.tokens[len(l.tokens)-1]; t.kind {
	case tokenName:
		return t.text == "return" || t.text == "typeof" || t.text == "case" || t.text == "of" || t.text == "in"
	case tokenOp:
		return t.text != ")" && t.text != "]" && t.text != "}"
	}
	return false
}

func (l *lexer) regexp(i int) int {
	class := false
	for k := i + 1; k < min(len(l.text), i+500) && l.text[k] != '\n'; k++ {
		switch c := l.text[k]; {
		case c == '\\':
			k++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.add(tokenNumber, "", i)
			for k++; k < len(l.text) && isNameByte(l.text[k]); k++ {
			}
			return k
		}
	}
	l.add(tokenOp, "/", i)
	return i + 1
}

// quoted adds the text whose quote is at i. It returns the offset after it.
func (l *lexer) quoted(i int, prefix string) int {
	q := l.text[i]
	quote := l.text[i : i+1]
	if l.lang == Python && strings.HasPrefix(l.text[i:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	format := strings.Contains(prefix, "f") || l.lang == Ruby && q != '\''
	raw := strings.Contains(prefix, "r")
	multi := len(quote) == 3 || q == '`' || l.lang == Ruby
	start := i + len(quote)
	end := start
	for ; end < len(l.text); end++ {
		c := l.text[end]
		if c == '\\' {
			end++
			continue
		}
		if c == '\n' && !multi {
			break
		}
		if c == q && strings.HasPrefix(l.text[end:], quote) {
			break
		}
		if format && c == '{' && (q == '`' || l.lang == Python || end > start && l.text[end-1] == '#') &&
			(l.lang != JavaScript || l.text[end-1] == '$') {
			if close := l.expressionEnd(end+1, quote); close > 0 {
				end = close
			} else {
				format = false
			}
		}
	}
	end = min(end, len(l.text))
	body, next := l.text[start:end], min(end+len(quote), len(l.text))
	if end < len(l.text) && l.text[end] == '\n' && !multi {
		next = end
	}
	if q == '`' && l.lang == Ruby {
		l.add(tokenName, "system", i)
		l.bracket(tokenOp, "(", i)
		defer func() { l.bracket(tokenOp, ")", next-1) }()
	}
	if !format || !strings.Contains(body, "{") || l.nested >= maxNested {
		if !raw {
			body = unquote(body)
		}
		l.add(tokenText, body, i)
		return next
	}
	l.formatted(body, start, i, next)
	return next
}

// expressionEnd returns the offset of the brace that closes an expression in a text, or 0.
func (l *lexer) expressionEnd(from int, quote string) int {
	depth := 1
	for i := from; i < len(l.text) && i < from+2000; i++ {
		switch c := l.text[i]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		case c == '\n' && len(quote) == 1 && l.lang == Python, strings.HasPrefix(l.text[i:], quote) && quote != "`":
			return 0
		}
	}
	return 0
}

// formatted adds the parts of a text with expressions. at is the offset of body in the text.
func (l *lexer) formatted(body string, at, begin, end int) {
	l.bracket(tokenFormat, "", begin)
	from := 0
	for i := 0; i < len(body); i++ {
		if body[i] == '\\' {
			i++
			continue
		}
		if body[i] != '{' {
			continue
		}
		if l.lang == Python && i+1 < len(body) && body[i+1] == '{' {
			i++
			continue
		}
		lead := i
		if l.lang != Python {
			if i == 0 || body[i-1] != '$' && body[i-1] != '#' {
				continue
			}
			lead--
		}
		close := l.expressionEnd(at+i+1, "\x00")
		if close == 0 || close-at > len(body) {
			break
		}
		if lead > from {
			l.add(tokenText, unquote(body[from:lead]), at+from)
		}
		l.bracket(tokenOp, "(", at+i)
		inner := lexer{
			lang: l.lang, text: l.text[at+i+1 : close], base: l.base + at + i + 1, nested: l.nested + 1,
			tokens: l.tokens, open: nil,
		}
		inner.run()
		for _, k := range inner.open {
			inner.tokens[k].match = int32(len(inner.tokens))
		}
		l.tokens = inner.tokens
		l.bracket(tokenOp, ")", close)
		i = close - at
		from = i + 1
	}
	if from < len(body) {
		l.add(tokenText, unquote(body[from:]), at+from)
	}
	l.bracket(tokenFormatEnd, "", end-1)
}

// unquote resolves the escapes of a text. Long texts are shortened.
func unquote(text string) string {
	if len(text) > 64*maxText {
		text = text[:64*maxText]
	}
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		digits := 0
		switch c := text[i]; c {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r', '\n':
		case '0', 'b', 'f', 'v':
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			out.WriteByte(c)
		}
		if digits > 0 && i+digits < len(text)+1 {
			hex := text[i+1 : min(i+1+digits, len(text))]
			if n, err := strconv.ParseUint(hex, 16, 32); err == nil && n > 1 && n <= utf8.MaxRune {
				out.WriteRune(rune(n))
				i += digits
			}
		}
	}
	return out.String()
}
