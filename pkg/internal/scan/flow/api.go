package flow

import (
	"strconv"
	"strings"
)

// call evaluates a call of a function or of a method of receiver.
func (c *code) call(fn, receiver value, args []arg) value {
	name := fn.name
	if len(name) > maxChain {
		name = ""
	}
	root, last := ends(name)
	for i := range args {
		if !(args[i].key == "env" || last == "dict" && root == "") {
			args[i].v = c.whole(args[i].v)
		} else if args[i].key == "env" {
			args[i].v = value{}
		}
	}
	switch root {
	case "os", "process", "ENV":
		if v, ok := c.environment(name, last, args); ok {
			return v
		}
	}
	if strings.HasPrefix(name, "fn:") {
		return c.callOwn(c.local(name[3:]), args)
	}
	if v, ok := c.api(name, root, last, receiver, args); ok {
		return v
	}
	if (name == "" || strings.HasPrefix(name, ".") || root == "self" || root == "this" || strings.HasSuffix(root,
		"()")) && c.funcs[last] {
		return c.callOwn(c.local(last), args)
	}
	out := value{from: carried(last, args).with(receiver.from), name: name + "()"}
	if fn.ref != "" && receiver.ref == "" && root != "" {
		out.from = out.from.with(fn.from)
	}
	if signs(last) || isPublicName(last) {
		out.from = nil
		if root == "jwt" || root == "jsonwebtoken" {
			out.from = argOf(args, 0, "payload").from // the key is not in the token
		}
	}
	if key, ok := c.foreign(name); ok {
		v := c.callOwn(key, args)
		stem, _, _ := strings.Cut(key, ".")
		v.from = v.from.with(c.through("extern "+stem, out.from)) // if it is another library
		v.name = name + "()"
		return v
	}
	switch last {
	case "append", "add", "push", "extend", "update", "insert", "setdefault", "set":
		if base := receiver.ref; base != "" {
			if old, known := c.find(base); known {
				old.from = old.from.with(out.from)
				old.literal = false
				c.store(base, old)
			}
		}
	}
	return out
}

// carried returns what the result of a function of a library has of its arguments. A client that is made with a key
// returns answers to it, and never the key.
func carried(last string, args []arg) (from set) {
	if last == "" || last[0] < 'A' || last[0] > 'Z' {
		return unionOf(args).from
	}
	for _, a := range args {
		switch {
		case isKeyName(a.key):
		case len(args) == 1 && a.key == "" && len(a.v.partsOrEmpty().fields) == 0 && isClient(last):
		case len(a.v.partsOrEmpty().fields) > 0:
			for _, f := range a.v.partsOrEmpty().fields {
				if !isKeyName(f.name) {
					from = from.with(f.v.from)
				}
			}
		default:
			from = from.with(a.v.from)
		}
	}
	return from
}

// isKeyName reports whether an argument with a name is what a client identifies itself with.
func isKeyName(name string) bool {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "") {
	case "apikey", "token", "accesstoken", "authtoken", "bottoken", "credentials", "auth":
		return true
	}
	return false
}

