package flow

import (
	"slices"
	"strings"
)

// list evaluates expressions that are separated by commas.
func (c *code) list(end int) value {
	if c.pos >= end {
		return value{}
	}
	first := c.expression(end)
	if c.op(c.pos) != "," {
		return first
	}
	base := len(c.stack)
	c.push(first)
	for c.op(c.pos) == "," {
		c.pos++
		if c.pos >= end || c.tokens[c.pos].first && c.lang == Python {
			break
		}
		c.push(c.expression(end))
	}
	return c.memory.list(base, false)
}

func (m *memory) push(v value) { m.stack = append(m.stack, v) }

// list pops the values from base on, and returns a list of them. If literal is false, a single value is returned
// unchanged.
func (m *memory) list(base int, literal bool) value {
	values := m.stack[base:]
	var v value
	if len(values) == 1 && !literal {
		v = values[0]
	} else {
		v = union(values...)
		v.setArgv(slices.Clone(values[:min(len(values), maxElements)]))
	}
	m.pop(base)
	return v
}

// pop removes the values on the stack from base on.
func (m *memory) pop(base int) {
	clear(m.stack[base:])
	m.stack = m.stack[:base]
}

// expression evaluates one expression up to a token that cannot continue it.
func (c *code) expression(end int) value {
	if c.tooDeep() {
		for c.pos < end && (c.op(c.pos) == "" || !strings.Contains(",)]};", c.op(c.pos))) {
			if op := c.op(c.pos); op == "(" || op == "[" || op == "{" {
				c.pos = c.end(c.pos)
			}
			c.pos++
		}
		return value{}
	}
	c.depth++
	defer func() { c.depth-- }()
	v := c.unary(end)
	compared := false
	for c.pos < end {
		i := c.pos
		t := c.tokens[i]
		if t.first && c.lang != JavaScript {
			break
		}
		operator := t.text
		if t.kind == tokenName {
			if t.first {
				break
			}
			switch operator {
			case "if":
				if c.lang != Python {
					return c.truth(v, compared)
				}
				c.pos++
				c.expression(end)
				if c.word(c.pos) == "else" {
					c.pos++
					v = c.merge(v, c.expression(end))
				}
				continue
			case "and", "or", "in", "is", "not", "instanceof":
			case "as", "satisfies":
				if c.lang != JavaScript {
					return c.truth(v, compared)
				}
				c.skipType(end)
				continue
			default:
				return c.truth(v, compared)
			}
		} else if t.kind != tokenOp {
			break
		}
		switch operator {
		case "+":
			c.pos++
			v = c.plus(v, c.unary(end))
		case "%":
			c.pos++
			v = c.percent(v, c.unary(end))
		case "/":
			c.pos++
			right := c.unary(end)
			if v.name == "Path" || v.text != "" && right.text != "" && !numeric(right.text) {
				name := v.name
				v = c.join("/", v, right)
				v.name = name
			} else {
				v = union(v, right)
			}
		case "==", "!=", "<", ">", "<=", ">=", "===", "!==", "in", "is", "not", "instanceof":
			c.pos++
			compared = true
			c.unary(end)
		case "and", "&&":
			c.pos++
			right := c.expression(end)
			v = right
			compared = false
		case "or", "||", "??":
			c.pos++
			v = c.merge(v, c.expression(end))
		case "?":
			c.pos++
			a := c.expression(end)
			if c.op(c.pos) == ":" {
				c.pos++
				a = c.merge(a, c.expression(end))
			}
			v, compared = a, false
		case ":=":
			name := v.ref
			c.pos++
			v = c.expression(end)
			if name != "" {
				c.store(name, v)
			}
		case "=":
			if c.lang != JavaScript || v.ref == "" {
				return c.truth(v, compared)
			}
			name := v.ref
			c.pos++
			v = c.expression(end)
			c.store(name, v)
		case "-", "*", "**", "//", "|", "&", "^", "<<", ">>", ">>>", "@", "+=", "-=", "|=":
			c.pos++
			right := c.unary(end)
			v = union(v, right)
		case "!", "++", "--":
			c.pos++
		default:
			return c.truth(v, compared)
		}
	}
	return c.truth(v, compared)
}

func numeric(text string) bool { return strings.Trim(text, "0123456789.e") == "" }

// truth returns an expression's value, which is not its operands if they were compared.
func (c *code) truth(v value, compared bool) value {
	if compared {
		return value{}
	}
	return v
}

// merge returns the value that is one of two.
func (c *code) merge(a, b value) value {
	out := a
	if a.text == "" && a.name == "" && !a.literal || hasHole(a.text) && strings.IndexByte(a.text, 0) == 0 &&
		b.text != "" {
		out = b
	}
	out.from = a.from.with(b.from)
	out.ref = ""
	return out
}

// skipType skips a type after as.
func (c *code) skipType(end int) {
	c.pos++
	for c.pos < end {
		switch op := c.op(c.pos); {
		case op == "<" || op == ">" || op == "." || op == "|":
		case op == "[" || op == "{":
			c.pos = c.end(c.pos)
		case c.word(c.pos) != "" && !c.tokens[c.pos].first:
		default:
			return
		}
		c.pos++
	}
}

