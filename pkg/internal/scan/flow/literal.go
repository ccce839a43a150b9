package flow

import (
	"strings"
)

// percent formats a text with %.
func (c *code) percent(format, args value) value {
	if format.text == "" {
		return union(format, args)
	}
	list := args.partsOrEmpty().argv
	if list == nil {
		list = []value{args}
	}
	pieces := strings.Split(format.text, "%s")
	parts := make([]value, 0, 2*len(pieces))
	for i, p := range pieces {
		if i > 0 {
			if i-1 < len(list) {
				parts = append(parts, list[i-1])
			} else {
				parts = append(parts, value{from: args.from})
			}
		}
		parts = append(parts, value{text: p, literal: true})
	}
	out := c.join("", parts...)
	out.from = out.from.with(args.from)
	return out
}

// primary evaluates an operand.
func (c *code) primary(end int) value {
	t := c.tokens[c.pos]
	switch t.kind {
	case tokenText:
		v := value{text: cut(t.text), literal: true}
		c.pos++
		for c.lang == Python && c.pos < end && c.tokens[c.pos].kind == tokenText && (!c.tokens[c.pos].first ||
			len(v.text) == 0) {
			v.text = cut(v.text + c.tokens[c.pos].text)
			c.pos++
		}
		if c.lang == Python && c.pos < end && c.tokens[c.pos].kind == tokenFormat && !c.tokens[c.pos].first {
			return c.join("", v, c.primary(end))
		}
		return v
	case tokenFormat:
		return c.format(end)
	case tokenNumber:
		c.pos++
		return value{text: t.text, literal: t.text != ""}
	case tokenName:
		if c.isArrow(c.pos) {
			return c.arrow("", nil)
		}
		c.pos++
		return c.lookup(t.text)
	case tokenOp:
		switch t.text {
		case "(":
			if c.isArrow(c.pos) {
				return c.arrow("", nil)
			}
			return c.group(end)
		case "[":
			return c.group(end)
		case "{":
			return c.object(end)
		}
	}
	if t.kind != tokenOp || !strings.Contains(",;)]}:", t.text) {
		c.pos++
	}
	return value{}
}

// format evaluates a text with expressions.
func (c *code) format(end int) value {
	stop := min(c.end(c.pos), end)
	c.pos++
	base := len(c.stack)
	for c.pos < stop {
		if c.tokens[c.pos].kind == tokenText {
			c.push(value{text: c.tokens[c.pos].text, literal: true})
			c.pos++
			continue
		}
		if c.op(c.pos) != "(" {
			c.pos++
			continue
		}
		inner := min(c.end(c.pos), stop)
		c.pos++
		v := value{}
		if c.pos < inner {
			v = c.expression(inner)
		}
		c.push(c.whole(v))
		c.pos = inner + 1
	}
	c.pos = stop + 1
	v := c.join("", c.stack[base:]...)
	c.pop(base)
	if c.lang == Python && c.pos < end && (c.tokens[c.pos].kind == tokenText ||
		c.tokens[c.pos].kind == tokenFormat) && !c.tokens[c.pos].first {
		return c.join("", v, c.primary(end))
	}
	return v
}

// group evaluates parentheses or a list.
func (c *code) group(end int) value {
	open, stop := c.pos, min(c.end(c.pos), end)
	list := c.op(open) == "["
	for k := open + 1; k < stop; k++ { // a comprehension
		if op := c.op(k); op == "(" || op == "[" || op == "{" {
			k = c.end(k)
			continue
		}
		if c.word(k) == "for" && c.lang == Python {
			return c.comprehension(k, stop)
		}
	}
	c.pos = open + 1
	base := len(c.stack)
	for c.pos < stop {
		from := c.pos
		c.push(c.whole(c.expression(stop)))
		if c.op(c.pos) == "," || c.op(c.pos) == ";" || c.pos == from {
			c.pos++
		} else if c.pos < stop && c.lang == Python && !list {
			c.pos++
		}
	}
	c.pos = stop + 1
	if base == len(c.stack) {
		return value{literal: true}
	}
	return c.memory.list(base, list)
}

