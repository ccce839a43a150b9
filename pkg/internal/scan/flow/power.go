package flow

import "strings"

// power evaluates PowerShell, with the commands of a shell. It reads one line after the other.
type power struct {
	*shell
	text string
	pos  int
}

func newPower(s *shell) *power { return &power{shell: s} }

// script evaluates a script.
func (p *power) script(text string) {
	if len(text) > maxFile {
		return
	}
	p.text, p.pos = text, 0
	p.statements(0)
}

// statements evaluates statements up to the closing bracket, or to the end for 0. It returns the output.
func (p *power) statements(closing byte) (out value) {
	if p.tooDeep() {
		p.pos = len(p.text)
		return value{}
	}
	p.depth++
	defer func() { p.depth-- }()
	for p.pos < len(p.text) {
		p.space(true)
		if p.pos >= len(p.text) {
			break
		}
		c := p.text[p.pos]
		if c == closing {
			p.pos++
			return out
		}
		if c == ';' || c == '}' || c == ')' || c == '|' || c == '&' && p.pos+1 < len(p.text) && p.text[p.pos+1] == '&' {
			p.pos++
			continue
		}
		if !p.fixed {
			p.at = p.pos
		}
		from := p.pos
		out = p.last(out, p.pipeline(closing))
		if p.pos == from {
			p.pos++
		}
	}
	return out
}

// space skips blanks and comments, and line breaks if lines.
func (p *power) space(lines bool) {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && lines:
			p.pos++
		case c == '`' && p.pos+1 < len(p.text) && (p.text[p.pos+1] == '\n' || p.text[p.pos+1] == '\r'):
			p.pos += 2
		case c == '#':
			p.pos += lineLength(p.text[p.pos:])
		case strings.HasPrefix(p.text[p.pos:], "<#"):
			if end := strings.Index(p.text[p.pos:], "#>"); end >= 0 {
				p.pos += end + 2
			} else {
				p.pos = len(p.text)
			}
		default:
			return
		}
	}
}

// pipeline evaluates commands that pipes connect, or an assignment.
func (p *power) pipeline(closing byte) value {
	in := value{}
	if p.tooDeep() {
		p.pos = len(p.text)
		return in
	}
	p.depth++
	defer func() { p.depth-- }()
	for {
		words, target := p.command(closing)
		if target != "" {
			v := p.pipeline(closing)
			p.set(strings.ToLower(target), v)
			return value{}
		}
		if len(words) > 0 {
			in = p.cmdlet(words, in)
		}
		p.space(false)
		if p.pos >= len(p.text) || p.text[p.pos] != '|' {
			return in
		}
		p.pos++
		p.space(true)
	}
}

// command reads the words of a command. target is the variable of an assignment whose value follows.
func (p *power) command(closing byte) (words []value, target string) {
	for p.pos < len(p.text) {
		p.space(false)
		if p.pos >= len(p.text) {
			return words, ""
		}
		c := p.text[p.pos]
		switch {
		case c == '\n' || c == ';' || c == '|' || c == ')' || c == '}' || c == closing && closing != 0:
			return words, ""
		case c == '{':
			p.pos++
			body := p.statements('}')
			words = append(words, value{from: body.from})
			continue
		case c == '=' && len(words) == 1 && words[0].ref != "":
			p.pos++
			return nil, words[0].ref
		case c == '>':
			p.pos++
			if p.pos < len(p.text) && p.text[p.pos] == '>' {
				p.pos++
			}
			words = append(words, value{text: ">", literal: true})
			continue
		}
		words = append(words, p.word())
	}
	return words, ""
}

