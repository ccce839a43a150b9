package flow

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call evaluates a simple command of a shell.
func (s *shell) call(c *syntax.CallExpr, in value) value {
	for _, a := range c.Assigns {
		s.assign(a)
	}
	if len(c.Args) == 0 {
		return value{}
	}
	words := s.words(c.Args)
	return s.run(words, in)
}

// programOf returns the name of a program without directories and file extension.
func programOf(text string) string {
	if i := strings.LastIndexAny(text, `/\`); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSuffix(strings.ToLower(text), ".exe")
}

func shells(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ash", "ksh", "fish":
		return true
	}
	return false
}

// interpreterFlags returns the flags of an interpreter that have code, and those that have another value. ok is false
// for other programs.
func interpreterFlags(name string) (code, values string, ok bool) {
	switch {
	case shells(name):
		return " -c -lc -ic -ec -xc -euc ", " -o -O --rcfile --init-file ", true
	case strings.HasPrefix(name, "python"), strings.HasPrefix(name, "pypy"):
		return " -c ", " -W -X -m ", true
	case name == "node" || name == "nodejs" || name == "bun" || name == "tsx" || name == "ts-node":
		return " -e --eval -p --print -pe ", " -r --require --import --loader ", true
	case name == "ruby" || name == "perl":
		return " -e -E -ne -pe ", " -r -I -M ", true
	case name == "php":
		return " -r ", " -d -c ", true
	case name == "osascript":
		return " -e ", " -l ", true
	case name == "deno":
		return " eval ", "", true
	case name == "pwsh" || name == "powershell":
		return " -c -command -encodedcommand -enc -e -ec ", " -executionpolicy -ep -exec -w -windowstyle -file ", true
	}
	return "", "", false
}

// run evaluates a command and returns its output.
func (s *shell) run(words []value, in value) value {
	for len(words) > 0 {
		name := programOf(words[0].text)
		switch name {
		case "sudo", "doas", "pkexec":
			s.fact(Fact{Kind: Elevates, Detail: name, Client: name, Sure: Certain})
			words = skipFlags(words[1:], "ughpCrtT")
			continue
		case "nohup", "time", "command", "builtin", "setsid", "exec", "nice", "ionice", "stdbuf", "then", "do", "!",
			"unbuffer", "caffeinate":
			words = skipFlags(words[1:], "naioce")
			continue
		case "timeout", "gtimeout":
			words = skipFlags(words[1:], "ks")
			if len(words) > 0 {
				words = words[1:]
			}
			continue
		case "env":
			rest := skipFlags(words[1:], "uS")
			for len(rest) > 0 && strings.Contains(rest[0].text, "=") {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				return s.source(Fact{Kind: ReadsEnvironment, Client: "env", Sure: Certain})
			}
			words = rest
			continue
		case "xargs", "parallel":
			words = skipFlags(words[1:], "InPLdsE")
			if len(words) == 0 {
				return in
			}
			arg := in
			words = append(slices.Clip(words), arg)
			if out, ok := s.xargs(words, in); ok {
				return out
			}
			continue
		}
		return s.program(name, words, in)
	}
	return in
}

// xargs runs code of the input as a command line.
func (s *shell) xargs(words []value, in value) (value, bool) {
	if shells(programOf(words[0].text)) {
		return s.program(programOf(words[0].text), words, in), true
	}
	return value{}, false
}

// skipFlags returns the words after flags. with are the flags that take a value.
func skipFlags(words []value, with string) []value {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		flag := words[0].text
		words = words[1:]
		if len(flag) == 2 && strings.Contains(with, flag[1:]) && len(words) > 0 {
			words = words[1:]
		}
		if flag == "--" {
			break
		}
	}
	return words
}

// program evaluates a program whose name is known.
func (s *shell) program(name string, words []value, in value) value {
	args := words[1:]
	if s.funcs[name] {
		return s.callFunction(name, args, in)
	}
	s.guards(name, args)
	switch name {
	case "":
		return in
	case "eval":
		return s.eval("eval", s.join(" ", args...), in)
	case "source", ".":
		if len(args) > 0 {
			s.runFile(name, args[0], value{})
		}
		return value{}
	case "trap", "test", "[", "[[", ":", "true", "false", "exit", "return", "shift", "set", "local", "cd", "pushd",
		"popd", "break", "continue", "wait", "sleep", "which", "type", "hash", "alias", "umask", "getopts", "let",
		"mkdir", "touch", "unset", "ulimit", "date", "basename", "dirname", "pwd", "uname", "whoami", "id", "hostname":
		return s.plain(name, args)
	case "read", "mapfile", "readarray":
		for _, a := range args {
			if a.text != "" && a.text[0] != '-' && !hasHole(a.text) {
				s.set(a.text, value{from: in.from})
			}
		}
		return value{}
	case "printenv":
		if len(args) > 0 {
			v, _ := s.variable(args[0].text)
			return v
		}
		return s.source(Fact{Kind: ReadsEnvironment, Client: name, Sure: Certain})
	case "echo", "printf", "print":
		return s.echo(name, args)
	case "curl", "curl.exe":
		return s.curl(args, in)
	case "wget":
		return s.wget(args, in)
	case "http", "https", "xh":
		return s.httpie(args, in)
	case "nc", "ncat", "netcat", "socat", "telnet", "nc.traditional":
		return s.socket(name, args, in)
	case "scp", "rsync", "sftp":
		return s.remote(name, args)
	case "ssh":
		return s.ssh(args, in)
	case "dig", "nslookup", "host", "drill":
		for _, a := range args {
			if hasHole(a.text) && strings.Contains(a.text, ".") {
				_, host := address("dns://" + a.text)
				s.sink(Fact{Kind: LooksUp, Detail: a.text, Host: host, Client: name}, a)
			}
		}
		return value{}
	case "mail", "mailx", "sendmail", "mutt", "msmtp", "swaks":
		p := parseFlags(args, flagSet{"sabcrtSf", " --to --from --server --attach --body "})
		sent := p.rest
		for _, f := range p.of("-a", "--attach") {
			sent = append(sent, s.readSent(f))
		}
		s.sink(Fact{Kind: Mails, Client: name}, append(sent, in)...)
		return value{}
	case "aws", "gsutil", "gcloud", "az", "rclone", "s3cmd", "b2", "mc":
		return s.cloud(name, args, in)
	case "gh", "glab", "hub":
		return s.request(Downloads, value{text: map[string]string{"glab": "https://gitlab.com"}[name],
			literal: true}.or("https://github.com"), name, s.headers(append(args, in)))
	case "git":
		return s.git(args)
	case "openssl", "base64", "xxd", "gbase64", "base32", "uudecode":
		return s.decoder(name, args, in)
	case "cp", "mv", "ln", "install":
		return s.copies(name, args)
	case "tee":
		for _, a := range args {
			if a.text != "" && a.text[0] != '-' {
				s.write(a, in, name)
			}
		}
		return in
	case "dd":
		return s.dd(args, in)
	case "rm":
		s.remove(args)
		return value{}
	case "tar", "zip", "7z", "gpg":
		return s.archive(name, args, in)
	case "crontab":
		if p := parseFlags(args, flagSet{"u", ""}); !p.has("-l", "-r") {
			s.sink(Fact{Kind: Persists, Detail: "crontab", Client: name, Sure: Certain}, append(p.rest, in)...)
		}
		return value{}
	case "find", "ls", "tree", "fd", "du", "locate":
		return s.list(name, args, in)
	case "history":
		return s.source(Fact{Kind: ReadsHistory, Detail: "history", Client: name, Sure: Certain})
	case "pbpaste", "wl-paste", "xclip", "xsel":
		if name[0] == 'x' && !strings.Contains(joined(args), "-o") && !strings.Contains(joined(args), "--output") {
			return value{}
		}
		return s.source(Fact{Kind: ReadsClipboard, Detail: name, Client: name, Sure: Certain})
	case "security":
		if text := joined(args); strings.Contains(text, "find-generic-password") || strings.Contains(text,
			"find-internet-password") || strings.Contains(text, "dump-keychain") {
			return s.source(Fact{Kind: ReadsKeychain, Detail: "security " + args[0].text, Client: name, Sure: Certain})
		}
		return value{}
	case "secret-tool":
		if len(args) > 0 && args[0].text == "lookup" {
			return s.source(Fact{Kind: ReadsKeychain, Detail: "secret-tool lookup", Client: name, Sure: Certain})
		}
		return value{}
	}
	if code, values, ok := interpreterFlags(name); ok {
		return s.interpreter(name, code, values, args, in)
	}
	if _, ok := filters[name]; ok {
		return s.filter(name, args, in)
	}
	if strings.Contains(words[0].text, "://") { // an address alone is an example
		return value{}
	}
	if isPath(words[0].text) {
		return s.runFile(words[0].text, words[0], union(append(args, in)...))
	}
	if hasHole(words[0].text) {
		if i := strings.IndexByte(words[0].text, 0); i == 0 {
			s.sink(Fact{Kind: RunsComputed, Detail: words[0].text, Sure: Possible}, words[0])
		}
		return union(append(args, in)...)
	}
	if text := words[0].text; len(args) == 0 && text == strings.ToUpper(text) && secretName(text) { // $(NAME) of make
		v, _ := s.variable(text)
		return v
	}
	s.fact(Fact{Kind: Runs, Detail: name, Client: name, Sure: Certain})
	return union(append(args, in)...)
}

func (v value) or(text string) value {
	if v.text == "" {
		v.text = text
	}
	return v
}

func joined(args []value) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	return strings.Join(texts, " ")
}

// plain evaluates commands that neither connect nor write outside the project.
func (s *shell) plain(name string, args []value) value {
	switch name {
	case "set":
		if len(args) == 0 {
			return s.source(Fact{Kind: ReadsEnvironment, Client: name, Sure: Certain})
		}
	case "unset":
		if len(args) > 0 && args[0].text == "HISTFILE" {
			s.fact(Fact{Kind: SuppressesLogs, Detail: "HISTFILE", Client: name, Sure: Certain})
		}
	case "dirname", "basename":
		if len(args) > 0 {
			return value{from: args[0].from}
		}
	}
	return value{}
}

// isPath reports whether the first word of a command is a file in a directory.
func isPath(text string) bool {
	return strings.Contains(text, "/") && !strings.HasPrefix(text, "/usr/") && !strings.HasPrefix(text, "/bin/") &&
		!strings.HasPrefix(text, "/opt/")
}

func (s *shell) callFunction(name string, args []value, in value) value {
	for i, a := range args {
		if i < 9 {
			s.reach(a.from, s.key("call:"+s.local(name)+" "+strconv.Itoa(i+1)))
		}
	}
	s.reach(union(args...).from, s.key("call:"+s.local(name)+" @"))
	s.reach(in.from, s.key("call:"+s.local(name)+" <"))
	return value{from: set{s.key("result:" + s.local(name))}}
}

// eval runs code in a value.
func (s *shell) eval(client string, code, in value) value {
	text := strings.TrimSpace(code.text)
	computed := strings.HasPrefix(text, "\x00") || text == ""
	if computed && len(code.from) > 0 {
		s.sink(Fact{Kind: RunsComputed, Detail: client, Client: client, Sure: Certain}, code)
	}
	if text == "" || computed && strings.IndexByte(text, 1) == len(text)-1 {
		return value{from: code.from}
	}
	return s.code(code, in)
}

// runFile records that a file is run: a script, or one that is sourced.
func (s *shell) runFile(client string, file, args value) value {
	text := cleanPath(file.text)
	if strings.HasPrefix(text, "/dev/fd/") || text == "-" || text == "/dev/stdin" {
		s.sink(Fact{Kind: RunsComputed, Detail: programOf(client), Client: programOf(client), Sure: Certain}, file)
		return value{from: file.from}
	}
	if name := programOf(client); strings.Contains(text, "://") {
		if name != "deno" && name != "bun" && name != "source" {
			return value{}
		}
		v := s.download(file, programOf(client))
		s.sink(Fact{Kind: RunsComputed, Detail: programOf(client), Client: programOf(client), Sure: Certain}, v)
		return v
	}
	if strings.HasSuffix(text, ".env") && (client == "source" || client == ".") {
		return value{}
	}
	f := Fact{Kind: RunsFile, Detail: text, Client: programOf(client), Sure: Certain}
	v := value{from: set{s.key(s.fileKey(text))}}
	if strings.HasPrefix(text, "\x00") || text == "" {
		v.from = v.from.with(file.from)
	}
	s.sink(f, v)
	base := path.Base(text)
	s.reach(args.from, s.key("in:"+base))
	return value{from: set{s.key("out:" + base)}}
}

// interpreter evaluates shells, and programs that run scripts of a language.
func (s *shell) interpreter(name, code, values string, args []value, in value) value {
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if name == "pwsh" || name == "powershell" {
			text = strings.ToLower(text)
		}
		switch {
		case text != "" && strings.Contains(code, " "+text+" "):
			if i+1 >= len(args) {
				return value{}
			}
			return s.inline(name, text, args[i+1:], in)
		case text == "-m" && strings.HasPrefix(name, "py"):
			if i+1 < len(args) {
				s.fact(Fact{Kind: Runs, Detail: "python -m " + args[i+1].text, Client: name, Sure: Certain})
			}
			return union(append(args, in)...)
		case text == "-" || text == "-s" || text == "/dev/stdin":
			return s.standardInput(name, in)
		case text == "run" && (name == "deno" || name == "bun"):
		case text != "" && strings.Contains(values, " "+text+" "):
			if text == "-file" && i+1 < len(args) {
				return s.runFile(name, args[i+1], union(append(args[i+1:], in)...))
			}
			i++
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
		default:
			return s.runFile(name, args[i], union(append(args[i+1:], in)...))
		}
	}
	return s.standardInput(name, in)
}

func (s *shell) standardInput(name string, in value) value {
	if len(in.from) > 0 {
		s.sink(Fact{Kind: RunsComputed, Detail: name, Client: name, Sure: Certain}, in)
	}
	if in.text != "" && strings.Contains(in.text, "\n") || in.text != "" && in.text[0] != 0 {
		return s.inline(name, "", []value{in}, value{})
	}
	return value{from: in.from}
}

// inline evaluates code in an argument of an interpreter.
func (s *shell) inline(name, flag string, args []value, in value) value {
	code := args[0]
	switch {
	case shells(name):
		return s.eval(name, code, in)
	case name == "pwsh" || name == "powershell":
		if strings.HasPrefix(flag, "-e") {
			v := s.source(Fact{Kind: Decodes, Detail: "base64", Client: name + " " + flag, Sure: Certain})
			s.sink(Fact{Kind: RunsComputed, Detail: name, Client: name, Sure: Certain}, v, code)
			return v
		}
		return s.nested(PowerShell, name, s.join(" ", args...), in)
	case strings.HasPrefix(name, "py"):
		return s.nested(Python, name, code, in)
	case name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "tsx" || name == "ts-node":
		return s.nested(JavaScript, name, code, in)
	case name == "ruby":
		return s.nested(Ruby, name, code, in)
	}
	if strings.HasPrefix(code.text, "\x00") && len(code.from) > 0 {
		s.sink(Fact{Kind: RunsComputed, Detail: name, Client: name, Sure: Certain}, code)
	}
	return value{from: union(code, in).from}
}

// echo returns the text that a command prints.
func (s *shell) echo(name string, args []value) value {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) <= 3 {
		args = args[1:]
	}
	if name == "printf" && len(args) > 1 {
		if args[0].text == "%s" || args[0].text == `%s\n` || args[0].text == "%b" {
			args = args[1:]
		}
	}
	return s.join(" ", args...)
}

func (s *shell) httpie(args []value, in value) value {
	var rest []value
	kind := Downloads
	sent := []value{in}
	for _, a := range args {
		switch text := a.text; {
		case text == "GET" || text == "DELETE" || text == "HEAD" || strings.HasPrefix(text, "-"):
		case text == "POST" || text == "PUT" || text == "PATCH":
			kind = Uploads
		case len(rest) == 0:
			rest = append(rest, a)
		default:
			if strings.Contains(text, "@") && !strings.Contains(text, "=") {
				_, file, _ := strings.Cut(text, "@")
				a = s.readSent(value{text: file, literal: true, from: a.from})
			}
			if strings.Contains(text, "=") {
				kind = Uploads
			}
			sent = append(sent, a)
		}
	}
	return s.fetched("http", kind, rest, sent, nil, false)
}

func (s *shell) ssh(args []value, in value) value {
	p := parseFlags(args, flagSet{"pilFLRDoJbcEeIkmOQSWw", ""})
	if len(p.rest) == 0 {
		return value{}
	}
	text := p.rest[0].text
	host := text[strings.LastIndexByte(text, '@')+1:]
	f := Fact{Kind: Connects, Detail: host, Host: bareHost(host), Client: "ssh", Sure: Likely}
	return value{from: set{s.sink(f, append(p.rest[1:], in)...)}}
}

// cloud evaluates programs that copy files to and from the storage of a service.
func (s *shell) cloud(name string, args []value, in value) value {
	host := map[string]string{"aws": "amazonaws.com", "gsutil": "googleapis.com", "gcloud": "googleapis.com",
		"az": "azure.com"}[name]
	copies := false
	var last string
	var sent []value
	for _, a := range args {
		switch text := a.text; {
		case text == "cp" || text == "sync" || text == "copy" || text == "mv" || text == "put":
			copies = true
		case copies && text != "" && text[0] != '-':
			last = text
			if !strings.Contains(text, "://") {
				sent = append(sent, s.readSent(a))
			}
		}
	}
	kind := Downloads
	if copies && (strings.Contains(last, "://") || name == "rclone") {
		kind = Uploads
	} else {
		sent = nil
	}
	detail := last
	if !copies {
		detail = ""
		if len(args) > 0 {
			detail = name + " " + args[0].text
		}
	}
	return value{from: set{s.sink(Fact{Kind: kind, Detail: detail, Host: host, Client: name, Sure: Likely},
		append(sent, in)...)}}
}

func (s *shell) git(args []value) value {
	text := " " + joined(args) + " "
	if strings.Contains(text, "http.sslverify=false") || strings.Contains(text, "http.sslVerify=false") ||
		strings.Contains(text, "http.sslVerify false") {
		s.fact(Fact{Kind: Unverified, Detail: "http.sslVerify=false", Client: "git", Sure: Certain})
	}
	args = skipFlags(args, "cC")
	if len(args) == 0 {
		return value{}
	}
	s.fact(Fact{Kind: Runs, Detail: "git", Client: "git", Sure: Certain})
	switch args[0].text {
	case "push":
		if strings.Contains(text, " --force ") || strings.Contains(text, " -f ") || strings.Contains(text,
			" --mirror ") {
			s.fact(Fact{Kind: RewritesGit, Detail: strings.TrimSpace("git" + text), Client: "git", Sure: Certain})
		}
	case "filter-branch", "filter-repo":
		s.fact(Fact{Kind: RewritesGit, Detail: "git " + args[0].text, Client: "git", Sure: Certain})
	case "clone", "fetch", "pull":
		for i, a := range args[1:] {
			if !strings.Contains(a.text, "://") && !strings.HasPrefix(a.text, "git@") {
				continue
			}
			v := s.download(a, "git clone")
			dir := strings.TrimSuffix(a.text[strings.LastIndexByte(a.text, '/')+1:], ".git")
			if i+2 < len(args) && args[i+2].text != "" && args[i+2].text[0] != '-' {
				dir = cleanPath(args[i+2].text)
			}
			s.write(value{text: dir, literal: true}, value{}, "git clone")
			_ = v
			break
		}
	}
	return value{}
}

// decoder evaluates programs that decode their input or a file.
func (s *shell) decoder(name string, args []value, in value) value {
	v := in
	if name == "openssl" {
		text := " " + joined(args) + " "
		for i, a := range args {
			if i > 0 && args[i-1].text == "-in" {
				v = union(v, s.read(a, name))
			}
			if i > 0 && args[i-1].text == "-out" {
				defer func() { s.write(a, v, name) }()
			}
		}
		if strings.Contains(text, " s_client ") {
			for i, a := range args {
				if i > 0 && args[i-1].text == "-connect" {
					return value{from: set{s.sink(Fact{Kind: Connects, Detail: a.text, Host: bareHost(a.text),
						Client: "openssl s_client", Sure: Likely}, in)}}
				}
			}
			return value{}
		}
		if strings.Contains(text, " -d ") {
			v = union(v, s.source(Fact{Kind: Decodes, Detail: "openssl", Client: name, Sure: Certain}))
		}
		return value{from: v.from}
	}
	p := parseFlags(args, flagSet{"iowpkKlc", " --wrap "})
	for _, f := range append(p.rest, p.of("-i")...) {
		if f.text != "-" {
			v = union(v, s.read(f, name))
		}
	}
	if p.has("-d", "-D", "--decode", "-r") {
		detail := strings.TrimPrefix(name, "g")
		if name == "xxd" {
			detail = "hex"
		}
		decoded := s.source(Fact{Kind: Decodes, Detail: detail, Client: name, Sure: Certain})
		return value{from: decoded.from.with(v.from), text: decode(detail, v.text)}
	}
	return value{from: s.through("encode", v.from)}
}

func (s *shell) copies(name string, args []value) value {
	p := parseFlags(args, flagSet{"tmogS", " --target-directory "})
	if len(p.rest) < 2 {
		return value{}
	}
	to := p.rest[len(p.rest)-1]
	for _, f := range p.rest[:len(p.rest)-1] {
		content := value{}
		if name != "ln" {
			content = s.read(f, name)
		}
		target := to
		if strings.HasSuffix(to.text, "/") || to.text == "." {
			target = s.join("/", to, value{text: path.Base(cleanPath(f.text)), literal: true})
		}
		s.write(target, content, name)
	}
	return value{}
}

func (s *shell) dd(args []value, in value) value {
	for _, a := range args {
		if from, ok := strings.CutPrefix(a.text, "if="); ok {
			in = s.read(value{text: from, literal: true, from: a.from}, "dd")
		}
	}
	for _, a := range args {
		if to, ok := strings.CutPrefix(a.text, "of="); ok {
			s.write(value{text: to, literal: true, from: a.from}, in, "dd")
			return value{}
		}
	}
	return in
}

func (s *shell) remove(args []value) {
	p := parseFlags(args, flagSet{})
	if !p.has("-r", "-R", "--recursive") {
		return
	}
	for _, a := range p.rest {
		text := strings.ReplaceAll(a.text, `\`, "/")
		switch {
		case strings.HasPrefix(text, "/var/log"):
			s.fact(Fact{Kind: SuppressesLogs, Detail: text, Client: "rm", Sure: Certain})
		case isHome(cleanPath(text)):
			s.fact(Fact{Kind: Deletes, Detail: text, Client: "rm", Sure: Certain})
		case strings.HasPrefix(text, "\x00"):
			rest := text[strings.IndexByte(text, 1)+1:]
			if hole, ok := s.holeAt(strings.Trim(text[:len(text)-len(rest)], "\x00\x01")); ok && (rest == "/" ||
				rest == "/*") {
				for _, id := range hole.from {
					if n := s.sum.nodes[id]; n.fact >= 0 && s.sum.facts[n.fact].Kind == ReadsVariable {
						s.fact(Fact{Kind: Deletes, Detail: "$" + s.sum.facts[n.fact].Detail + rest, Client: "rm",
							Sure: Possible})
					}
				}
			}
		}
	}
}

// archive evaluates programs that pack files.
func (s *shell) archive(name string, args []value, in value) value {
	var out value
	var target *value
	creates := name == "zip"
	for i, a := range args {
		text := a.text
		flag := strings.HasPrefix(text, "-") || name == "tar" && i == 0
		switch {
		case name == "tar" && flag && !strings.HasPrefix(text, "--"):
			creates = creates || strings.Contains(text, "c")
			if strings.Contains(text, "f") && i+1 < len(args) {
				target = &args[i+1]
			}
		case name == "7z" && i == 0:
			creates = text == "a"
		case flag:
		case name != "tar" && target == nil:
			target = &args[i]
			if name == "gpg" {
				out = union(out, s.read(a, name))
			}
		case target == nil || target != &args[i]:
			if creates {
				out = union(out, s.readSent(a))
			}
		}
	}
	if name == "gpg" {
		return union(out, in)
	}
	if creates && target != nil && target.text != "-" {
		s.write(*target, out, name)
		return value{}
	}
	if target != nil && !creates {
		return s.read(*target, name)
	}
	return union(out, in)
}

// list evaluates programs that list files.
func (s *shell) list(name string, args []value, in value) value {
	out := value{}
	for i, a := range args {
		text := cleanPath(a.text)
		if text == "" || strings.HasPrefix(text, "-") {
			if text == "-exec" && i+2 < len(args) {
				words := args[i+1:]
				for k, w := range words {
					if w.text == ";" || w.text == "+" || w.text == `\;` {
						words = words[:k]
						break
					}
				}
				if len(words) > 0 && words[0].text != "" {
					list := make([]value, len(words))
					for k, w := range words {
						if list[k] = w; w.text == "{}" {
							list[k] = value{from: out.from}
							list[k].text = s.hole(list[k])
						}
					}
					out = union(out, s.run(list, value{}))
				}
				break
			}
			continue
		}
		if i > 0 && strings.HasPrefix(args[i-1].text, "-") && name == "find" {
			continue
		}
		if isHome(text) && (name == "find" || name == "fd") && text != "/" {
			out = union(out, s.source(Fact{Kind: ReadsHome, Detail: text, Client: name}))
		}
	}
	return out
}

// guards adds facts about arguments that switch off protection, and about programs of administration.
func (s *shell) guards(name string, args []value) {
	add := func(kind Kind, detail string) {
		s.fact(Fact{Kind: kind, Detail: detail, Client: name, Sure: Certain})
	}
	for _, a := range args {
		switch a.text {
		case "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo",
			"--allow-dangerously-skip-permissions", "--permission-mode=bypassPermissions":
			add(SkipsApproval, a.text)
		}
		switch name {
		case "psql", "mysql", "sqlite3", "mariadb", "sqlcmd", "clickhouse-client", "mongosh", "duckdb":
			if text := strings.ToUpper(a.text); strings.Contains(text, "DROP DATABASE") || strings.Contains(text,
				"DROP SCHEMA") {
				add(DropsDatabase, "DROP DATABASE")
			}
		}
	}
	switch name {
	case "chmod":
		for _, a := range args {
			mode := a.text
			if mode == "777" || mode == "0777" || mode == "a+rwx" || mode == "a=rwx" || mode == "u+s" ||
				mode == "+s" || mode == "g+s" || len(mode) == 4 && mode[0] >= '2' && mode[0] <= '7' &&
				strings.Trim(mode, "01234567") == "" {
				add(Loosens, mode)
			}
		}
	case "dropdb":
		add(DropsDatabase, "dropdb")
	case "mkfs", "wipefs", "mkfs.ext4", "mkfs.xfs", "mkfs.ntfs", "mkfs.vfat":
		add(Wipes, name)
	case "diskutil":
		if text := joined(args); strings.HasPrefix(text, "eraseDisk") || strings.HasPrefix(text, "zeroDisk") {
			add(Wipes, "diskutil "+args[0].text)
		}
	case "shred":
		for _, a := range args {
			if strings.HasPrefix(a.text, "/dev/") {
				add(Wipes, a.text)
			}
		}
	case "systemctl", "service", "launchctl":
		s.services(name, joined(args))
	case "ufw":
		if joined(args) == "disable" {
			add(DisablesGuard, "ufw disable")
		}
	case "iptables":
		if joined(args) == "-F" {
			add(DisablesGuard, "iptables -F")
		}
	case "setenforce":
		if joined(args) == "0" {
			add(DisablesGuard, "setenforce 0")
		}
	case "spctl":
		if strings.Contains(joined(args), "disable") {
			add(DisablesGuard, "spctl "+joined(args))
		}
	case "csrutil":
		if joined(args) == "disable" {
			add(DisablesGuard, "csrutil disable")
		}
	case "xattr":
		if text := joined(args); strings.Contains(text, "com.apple.quarantine") && strings.Contains(text, "-d") ||
			strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-rc") || strings.HasPrefix(text, "-cr") {
			add(DisablesGuard, "xattr (quarantine)")
		}
	case "history":
		if text := joined(args); strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-wc") {
			add(SuppressesLogs, "history -c")
		}
	case "visudo", "usermod", "useradd":
		add(Elevates, name)
	case "schtasks":
		if strings.Contains(strings.ToLower(joined(args)), "/create") {
			add(Persists, "scheduled task")
		}
	case "reg":
		if text := strings.ToLower(joined(args)); strings.HasPrefix(text, "add ") && strings.Contains(text,
			`currentversion\run`) {
			add(Persists, "registry Run key")
		}
	case "npm":
		if text := joined(args); strings.Contains(text, "strict-ssl false") || strings.Contains(text,
			"strict-ssl=false") {
			add(Unverified, "strict-ssl false")
		}
	case "pip", "pip3":
		if strings.Contains(joined(args), "--trusted-host") {
			add(Unverified, "--trusted-host")
		}
	}
}

func (s *shell) services(name, text string) {
	text = " " + text + " "
	for _, guard := range []string{"ufw", "firewalld", "apparmor", "auditd", "clamav", "falcon-sensor", "osqueryd",
		"wazuh-agent", "crowdstrike", "mdatp"} {
		if strings.Contains(text, guard) && (strings.Contains(text, " stop ") || strings.Contains(text,
			" disable ") || strings.Contains(text, " mask ") || strings.Contains(text, " unload ")) {
			s.fact(Fact{Kind: DisablesGuard, Detail: name + text, Client: name, Sure: Certain})
			return
		}
	}
	if name == "systemctl" && strings.Contains(text, " enable ") || name == "launchctl" && (strings.Contains(text,
		" load ") || strings.Contains(text, " bootstrap ")) {
		s.fact(Fact{Kind: Persists, Detail: name + text, Client: name, Sure: Likely})
	}
}
