package dispatch

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// task is a dispatch as a caller's tool is called.
type task struct{ agent, description, prompt, model string }

// parseTask reads the Task form, or its JSON; ok is false for what is neither.
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
		p.fail("there is more after it")
		if strings.HasPrefix(string(p.rest), "Task") {
			return t, true, severalSteps()
		}
	}
	return t, true, p.err
}

// parseObject reads the JSON that a caller's Task tool gets.
func parseObject(line string) (task, error) {
	var o struct {
		Agent       string `json:"subagent_type"`
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Model       string `json:"model"`
	}
	// Who checked one prompt must not have another carried out: no key may be there twice, in whatever letters.
	if err := jsonx.Decode([]byte(line), &o, jsonx.Options{}); err != nil {
		return task{}, &lineError{
			Reason: "the JSON object can't be read: " + err.Error(),
			Advice: `write {"subagent_type": "skills", "description": "…", "prompt": "execute @SKILL ARGUMENTS"}`,
		}
	}
	return task{agent: o.Agent, description: o.Description, prompt: o.Prompt, model: o.Model}, nil
}

// taskReader reads the arguments of a call as JavaScript writes them. After an error it returns nothing.
type taskReader struct {
	rest []rune
	err  error
}

func (p *taskReader) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &lineError{
			Reason: "the Task form can't be read: " + fmt.Sprintf(format, args...),
			Advice: `write Task("skills", "<3 to 5 words>", "execute @SKILL ARGUMENTS", {model: "sonnet"}), ` +
				"the last argument is optional",
		}
	}
}

// next returns the next character that is no space and in no comment, without taking it; 0 at the end.
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
		p.fail("it ends where %q is expected", r)
	default:
		p.fail("%q is where %q is expected", next, r)
	}
}

// text reads a string in quotes of either kind.
func (p *taskReader) text() string {
	quote := p.next()
	if p.err != nil {
		return ""
	}
	if quote != '"' && quote != '\'' {
		p.fail("a text in quotes is expected")
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
	p.fail("a text has no closing quote")
	return ""
}

// escaped returns what a character stands for after a backslash. What has no meaning there keeps the backslash.
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

// options reads {model: "…"} and returns the model. Other options are passed over, if their values are texts.
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
		p.fail("the name of an option is expected")
		return ""
	}
	key := string(p.rest[:n])
	p.rest = p.rest[n:]
	return key
}