// isClient reports whether a class is a client of a service by its name.
func isClient(name string) bool {
	for _, end := range [...]string{"Client", "AI", "API", "Api", "Bot", "SDK"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// signs reports whether a function returns a signature or a signed transaction, of which no key can be computed.
func signs(last string) bool {
	rest, ok := strings.CutPrefix(last, "sign")
	switch {
	case last == "createSign" || last == "createHmac" || strings.HasSuffix(last, "Transaction"):
		return true
	case !ok:
		return false
	}
	return rest == "" || rest[0] == '_' || rest[0] >= 'A' && rest[0] <= 'Z'
}

// ends returns the first and the last part of a dotted name.
func ends(name string) (root, last string) {
	last = name
	root, _, _ = strings.Cut(name, ".")
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		last = name[i+1:]
	}
	return root, last
}

// callOwn passes arguments to a function of the skill, and returns its results.
func (c *code) callOwn(key string, args []arg) value {
	for i, a := range args {
		if kind, ok := readKind(cleanPath(a.v.text)); ok && a.v.literal && !hasHole(a.v.text) {
			f := Fact{Kind: kind, Detail: cleanPath(a.v.text), Client: key, Sure: Likely} // if the function reads the file
			a.v.from = a.v.from.with(set{c.fact(f)})
		}
		if len(a.v.from) == 0 {
			continue
		}
		suffix := a.key
		if suffix == "" {
			suffix = strconv.Itoa(i)
		}
		c.reach(a.v.from, c.key("call:", key, " ", suffix))
	}
	v := value{from: set{c.key("result:", key)}}
	return v
}

// foreign returns the key of a function in another file of the skill.
func (c *code) foreign(name string) (string, bool) {
	parts := strings.Split(strings.ReplaceAll(name, "()", ""), ".")
	if len(parts) < 2 || len(parts) > 8 {
		return "", false
	}
	for i := len(parts) - 2; i >= 0; i-- {
		if c.own[parts[i]] {
			return parts[i] + "." + parts[len(parts)-1], true
		}
	}
	return "", false
}

// environment evaluates functions that read the environment.
func (c *code) environment(name, last string, args []arg) (value, bool) {
	switch name {
	case "os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault", "ENV.fetch",
		"os.environ.__getitem__", "Deno.env.get":
		v := argOf(args, 0, "key")
		if !v.literal || hasHole(v.text) {
			return value{}, true
		}
		found := c.variable(v.text)
		if other := argOf(args, 1, "default"); other.text != "" {
			found = c.merge(other, found)
		}
		return found, true
	case "os.environ.copy", "os.environ.items", "os.environ.values", "ENV.to_h", "ENV.to_a", "ENV.map", "ENV.each":
		return value{name: "os.environ"}, true
	case "os.environ.keys", "os.environ.update":
		return value{}, true
	}
	return value{}, false
}

// quiet are functions whose result does not contain their arguments.
var quiet = map[string]bool{
	"len": true, "isinstance": true, "bool": true, "exists": true, "isfile": true, "isdir": true, "is_file": true,
	"is_dir": true, "existsSync": true, "startswith": true, "endswith": true, "startsWith": true,
	"endsWith": true, "includes": true, "sha256": true, "sha1": true, "md5": true, "hexdigest": true,
	"createHash": true, "isatty": true, "type": true, "hasattr": true, "range": true, "sleep": true, "exit": true,
	"info": true, "debug": true, "warning": true, "error": true, "warn": true, "getsize": true, "stat": true,
	"raise_for_status": true, "count": true, "add_argument": true, "setLevel": true, "basicConfig": true,
	"has": true, "test": true, "any": true, "all": true, "compare_digest": true,
}

// api evaluates the functions of libraries that this package knows.
func (c *code) api(name, root, last string, receiver value, args []arg) (value, bool) {
	first := argOf(args, 0)
	if c.tls(args) {
		c.fact(Fact{Kind: Unverified, Detail: "verify=False", Client: name, Sure: Certain})
	}
	if v, ok := c.network(name, root, last, receiver, args); ok {
		return v, true
	}
	if v, ok := c.process(name, root, last, args); ok {
		return v, true
	}
	if v, ok := c.file(name, last, receiver, args); ok {
		return v, true
	}
	switch name {
	case "print", "console.log", "sys.stdout.write", "process.stdout.write", "puts", "$stdout.write", "json.dump":
		c.reach(unionOf(args).from, c.key("out:", c.reader.script))
		return value{}, true
	case "require", "import":
		module := strings.TrimPrefix(first.text, "node:")
		if module != "" {
			c.module(module)
			c.required[module] = true
			if strings.HasPrefix(module, ".") {
				module = stemOf(module[strings.LastIndexByte(module, '/')+1:])
			}
			return value{name: module}, true
		}
	case "input":
		return value{from: set{c.key("in:", c.reader.script)}}, true
	case "os.path.join", "path.join", "path.resolve", "File.join", "join", "resolve", "path.posix.join":
		if len(args) > 0 && (name != "join" && name != "resolve" || c.lang == JavaScript) {
			return c.join("/", valuesOf(args)...), true
		}
	case "os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath", "os.fspath", "str",
		"File.expand_path", "String", "os.path.normpath":
		v := first
		v.text = strings.ReplaceAll(strings.ReplaceAll(v.text, "${HOME}", "~"), "$HOME", "~")
		v.ref = ""
		return v, true
	case "os.homedir", "homedir", "Dir.home":
		return value{text: "~", literal: true}, true
	case "pathlib.Path", "Path", "pathlib.PurePath":
		v := c.join("/", valuesOf(args)...)
		v.name = "Path"
		return v, true
	case "pathlib.Path.home", "Path.home":
		return value{text: "~", literal: true, name: "Path"}, true
	case "pathlib.Path.cwd", "Path.cwd", "os.getcwd", "process.cwd":
		return value{text: ".", literal: true, name: map[bool]string{true: "Path"}[last == "cwd" && root != "process"]}, true
	case "os.path.dirname", "path.dirname":
		return value{from: first.from}, true
	case "tempfile.gettempdir", "os.tmpdir", "Dir.tmpdir":
		return value{text: "/tmp", literal: true}, true
	case "URI", "URI.parse", "URL", "url.parse", "httpx.URL", "encodeURI", "yarl.URL":
		first.ref = ""
		return first, true
	case "os.path.exists", "os.path.isfile":
		return value{}, true
	case "bytes.fromhex", "bytearray.fromhex", "binascii.unhexlify", "Buffer.from", "codecs.decode", "atob",
		"window.atob":
		encoding := argOf(args, 1, "encoding").text
		if name == "Buffer.from" && encoding != "base64" && encoding != "hex" || name == "codecs.decode" &&
			!strings.Contains(encoding, "rot") && encoding != "base64" && encoding != "hex" {
			break
		}
		if encoding == "" {
			encoding = "hex"
			if strings.HasSuffix(name, "atob") {
				encoding = "base64"
			}
		}
		return c.decoded(encoding, name, args), true
	case "Base64.decode64", "Base64.strict_decode64":
		return c.decoded("base64", name, args), true
	case "getattr", "globals", "vars", "locals":
		return value{from: first.from, name: name + "()"}, true
	case "setTimeout", "setInterval", "map", "filter", "list", "sorted", "dict", "tuple":
		v := first
		v.ref = ""
		if v.name == "os.environ" {
			v = c.whole(v)
		}
		return v, true
	case "pyperclip.paste", "navigator.clipboard.readText", "clipboardy.read", "clipboardy.readSync",
		"clipboard.paste", "pyclip.paste":
		return c.source(Fact{Kind: ReadsClipboard, Detail: name, Client: name, Sure: Certain}), true
	case "browser_cookie3.chrome", "browser_cookie3.firefox", "browser_cookie3.load":
		return c.source(Fact{Kind: ReadsBrowser, Detail: name, Client: name, Sure: Certain}), true
	case "socket.gethostbyname", "socket.getaddrinfo", "dns.resolver.resolve", "dns.lookup", "dns.resolve":
		if hasHole(first.text) && strings.Contains(first.text, ".") {
			_, host := address("dns://" + first.text)
			c.sink(Fact{Kind: LooksUp, Detail: first.text, Host: host, Client: name}, first)
		}
		return value{}, true
	}
	if root == "base64" && strings.HasSuffix(last, "encode") || name == "btoa" || last == "encode64" ||
		last == "strict_encode64" {
		return value{from: c.through("encode", unionOf(args).from)}, true
	}
	if root == "re" && (last == "search" || last == "match" || last == "findall") &&
		namesVariable().MatchString(first.text) {
		return c.selected(argOf(args, 1, "string"), first.text), true
	}
	if root == "base64" && strings.HasSuffix(last, "decode") {
		return c.decoded(strings.TrimSuffix(last, "decode"), name, args), true
	}
	if (root == "zlib" || root == "marshal" || root == "lzma") && (last == "decompress" || last == "loads") {
		return c.decoded(root, name, args), true
	}
	if last == "encrypt" && (strings.Contains(name, "Fernet") || strings.Contains(name, "AES") ||
		strings.Contains(name, "cipher")) {
		if c.secured < 0 {
			c.secured = c.key("encrypted:", c.sum.path)
		}
		return value{from: unionOf(args).from.with(set{c.secured})}, true
	}
	if (last == "update" || last == "final") && strings.Contains(name, "createCipheriv") {
		if c.secured < 0 {
			c.secured = c.key("encrypted:", c.sum.path)
		}
		return value{from: unionOf(args).from.with(set{c.secured})}, true
	}
	if (last == "startswith" || last == "startsWith") && receiver.ref != "" && oneVariable().MatchString(first.text) {
		v := receiver
		v.from = c.through("select", v.from)
		c.store(receiver.ref, v)
	}
	if quiet[last] {
		_, own := c.foreign(name)
		return value{}, !own
	}
	if (last == "get" || last == "getItem" || last == "pop") && receiver.name != "" || last == "get" &&
		len(receiver.from) > 0 {
		switch {
		case receiver.name == "os.environ":
			return c.variable(first.text), true
		case receiver.partsOrEmpty().fields != nil:
			if f, ok := receiver.field(first.text); ok {
				return f, true
			}
		}
		if first.literal && first.text != "" && len(args) <= 2 {
			return c.selected(receiver, first.text), true
		}
	}
	if last == "format" && receiver.text != "" {
		return c.formatted(receiver, args), true
	}
	if last == "join" && len(args) == 1 {
		v := first
		if argv := v.partsOrEmpty().argv; len(argv) > 0 {
			return c.join(receiver.text, argv...), true
		}
		return value{from: v.from}, true
	}
	switch last {
	case "toString":
		if argOf(args, 0).text == "base64" {
			return value{from: c.through("encode", receiver.from)}, true
		}
		if receiver.text != "" {
			return value{text: receiver.text, literal: true, from: receiver.from}, true
		}
	case "strip", "rstrip", "lstrip", "trim", "decode", "encode", "lower", "expanduser", "resolve", "absolute",
		"rstrip_slash", "as_posix", "trimEnd", "strip!", "chomp", "to_s":
		if receiver.text != "" || receiver.name == "Path" {
			v := receiver
			v.ref = ""
			return v, true
		}
	case "joinpath":
		v := c.join("/", append([]value{receiver}, valuesOf(args)...)...)
		v.name = "Path"
		return v, true
	case "with_suffix", "with_name", "relative_to":
		return value{from: receiver.from, name: "Path"}, true
	}
	return value{}, false
}

// tls reports whether arguments switch off the verification of certificates.
func (c *code) tls(args []arg) bool {
	for _, a := range args {
		if (a.key == "verify" || a.key == "ssl" || a.key == "verify_ssl") && a.v.name == "False" ||
			a.key == "context" && a.v.name == "ssl._create_unverified_context()" ||
			a.key == "cert_reqs" && a.v.name == "ssl.CERT_NONE" {
			return true
		}
		if f, ok := a.v.field("rejectUnauthorized"); ok && f.name == "false" {
			return true
		}
	}
	return false
}

func (c *code) decoded(encoding, name string, args []arg) value {
	id := c.fact(Fact{Kind: Decodes, Detail: encoding, Client: name, Sure: Certain})
	v := unionOf(args)
	v.from = set{id}.with(v.from)
	if len(args) > 0 {
		v.text = decode(encoding, args[0].v.text)
	}
	return v
}

// formatted evaluates the method format of Python's texts.
func (c *code) formatted(receiver value, args []arg) value {
	parts := []value{}
	rest, n := receiver.text, 0
	for len(parts) < 60 {
		i := strings.IndexByte(rest, '{')
		j := strings.IndexByte(rest[max(i, 0):], '}')
		if i < 0 || j < 0 {
			break
		}
		field := rest[i+1 : i+j]
		parts = append(parts, value{text: rest[:i], literal: true})
		var v value
		if k, err := strconv.Atoi(field); err == nil {
			v = argOf(args, k)
		} else if field != "" {
			v = argOf(args, -1, field)
		} else {
			v = argOf(args, n)
			n++
		}
		parts = append(parts, v)
		rest = rest[i+j+1:]
	}
	out := c.join("", append(parts, value{text: rest, literal: true})...)
	out.from = out.from.with(unionOf(args).from).with(receiver.from)
	return out
}
