package flow

import (
	"strings"
	"sync"
)

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
	if base != "" && !commonModules()[strings.SplitN(name, ".", 2)[0]] {
		c.own[base] = true
	}
}

// commonModules are Python's, which are not files of skills.
var commonModules = sync.OnceValue(func() map[string]bool {
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
})

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
		case t.first && t.kind == tokenName && t.text == "import": // the next statement
			c.pos = k
			return
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