// unary evaluates an operand with its prefixes.
func (c *code) unary(end int) value {
	if c.pos >= end {
		return value{}
	}
	if c.tooDeep() {
		c.pos++
		return value{}
	}
	c.depth++
	defer func() { c.depth-- }()
	switch t := c.tokens[c.pos]; t.kind {
	case tokenOp:
		switch t.text {
		case "!":
			c.pos++
			c.unary(end)
			return value{}
		case "-", "+", "~", "*", "**", "...", "++", "--", "&", "::":
			c.pos++
			v := c.unary(end)
			return v
		}
	case tokenName:
		switch t.text {
		case "not", "typeof", "void":
			c.pos++
			c.unary(end)
			return value{}
		case "await", "yield", "delete", "new":
			c.pos++
			return c.unary(end)
		case "async":
			if c.op(c.pos+1) == "(" || c.word(c.pos+1) != "" {
				c.pos++
				if c.op(c.pos) == "(" && c.op(c.end(c.pos)+1) != "=>" {
					c.pos--
					break
				}
				return c.unary(end)
			}
		case "lambda":
			return c.lambda(end)
		case "function":
			if c.lang == JavaScript {
				return c.arrow("", nil)
			}
		}
	}
	v := c.primary(end)
	return c.trailers(v, end)
}

// lambda evaluates a lambda of Python.
func (c *code) lambda(end int) value {
	c.pos++
	for c.pos < end && c.op(c.pos) != ":" && !c.tokens[c.pos].first {
		c.pos++
	}
	if c.op(c.pos) == ":" {
		c.pos++
	}
	return c.expression(end)
}

// arrow evaluates a function of JavaScript without name at c.pos. params are the values of its parameters, if they are
// known. It returns the results.
func (c *code) arrow(name string, params *value) (out value) {
	if c.word(c.pos) == "async" {
		c.pos++
	}
	fn := name
	if name == "" {
		fn = c.top().fn
	}
	outer := len(c.scopes)
	if !c.enter(fn, 0) {
		c.skipFunction()
		return value{}
	}
	defer c.leaveTo(outer)
	if c.word(c.pos) == "function" {
		c.pos++
		if c.op(c.pos) == "*" {
			c.pos++
		}
		if c.word(c.pos) != "" {
			c.pos++
		}
	}
	if w := c.word(c.pos); w != "" {
		c.bindLocal(w, c.argument(name, 0, w, params))
		c.pos++
	} else if c.op(c.pos) == "(" {
		end := c.end(c.pos)
		if name != "" && params == nil {
			c.parameters(c.pos+1, end, name)
		} else {
			for k := c.pos + 1; k < end; k++ {
				if w := c.word(k); w != "" && (c.op(k-1) == "(" || c.op(k-1) == "," || c.op(k-1) == "{") {
					c.bindLocal(w, c.argument(name, 0, w, params))
				}
			}
		}
		c.pos = end + 1
	}
	if !c.skipResultType() {
		return value{}
	}
	if c.op(c.pos) == "=>" {
		c.pos++
	}
	if c.op(c.pos) == "{" {
		c.nestedBlock(c.pos)
	} else {
		out = c.expression(len(c.tokens))
		if name != "" {
			c.reach(out.from, c.functionKey("result:", name, ""))
		}
	}
	return out
}

// skipResultType skips what is between the parameters and the body of a function of JavaScript, and reports whether it
// has a body.
func (c *code) skipResultType() bool {
	for end := c.pos + maxAhead; c.pos < min(end, len(c.tokens)); c.pos++ {
		switch c.op(c.pos) {
		case "=>", "{":
			return true
		case "[":
			c.pos = c.end(c.pos)
		case ")", "]", "}", ";", ",":
			return false
		}
	}
	return false
}

// skipFunction skips a function of JavaScript at c.pos, which is nested too deeply.
func (c *code) skipFunction() {
	for c.word(c.pos) != "" || c.op(c.pos) == "*" { // async, function, and the name or the only parameter
		c.pos++
	}
	if c.op(c.pos) == "(" {
		c.pos = c.end(c.pos) + 1
	}
	if !c.skipResultType() {
		return
	}
	if c.op(c.pos) == "=>" {
		c.pos++
	}
	if c.op(c.pos) == "{" {
		c.pos = c.end(c.pos) + 1
	}
}

func (c *code) argument(fn string, n int, name string, params *value) value {
	switch {
	case params != nil:
		return value{from: params.from, name: ".", text: c.textOf(value{from: params.from})}
	case fn != "":
		return c.parameter(fn, n, name)
	}
	return value{}
}

// functionValue evaluates the value of an assignment. A function that is assigned to an attribute gets its name.
func (c *code) functionValue(from, at, end int) value {
	if name := c.word(at - 1); at-1 > from && name != "" && c.op(at-2) == "." && c.isArrow(c.pos) {
		c.funcs[name] = true
		c.arrow(name, nil)
		return value{name: "fn:" + name}
	}
	return c.expression(end)
}

// isArrow reports whether a function of JavaScript begins at i.
func (c *code) isArrow(i int) bool {
	if c.lang != JavaScript {
		return false
	}
	if c.word(i) == "async" {
		i++
	}
	switch {
	case c.word(i) == "function":
		return true
	case c.word(i) != "":
		return c.op(i+1) == "=>"
	case c.op(i) == "(":
		return c.op(c.end(i)+1) == "=>"
	}
	return false
}