// word reads a word, with what is attached to it: methods, and elements.
func (p *power) word() value {
	var parts []value
	for p.pos < len(p.text) {
		from := p.pos
		switch c := p.text[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';' || c == '|' || c == ')' || c == '}' ||
			c == '{' || c == '>' || c == ',' && len(parts) > 0:
			if c == ',' {
				p.pos++
			}
			return p.joinParts(parts)
		case c == '\'':
			end := strings.IndexByte(p.text[p.pos+1:], '\'')
			if end < 0 {
				end = len(p.text) - p.pos - 1
			}
			parts = append(parts, value{text: cut(p.text[p.pos+1 : p.pos+1+end]), literal: true})
			p.pos = min(p.pos+end+2, len(p.text))
		case c == '"':
			parts = append(parts, p.quoted())
		case c == '$' && p.pos+1 < len(p.text) && p.text[p.pos+1] == '(':
			p.pos += 2
			parts = append(parts, p.statements(')').bare())
		case c == '(':
			p.pos++
			v := p.statements(')').bare()
			if n := len(parts); n > 0 { // the arguments of a method
				parts[n-1] = p.method(parts[n-1], v)
			} else {
				parts = append(parts, v)
			}
		case c == '@' && p.pos+1 < len(p.text) && (p.text[p.pos+1] == '{' || p.text[p.pos+1] == '('):
			open := p.text[p.pos+1]
			p.pos += 2
			close := byte('}')
			if open == '(' {
				close = ')'
			}
			parts = append(parts, p.statements(close).bare())
		case c == '$':
			parts = append(parts, p.dollar())
		case c == '=' && len(parts) == 1 && parts[0].ref != "":
			return parts[0]
		default:
			end := p.pos + 1
			for end < len(p.text) && strings.IndexByte(" \t\r\n;|(){}>'\"$,=", p.text[end]) < 0 {
				end++
			}
			if end < len(p.text) && p.text[end] == '=' && len(parts) == 0 && p.text[from] != '-' {
				end++
			}
			text := strings.ReplaceAll(p.text[p.pos:end], "`", "")
			p.pos = end
			if n := len(parts); n > 0 && strings.HasPrefix(text, ".") && parts[n-1].name+parts[n-1].ref != "" ||
				n > 0 && strings.HasPrefix(text, "::") {
				parts[n-1].name += text
				parts[n-1].ref = ""
				continue
			}
			parts = append(parts, value{text: text, literal: true, name: text})
		}
		if p.pos == from {
			p.pos++
		}
	}
	return p.joinParts(parts)
}

func (v value) bare() value {
	v.ref = ""
	if v.text == "" && v.name == "" {
		v.name = "()"
	}
	return v
}

func (p *power) joinParts(parts []value) value {
	switch len(parts) {
	case 0:
		return value{}
	case 1:
		return parts[0]
	}
	return p.join("", parts...)
}

// dollar reads a variable.
func (p *power) dollar() value {
	p.pos++
	braces := p.pos < len(p.text) && p.text[p.pos] == '{'
	if braces {
		p.pos++
	}
	start := p.pos
	for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == ':' && p.pos+1 < len(p.text) &&
		isNameByte(p.text[p.pos+1])) {
		p.pos++
	}
	name := strings.ToLower(p.text[start:p.pos])
	original := p.text[start:p.pos]
	if braces && p.pos < len(p.text) {
		p.pos++
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		switch env {
		case "userprofile", "home", "appdata", "localappdata":
			return value{text: "~", literal: true}
		}
		if strings.Contains(systemVariables, " "+strings.ToUpper(env)+" ") || env == "computername" ||
			env == "username" || env == "programfiles" || env == "systemroot" {
			return value{text: "$" + env, literal: true}
		}
		v := p.source(Fact{Kind: ReadsVariable, Detail: original[4:], Sure: Certain})
		v.text = p.hole(v)
		return v
	}
	if name == "home" {
		return value{text: "~", literal: true}
	}
	v, ok := p.vars[name]
	if !ok {
		v.text = p.hole(v)
	}
	v.ref = name
	if name == "" {
		v.ref = ""
	}
	return v
}

// quoted reads a text in double quotes.
func (p *power) quoted() value {
	p.pos++
	var parts []value
	start := p.pos
	flush := func() {
		if p.pos > start {
			parts = append(parts, value{text: strings.ReplaceAll(p.text[start:p.pos], "`", ""), literal: true})
		}
	}
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == '"':
			flush()
			p.pos++
			return p.text1(parts)
		case c == '`':
			p.pos += 2
			p.pos = min(p.pos, len(p.text))
			continue
		case c == '$' && p.pos+1 < len(p.text) && p.text[p.pos+1] == '(':
			flush()
			p.pos += 2
			parts = append(parts, p.statements(')'))
			start = p.pos
			continue
		case c == '$' && p.pos+1 < len(p.text) && (isNameByte(p.text[p.pos+1]) || p.text[p.pos+1] == '{'):
			flush()
			parts = append(parts, p.dollar())
			start = p.pos
			continue
		}
		p.pos++
	}
	flush()
	return p.text1(parts)
}

func (p *power) text1(parts []value) value {
	v := p.join("", parts...)
	v.literal = true
	return v
}
