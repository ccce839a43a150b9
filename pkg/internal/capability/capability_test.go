package capability_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

func skillOf(front, body string, files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"SKILL.md": {Data: []byte("---\nname: tool\ndescription: D.\n" + front + "---\n" + body), Mode: 0o644}}
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if name, exec := strings.CutSuffix(name, "*"); exec {
			fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o755}
			continue
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: mode}
	}
	return fsys
}

// TestOf checks the capabilities of a skill, and the positions that show them (O13, O22).
func TestOf(t *testing.T) {
	const elf = "\x7fELF\x02\x01\x01\x00\x00\x00"
	for _, tt := range []struct {
		name        string
		front, body string
		files       map[string]string
		want        string // the evidence
	}{
		{name: "nothing", body: "Read the code, then `say` what you think.\n", files: map[string]string{"references/a.md": "curl is a program; run nothing.\n", "data.json": "{}"}},
		{name: "a native program", files: map[string]string{"bin/tool": elf}, want: "native-binaries bin/tool is compiled: ELF program"},
		{name: "by its name", files: map[string]string{"lib/x.DLL": "text"}, want: "native-binaries lib/x.DLL has the file extension of a program"},
		{name: "another binary that may be executed", files: map[string]string{"bin/tool*": "\x00\x01\x02\x03"}, want: "native-binaries bin/tool is executable, but skillpm cannot scan its format"},
		{name: "an image that may be executed is none", files: map[string]string{"a.png*": "\x89PNG\r\n\x1a\n\x00"}},
		{name: "compiled", files: map[string]string{"m.wasm": "\x00asm\x01\x00\x00\x00"}, want: "native-binaries m.wasm has the file extension of a program, native-binaries m.wasm is compiled: WebAssembly"},
		{name: "in an archive", files: map[string]string{"a.zip": zipped(t, "x/tool", elf)}, want: "native-binaries a.zip contains x/tool: ELF program"},
		{name: "an archive that cannot be scanned", files: map[string]string{"a.7z": "7z\xbc\xaf\x27\x1c\x00\x04"}, want: "native-binaries a.7z is an archive that skillpm cannot scan"},
		{name: "hooks in the frontmatter", front: "hooks:\n  pre: scripts/x\n", want: "hooks SKILL.md:4 has hooks"},
		{name: "hooks in a file", files: map[string]string{"hooks/hooks.json": "{}"}, want: "hooks hooks/hooks.json configures hooks"},
		{name: "a command on loading", body: "Status: !`git status`\n", want: "dynamic-shell SKILL.md:5 runs `git status` when an agent loads the skill"},
		{name: "a command on loading that connects", body: "\n!`curl -s x`\n", want: "dynamic-shell SKILL.md:6 runs `curl -s x` when an agent loads the skill, network-tools SKILL.md:6 connects with curl"},
		{name: "a block of commands on loading", body: "```!\nrm -r build\n```\n", want: "dynamic-shell SKILL.md:5 runs `rm -r build` when an agent loads the skill, file-write SKILL.md:5 runs rm"},
		{name: "a command in place of a body", front: "command: \"./run && tee x\"\n", want: "scripts SKILL.md:4 defines the command `./run && tee x`, file-write SKILL.md:4 writes x with tee"},
		{name: "a slash command is none", front: "command: /hub:run\n"},
		{name: "scripts", files: map[string]string{"a.py": "print(1)\n", "scripts/b": "#!/bin/sh\ntrue\n", "c*": "true\n", "d.ps1": "Get-Item x\n", "e.md*": "# E\n"}, want: "scripts a.py is a script, scripts c is a script, scripts d.ps1 is a script, scripts scripts/b is a script"},
		{name: "in UTF-16", files: map[string]string{"a.ps1": "\xff\xfeI\x00W\x00R\x00 \x00x\x00\n\x00"}, want: "scripts a.ps1 is a script, network-tools a.ps1:1 connects with iwr"},
		{name: "a script that connects", files: map[string]string{"a.py": "import os\nimport requests\n"}, want: "scripts a.py is a script, network-tools a.py:2 has `import requests`"},
		{name: "in JavaScript", files: map[string]string{"a.mjs": "const r = await fetch(u)\nfs.writeFileSync('x', r)\n"}, want: "scripts a.mjs is a script, network-tools a.mjs:1 connects with fetch, file-write a.mjs:2 writes x with fs.writeFileSync"},
		{name: "in a shell", files: map[string]string{"a.sh": "# curl\nX=1 sudo /usr/bin/curl x | tee y\ncurl z\n"}, want: "scripts a.sh is a script, network-tools a.sh:2 connects with curl, file-write a.sh:2 writes y with tee"},
		{name: "a redirection", files: map[string]string{"a.sh": "make 2>&1 >/dev/null\necho x > y\n"}, want: "scripts a.sh is a script, file-write a.sh:2 writes y"},
		{name: "a file that is opened to write", files: map[string]string{"a.py": "open(p)\nopen(p, 'w')\n"}, want: "scripts a.py is a script, file-write a.py:2 writes a file with open"},
		{name: "on a page", body: "```sh\ncurl x\n```\n", files: map[string]string{"references/a.md": "```bash\ngit diff\nmkdir -p x\n```\n"}, want: "network-tools SKILL.md:6 runs curl, file-write references/a.md:3 runs mkdir"},
		{name: "MCP servers", files: map[string]string{".mcp.json": "{}"}, want: "network-tools .mcp.json configures MCP servers"},
		{name: "tools", front: "allowed-tools: Read, WebFetch, Edit(./x/**)\n", want: "network-tools SKILL.md:4 allows WebFetch, file-write SKILL.md:4 allows Edit(./x/**)"},
		{name: "tools by other names", front: "allowed-tools:\n  - write_file\n  - mcp__x__y\n", want: "network-tools SKILL.md:6 allows mcp__x__y, a tool of an MCP server, file-write SKILL.md:5 allows write_file"},
		{name: "a shell", front: "allowed-tools: Bash\n", want: "unscoped-shell SKILL.md:4 allows every command: Bash"},
		{name: "a shell for some commands", front: "allowed-tools: Bash(git:*), Bash(curl:*), Bash(bash -c *)\n", want: "network-tools SKILL.md:4 runs curl, unscoped-shell SKILL.md:4 allows every command: Bash(bash -c *)"},
		{name: "every tool", front: "allowed-tools: \"*\"\n", want: "network-tools SKILL.md:4 allows every tool: *, file-write SKILL.md:4 allows every tool: *, unscoped-shell SKILL.md:4 allows every tool: *"},
		{name: "a list that can't be read", front: "allowed-tools: \"Bash(\"\n", want: "unscoped-shell SKILL.md:4 allows tools that skillpm cannot parse: `Bash(`"},
		{name: "what scripts ask for", front: "execution:\n  network: [example.com]\n  allowed-paths: [out]\n", want: "network-tools SKILL.md:5 requests access to example.com, file-write SKILL.md:6 requests write access to out"},
		{name: "tools behind an alias", front: "x: &h [WebFetch, Bash, Write]\nallowed-tools: *h\n", want: "network-tools SKILL.md:4 allows WebFetch, file-write SKILL.md:4 allows Write, unscoped-shell SKILL.md:4 allows every command: Bash"},
		{name: "one of them behind an alias", front: "x: &h Bash\nallowed-tools: [*h]\n", want: "unscoped-shell SKILL.md:4 allows every command: Bash"},
		{name: "what scripts ask for behind an alias", front: "x: &e {network: [example.com]}\nexecution: *e\n", want: "network-tools SKILL.md:4 requests access to example.com"},
		{name: "programs that run others", front: "allowed-tools: [\"Bash(env *)\", \"Bash(sudo -n *)\", \"Bash(xargs *)\", \"Bash(/bin/sh *)\", \"Bash(python3:*)\", \"Bash(node -e *)\", \"Bash(find *)\", \"Bash(py*)\"]\n", want: strings.Repeat("unscoped-shell SKILL.md:4 allows every command: %, ", 7) + "unscoped-shell SKILL.md:4 allows every command: %, secrets SKILL.md:4 reads all environment variables%"},
		{name: "a program whose name is not told", front: "allowed-tools: \"Bash(*url*)\"\n", want: "unscoped-shell SKILL.md:4 allows every command: Bash(*url*)"},
		{name: "one whose name is begun", front: "allowed-tools: \"Bash(cur*)\"\n", want: "network-tools SKILL.md:4 may run curl"},
		{name: "programs that do what they do", front: "allowed-tools: [\"Bash(git*)\", \"Bash(git:*)\", \"Bash(sudo systemctl *)\", \"Bash(python3 scripts/x.py *)\", \"Bash(python3 -m pytest *)\", \"Bash(find . -name x)\"]\n"},
		{name: "a script that is too large to be looked into", files: map[string]string{"x/big.dat*": "#!/bin/sh\n" + strings.Repeat("#", 4<<20)}, want: "scripts x/big.dat is a script of 4194314 bytes, which skillpm does not scan, network-tools x/big.dat is a script of 4194314 bytes, which skillpm does not scan, file-write x/big.dat is a script of 4194314 bytes, which skillpm does not scan"},
		{name: "a script with something behind it", files: map[string]string{"a.dat": "#!/bin/sh\ncurl x\nexit\n\x00"}, want: "scripts a.dat is a script, network-tools a.dat:2 connects with curl"},
		{name: "what may be executed, whatever it is called", files: map[string]string{"a.txt*": "true\n"}, want: "scripts a.txt is a script"},
		{name: "a picture that a shell runs", files: map[string]string{"a*": "GIF89a=1\necho ran\n\x00\x00\x01"}, want: "scripts a is executable text, which a shell can run"},
		{name: "an archive that has the name a page", files: map[string]string{"a.md": zipped(t, "x/tool", elf)}, want: "native-binaries a.md contains x/tool: ELF program"},
		{name: "what bundles leave out", files: map[string]string{"node_modules/x.sh": "true\n", ".git/hooks/y": "#!/bin/sh\ncurl x\n", ".DS_Store": "#!/bin/sh\n", "._x*": "\x00\x05\x16\x07", "a/lib.pyc": "x", ".x.sh.swp": "true\n", "Thumbs.db": ""}, want: "native-binaries ._x is executable, but skillpm cannot scan its format, native-binaries a/lib.pyc has the file extension of a program, scripts .DS_Store is a script, scripts .git/hooks/y is a script, scripts node_modules/x.sh is a script, network-tools .git/hooks/y:2 connects with curl"},
		{name: "what Python leaves behind", files: map[string]string{"a/b.py": "", "a/__pycache__/b.cpython-312.pyc": "\xcb\x0d\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"}, want: "scripts a/__pycache__/b.cpython-312.pyc runs instead of a/b.py, scripts a/b.py is a script"},
		{name: "what desktops leave behind", files: map[string]string{".DS_Store": "\x00\x00\x00\x01Bud1", "a/._b": "\x00\x05\x16\x07", ".a.md.swp": "b0VIM 9"}},
		{name: "what scripts ask to be spared", front: "execution: {network: false, sandbox: true}\n"},
	} {
		got, err := capability.Of(skillOf(tt.front, tt.body, tt.files))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var lines []string
		for _, e := range got {
			if e.Capability == policy.Administrator || e.Capability == policy.Tools || e.Capability == policy.Restriction {
				continue // see TestEvidence
			}
			lines = append(lines, string(e.Capability)+" "+e.String())
		}
		if strings.Contains(tt.want, "%") {
			for i, line := range lines {
				lines[i], _, _ = strings.Cut(line, "Bash(")
				lines[i] += "%"
			}
		}
		if s := strings.Join(lines, ", "); s != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, s, tt.want)
		}
	}
}

