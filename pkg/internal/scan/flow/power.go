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

// method evaluates a method or a constructor with its argument.
func (p *power) method(fn, arg value) value {
	name := strings.ToLower(fn.name)
	out := union(fn, arg)
	switch {
	case strings.Contains(name, "downloadstring"), strings.Contains(name, "downloaddata"), strings.Contains(name,
		"getstringasync"):
		return p.download(arg, "WebClient.DownloadString").bare()
	case strings.Contains(name, "downloadfile"):
		v := p.download(arg, "WebClient.DownloadFile")
		p.write(value{text: p.lastWord(arg), literal: true}, v, "WebClient.DownloadFile")
		return value{name: "()"}
	case strings.Contains(name, "uploadstring"), strings.Contains(name, "uploadfile"), strings.Contains(name,
		"uploaddata"):
		return p.request(Uploads, arg, "WebClient.UploadString", arg).bare()
	case strings.Contains(name, "frombase64string"):
		v := union(arg, p.source(Fact{Kind: Decodes, Detail: "base64", Client: "FromBase64String", Sure: Certain}))
		v.name = "()"
		return v
	case strings.Contains(name, "tcpclient"):
		f := Fact{Kind: Connects, Detail: arg.text, Host: bareHost(arg.text), Client: "TcpClient", Sure: Likely}
		return value{from: set{p.sink(f, arg)}, name: "()"}
	case strings.Contains(name, "readalltext"), strings.Contains(name, "readallbytes"):
		return p.read(arg, "ReadAllText").bare()
	case strings.Contains(name, "getenvironmentvariables"):
		return p.source(Fact{Kind: ReadsEnvironment, Client: "GetEnvironmentVariables", Sure: Certain}).bare()
	case strings.HasSuffix(name, "scriptblock]::create"):
		p.eval("ScriptBlock.Create", arg, value{})
	}
	out.name = "()"
	return out
}

// lastWord returns the last of the arguments of a method.
func (p *power) lastWord(arg value) string {
	if n := len(arg.argv); n > 0 {
		return arg.argv[n-1].text
	}
	return arg.text
}

