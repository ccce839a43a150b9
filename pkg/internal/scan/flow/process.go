package flow

import (
	"strings"
)

// process evaluates functions that run programs and code.
func (c *code) process(name, root, last string, args []arg) (value, bool) {
	first := argOf(args, 0, "args", "cmd", "command", "source")
	switch name {
	case "eval", "exec", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext", "builtins.exec",
		"builtins.eval",
		"__builtins__.exec", "instance_eval", "class_eval", "runpy.run_path", "importlib.import_module", "__import__":
		if root == "importlib" || root == "__import__" {
			return value{name: first.text, from: first.from}, true
		}
		if name == "exec" && c.lang == JavaScript {
			break
		}
		code := first
		if name == "Function" && len(args) > 0 {
			code = args[len(args)-1].v
		}
		if code.name == "compile()" {
			code.name = ""
		}
		c.sink(Fact{Kind: RunsComputed, Detail: name, Client: name, Sure: Certain}, code)
		for _, id := range code.from {
			if file, ok := strings.CutPrefix(c.sum.nodes[id].key, "file:"); ok && !hasHole(file) {
				c.fact(Fact{Kind: RunsFile, Detail: file, Client: name, Sure: Certain})
			}
		}
		if code.text != "" && !hasHole(code.text) {
			c.inShell(func(s *shell) value { return s.nested(c.lang, name, value{text: code.text}, value{}) })
		}
		return value{from: code.from}, true
	case "compile":
		return value{from: first.from, text: first.text, literal: first.literal, name: "compile()"}, true
	case "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "system", "`",
		"Kernel.system", "asyncio.create_subprocess_shell",
		"pty.spawn", "commands.getoutput", "execa.command", "os.execl", "os.execvp", "os.execv", "os.spawnl",
		"os.startfile", "webbrowser.open", "Bun.spawn", "Deno.Command", "$":
		if name == "webbrowser.open" {
			return value{}, true
		}
		return c.runs(name, first, args), true
	case "os.dup2":
		c.sink(Fact{Kind: RunsComputed, Detail: name, Client: name, Sure: Certain}, first)
		return value{}, true
	case "Deno.run":
		command, _ := first.field("cmd")
		return c.runs(name, command, args), true
	}
	switch {
	case root == "subprocess" && (last == "run" || last == "Popen" || last == "call" || last == "check_call" ||
		last == "check_output"),
		root == "asyncio" && last == "create_subprocess_exec":
		return c.runs(name, first, args), true
	case root == "child_process" || root == "execa" || root == "shelljs" || root == "zx" || c.lang == JavaScript &&
		(last == "execSync" || last == "spawnSync" || last == "execFileSync" || root == "spawn" || root == "exec" &&
			last == "exec" || last == "execa" || root == "execAsync"):
		switch last {
		case "exec", "execSync", "spawn", "spawnSync", "execFile", "execFileSync", "fork", "execa", "execaCommand",
			"execAsync":
			return c.runs(name, first, args), true
		}
	}
	return value{}, false
}

// runs evaluates a command that a function runs.
func (c *code) runs(name string, command value, args []arg) value {
	var extra value
	for _, a := range args {
		if a.key == "input" {
			extra = a.v
		}
		if f, ok := a.v.field("input"); ok {
			extra = f
		}
	}
	argv := command.partsOrEmpty().argv
	second := argOf(args, 1)
	if rest := second.partsOrEmpty().argv; len(argv) == 0 && len(rest) > 0 && c.lang == JavaScript {
		argv = append([]value{command}, rest...)
	}
	if name == "asyncio.create_subprocess_exec" || strings.HasPrefix(name, "os.exec") || strings.HasPrefix(name,
		"os.spawn") {
		argv = nil
		for _, a := range args {
			if a.key == "" {
				argv = append(argv, a.v)
			}
		}
	}
	if len(argv) > 0 {
		if argv[0].name == "sys.executable" || argv[0].name == "process.execPath" {
			argv = append([]value{{
				text:    map[bool]string{true: "node", false: "python"}[c.lang == JavaScript],
				literal: true,
			}}, argv[1:]...)
		}
		words := make([]value, len(argv))
		for i, a := range argv {
			if a.text == "" && !a.literal {
				a.text = c.hole(a)
			}
			words[i] = a
		}
		return c.inShell(func(s *shell) value { return s.run(words, extra) })
	}
	if command.text == "" {
		command.text = c.hole(command)
	}
	return c.inShell(func(s *shell) value { return s.eval(name, command, extra) })
}

// inShell evaluates with a shell that shares nothing but the reader.
func (c *code) inShell(f func(s *shell) value) value {
	if c.tooDeep() {
		return value{}
	}
	c.depth += 5
	defer func() { c.depth -= 5 }()
	s := newShell(c.reader)
	fixed := c.fixed
	c.fixed = true
	v := f(s)
	c.fixed = fixed
	return value{from: v.from, name: "subprocess"}
}