// TestEvidence checks what the evidence of code names.
func TestEvidence(t *testing.T) {
	for _, tt := range []struct {
		name        string
		front, body string
		files       map[string]string
		want        string // capability, name, and position
	}{
		{name: "hosts", files: map[string]string{"a.sh": "curl https://api.acme.com/v1\ncurl -d @x https://API.acme.com/v2\ncurl \"$1\"\n"}, want: "scripts(a.sh) a.sh, network-tools(api.acme.com) a.sh:1, network-tools a.sh:3"},
		{name: "secrets", files: map[string]string{"a.py": "import os\nprint(os.environ['ACME_TOKEN'], os.environ['LANG'])\nprint(open('.env').read())\n"}, want: "scripts(a.py) a.py, secrets(ACME_TOKEN) a.py:2, secrets(.env) a.py:3"},
		{name: "all variables", files: map[string]string{"a.sh": "env > x\n"}, want: "scripts(a.sh) a.sh, file-write a.sh:1, secrets(all environment variables) a.sh:1"},
		{name: "files outside the project", files: map[string]string{"a.sh": "echo x > out\necho x >> ~/.bashrc\n"}, want: "scripts(a.sh) a.sh, file-write a.sh:1, file-write(~/.bashrc) a.sh:2"},
		{name: "on a page", body: "```sh\ncurl https://api.acme.com\n```\nNever run `curl https://evil.acme.com`.\n", want: "network-tools(api.acme.com) SKILL.md:6"},
		{name: "a library", files: map[string]string{"a.py": "import boto3\nx.to_csv(p)\n"}, want: "scripts(a.py) a.py, network-tools a.py:1, file-write a.py:2"},
		{name: "a language that is not analyzed", files: map[string]string{"a.lua": "print(1)\n"}, want: "scripts(a.lua) a.lua, network-tools a.lua, file-write a.lua"},
		{name: "invalid code", files: map[string]string{"a.sh": "if [ 1\nwget x\n"}, want: "scripts(a.sh) a.sh, network-tools a.sh, network-tools a.sh:2, file-write a.sh"},
		{name: "code after many errors", files: map[string]string{"a.sh": strings.Repeat(")\n", 30) + "wget x\n"}, want: "scripts(a.sh) a.sh, network-tools a.sh, network-tools a.sh:31, file-write a.sh"},
		{name: "invalid code on a page", body: "```sh\nwget <address>\n```\n", want: "network-tools SKILL.md:6"},
		{name: "too much code on a page", body: "```sh\n" + manyPrograms() + "curl x\n```\n", want: "network-tools SKILL.md, file-write SKILL.md"},
		{name: "nested deeply", files: map[string]string{"a.sh": strings.Repeat("( ", 100) + "wget x" + strings.Repeat(")", 100)}, want: "scripts(a.sh) a.sh, network-tools a.sh, file-write a.sh"},
		{name: "a here-document", files: map[string]string{"a.sh": "cat <<EOF\nwget x\nEOF\n"}, want: "scripts(a.sh) a.sh, network-tools a.sh:1"},
		{name: "an argument of a program", files: map[string]string{"a.sh": "sed -i s/a/b/ x 2>log\n"}, want: "scripts(a.sh) a.sh, file-write a.sh:1"},
		{name: "administrator rights", files: map[string]string{"a.sh": "sudo wget x\nsudo -u root ls\n"}, want: "scripts(a.sh) a.sh, network-tools a.sh:1, administrator(sudo) a.sh:1"},
		{name: "commands when loaded", body: "!`git log`\n", want: "dynamic-shell(git log) SKILL.md:5"},
		{name: "a command", front: "command: ./x -a\n", want: "scripts(./x -a) SKILL.md:4"},
		{name: "requests", front: "execution:\n  network: [\"API.acme.com:443\", x.com]\n  allowed-paths: [out, /srv]\n", want: "network-tools(api.acme.com) SKILL.md:5, network-tools(x.com) SKILL.md:5, file-write(/srv) SKILL.md:6, file-write(out) SKILL.md:6, restriction(execution.network) SKILL.md:5, restriction(execution.allowed-paths) SKILL.md:6"},
		{name: "a request for every host", front: "execution: {network: true}\n", want: "network-tools SKILL.md:4"},
		{name: "limits", front: "execution:\n  sandbox: true\n  network: []\n  allowed-paths: []\n", want: "restriction(execution.sandbox) SKILL.md:5, restriction(execution.network) SKILL.md:6, restriction(execution.allowed-paths) SKILL.md:7"},
		{name: "tools", front: "allowed-tools: Read Bash(git:*)\ndisallowed-tools: [WebFetch, Bash(rm *)]\n", want: "tools(Bash(git:*)) SKILL.md:4, tools(Read) SKILL.md:4, restriction(allowed-tools) SKILL.md:4, restriction(disallowed-tools Bash(rm *)) SKILL.md:5, restriction(disallowed-tools WebFetch) SKILL.md:5"},
		{name: "no tools", front: "allowed-tools: []\n", want: "restriction(allowed-tools) SKILL.md:4"},
		{name: "an empty list", front: "allowed-tools: \"\"\n"},
		{name: "control characters", front: "allowed-tools: \"Bash(ls \\x1b[2J\\u202e)\"\n", want: "unscoped-shell(Bash(ls  [2J )) SKILL.md:4, tools(Bash(ls  [2J )) SKILL.md:4, restriction(allowed-tools) SKILL.md:4"},
	} {
		got, err := capability.Of(skillOf(tt.front, tt.body, tt.files))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var lines []string
		for _, e := range got {
			line := string(e.Capability)
			if e.Name != "" {
				line += "(" + e.Name + ")"
			}
			lines = append(lines, line+" "+textx.Position(e.Path, e.Line))
		}
		if s := strings.Join(lines, ", "); s != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, s, tt.want)
		}
	}
}

