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
	pos      int
	imports  map[string]string // names and what they stand for
	own      map[string]bool   // last parts of modules that may be the skill's own
	funcs    map[string]bool
	required map[string]bool // modules that the code imports
	scopes   []scope
	shell    *shell
}

// scope is the variables of a function, or of the file.
type scope struct {
	vars map[string]value
	fn   string // name of the function
	col  int32  // of its first token; -1 for the file
}

func newCode(r *reader, lang Language, sh *shell) *code {
	return &code{
		reader: r, lang: lang, imports: map[string]string{}, own: map[string]bool{}, funcs: map[string]bool{},
		required: map[string]bool{},
		scopes:   []scope{{vars: map[string]value{}, col: -1}}, shell: sh,
	}
}

// script evaluates code.
func (c *code) script(text string) {
	if len(text) > maxFile || c.depth >= maxDepth {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	c.tokens, c.pos = lex(c.lang, text, c.tokens[:0]), 0
	c.declare()
	c.block(len(c.tokens))
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

func (c *code) top() *scope { return &c.scopes[len(c.scopes)-1] }

func (c *code) leave() { c.scopes = c.scopes[:len(c.scopes)-1] }

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
		v := c.list(end)
		if fn := c.top().fn; fn != "" && len(v.from) > 0 {
			c.reach(v.from, c.key("result:"+c.local(fn)))
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
	if c.depth >= maxDepth {
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
	s := scope{vars: map[string]value{}, fn: name, col: col}
	if c.op(i+1) == "(" {
		end := c.end(i + 1)
		c.parameters(i+2, end, name, s.vars)
		c.pos = end + 1
	}
	for c.lang == Python && c.pos < len(c.tokens) && !c.tokens[c.pos].first && c.op(c.pos) != ":" { // -> type
		if op := c.op(c.pos); op == "[" || op == "(" {
			c.pos = c.end(c.pos)
		}
		c.pos++
	}
	if len(c.scopes) < 40 {
		c.scopes = append(c.scopes, s)
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
	s := scope{vars: map[string]value{}, fn: name}
	c.parameters(i+2, end, name, s.vars)
	k := end + 1
	for k < len(c.tokens) && c.op(k) != "{" && k < end+200 && c.op(k) != ";" {
		k++
	}
	c.pos = k
	if c.op(k) == "{" && len(c.scopes) < 40 {
		c.scopes = append(c.scopes, s)
		c.nestedBlock(k)
		c.leave()
	}
}

// parameters binds the parameters between two tokens to nodes, by position and by name.
func (c *code) parameters(i, end int, fn string, vars map[string]value) {
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
					vars[w] = c.parameter(fn, n, w)
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
				vars[name] = c.parameter(fn, n, name)
			}
			n++
		case c.op(i) == "=" && i+1 < end && fn != "": // the default
			if name := c.word(i - 1); name != "" && i+1 < len(c.tokens) && c.tokens[i+1].kind == tokenText {
				v := vars[name]
				v.text, v.literal = cut(c.tokens[i+1].text), true
				vars[name] = v
			}
		case strings.Contains("([{", c.op(i)) && c.op(i) != "":
			i = c.end(i)
		}
	}
}

func (c *code) parameter(fn string, n int, name string) value {
	prefix := "call:" + c.local(fn) + " "
	v := value{from: set{c.key(prefix + strconv.Itoa(n))}}
	v.from = v.from.with(set{c.key(prefix + name)})
	v.text = c.hole(v)
	return v
}

// local returns the name of a function of this file in the keys.
func (c *code) local(name string) string { return c.stem + "." + name }

// dotted reads a dotted name from c.pos on.
func (c *code) dotted() string {
	var name strings.Builder
	for c.pos < len(c.tokens) {
		if c.op(c.pos) == "." {
			name.WriteByte('.')
		} else if w := c.word(c.pos); w != "" && (name.Len() == 0 || strings.HasSuffix(name.String(), ".")) &&
			w != "import" {
			name.WriteString(w)
		} else {
			break
		}
		c.pos++
	}
	return name.String()
}

// module records that names come from a module that may be another file of the skill.
func (c *code) module(name string) {
	base := name[strings.LastIndexAny(name, "./")+1:]
	if c.lang == JavaScript {
		if !strings.HasPrefix(name, ".") {
			return
		}
		base = stemOf(name[strings.LastIndexByte(name, '/')+1:])
	}
	if base != "" && !commonModules[strings.SplitN(name, ".", 2)[0]] {
		c.own[base] = true
	}
}

// commonModules are Python's, which are not files of skills.
var commonModules = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`
		os sys re json time datetime pathlib typing subprocess argparse logging math random shutil
		tempfile io csv collections itertools functools hashlib hmac base64 urllib http socket ssl email
		smtplib threading asyncio dataclasses enum abc copy string textwrap glob fnmatch platform
		getpass uuid zipfile tarfile gzip zlib struct requests httpx aiohttp numpy pandas yaml bs4 PIL
		openai anthropic google boto3 matplotlib scipy sklearn torch tqdm rich click dotenv pydantic
		fastapi flask django pytest unittest traceback warnings contextlib inspect importlib types
		operator statistics decimal fractions secrets signal queue multiprocessing concurrent sqlite3
		pickle codecs locale ast html xml urllib3 websockets playwright selenium lxml openpyxl docx pptx
		cryptography __future__`) {
		m[name] = true
	}
	return m
}()

