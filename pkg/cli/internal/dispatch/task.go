package dispatch

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// task is a dispatch in the form of a tool call.
type task struct{ agent, description, prompt, model string }

// parseTask parses the Task form, or its JSON. ok is false for other input.
func parseTask(line string) (t task, ok bool, err error) {
	if strings.HasPrefix(line, "{") {
		t, err := parseObject(line)
		return t, true, err
	}
	rest, ok := strings.CutPrefix(line, "Task")
	if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, "(") {
		return t, false, nil
	}
	p := &taskReader{rest: []rune(rest[1:])}
	for i, field := range []*string{&t.agent, &t.description, &t.prompt} {
		if i > 0 {
			p.expect(',')
		}
		*field = p.text()
	}
	if p.next() == ',' {
		p.expect(',')
		if p.next() == '{' {
			t.model = p.options()
		}
		if p.next() == ',' {
			p.expect(',')
		}
	}
	p.expect(')')
	if p.next() == ';' {
		p.expect(';')
	}
	if p.err == nil && p.next() != 0 {
		p.fail("unexpected text after the call")
		if strings.HasPrefix(string(p.rest), "Task") {
			return t, true, newLineError(severalSteps)
		}
	}
	return t, true, p.err
}

// parseObject parses the JSON input of a caller's Task tool.
func parseObject(line string) (task, error) {
	var o struct {
		Agent       string `json:"subagent_type"`
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Model       string `json:"model"`
	}
	// Duplicate keys, in any case, are rejected: otherwise another prompt than the checked one could run.
	if err := jsonx.Decode([]byte(line), &o, jsonx.Options{}); err != nil {
		return task{}, newLineError(wrongObject, err.Error())
	}
	return task{agent: o.Agent, description: o.Description, prompt: o.Prompt, model: o.Model}, nil
}

// taskReader parses the arguments of a call in JavaScript syntax. After an error it returns nothing.
type taskReader struct {
	rest []rune
	err  error
}

func (p *taskReader) fail(format string, args ...any) {
	if p.err == nil {
		p.err = newLineError(wrongTask, fmt.Sprintf(format, args...))
	}
}

// next returns the next character outside of spaces and comments without consuming it, or 0 at the end.
func (p *taskReader) next() rune {
	for len(p.rest) > 0 {
		switch {
		case unicode.IsSpace(p.rest[0]):
			p.rest = p.rest[1:]
		case p.rest[0] == '/' && len(p.rest) > 1 && p.rest[1] == '/':
			for len(p.rest) > 0 && p.rest[0] != '\n' {
				p.rest = p.rest[1:]
			}
		default:
			return p.rest[0]
		}
	}
	return 0
}

func (p *taskReader) expect(r rune) {
	if p.err != nil {
		return
	}
	switch next := p.next(); next {
	case r:
		p.rest = p.rest[1:]
	case 0:
		p.fail("expected %q at the end", r)
	default:
		p.fail("expected %q instead of %q", r, next)
	}
}

// text parses a string in single or double quotes.
func (p *taskReader) text() string {
	quote := p.next()
	if p.err != nil {
		return ""
	}
	if quote != '"' && quote != '\'' {
		p.fail("expected a quoted text")
		return ""
	}
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch r := p.rest[i]; {
		case r == quote:
			p.rest = p.rest[i+1:]
			return b.String()
		case r == '\\' && i+1 < len(p.rest):
			i++
			b.WriteString(escaped(p.rest[i]))
		default:
			b.WriteRune(r)
		}
	}
	p.fail("missing closing quote")
	return ""
}

// escaped returns the character for an escape sequence. An unknown sequence keeps the backslash.
func escaped(r rune) string {
	switch r {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '"', '\'', '\\', '/':
		return string(r)
	default:
		return `\` + string(r)
	}
}

// options parses {model: "…"} and returns the model. It ignores other options with string values.
func (p *taskReader) options() (model string) {
	p.expect('{')
	for p.err == nil && p.next() != '}' {
		key := p.key()
		p.expect(':')
		if value := p.text(); key == "model" {
			model = value
		}
		if p.next() == ',' {
			p.expect(',')
		} else if p.next() != '}' {
			p.expect('}')
		}
	}
	p.expect('}')
	return model
}

func (p *taskReader) key() string {
	if r := p.next(); r == '"' || r == '\'' {
		return p.text()
	}
	n := 0
	for n < len(p.rest) && (unicode.IsLetter(p.rest[n]) || unicode.IsDigit(p.rest[n]) || p.rest[n] == '_') {
		n++
	}
	if n == 0 {
		p.fail("expected the name of an option")
		return ""
	}
	key := string(p.rest[:n])
	p.rest = p.rest[n:]
	return key
}