// TestLibraries checks that code which uses a library for connections or writes a file has the capability, although its
// data is not followed.
func TestLibraries(t *testing.T) {
	for _, tt := range []struct{ file, code, want string }{
		{"a.py", "from urllib import request", "network-tools"},
		{"a.py", "import http.client", "network-tools"},
		{"a.py", "s = lib.requests.Session()", "network-tools"},
		{"a.py", "import boto3, sys", "network-tools"},
		{"a.py", "from playwright.sync_api import sync_playwright", "network-tools"},
		{"a.js", "const axios = require('axios')", "network-tools"},
		{"a.js", "import fetch from 'node-fetch'", "network-tools"},
		{"a.js", "import tls from 'node:tls'", "network-tools"},
		{"a.js", "x = new XMLHttpRequest()", "network-tools"},
		{"a.js", "x = new WebSocket(url)", "network-tools"},
		{"a.rb", "require 'net/http'", "network-tools"},
		{"a.ps1", "$c = New-Object Net.WebClient", "network-tools"},
		{"a.py", "x = \"bash -c 'exec 3<>/dev/tcp/a/1'\"", "network-tools"},
		{"a.py", "the_net = requests_of(https)", ""},
		{"a.py", "with p.open('wb') as f: pass", "file-write"},
		{"a.py", "open(p, mode=\"a+\")", "file-write"},
		{"a.py", "open(p, 'r')", ""},
		{"a.py", "# " + strings.Repeat("open(", 200_000), "file-write"}, // too many to read
		{"a.py", "os.remove(p)", "file-write"},
		{"a.py", "names.remove(p)", ""},
		{"a.py", "shutil.rmtree(p)", "file-write"},
		{"a.py", "d.mkdir(parents=True)", "file-write"},
		{"a.py", "df.to_csv(p)", "file-write"},
		{"a.py", "plt.savefig(p)", "file-write"},
		{"a.js", "const { writeFile } = require('fs')", "file-write"},
		{"a.js", "fs.mkdir(p, next)", "file-write"},
		{"a.js", "Bun.write(p, x)", "file-write"},
		{"a.rb", "FileUtils.rm_r(p)", "file-write"},
		{"a.rb", "File.delete(p)", "file-write"},
	} {
		s, err := capability.Of(skillOf("", "", map[string]string{tt.file: "x = 1\n" + tt.code + "\n"}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range s.List() {
			if c != policy.Scripts {
				got = append(got, string(c))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%.60s: %s; want %q", tt.code, got, tt.want)
		}
	}
}

// TestSummary checks the phrase that lists show for a skill.
func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		name, front, body string
		files             map[string]string
		want              string
	}{
		{name: "nothing", body: "Read the code.\n"},
		{name: "as in the documentation", files: map[string]string{"a.sh": "curl -H \"$GITHUB_TOKEN\" https://api.github.com/x > y\n"}, want: "runs scripts, reaches api.github.com, reads GITHUB_TOKEN, writes files"},
		{name: "an unknown host", files: map[string]string{"a.sh": "curl \"$1\"\n"}, want: "runs scripts, reaches the network"},
		{name: "two hosts", files: map[string]string{"a.sh": "curl https://b.com\ncurl https://a.com\n"}, want: "runs scripts, reaches a.com and b.com"},
		{name: "an unknown one too", files: map[string]string{"a.sh": "curl https://a.com\ncurl \"$1\"\n"}, want: "runs scripts, reaches a.com and other hosts"},
		{name: "many", files: map[string]string{"a.sh": "curl https://a.com https://b.com https://c.com https://d.com https://e.com\n"}, want: "runs scripts, reaches a.com, b.com, c.com, and 2 more hosts"},
		{name: "everything", front: "hooks: {pre: x}\nallowed-tools: Bash\n", body: "!`ls`\n", files: map[string]string{"x.exe": "x"}, want: "contains native programs, has hooks, runs commands when an agent loads it, allows every shell command"},
		{name: "sudo", body: "```sh\nsudo ls\n```\n", want: "uses administrator rights"},
		{name: "tools only", front: "allowed-tools: Read\n"},
	} {
		got, err := capability.Of(skillOf(tt.front, tt.body, tt.files))
		if err != nil || got.Summary() != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got.Summary(), err, tt.want)
		}
	}
}