// cmdlet evaluates a command.
func (p *power) cmdlet(words []value, in value) value {
	name := strings.ToLower(words[0].text)
	if words[0].name != words[0].text || name == "" { // an expression: not a bare word
		if len(words) == 1 {
			return words[0]
		}
		return union(append(words, in)...)
	}
	args := words[1:]
	p.ran(programOf(name))
	flags := map[string]value{}
	var rest []value
	for i := 0; i < len(args); i++ {
		text := strings.ToLower(args[i].text)
		if len(text) > 1 && text[0] == '-' && args[i].literal && !hasHole(text) {
			flag := strings.TrimSuffix(text, ":")
			if i+1 < len(args) && !(args[i+1].literal && strings.HasPrefix(args[i+1].text, "-")) {
				flags[flag] = args[i+1]
				if !switches[flag] {
					i++
				}
			} else {
				flags[flag] = value{}
			}
			continue
		}
		if text == ">" && i+1 < len(args) {
			out := p.cmdlet(words[:i+1], in)
			p.write(args[i+1], out, ">")
			return value{}
		}
		rest = append(rest, args[i])
	}
	flag := func(names ...string) (value, bool) {
		for _, n := range names {
			if v, ok := flags[n]; ok {
				return v, true
			}
		}
		return value{}, false
	}
	first := value{}
	if len(rest) > 0 {
		first = rest[0]
	}
	all := union(append(args, in)...)
	file := first
	if v, ok := flag("-path", "-literalpath", "-filepath"); ok {
		file = v
	}
	switch name {
	case "iex", "invoke-expression":
		code := first
		if v, ok := flag("-command"); ok {
			code = v
		}
		if len(args) == 0 {
			code = in
		}
		code.from = code.from.with(union(rest...).from)
		if strings.HasPrefix(code.text, "\x00") || code.text == "" {
			if len(code.from) > 0 {
				p.sink(Fact{Kind: RunsComputed, Detail: "Invoke-Expression", Client: "iex", Sure: Certain}, code)
			}
		}
		return value{from: code.from}
	case "&", ".":
		if len(rest) > 0 {
			if isPath(strings.ReplaceAll(first.text, `\`, "/")) || strings.HasPrefix(first.text, "\x00") {
				return p.runFile(name, first, union(rest[1:]...))
			}
			return p.cmdlet(rest, in)
		}
		return value{}
	case "iwr", "invoke-webrequest", "irm", "invoke-restmethod", "curl", "wget", "start-bitstransfer", "curl.exe":
		if name == "curl.exe" || name == "curl" && strings.HasPrefix(joined(args), "-") &&
			!strings.Contains(strings.ToLower(joined(args)), "-uri") {
			return p.curl(args, in)
		}
		return p.webRequest(name, first, flag, append(args, in))
	case "get-content", "gc", "cat", "type":
		return p.read(file, name)
	case "set-content", "add-content", "out-file", "sc", "ac":
		content := in
		if v, ok := flag("-value"); ok {
			content = v
		} else if len(rest) > 1 {
			content = union(rest[1:]...)
		}
		p.write(file, content, name)
		return value{}
	case "copy-item", "move-item", "cp", "mv", "copy", "move":
		to, ok := flag("-destination")
		if !ok && len(rest) > 1 {
			to = rest[len(rest)-1]
		}
		p.write(to, p.read(file, name), name)
		return value{}
	case "get-childitem", "gci", "ls", "dir":
		if strings.HasPrefix(strings.ToLower(file.text), "env:") {
			return p.source(Fact{Kind: ReadsEnvironment, Client: name, Sure: Certain})
		}
		if _, ok := flag("-recurse"); ok && isHome(cleanPath(file.text)) {
			return p.source(Fact{Kind: ReadsHome, Detail: cleanPath(file.text), Client: name})
		}
		return value{}
	case "get-clipboard":
		return p.source(Fact{Kind: ReadsClipboard, Detail: name, Client: name, Sure: Certain})
	case "start-process", "saps", "start", "invoke-item", "ii":
		return p.runFile(name, file, union(rest...))
	case "remove-item", "ri", "rm", "del":
		if _, ok := flag("-recurse", "-r"); ok && isHome(cleanPath(file.text)) {
			p.fact(Fact{Kind: Deletes, Detail: file.text, Client: name, Sure: Certain})
		}
		return value{}
	case "register-scheduledtask", "new-scheduledtask":
		p.sink(Fact{Kind: Persists, Detail: "scheduled task", Client: name, Sure: Certain}, all)
		return value{}
	case "set-itemproperty", "new-itemproperty":
		if strings.Contains(strings.ToLower(file.text), `currentversion\run`) {
			p.sink(Fact{Kind: Persists, Detail: "registry Run key", Client: name, Sure: Certain}, all)
		}
		return value{}
	case "set-mppreference", "add-mppreference":
		p.fact(Fact{Kind: DisablesGuard, Detail: joined(words), Client: name, Sure: Certain})
		return value{}
	case "new-object", "if", "foreach", "while", "function", "param", "try", "catch", "else", "return",
		"foreach-object", "%", "where-object", "?", "write-host", "write-output", "echo", "out-null",
		"convertto-json", "convertfrom-json", "":
		if name == "new-object" {
			v := all
			v.name = strings.ToLower(joined(args))
			if strings.Contains(v.name, "tcpclient") && len(rest) > 1 {
				return p.method(v, rest[1])
			}
			return v
		}
		if name == "write-output" || name == "echo" || name == "return" {
			return p.join(" ", rest...)
		}
		return all
	}
	switch {
	case len(words) == 1 && !p.commandName(name): // an expression
		return words[0]
	case strings.HasPrefix(words[0].text, "\x00") || words[0].name == "()" || words[0].literal && !p.commandName(name):
		return union(append(words, in)...)
	}
	return p.run(words, in)
}

// commandName reports whether a word can be the name of a program.
func (p *power) commandName(name string) bool {
	return name != "" && (isNameByte(name[0]) || name[0] == '.' || name[0] == '/' || name[0] == '~') &&
		!hasHole(name) && !strings.Contains(name, "=")
}

// switches are flags without a value.
var switches = map[string]bool{
	"-recurse": true, "-force": true, "-usebasicparsing": true, "-raw": true, "-append": true, "-passthru": true,
	"-nonewline": true, "-wait": true,
}

// webRequest evaluates Invoke-WebRequest and similar commands.
func (p *power) webRequest(name string, url value, flag func(...string) (value, bool), sent []value) value {
	if v, ok := flag("-uri", "-source"); ok {
		url = v
	}
	kind := Downloads
	if v, ok := flag("-method"); ok && !strings.EqualFold(v.text, "get") {
		kind = Uploads
	}
	if v, ok := flag("-body", "-form"); ok {
		kind = Uploads
		sent = append(sent, v)
	}
	if v, ok := flag("-infile"); ok {
		kind = Uploads
		sent = append(sent, p.readSent(v))
	}
	if _, ok := flag("-skipcertificatecheck"); ok {
		p.fact(Fact{Kind: Unverified, Detail: "-SkipCertificateCheck", Client: name, Sure: Certain})
	}
	v := p.request(kind, url, name, sent...)
	if out, ok := flag("-outfile", "-destination"); ok {
		p.write(out, v, name)
		return value{}
	}
	return v
}
