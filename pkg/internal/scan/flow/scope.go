package flow

import (
	"slices"
	"strings"
)

// scope is a function, or the file.
type scope struct {
	fn    string // name of the function
	col   int32  // of its first token; -1 for the file
	inner int    // how many names of inner belong to outer scopes
	vars  int    // how many variables it has
}

// variable is a variable of a scope.
type variable struct {
	v     value
	scope int32 // index of the scope
	outer int32 // the index of the variable of an outer scope with the same name, plus one
}

const (
	maxScopes = 40   // nested functions
	maxVars   = 2000 // variables of one scope
)

func (c *code) top() *scope { return &c.scopes[len(c.scopes)-1] }

// enter begins the scope of a function, if it is not nested too deeply.
func (c *code) enter(fn string, col int32) bool {
	if len(c.scopes) >= maxScopes {
		return false
	}
	c.scopes = append(c.scopes, scope{fn: fn, col: col, inner: len(c.inner)})
	return true
}

// leaveTo ends the innermost scopes until n are left.
func (c *code) leaveTo(n int) {
	for len(c.scopes) > n {
		c.leave()
	}
}

// leave ends the innermost scope.
func (c *code) leave() {
	first := c.top().inner
	for _, name := range slices.Backward(c.inner[first:]) {
		i := c.locals[name] - 1
		if outer := c.vars[i].outer; outer > 0 {
			c.locals[name] = outer
		} else {
			delete(c.locals, name)
		}
		if c.vars[i].v = (value{}); int(i) == len(c.vars)-1 {
			c.vars = c.vars[:i]
		}
	}
	c.inner, c.scopes = c.inner[:first], c.scopes[:len(c.scopes)-1]
}

// localVar returns a variable of the innermost scope.
func (c *code) localVar(name string) value {
	if i := c.locals[name]; i > 0 && int(c.vars[i-1].scope) == len(c.scopes)-1 {
		return c.vars[i-1].v
	}
	return value{}
}

// bindLocal sets a variable of the innermost scope.
func (c *code) bindLocal(name string, v value) {
	i, scope := c.locals[name], len(c.scopes)-1
	switch {
	case i > 0 && int(c.vars[i-1].scope) == scope:
		c.vars[i-1].v = v
		return
	case c.scopes[scope].vars >= maxVars:
		return
	case scope > 0:
		c.inner = append(c.inner, name)
	}
	c.scopes[scope].vars++
	c.vars = append(c.vars, variable{v, int32(scope), i})
	c.locals[name] = int32(len(c.vars))
}

// fileVar returns the variable of the file with a name, or nil.
func (c *code) fileVar(name string) *value {
	for i := c.locals[name]; i > 0; i = c.vars[i-1].outer {
		if c.vars[i-1].scope == 0 {
			return &c.vars[i-1].v
		}
	}
	return nil
}

// bindFile sets a variable of the file.
func (c *code) bindFile(name string, v value) {
	if old := c.fileVar(name); old != nil {
		*old = v
		return
	}
	if c.scopes[0].vars >= maxVars {
		return
	}
	c.scopes[0].vars++
	c.vars = append(c.vars, variable{v: v})
	added := int32(len(c.vars))
	i := c.locals[name]
	if i == 0 {
		c.locals[name] = added
		return
	}
	for c.vars[i-1].outer > 0 {
		i = c.vars[i-1].outer
	}
	c.vars[i-1].outer = added
}

// element returns an element of a list.
func (c *code) element(v value) value {
	v = c.whole(v)
	switch argv := v.partsOrEmpty().argv; len(argv) {
	case 0:
	case 1:
		return argv[0]
	default:
		return oneOf(argv)
	}
	return value{from: v.from, name: strings.TrimSuffix(v.name, "[]")}
}

// declaration reads the targets and values after const, let, and var.
func (c *code) declaration(end int) {
	for c.pos < end {
		i := c.pos
		at, op := c.assignment(i, end)
		if at <= 0 {
			return
		}
		c.assign(i, at, op, end)
		if c.op(c.pos) != "," {
			return
		}
		c.pos++
	}
}

// assignment returns the token of the = of an assignment that begins at i, or 0, and the operator.
func (c *code) assignment(i, end int) (int, string) {
	for k := i; k < end && k < i+maxAhead; k++ {
		t := c.tokens[k]
		if k > i && t.first && c.lang != JavaScript {
			return 0, ""
		}
		if t.kind != tokenOp {
			if t.kind == tokenFormat {
				k = c.end(k)
			}
			continue
		}
		switch t.text {
		case "=":
			return k, "="
		case "+=", "||=", "??=", "|=":
			return k, "+="
		case "(", "[":
			k = c.end(k)
		case "{":
			if k > i && c.op(k-1) != ":" {
				return 0, ""
			}
			k = c.end(k)
		case ";", ")", "]", "}", "=>", "==", "===", "?", "+", "&&", "||":
			return 0, ""
		}
	}
	return 0, ""
}