// TestIncrease checks what a version of a skill can do that the version before cannot.
func TestIncrease(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after fstest.MapFS
		want          string
	}{
		{name: "nothing", before: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\n"}), after: skillOf("", "", map[string]string{"a.sh": "\n\ncurl https://a.com/x\n"})},
		{name: "less", before: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\n"}), after: skillOf("", "", nil)},
		{name: "a host", before: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\n"}), after: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\ncurl https://b.com\ncurl https://b.com/x\n"}), want: "network-tools a.sh:2 reaches b.com with curl"},
		{name: "a host in another file", before: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\n"}), after: skillOf("", "", map[string]string{"b.sh": "curl https://a.com\n"}), want: "scripts b.sh is a script"},
		{name: "a secret", before: skillOf("", "", map[string]string{"a.sh": "true\n"}), after: skillOf("", "", map[string]string{"a.sh": "echo $ACME_TOKEN\n"}), want: "secrets a.sh:1 reads ACME_TOKEN"},
		{name: "tools", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("allowed-tools: Read Bash(git:*) Write\n", "", nil), want: "file-write SKILL.md:4 allows Write, tools SKILL.md:4 allows Bash(git:*), tools SKILL.md:4 allows Write"},
		{name: "lifted restrictions", before: skillOf("allowed-tools: Read\ndisallowed-tools: WebFetch\nexecution: {sandbox: true, network: [a.com]}\n", "", nil), after: skillOf("execution: {network: true}\n", "", nil), want: "network-tools SKILL.md:4 requests access to every host, restriction SKILL.md:4 no longer restricts the tools to those of allowed-tools, restriction SKILL.md:5 no longer forbids WebFetch, restriction SKILL.md:6 no longer limits the network access of scripts, restriction SKILL.md:6 no longer runs scripts in a sandbox"},
		{name: "other hooks", before: skillOf("x: &h ./a.sh\nhooks: {Stop: *h}\n", "", nil), after: skillOf("x: &h ./b.sh\nhooks: {Stop: *h}\n", "", nil), want: "hooks SKILL.md:5 has hooks"},
		{name: "the same hooks in another form", before: skillOf("hooks: {Stop: ./a.sh}\n", "", nil), after: skillOf("hooks:\n  Stop: ./a.sh\n", "", nil)},
		{name: "other files with hooks and servers", before: skillOf("", "", map[string]string{"hooks/hooks.json": "{}", ".mcp.json": "{}"}), after: skillOf("", "", map[string]string{"hooks/hooks.json": "{\"a\": 1}", ".mcp.json": "{\"a\": 1}"}), want: "hooks hooks/hooks.json configures hooks, tools .mcp.json configures MCP servers"},
		{name: "the end of a long command", before: skillOf("", "!`x "+strings.Repeat("y", 2000)+"`\n", nil), after: skillOf("", "!`x "+strings.Repeat("y", 2000)+"z`\n", nil), want: "dynamic-shell SKILL.md:5 runs `x yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…` when an agent loads the skill"},
		{name: "the model may start it", before: skillOf("disable-model-invocation: true\n", "", nil), after: skillOf("disable-model-invocation: false\n", "", nil), want: "restriction SKILL.md:4 no longer starts only at the user's request"},
		{name: "the model may start it, after another spelling", before: skillOf("disable-model-invocation: True\n", "", nil), after: skillOf("", "", nil), want: "restriction SKILL.md:4 no longer starts only at the user's request"},
		{name: "a second list of tools", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("allowed-tools: Read\nallowed-tools: Write\n", "", nil), want: "file-write SKILL.md:5 allows Write, tools SKILL.md:5 allows Write, restriction SKILL.md:4 no longer restricts the tools to those of allowed-tools"},
		{name: "tools in another spelling", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("allowed-tools: Read\nallowedTools: Write\nAllowed_Tools: Bash(git:*)\n", "", nil), want: "file-write SKILL.md:5 allows Write, tools SKILL.md:5 allows Write, tools SKILL.md:6 allows Bash(git:*)"},
		{name: "tools that are merged", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("x: &x {allowed-tools: Write}\n<<: [*x]\n", "", nil), want: "file-write SKILL.md:4 allows Write, tools SKILL.md:4 allows Write, restriction SKILL.md:4 no longer restricts the tools to those of allowed-tools"},
		{name: "tools below an alias as a key", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("x: &x allowed-tools\n*x : Write\n", "", nil), want: "file-write SKILL.md:5 allows Write, tools SKILL.md:5 allows Write"},
		{name: "tools in a list in a list", before: skillOf("allowed-tools: Read\n", "", nil), after: skillOf("allowed-tools: [[Read, [Write]]]\n", "", nil), want: "file-write SKILL.md:4 allows Write, tools SKILL.md:4 allows Write"},
		{name: "tools in a mapping", before: skillOf("tools: {read: true}\n", "", nil), after: skillOf("tools: {read: true, write: true, bash: false}\n", "", nil), want: "file-write SKILL.md:4 allows write, tools SKILL.md:4 allows write"},
		{name: "a restriction with a second value", before: skillOf("disallowed-tools: WebFetch\n", "", nil), after: skillOf("disallowed-tools: WebFetch\ndisallowed-tools: \"\"\n", "", nil), want: "restriction SKILL.md:4 no longer forbids WebFetch"},
		{name: "a restriction in another spelling", before: skillOf("disallowed-tools: WebFetch\n", "", nil), after: skillOf("Disallowed-Tools: WebFetch\n", "", nil), want: "restriction SKILL.md:4 no longer forbids WebFetch"},
		{name: "a restriction in a list", before: skillOf("disallowed-tools:\n  - Bash\n  - WebFetch\n", "", nil), after: skillOf("disallowed-tools: [Bash]\n", "", nil), want: "restriction SKILL.md:6 no longer forbids WebFetch"},
		{name: "second hooks", before: skillOf("hooks: {Stop: ./a.sh}\n", "", nil), after: skillOf("hooks: {Stop: ./a.sh}\nHooks: {Stop: ./b.sh}\n", "", nil), want: "hooks SKILL.md:5 has hooks"},
		{name: "a data file that is run", before: skillOf("", "", map[string]string{"data/a.txt": "x\n"}), after: skillOf("", "```sh\nbash \"$DIR/data/a.txt\"\n```\n", map[string]string{"data/a.txt": "x\n"}), want: "scripts SKILL.md:6 runs the file data/a.txt, network-tools data/a.txt is run, but skillpm does not analyze it, because its name is not that of a script, file-write data/a.txt is run, but skillpm does not analyze it, because its name is not that of a script"},
		{name: "a script that is run", before: skillOf("", "", map[string]string{"a.sh": "true\n"}), after: skillOf("", "```sh\nbash a.sh other.txt\n```\n", map[string]string{"a.sh": "true\n", "other.txt": "x\n"})},
		{name: "the program of a first line", before: skillOf("", "", map[string]string{"a.sh": "curl https://a.com\n"}), after: skillOf("", "", map[string]string{"a.sh": "#!/usr/bin/swipl\ncurl https://b.com\n"}), want: "network-tools a.sh is a script in a language that skillpm does not analyze, network-tools a.sh:2 reaches b.com with curl, file-write a.sh is a script in a language that skillpm does not analyze"},
		{name: "computed code", before: skillOf("", "", map[string]string{"a.py": "x = 1\n"}), after: skillOf("", "", map[string]string{"a.py": "import base64\nexec(base64.b64decode(x))\n"}), want: "network-tools a.py:2 runs computed code with exec, file-write a.py:2 runs computed code with exec"},
		{name: "a skill in the skill", before: skillOf("disallowed-tools: WebFetch\n", "", nil), after: skillOf("", "", map[string]string{"b/SKILL.md": "---\nname: b\ndisallowed-tools: WebFetch\nallowed-tools: Bash(git:*)\n---\n```sh\nbash a.txt\n```\n", "b/a.txt": "x\n"}), want: "scripts b/SKILL.md:7 runs the file b/a.txt, network-tools b/a.txt is run, but skillpm does not analyze it, because its name is not that of a script, file-write b/a.txt is run, but skillpm does not analyze it, because its name is not that of a script, tools b/SKILL.md:4 allows Bash(git:*), restriction SKILL.md:4 no longer forbids WebFetch"},
		{name: "an archive that is unpacked", before: skillOf("", "", nil), after: skillOf("", "```sh\ntar xf a.tar\n```\n", nil), want: "file-write SKILL.md:6 runs tar"},
		{name: "a build file", before: skillOf("", "", nil), after: skillOf("", "", map[string]string{"Makefile": "all:\n"}), want: "scripts Makefile is a script, network-tools Makefile is a script in a language that skillpm does not analyze, file-write Makefile is a script in a language that skillpm does not analyze"},
		{name: "a package that is downloaded and run", before: skillOf("", "", nil), after: skillOf("", "```sh\nnpx acme\n```\n", nil), want: "network-tools SKILL.md:6 runs npx"},
		{name: "servers of Codex", before: skillOf("", "", map[string]string{"agents/openai.yaml": "interface: {display_name: A}\n"}), after: skillOf("", "", map[string]string{"agents/openai.yaml": "interface: {display_name: B}\ndependencies: {tools: [{type: mcp, value: b}]}\n"}), want: "network-tools agents/openai.yaml:2 configures MCP servers, tools agents/openai.yaml:2 configures MCP servers"},
		{name: "a large configuration for Codex", before: skillOf("", "", nil), after: skillOf("", "", map[string]string{"agents/openai.yaml": strings.Repeat("#\n", 33<<10)}), want: "network-tools agents/openai.yaml configures MCP servers, tools agents/openai.yaml configures MCP servers"},
		{name: "a plugin", before: skillOf("", "", map[string]string{"plugin.json": "{}"}), after: skillOf("", "", map[string]string{".claude-plugin/plugin.json": "{}", ".lsp.json": "{}"}), want: "hooks .claude-plugin/plugin.json configures a plugin, which can have hooks, network-tools .claude-plugin/plugin.json configures MCP servers, tools .claude-plugin/plugin.json configures MCP servers, tools .lsp.json configures language servers"},
		{name: "a new restriction", before: skillOf("", "", nil), after: skillOf("disallowed-tools: WebFetch\nexecution: {sandbox: true}\n", "", nil)},
	} {
		before, err := capability.Of(tt.before)
		if err != nil {
			t.Fatal(err)
		}
		after, err := capability.Of(tt.after)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range capability.Increase(before, after) {
			lines = append(lines, string(e.Capability)+" "+e.String())
		}
		if s := strings.Join(lines, ", "); s != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, s, tt.want)
		}
	}
}

