package flow

import (
	"slices"
	"strconv"
	"strings"
)

// maxAhead is the number of tokens that the evaluation looks ahead.
const maxAhead = 200

// code evaluates Python, JavaScript, and Ruby.
type code struct {
	*reader
	lang     Language
	tokens   []token
	tokenBuf []token // the memory of tokens
	pos      int
	imports  map[string]string // names and what they stand for
	own      map[string]bool   // last parts of modules that may be the skill's own
	funcs    map[string]bool
	required map[string]bool // modules that the code imports
	scopes   []scope
	locals   map[string]int32 // the index of the innermost variable of a name in vars, plus one
	vars     []variable
	inner    []string // the names of the variables of functions, in the order of their scopes
	shell    *shell
	args     []arg // of the calls that are being evaluated
}

// script evaluates code.
func (c *code) script(text string) {
	if len(text) > maxFile || c.tooDeep() {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	c.tokens, c.pos = lex(c.lang, text, c.tokenBuf), 0
	c.declare()
	c.block(len(c.tokens))
	clear(c.tokens) // they refer to the text of the file
	c.tokenBuf, c.tokens = c.tokens[:0], nil
	if cap(c.tokenBuf) > maxTokens {
		c.tokenBuf = nil
	}
}

// declare collects the names of the functions of the file.
func (c *code) declare() {
	for i, t := range c.tokens {
		if t.kind != tokenName || i+1 >= len(c.tokens) {
			continue
		}
		switch next := c.tokens[i+1]; {
		case (t.text == "def" || t.text == "function") && next.kind == tokenName:
			c.funcs[next.text] = true
		case t.text == "function" && next.text == "*" && i+2 < len(c.tokens):
			c.funcs[c.tokens[i+2].text] = true
		case c.lang == JavaScript && (t.text == "const" || t.text == "let") && next.kind == tokenName &&
			c.arrowFollows(i+2):
			c.funcs[next.text] = true
		}
	}
}

// arrowFollows reports whether the value that is assigned at i is a function.
func (c *code) arrowFollows(i int) bool {
	if c.op(i) != "=" {
		return false
	}
	i++
	if c.word(i) == "async" {
		i++
	}
	if c.word(i) == "function" {
		return true
	}
	if c.op(i) == "(" {
		return c.op(int(c.tokens[i].match)+1) == "=>"
	}
	return c.word(i) != "" && c.op(i+1) == "=>"
}

// op returns the operator at i, or "".
func (c *code) op(i int) string {
	if i >= 0 && i < len(c.tokens) && c.tokens[i].kind == tokenOp {
		return c.tokens[i].text
	}
	return ""
}

// word returns the name at i, or "".
func (c *code) word(i int) string {
	if i >= 0 && i < len(c.tokens) && c.tokens[i].kind == tokenName {
		return c.tokens[i].text
	}
	return ""
}

func (c *code) end(i int) int { return min(max(int(c.tokens[i].match), i+1), len(c.tokens)) }

// here sets the position of facts to a token.
func (c *code) here(i int) {
	if !c.fixed && i < len(c.tokens) {
		c.at = int(c.tokens[i].at)
	}
}

// block evaluates statements up to a token.
func (c *code) block(end int) {
	end = min(end, len(c.tokens))
	for c.pos < end {
		from := c.pos
		t := c.tokens[from]
		if c.lang != JavaScript && t.first {
			for len(c.scopes) > 1 && t.col <= c.top().col && (c.lang == Python || t.text == "end") {
				c.leave()
			}
		}
		c.here(from)
		if t.kind == tokenOp && strings.Contains(";,:)]}", t.text) || t.kind == tokenFormatEnd {
			c.pos++
			continue
		}
		c.statement(end)
		if c.pos <= from {
			c.pos = from + 1
		}
	}
}

// statement evaluates one statement.
func (c *code) statement(end int) {
	i := c.pos
	switch c.word(i) {
	case "def":
		c.function(i+1, c.tokens[i].col)
		return
	case "function":
		if c.op(i+1) == "*" {
			i++
		}
		if c.lang == JavaScript && c.word(i+1) != "" {
			c.method(i + 1)
			return
		}
	case "class", "module", "interface", "enum", "namespace":
		if c.word(i+1) != "" {
			c.class(i, end)
			return
		}
	case "async", "export", "default", "public", "private", "protected", "static", "declare", "override", "abstract",
		"readonly", "get":
		if c.word(i+1) != "" || c.op(i+1) == "{" && c.word(i) != "get" {
			c.pos++
			return
		}
	case "import":
		c.importStatement(end)
		return
	case "from":
		if c.lang == Python {
			c.fromImport(end)
			return
		}
	case "for":
		c.loop(end)
		return
	case "with":
		if c.lang == Python {
			c.with(end)
			return
		}
	case "return", "yield":
		c.pos++
		if c.pos < end && c.tokens[c.pos].first {
			return // without a value
		}
		v := c.list(end)
		if fn := c.top().fn; fn != "" && len(v.from) > 0 {
			c.reach(v.from, c.functionKey("result:", fn, ""))
		}
		return
	case "if", "elif", "while", "until", "unless", "switch", "case", "when", "assert", "raise", "throw", "del",
		"delete", "rescue":
		c.pos++
		c.list(end)
		return
	case "else", "try", "finally", "pass", "break", "continue", "end", "begin", "do", "ensure", "then", "global",
		"nonlocal", "debugger", "loop":
		c.pos++
		return
	case "except", "catch":
		c.pos++
		if c.op(c.pos) == "(" {
			c.pos = c.end(c.pos) + 1
		}
		return
	case "const", "let", "var":
		c.pos++
		c.declaration(end)
		return
	case "require", "require_relative", "load":
		if c.lang == Ruby {
			c.pos += 2
			return
		}
	}
	if c.op(i) == "{" && c.lang == JavaScript {
		c.nestedBlock(i)
		return
	}
	if c.op(i) == "@" {
		c.pos++
		return
	}
	if c.lang == JavaScript && c.word(i) != "" && c.op(i+1) == "(" && c.bodyFollows(i+1) && !control(c.word(i)) {
		c.method(i)
		return
	}
	if at, op := c.assignment(i, end); at > 0 {
		c.assign(i, at, op, end)
		return
	}
	c.list(end)
}

func control(name string) bool {
	switch name {
	case "if", "for", "while", "switch", "catch", "with", "function", "return":
		return true
	}
	return false
}

// nestedBlock evaluates the statements in braces.
func (c *code) nestedBlock(i int) {
	if c.tooDeep() {
		c.pos = c.end(i) + 1
		return
	}
	c.depth++
	end := c.end(i)
	c.pos = i + 1
	c.block(end)
	c.pos = end + 1
	c.depth--
}

// bodyFollows reports whether a body in braces follows parameters in parentheses at i, maybe after a type.
func (c *code) bodyFollows(i int) bool {
	k := c.end(i) + 1
	if c.op(k) == ":" {
		for k++; k < len(c.tokens) && k < i+400; k++ {
			switch op := c.op(k); op {
			case "{":
				return true
			case "(", "[":
				k = c.end(k)
			case ";", "=", ",", ")", "}", "=>":
				return false
			}
		}
	}
	return c.op(k) == "{"
}

// class skips the head of a class.
func (c *code) class(i, end int) {
	for k := i + 1; k < min(end, i+maxAhead); k++ {
		if c.tokens[k].first && k > i+1 && c.lang != JavaScript {
			c.pos = k
			return
		}
		switch c.op(k) {
		case ":":
			c.pos = k + 1
			return
		case "{":
			c.nestedBlock(k)
			return
		case "(", "[":
			k = c.end(k)
		case ";":
			c.pos = k
			return
		}
	}
	c.pos = i + 2
}

// function begins a function of Python or Ruby whose name is at i.
func (c *code) function(i int, col int32) {
	name := c.word(i)
	if c.op(i+1) == "." && c.word(i) == "self" {
		i += 2
		name = c.word(i)
	}
	c.pos = i + 1
	entered := c.enter(name, col)
	if c.op(i+1) == "(" {
		end := c.end(i + 1)
		if entered {
			c.parameters(i+2, end, name)
		}
		c.pos = end + 1
	}
	for c.lang == Python && c.pos < len(c.tokens) && !c.tokens[c.pos].first && c.op(c.pos) != ":" { // -> type
		if op := c.op(c.pos); op == "[" || op == "(" {
			c.pos = c.end(c.pos)
		}
		c.pos++
	}
}

// method evaluates a function of JavaScript whose name is at i.
func (c *code) method(i int) {
	name := c.word(i)
	if c.op(i+1) != "(" {
		c.pos = i + 1
		return
	}
	c.funcs[name] = true
	end := c.end(i + 1)
	k := end + 1
	for k < len(c.tokens) && c.op(k) != "{" && k < end+200 && c.op(k) != ";" {
		k++
	}
	c.pos = k
	if outer := len(c.scopes); c.op(k) == "{" && c.enter(name, 0) {
		c.parameters(i+2, end, name)
		c.nestedBlock(k)
		c.leaveTo(outer)
	}
}

// parameters binds the parameters between two tokens to nodes, by position and by name.
func (c *code) parameters(i, end int, fn string) {
	n := 0
	expect := true
	for ; i < end && i < len(c.tokens); i++ {
		switch {
		case c.op(i) == ",":
			expect = true
		case expect && (c.op(i) == "*" || c.op(i) == "**" || c.op(i) == "..." || c.op(i) == "&"):
		case expect && c.op(i) == "{": // destructuring
			for k := i + 1; k < c.end(i); k++ {
				if w := c.word(k); w != "" {
					c.bindLocal(w, c.parameter(fn, n, w))
				}
			}
			i = c.end(i)
			expect = false
			n++
		case expect && c.word(i) != "":
			expect = false
			name := c.word(i)
			if n == 0 && (name == "self" || name == "cls") && c.lang == Python {
				continue
			}
			if fn != "" {
				c.bindLocal(name, c.parameter(fn, n, name))
			}
			n++
		case c.op(i) == "=" && i+1 < end && fn != "": // the default
			if name := c.word(i - 1); name != "" && i+1 < len(c.tokens) && c.tokens[i+1].kind == tokenText {
				v := c.localVar(name)
				v.text, v.literal = cut(c.tokens[i+1].text), true
				c.bindLocal(name, v)
			}
		case strings.Contains("([{", c.op(i)) && c.op(i) != "":
			i = c.end(i)
		}
	}
}

func (c *code) parameter(fn string, n int, name string) value {
	a, b := c.key("call:", c.stem, ".", fn, " ", strconv.Itoa(n)), c.key("call:", c.stem, ".", fn, " ", name)
	v := value{from: set{min(a, b), max(a, b)}}
	v.text = c.hole(v)
	return v
}

// local returns the name of a function of this file in the keys.
func (c *code) local(name string) string { return c.stem + "." + name }

// loop reads the head of a for loop.
func (c *code) loop(end int) {
	c.pos++
	if c.tooDeep() {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.word(c.pos) == "await" {
		c.pos++
	}
	if c.lang == JavaScript && c.op(c.pos) == "(" {
		stop := c.end(c.pos)
		for k := c.pos + 1; k < min(stop, c.pos+maxAhead); k++ {
			if w := c.word(k); w == "of" || w == "in" {
				from := c.pos + 1
				c.pos = k + 1
				c.bind(from, k, c.element(c.list(stop)))
				c.pos = stop + 1
				return
			}
			if c.op(k) == ";" {
				break
			}
		}
		c.pos++
		c.block(stop)
		c.pos = stop + 1
		return
	}
	from := c.pos
	for k := from; k < min(end, from+maxAhead); k++ {
		if c.tokens[k].first && k > from {
			return
		}
		if c.word(k) == "in" {
			c.pos = k + 1
			c.bind(from, k, c.element(c.list(end)))
			return
		}
		if op := c.op(k); op == "(" || op == "[" {
			k = c.end(k)
		}
	}
}

func (c *code) with(end int) {
	c.pos++
	for c.pos < end {
		v := c.expression(end)
		if c.word(c.pos) == "as" {
			from := c.pos + 1
			c.pos++
			for c.pos < end && c.op(c.pos) != ":" && c.op(c.pos) != "," && !c.tokens[c.pos].first {
				c.pos++
			}
			c.bind(from, c.pos, v)
		}
		if c.op(c.pos) != "," {
			return
		}
		c.pos++
	}
}

// plus returns the sum of two values.
func (c *code) plus(a, b value) value {
	if left, right := a.partsOrEmpty().argv, b.partsOrEmpty().argv; len(left) > 0 || len(right) > 0 {
		v := union(a, b)
		v.setArgv(slices.Concat(left, right))
		return v
	}
	return c.join("", a, b)
}