// importStatement reads import statements of Python and JavaScript.
func (c *code) importStatement(end int) {
	i := c.pos
	c.pos++
	if c.lang == Python {
		for c.pos < end {
			name := c.dotted()
			if name == "" {
				return
			}
			alias := name
			if c.word(c.pos) == "as" {
				alias = c.word(c.pos + 1)
				c.pos += 2
			} else if root, _, ok := strings.Cut(name, "."); ok {
				c.imports[root] = root
			}
			c.imports[alias] = name
			c.required[strings.SplitN(name, ".", 2)[0]] = true
			c.module(name)
			if c.op(c.pos) != "," {
				return
			}
			c.pos++
		}
		return
	}
	if c.op(c.pos) == "(" { // a call
		c.pos = i
		c.list(end)
		return
	}
	var names [][2]string // alias and member
	for k := c.pos; k < end && k < i+200; k++ {
		t := c.tokens[k]
		switch {
		case t.kind == tokenText:
			c.pos = k + 1
			module := strings.TrimPrefix(t.text, "node:")
			c.module(module)
			c.required[module] = true
			for _, n := range names {
				full := module
				if strings.HasPrefix(module, ".") {
					full = stemOf(module[strings.LastIndexByte(module, '/')+1:])
				}
				if n[1] != "" && n[1] != "default" {
					full += "." + n[1]
				}
				c.imports[n[0]] = full
			}
			return
		case t.kind == tokenOp && (t.text == ";" || t.text == "=" || t.text == "("):
			c.pos = k
			return
		case t.kind != tokenName || t.text == "from" || t.text == "type":
		case t.text == "as" && len(names) > 0 && c.word(k+1) != "":
			names[len(names)-1][0] = c.word(k + 1)
			k++
		case t.text == "as" && c.word(k+1) != "": // * as name
			names = append(names, [2]string{c.word(k + 1), ""})
			k++
		default:
			member := ""
			if len(names) > 0 || c.op(k-1) == "{" {
				member = t.text
			}
			names = append(names, [2]string{t.text, member})
		}
	}
	c.pos = i + 1
}

// fromImport reads from module import names.
func (c *code) fromImport(end int) {
	c.pos++
	module := c.dotted()
	if c.word(c.pos) != "import" {
		return
	}
	c.pos++
	c.module(module)
	c.required[strings.SplitN(module, ".", 2)[0]] = true
	if c.op(c.pos) == "(" {
		end = min(end, c.end(c.pos))
		c.pos++
	}
	for c.pos < end && (c.word(c.pos) != "" || c.op(c.pos) == ",") && !c.tokens[c.pos].first {
		name := c.word(c.pos)
		c.pos++
		if name == "" {
			continue
		}
		alias := name
		if c.word(c.pos) == "as" {
			alias = c.word(c.pos + 1)
			c.pos += 2
		}
		c.imports[alias] = strings.TrimLeft(module+"."+name, ".")
		base := module[strings.LastIndexByte(module, '.')+1:]
		if (base == "" || c.own[base]) && strings.ToLower(name) == name { // maybe a module
			c.own[name] = true
		}
	}
}

// loop reads the head of a for loop.
func (c *code) loop(end int) {
	c.pos++
	if c.depth >= maxDepth {
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

// element returns an element of a list.
func (c *code) element(v value) value {
	v = c.whole(v)
	if len(v.argv) == 1 {
		return v.argv[0]
	}
	return value{from: v.from, name: strings.TrimSuffix(v.name, "[]")}
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
	if c.depth >= maxDepth {
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
		case n < len(v.argv):
			c.store(name, v.argv[n])
		case c.lang == JavaScript && (v.name != "" || v.fields != nil):
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
	s := c.top()
	if strings.HasPrefix(name, "self.") || strings.HasPrefix(name, "this.") || strings.HasPrefix(name, "@") {
		s = &c.scopes[0]
		if old, ok := s.vars[name]; ok {
			v.from = v.from.with(old.from)
		}
	} else if c.lang == JavaScript {
		for i := len(c.scopes) - 1; i > 0; i-- {
			if _, ok := c.scopes[i-1].vars[name]; ok {
				if _, inner := c.scopes[i].vars[name]; !inner {
					s = &c.scopes[i-1]
				}
				break
			}
		}
	}
	if len(s.vars) < 2000 {
		s.vars[name] = v
	}
}

// find returns a variable.
func (c *code) find(name string) (value, bool) {
	for _, s := range slices.Backward(c.scopes) {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
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
		return value{name: full, ref: ref, from: set{c.key("in:" + c.reader.script)}}
	case "sys.stdin", "process.stdin", "STDIN":
		return value{name: full, ref: ref, from: set{c.key("in:" + c.reader.script)}}
	}
	return value{name: full, ref: ref}
}

// plus returns the sum of two values.
func (c *code) plus(a, b value) value {
	if len(a.argv) > 0 || len(b.argv) > 0 {
		v := union(a, b)
		v.argv = slices.Concat(a.argv, b.argv)
		v.argv = v.argv[:min(len(v.argv), maxElements)]
		return v
	}
	return c.join("", a, b)
}
