package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// add appends a word to a command, after a literal prefix.
func (r *lineReader) add(c *command, prefix string, w *syntax.Word) string {
	b := wordBuilder{reader: r}
	b.text.WriteString(prefix)
	if w != nil {
		for i, part := range w.Parts {
			if i > 0 && isSingleQuoted(part) && isSingleQuoted(w.Parts[i-1]) { // '' is a quote with RC_QUOTES in zsh
				return readDifferently
			}
			if refused := b.part(part, i > 0 && isVariable(w.Parts[i-1])); refused != "" {
				return refused
			}
		}
	}
	if b.braces > 0 {
		return readDifferently
	}
	c.words = append(c.words, b.word(w))
	return ""
}

func isSingleQuoted(p syntax.WordPart) bool {
	_, ok := p.(*syntax.SglQuoted)
	return ok
}

func isVariable(p syntax.WordPart) bool {
	_, ok := p.(*syntax.ParamExp)
	return ok
}

// wordBuilder removes the quotes of a word.
type wordBuilder struct {
	reader       *lineReader
	text         strings.Builder
	loose, globs bool
	braces       int // open unquoted braces
}

// word returns the word of some parts, which were added.
func (b *wordBuilder) word(w *syntax.Word) word {
	text := b.text.String()
	if !strings.HasPrefix(text, "~") {
		return word{text: text, loose: b.loose, globs: b.globs}
	}
	source := b.reader.source(w.Pos(), w.End())
	switch {
	case source == "~" || strings.HasPrefix(source, "~/"):
	case len(source) > 1 && source[1] == '~': // after a quote or a backslash
		text = literalTilde + text[1:]
	default: // the home directory of a user, or another directory
		b.loose = true
	}
	return word{text: text, loose: b.loose, globs: b.globs}
}

// part adds a part of a word. afterVariable reports that it follows a variable.
func (b *wordBuilder) part(part syntax.WordPart, afterVariable bool) string {
	source := b.reader.source(part.Pos(), part.End())
	switch p := part.(type) {
	case *syntax.Lit:
		if afterVariable && strings.HasPrefix(source, "[") { // an index in zsh
			return substitution(source)
		}
		return b.unquoted(source, b.reader.line[part.End().Offset():])
	case *syntax.SglQuoted:
		b.reader.quotes = append(b.reader.quotes, p)
		switch {
		case p.Dollar:
			return substitution(source)
		case strings.HasSuffix(p.Value, `\`):
			return hasLateClose
		}
		b.text.WriteString(p.Value)
		return ""
	case *syntax.DblQuoted:
		b.reader.quotes = append(b.reader.quotes, p)
		if p.Dollar {
			return substitution(source)
		}
		for i, inner := range p.Parts {
			if refused := b.doubleQuoted(inner, i > 0 && isVariable(p.Parts[i-1])); refused != "" {
				return refused
			}
		}
		return ""
	case *syntax.ParamExp:
		return b.variable(source)
	case *syntax.CmdSubst:
		if p.Backquotes {
			return hasBackticks
		}
		return substitution(source)
	}
	return hasParentheses
}

func substitution(source string) string {
	return "it contains a substitution, " + quoted(source[:min(len(source), 8)])
}

// variable adds $NAME, ${NAME}, and $?, whose values are unknown but stay in words of this command. Other expansions
// can run commands.
func (b *wordBuilder) variable(source string) string {
	name := strings.TrimPrefix(source, "$")
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	} else if name == "?" {
		name = "_"
	}
	if name == "" || strings.Trim(name, letters+"0123456789_") != "" || unicode.IsDigit(rune(name[0])) {
		return substitution(source)
	}
	b.text.WriteString(source)
	b.loose = true
	return ""
}

// unquoted adds unquoted text. after is the next text in the line.
func (b *wordBuilder) unquoted(source, after string) string {
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '\\':
			i++
			if i == len(source) {
				return "it ends with a backslash"
			}
			if source[i] != '\n' {
				b.text.WriteByte(source[i])
			}
			continue
		case '$':
			if refused := literalDollar(source[i:]+after, " \t\n/.,"); refused != "" {
				return refused
			}
		case '{':
			b.loose = true
			b.braces++
		case '}': // of a block in zsh
			if b.braces--; b.braces < 0 {
				return readDifferently
			}
		case '~', '^', '#': // of zsh, with EXTENDED_GLOB
			before := b.text.String()
			b.globs = b.globs || before != ""
			b.loose = b.loose || strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":")
		case '=': // in zsh, =program is its path
			b.loose = b.loose || b.text.Len() == 0
		case '*', '?', '[':
			if b.globs = true; b.reader.pattern && c == '*' {
				c = star
			}
			b.text.WriteByte(c)
			continue
		case '(', ')':
			return hasParentheses
		}
		b.text.WriteByte(source[i])
	}
	if strings.ContainsFunc(source, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }) {
		return hasInvisible
	}
	return ""
}

// literalDollar refuses a dollar sign unless it is last or followed by one of these characters.
func literalDollar(start, harmless string) string {
	if len(start) == 1 || strings.IndexByte(harmless, start[1]) >= 0 {
		return ""
	}
	return substitution(start)
}

// doubleQuoted adds a part of a double-quoted text. afterVariable reports that it follows a variable.
func (b *wordBuilder) doubleQuoted(part syntax.WordPart, afterVariable bool) string {
	source := b.reader.source(part.Pos(), part.End())
	if _, ok := part.(*syntax.Lit); !ok || afterVariable && strings.HasPrefix(source, "[") {
		return b.part(part, afterVariable)
	}
	after := b.reader.line[part.End().Offset():]
	for i := 0; i < len(source); i++ {
		c := source[i]
		if c == '$' {
			if refused := literalDollar(source[i:]+after, " \t\n/.,\""); refused != "" {
				return refused
			}
		}
		if c == '\\' && i+1 == len(source) && strings.HasPrefix(after, "\n") {
			continue // a line continuation
		}
		if c == '\\' && i+1 < len(source) && strings.IndexByte("\"\\$`\n", source[i+1]) >= 0 {
			i++
			if c = source[i]; c == '\n' {
				continue
			}
		}
		b.text.WriteByte(c)
	}
	return ""
}