// comprehension evaluates a comprehension whose for is at k.
func (c *code) comprehension(k, stop int) value {
	open := c.pos
	c.pos = k
	for c.pos < stop {
		switch c.word(c.pos) {
		case "for":
			from := c.pos + 1
			for c.pos++; c.pos < stop && c.word(c.pos) != "in"; c.pos++ {
			}
			to := c.pos
			c.pos++
			c.bind(from, to, c.element(c.expressionBefore(stop)))
		case "if":
			c.pos++
			c.expressionBefore(stop)
		default:
			c.pos++
		}
	}
	c.pos = open + 1
	out := value{}
	for c.pos < k {
		from := c.pos
		v := c.whole(c.expression(k))
		out = union(out, v)
		if c.pos == from || c.op(c.pos) != "" {
			c.pos++
		}
	}
	c.pos = stop + 1
	return out
}

// expressionBefore evaluates an expression of a comprehension, which ends before for and if.
func (c *code) expressionBefore(stop int) value {
	k := c.pos
	for ; k < stop; k++ {
		if op := c.op(k); op == "(" || op == "[" || op == "{" {
			k = c.end(k)
			continue
		}
		if w := c.word(k); w == "for" || w == "if" {
			break
		}
	}
	k = min(k, stop)
	v := value{}
	if c.pos < k {
		v = c.whole(c.expression(k))
	}
	c.pos = k
	return v
}

// object evaluates a literal object, dictionary, or set.
func (c *code) object(end int) value {
	open, stop := c.pos, min(c.end(c.pos), end)
	if c.lang == Python {
		for k := open + 1; k < stop; k++ {
			if op := c.op(k); op == "(" || op == "[" || op == "{" {
				k = c.end(k)
				continue
			}
			if c.word(k) == "for" {
				return c.comprehension(k, stop)
			}
		}
	}
	c.pos = open + 1
	out, fields := value{}, []field{}
	for c.pos < stop {
		from := c.pos
		key := ""
		if t := c.tokens[c.pos]; t.kind == tokenName || t.kind == tokenText {
			key = t.text
		}
		if c.lang == JavaScript && c.word(from) != "" && c.op(from+1) == "(" && c.bodyFollows(from+1) {
			c.method(from)
			continue
		}
		if key != "" && (c.op(from+1) == ":" || c.op(from+1) == "=>" && c.lang == Ruby) {
			c.pos = from + 2
		}
		v := value{}
		if c.pos < stop {
			v = c.whole(c.expression(stop))
		}
		if op := c.op(c.pos); (op == ":" || op == "=>") && c.pos < stop {
			c.pos++
			v = c.whole(c.expression(stop))
		}
		if headerName(key) {
			v = c.header(v)
		}
		out.from = out.from.with(v.from)
		if key != "" {
			fields = withField(fields, key, v)
		}
		switch key {
		case "body", "data", "json":
			out.post = true
		case "method":
			if m := strings.ToUpper(v.text); m == "POST" || m == "PUT" || m == "PATCH" {
				out.post = true
			}
		}
		if c.op(c.pos) == "," || c.pos == from {
			c.pos++
		}
	}
	c.pos, out.parts = stop+1, &parts{fields: fields}
	return out
}

// content are attributes that are all of an object's data.
var content = map[string]bool{
	"data": true, "text": true, "body": true, "content": true, "stdout": true, "value": true, "result": true,
	"buffer": true, "message": true, "stdin": true, "stderr": true, "raw": true, "payload": true,
}

// headerName reports whether a field of a request has credentials of this request.
func headerName(key string) bool {
	switch strings.ToLower(key) {
	case "headers", "auth", "authorization", "cookies", "x-api-key", "bearer":
		return true
	}
	return false
}
