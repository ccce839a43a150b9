package flow

import (
	"strconv"
	"strings"
)

// whole returns a value that is used as a whole: all environment variables are a source then.
func (c *code) whole(v value) value {
	switch v.name {
	case "os.environ", "process.env", "ENV", "Deno.env.toObject()", "os.environb":
		if v.name == "ENV" && c.lang != Ruby {
			return v
		}
		id := c.fact(Fact{Kind: ReadsEnvironment, Client: v.name, Sure: Certain})
		v.from = v.from.with(set{id})
		v.name, v.ref = "", ""
	}
	return v
}

// trailers evaluates attributes, calls, and elements of a value.
func (c *code) trailers(v value, end int) value {
	var receiver value
	for c.pos < end {
		t := c.tokens[c.pos]
		if t.kind == tokenFormat && c.lang == JavaScript && !t.first && v.name != "" { // a tagged template
			v = c.call(v, receiver, []arg{{v: c.format(end)}})
			continue
		}
		if c.lang == Ruby && !t.first && v.name != "" && len(v.from) == 0 && (t.kind == tokenText ||
			t.kind == tokenFormat) && v.text == "" {
			v = c.call(v, receiver, []arg{{v: c.list(end)}})
			continue
		}
		if t.kind != tokenOp {
			return v
		}
		switch t.text {
		case ".", "?.", "::":
			if t.first && c.lang == Python {
				return v
			}
			c.pos++
			name := c.word(c.pos)
			if name == "" {
				if op := c.op(c.pos); op == "(" || op == "[" {
					continue
				}
				return v
			}
			c.pos++
			receiver = v
			v = c.attribute(v, name)
		case "(":
			if t.first && c.lang != JavaScript {
				return v
			}
			at := c.at
			c.here(c.pos)
			if c.lang == JavaScript || c.lang == Python {
				c.at = at
			}
			first := len(c.args)
			v = c.call(v, receiver, c.arguments(end, receiver))
			receiver, c.args = value{}, c.args[:first]
		case "[":
			if t.first {
				return v
			}
			v = c.subscript(v, end)
		case "!":
			if c.lang == JavaScript && (c.op(c.pos+1) == "." || c.op(c.pos+1) == ")" || c.op(c.pos+1) == "," ||
				c.op(c.pos+1) == ";") {
				c.pos++
				continue
			}
			return v
		default:
			return v
		}
	}
	return v
}

// maxChain is the length in bytes beyond which the name of a value is not continued: hostile code has chains of very many
// attributes and calls.
const maxChain = 1000

// attribute returns an attribute of a value.
func (c *code) attribute(v value, name string) value {
	if len(v.name) > maxChain || len(v.ref) > maxChain {
		v.name, v.ref = "", ""
	}
	ref := ""
	if v.ref != "" {
		ref = c.attributeName(v.ref, name)
		if known, ok := c.find(ref); ok {
			known.ref = ref
			return known
		}
		if (v.ref == "self" || v.ref == "cls") && c.lang == Python && c.op(c.pos) != "(" { // a variable of the class
			if known := c.fileVar(name); known != nil {
				out := *known
				out.ref = name
				return out
			}
		}
	}
	if f, ok := v.field(name); ok {
		return f
	}
	if v.name == "process.env" || v.name == "Bun.env" || v.name == "import.meta.env" {
		return c.variable(name)
	}
	if c.lang == JavaScript && (v.name == "" || strings.HasSuffix(v.name, "()")) && len(v.from) > 0 &&
		c.op(c.pos) != "(" && !content[name] {
		out := c.selected(v, name)
		out.ref = ref
		return out
	}
	full := ref
	if v.name != v.ref || ref == "" {
		full = c.attributeName(v.name, name)
	}
	out := c.named(full, ref)
	out.from = out.from.with(v.from)
	if v.name == "Path" {
		switch name {
		case "parent", "name", "stem":
			out.from = v.from
			out.name = "Path"
		}
	}
	return out
}

// variable returns the value of an environment variable.
func (c *code) variable(name string) value {
	switch name {
	case "HOME", "USERPROFILE":
		return value{text: "~", literal: true}
	case "":
		return value{}
	}
	if strings.Contains(systemVariables, " "+strings.ToUpper(name)+" ") {
		return value{}
	}
	v := c.source(Fact{Kind: ReadsVariable, Detail: name, Sure: Certain})
	v.text = c.hole(v)
	return v
}

// subscript evaluates an element of a value.
func (c *code) subscript(v value, end int) value {
	stop := min(c.end(c.pos), end)
	c.pos++
	index := value{}
	if c.pos < stop {
		index = c.expression(stop)
	}
	c.pos = stop + 1
	switch v.name {
	case "os.environ", "process.env", "ENV", "Bun.env":
		if v.name == "ENV" && c.lang != Ruby {
			return value{from: v.from}
		}
		if index.literal && !hasHole(index.text) && index.text != "" {
			return c.variable(index.text)
		}
		return value{from: v.from}
	}
	if f, ok := v.field(index.text); ok && index.literal {
		return f
	}
	if n, err := strconv.Atoi(index.text); err == nil && n >= 0 && n < len(v.partsOrEmpty().argv) {
		return v.partsOrEmpty().argv[n]
	}
	if index.literal && index.text != "" && !numeric(index.text) && !hasHole(index.text) {
		return c.selected(v, index.text)
	}
	return value{from: v.from, name: strings.TrimSuffix(v.name, "()") + "[]"}.unnamed()
}

func (v value) unnamed() value {
	v.name = ""
	return v
}

// arguments evaluates the arguments of a call. They are valid until the call returns.
func (c *code) arguments(end int, receiver value) []arg {
	first := len(c.args)
	stop := min(c.end(c.pos), end)
	if c.lang == Python {
		for k := c.pos + 1; k < stop; k++ {
			if op := c.op(k); op == "(" || op == "[" || op == "{" {
				k = c.end(k)
				continue
			}
			if c.word(k) == "for" {
				return []arg{{v: c.comprehension(k, stop)}}
			}
		}
	}
	c.pos++
	for c.pos < stop {
		from := c.pos
		a := arg{}
		if w := c.word(from); w != "" && (c.lang != JavaScript && c.op(from+1) == "=" || c.lang == Ruby &&
			c.op(from+1) == ":") {
			a.key = w
			c.pos = from + 2
		}
		header := headerName(a.key)
		switch {
		case c.pos >= stop:
		case c.isArrow(c.pos):
			params := union(receiver)
			for _, other := range c.args[first:] {
				params = union(params, other.v)
			}
			a.v = c.arrow("", &params)
		default:
			a.v = c.expression(stop)
		}
		if header {
			a.v = c.header(a.v)
		}
		c.args = append(c.args, a)
		if c.op(c.pos) == "," || c.pos == from || c.pos < stop {
			c.pos++
		}
	}
	c.pos = stop + 1
	return c.args[first:]
}
