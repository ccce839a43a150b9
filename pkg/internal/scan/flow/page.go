package flow

import (
	"bytes"
	"errors"
	"path"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	shellsyntax "github.com/skillpm/skillpm/pkg/internal/syntax"
)

// LanguageOf returns the language of a script by its name or its first line.
func LanguageOf(name string, data []byte) Language {
	if rest, ok := bytes.CutPrefix(data, []byte("#!")); ok {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		for w := range strings.FieldsSeq(string(line)) {
			base := path.Base(w)
			if base != "env" && !strings.HasPrefix(base, "-") {
				if l := languageNamed(strings.TrimRight(base, "0123456789.")); l != Other {
					return l
				}
			}
		}
	}
	return languageNamed(strings.TrimPrefix(strings.ToLower(path.Ext(name)), "."))
}

// languageNamed returns the language of a file extension, an interpreter, or the info string of a code block.
func languageNamed(name string) Language {
	switch strings.ToLower(name) {
	case "sh", "bash", "zsh", "ksh", "shell", "console", "shell-session", "dash", "command", "terminal", "bats":
		return Shell
	case "py", "python", "pyw", "python3", "py3":
		return Python
	case "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "javascript", "typescript", "node", "nodejs", "bun",
		"deno":
		return JavaScript
	case "ps1", "psm1", "powershell", "pwsh", "bat", "cmd":
		return PowerShell
	case "rb", "ruby":
		return Ruby
	}
	return Other
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return true
	}
	return false
}

// program evaluates a script.
func (r *reader) program(lang Language, text string) {
	sh := newShell(r)
	switch lang {
	case Shell:
		sh.script(text, value{})
	case PowerShell:
		newPower(sh).script(text)
	case Python, JavaScript, Ruby:
		c := newCode(r, lang, sh)
		defer c.release()
		c.script(text)
	}
}

// nested evaluates code of another language in an argument. Its positions are those of the current statement.
func (s *shell) nested(lang Language, client string, code, in value) value {
	text := code.text
	if strings.HasPrefix(text, "\x00") && len(code.from) > 0 {
		s.sink(Fact{Kind: RunsComputed, Detail: client, Client: client, Sure: Certain}, code)
	}
	if text == "" || s.tooDeep() || !s.evaluates(text) {
		return value{}
	}
	s.depth += 5
	at, part, fixed := s.at, s.part, s.fixed
	s.at, s.part, s.fixed = s.offset(), nil, true
	script := s.reader.script
	s.reader.script = s.sum.path + "#" + client + " " + strconv.Itoa(len(s.sum.nodes)) // its input and output are those of the command
	s.reach(in.from, s.key("in:", s.reader.script))
	text = marks(text, "_h", "_")
	s.reader.program(lang, text)
	out := value{from: set{s.key("out:", s.reader.script)}}
	s.reader.script = script
	s.at, s.part, s.fixed = at, part, fixed
	s.depth -= 5
	return out
}

// page evaluates the code blocks of a page in their order. Blocks of one language share their variables.
func (r *reader) page(p *markdown.Page) {
	var sh *shell
	codes := map[Language]*code{}
	total := 0
	defer func() {
		for _, c := range codes {
			c.release()
		}
	}()
	defer r.commands(p)
	defer r.spans(p)
	for _, b := range p.Blocks {
		lang := languageNamed(b.Language)
		if b.Language == "" && b.Fenced {
			lang = Shell
		}
		if lang == Other || !b.Fenced {
			continue
		}
		text := r.blockText(p, b, lang)
		r.sum.partial = r.sum.partial || total > maxFile
		if total > maxFile || b.Language == "" && !interesting(text) {
			r.words(lang, text)
			continue
		}
		if text == "" || lang != Shell && lang != PowerShell && !active(text) {
			continue
		}
		total += len(text)
		if sh == nil {
			sh = newShell(r)
		}
		switch lang {
		case Shell:
			sh.script(text, value{})
		case PowerShell:
			newPower(sh).script(text)
		default:
			if codes[lang] == nil {
				codes[lang] = newCode(r, lang, sh)
			}
			codes[lang].script(text)
		}
	}
}

// words records the programs of shell code that is not parsed.
func (r *reader) words(lang Language, text string) {
	if lang != Shell {
		return
	}
	r.lines(0, text)
}

// lines records the first words of the commands in lines of shell code at an offset.
func (r *reader) lines(offset int, text string) {
	for line := range strings.Lines(text) {
		if !r.fixed {
			r.at = offset
		}
		offset += len(line)
		for _, name := range firstWords(line) {
			r.ran(name)
		}
	}
}

