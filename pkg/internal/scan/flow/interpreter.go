package flow

import (
	"path"
	"strconv"
	"strings"
)

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

// isPath reports whether the first word of a command is a file in a directory.
func isPath(text string) bool {
	return strings.Contains(text, "/") && !strings.HasPrefix(text, "/usr/") && !strings.HasPrefix(text, "/bin/") &&
		!strings.HasPrefix(text, "/opt/")
}

func (s *shell) callFunction(name string, args []value, in value) value {
	for i, a := range args {
		if i < 9 {
			s.reach(a.from, s.functionKey("call:", name, " "+strconv.Itoa(i+1)))
		}
	}
	s.reach(union(args...).from, s.functionKey("call:", name, " @"))
	s.reach(in.from, s.functionKey("call:", name, " <"))
	return value{from: set{s.functionKey("result:", name, "")}}
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
	s.reach(args.from, s.key("in:", base))
	return value{from: set{s.key("out:", base)}}
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
