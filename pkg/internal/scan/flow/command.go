package flow

import (
	"slices"
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
			"unbuffer", "caffeinate", "busybox":
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

// storesSecret reports whether a command of a forge stores a secret or key in the user's own account, or in the
// repository of the directory.
func storesSecret(args []value) bool {
	if len(args) < 2 || slices.ContainsFunc(args, func(a value) bool {
		return strings.HasPrefix(a.text, "-R") || strings.HasPrefix(a.text, "--repo") || strings.HasPrefix(a.text, "--org")
	}) {
		return false
	}
	switch args[0].text + " " + args[1].text {
	case "secret set", "ssh-key add", "gpg-key add":
		return true
	}
	return false
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
	s.ran(name)
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
		if storesSecret(args) {
			in = value{}
		}
		return s.request(Downloads, value{
			text:    map[string]string{"glab": "https://gitlab.com"}[name],
			literal: true,
		}.or("https://github.com"), name, s.headers(append(args, in)))
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