// spans evaluates the code spans that are commands with an address or encoded text: pages ask to copy such a command.
func (r *reader) spans(p *markdown.Page) {
	r.part, r.fixed, r.inline = nil, true, true
	for n, s := range p.Spans {
		if n >= maxSpans || !strings.Contains(s.Text, " ") || len(s.Text) > maxText || !interesting(s.Text) {
			continue
		}
		if !strings.Contains(s.Text, "://") && !strings.Contains(s.Text, "base64 ") {
			continue
		}
		r.at, r.spanEnd = s.Offset, s.Offset+len(s.Text)
		sh := newShell(r)
		if lower := strings.ToLower(s.Text); strings.Contains(lower, "iex") || strings.Contains(lower,
			"invoke-expression") {
			newPower(sh).script(s.Text)
		} else {
			sh.script(s.Text, value{})
		}
	}
}

// interesting reports whether a block without language has a command that matters.
func interesting(text string) bool {
	for _, part := range []string{
		"curl ", "wget ", "iex", "irm ", "iwr ", "rm -rf", "/.ssh", "base64 ", "nc ", "eval ", "env |", "printenv",
		"bash ", "sh ", "python", "chmod ", "crontab", "sudo ",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// active reports whether a block of a programming language could have facts: most show only how to compute something.
func active(text string) bool {
	for _, part := range []string{
		"http", "read", "os.", "open(", "env", "write", "exec", "fetch", "subprocess", "eval", "socket", "system",
		"spawn", "smtp",
		"~", "decode", "verify", "Path(", "clip", "argv",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// blockText returns the text of a code block, and sets the offsets of its lines. Prompts are left out.
func (r *reader) blockText(p *markdown.Page, b markdown.Block, lang Language) string {
	var text strings.Builder
	r.part = r.part[:0]
	for at, line := range p.Lines(b) {
		if lang == Shell {
			trimmed := bytes.TrimLeft(line, " ")
			if rest, ok := bytes.CutPrefix(trimmed, []byte("$ ")); ok {
				at += len(line) - len(rest)
				line = rest
			}
		}
		if lang == Python {
			if rest, ok := bytes.CutPrefix(line, []byte(">>> ")); ok {
				at += 4
				line = rest
			}
		}
		r.part = append(r.part, span{text.Len(), at})
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.String()
}

// maxRetries is how often a shell script is parsed again after an error.
const maxRetries = 12

// parseShell returns the statements of a script. After an error, it continues at the next line. offset is that of text
// in the script.
// Lines that are not valid are given to bad.
func parseShell(text string, each func(offset int, st *syntax.Stmt), bad func(offset int, text string)) {
	offset := 0
	for range maxRetries {
		stmts, err := shellsyntax.Statements([]byte(text[offset:]))
		end := 0
		for _, st := range stmts {
			each(offset, st)
			end = int(st.End().Offset())
		}
		if err == nil {
			return
		}
		at := end
		var invalid syntax.ParseError
		var foreign syntax.LangError
		switch {
		case errors.As(err, &invalid):
			at = max(at, int(invalid.Pos.Offset()))
		case errors.As(err, &foreign):
			at = max(at, int(foreign.Pos.Offset()))
		default:
			at = len(text)
		}
		end, at = offset+end, min(offset+at, len(text))
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			bad(end, text[end:])
			return
		}
		offset = at + next + 1
		bad(end, text[end:offset])
	}
	bad(offset, text[offset:])
}

// firstWords returns the first word of each command in text that is not parsed: the names of the programs that it could
// run.
func firstWords(text string) (names []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if strings.ContainsAny(line, "&|;`({") {
			line = commandEnds().Replace(line)
		}
		for command := range strings.Lines(line) {
			for word := range strings.FieldsSeq(command) {
				if name := programOf(strings.Trim(word, `"'`)); !beforeProgram(name) {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names
}

// commandEnds replaces the separators of shell commands by line breaks.
var commandEnds = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, end := range []string{"&&", "||", ";", "|", "$(", "`", "(", "{", "&"} {
		pairs = append(pairs, end, "\n")
	}
	return strings.NewReplacer(pairs...)
})

// beforeProgram reports whether a word stands before the program of a command.
func beforeProgram(word string) bool {
	switch word {
	case "sudo", "doas", "exec", "time", "nohup", "command", "builtin", "env", "xargs", "busybox", "timeout", "nice",
		"then", "do", "else", "if", "while", "until", "not", "$", ">", "!", "":
		return true
	}
	name, _, ok := strings.Cut(word, "=")
	return strings.HasPrefix(word, "-") || ok && name != "" && !strings.ContainsAny(name, "/.-")
}