func (c *code) assign(from, at int, op string, end int) {
	c.pos = at + 1
	if c.tooDeep() {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	var v value
	if name := c.word(from); c.lang == JavaScript && at == from+1 && name != "" && c.funcs[name] && c.arrowFollows(at) {
		c.arrow(name, nil)
		v = value{name: "fn:" + name}
	} else if next, nextOp := c.assignment(c.pos, min(end, c.pos+8)); next > 0 && nextOp == "=" &&
		c.lang == Python { // a = b = value
		first := c.pos
		c.assign(first, next, "=", end)
		v = c.lookup(c.word(first))
	} else if c.lang == JavaScript {
		v = c.functionValue(from, at, end)
	} else {
		v = c.list(end)
	}
	if op == "+=" {
		if name := c.word(from); name != "" && at == from+1 {
			v = c.plus(c.lookup(name), v)
		}
	}
	c.bind(from, at, v)
}

// bind assigns a value to the targets between two tokens.
func (c *code) bind(from, to int, v value) {
	if c.op(from) == "{" || c.op(from) == "[" || c.op(from) == "(" {
		end := min(c.end(from), to)
		from++
		c.unpack(from, end, v)
		return
	}
	for k := from; k < to; k++ {
		if c.op(k) == "," {
			c.unpack(from, to, v)
			return
		}
		if c.op(k) == ":" {
			to = k // a type follows
			break
		}
		if op := c.op(k); op == "[" || op == "(" {
			k = c.end(k)
		}
	}
	name := ""
	for k := from; k < to; k++ {
		switch {
		case c.word(k) != "" && (k == from || c.op(k-1) == "." || c.word(k-1) == "const" || c.word(k-1) == "let" ||
			c.word(k-1) == "var"):
			if k > from && c.op(k-1) == "." {
				name += "." + c.word(k)
			} else {
				name = c.word(k)
			}
		case c.op(k) == "[": // an element
			if name != "" {
				if c.imports[name] == "os.environ" || name == "os.environ" {
					return
				}
				old := c.lookup(name)
				old.from = old.from.with(v.from)
				old.literal = false
				c.store(name, old)
			}
			return
		}
	}
	if name == "" {
		return
	}
	if name == "process.env.NODE_TLS_REJECT_UNAUTHORIZED" && v.text == "0" || strings.HasSuffix(name,
		"_create_default_https_context") {
		c.fact(Fact{Kind: Unverified, Detail: name, Sure: Certain})
	}
	if strings.HasSuffix(name, ".verify") && v.name == "False" {
		c.fact(Fact{Kind: Unverified, Detail: name + " = False", Sure: Certain})
	}
	c.store(name, v)
	if base, _, ok := strings.Cut(name, "."); ok && base != "self" && base != "this" && len(v.from) > 0 {
		if old, known := c.find(base); known {
			old.from = old.from.with(v.from)
			c.store(base, old)
		}
	}
}

// unpack assigns a value to several targets.
func (c *code) unpack(from, to int, v value) {
	n := 0
	for k := from; k < to; k++ {
		name := c.word(k)
		if op := c.op(k); op == "=" { // a default
			for k < to && c.op(k) != "," {
				k++
			}
		}
		if name == "" || c.op(k-1) == "." || name == "const" || name == "let" || name == "var" {
			continue
		}
		if c.op(k+1) == ":" && c.word(k+2) != "" { // key: name
			c.store(c.word(k+2), c.attribute(v, name))
			k += 2
			continue
		}
		switch {
		case n < len(v.partsOrEmpty().argv):
			c.store(name, v.partsOrEmpty().argv[n])
		case c.lang == JavaScript && (v.name != "" || v.partsOrEmpty().fields != nil):
			c.store(name, c.attribute(v, name))
		default:
			c.store(name, value{from: v.from})
		}
		n++
	}
}

// store sets a variable. Attributes of objects belong to the file.
func (c *code) store(name string, v value) {
	if v.text == "" && !v.literal && v.name == "" {
		v.text = c.hole(v)
	}
	v.ref = ""
	if strings.HasPrefix(name, "self.") || strings.HasPrefix(name, "this.") || strings.HasPrefix(name, "@") {
		if old := c.fileVar(name); old != nil {
			v.from = v.from.with(old.from)
		}
		c.bindFile(name, v)
		return
	}
	if i := c.locals[name]; i > 0 && c.lang == JavaScript {
		c.vars[i-1].v = v
		return
	}
	c.bindLocal(name, v)
}

// find returns a variable.
func (c *code) find(name string) (value, bool) {
	if i := c.locals[name]; i > 0 {
		return c.vars[i-1].v, true
	}
	return value{}, false
}

// lookup returns the value of a name.
func (c *code) lookup(name string) value {
	if v, ok := c.find(name); ok {
		v.ref = name
		return v
	}
	if full, ok := c.imports[name]; ok {
		return c.named(full, name)
	}
	if c.funcs[name] {
		return value{name: "fn:" + name, ref: name}
	}
	return value{name: name, ref: name}
}

// named returns the value of a name in a module.
func (c *code) named(full, ref string) value {
	switch full {
	case "sys.argv", "process.argv", "ARGV", "Deno.args":
		return value{name: full, ref: ref, from: set{c.key("in:", c.reader.script)}}
	case "sys.stdin", "process.stdin", "STDIN":
		return value{name: full, ref: ref, from: set{c.key("in:", c.reader.script)}}
	}
	return value{name: full, ref: ref}
}
