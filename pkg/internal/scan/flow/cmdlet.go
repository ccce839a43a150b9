package flow

import "strings"

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
	if argv := arg.partsOrEmpty().argv; len(argv) > 0 {
		return argv[len(argv)-1].text
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