// manyPrograms returns more programs than are kept of one file.
func manyPrograms() string {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "program%d\n", i)
	}
	return b.String()
}

func zipped(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOfErrors checks that files that cannot be part of a pack are an error, and unreadable files too, because their
// capabilities are unknown.
func TestOfErrors(t *testing.T) {
	fsys := skillOf("", "", nil)
	fsys["x"] = &fstest.MapFile{Data: []byte("/etc"), Mode: fs.ModeSymlink | 0o777}
	if _, err := capability.Of(fsys); err == nil {
		t.Error("a link")
	}
	if s, err := capability.Of(skillOf("", "", map[string]string{"a.sh": "curl " + strings.Repeat("x", 4<<20)})); err != nil || !s.Has(policy.FileWrite) || !s.Has(policy.NetworkTools) {
		t.Errorf("a script that is too large: %v, %v", s, err)
	}
	page := strings.Repeat("Text.\n", 1<<20) + "```sh\ncurl x >y\n```\n"
	if s, err := capability.Of(skillOf("", "", map[string]string{"a.csv": page})); err != nil || len(s) > 0 {
		t.Errorf("a large file with data: %v, %v", s, err)
	}
	for name, fsys := range map[string]fs.FS{"a page": skillOf("", "", map[string]string{"a.md": page}), "SKILL.md": skillOf("", page, nil)} {
		if s, err := capability.Of(fsys); err != nil || !s.Has(policy.FileWrite) || !s.Has(policy.NetworkTools) || s.Has(policy.Scripts) {
			t.Errorf("%s that is too large: %v, %v", name, s, err)
		}
	}
}

// FuzzOf checks for any skill that the scan ends, and gives the same result twice.
func FuzzOf(f *testing.F) {
	f.Add("allowed-tools: Bash\n", "!`x`\n```sh\ncurl x >y\n```\n", "#!/bin/sh\nrm x\n")
	f.Add("hooks: [\n", "```", "import requests")
	f.Add("x: &x {<<: *x}\n<<: *x\ntools: &t [*t, {a: *t}]\n", "```sh\nbash c\n```\n", "")
	f.Fuzz(func(t *testing.T, front, body, script string) {
		fsys := skillOf(front, body, map[string]string{"a.sh": script, "b.py": script, "c": script})
		one, err := capability.Of(fsys)
		if err != nil {
			t.Fatal(err)
		}
		if !one.Has(policy.Scripts) {
			t.Error("the scripts are not found")
		}
		two, _ := capability.Of(fsys)
		if len(one) != len(two) {
			t.Errorf("%v, %v", one, two)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	files := map[string]string{}
	for i := range 29 {
		files["references/"+strings.Repeat("x", i+1)+".md"] = strings.Repeat("A line of text, as there are many.\n", 200) + "```sh\ngit diff\n```\n"
	}
	fsys := skillOf("", strings.Repeat("Text.\n", 500), files)
	for b.Loop() {
		if _, err := capability.Of(fsys); err != nil {
			b.Fatal(err)
		}
	}
}
