package tool_test

import (
	"path"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

func patterns(t testing.TB, list string) []tool.Pattern {
	t.Helper()
	p, err := tool.ParseList([]string{list})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestO10Commands checks SPEC O10: patterns for commands apply to every command of a line.
func TestO10Commands(t *testing.T) {
	for _, test := range []struct {
		list, line string
		want       bool
	}{
		{"Bash(git:*)", "git", true},
		{"Bash(git:*)", "git status", true},
		{"Bash(git:*)", "  git   status  ", true},
		{"Bash(git:*)", "git\tstatus", true},
		{"Bash(git:*)", "git\trm -r .", true}, // a command of git's own
		{"Bash(git:*)", `git commit -m "a; b && c | d > e (f)"`, true},
		{"Bash(git:*)", `git commit -m 'it costs $(5)'`, true},
		{"Bash(git:*)", `git commit -m "it costs \$5 and \"more\""`, true},
		{"Bash(git:*)", `g"i"t 'st'atus`, true}, // what the shell makes of it is git status
		{"Bash(git:*)", "git add a \\\n  b", true},
		{"Bash(git:*)", `git add a\ b`, true},
		{"Bash(git:*)", "git log $HEAD ${BASE}", true},
		{"Bash(git:*)", "git status; git log", true},
		{"Bash(git:*)", "git status\ngit log\n", true},
		{"Bash(git:*)", "git status & git log &", true},
		{"Bash(git:*)", "git log 2>&1", true},
		{"Bash(git:*)", "git log 2>/dev/null", true},
		{"Bash(git:*)", "git log > /dev/null 2>&1", true},
		{"Bash(git:*)", "git log &>/dev/null", true},
		{"Bash(git:*)", "git log &>>/dev/null && git x &>/dev/null", true},
		{"Bash(git:*), Bash(head:*)", "git log | head -5", true},
		{"Bash(git:*), Bash(export:*)", "export A=b C && git log", true},
		{"Bash(cp docs/* out)", "cp docs/* out", true},
		{"Bash(cp docs/* out)", "cp docs/a?.md out", true},
		{"Bash(cp docs/* out)", "cp docs/.?/.?/etc/passwd out", false}, // dash makes .. of .?
		{"Bash(cp docs/* out)", "cp docs/[.][.]/etc/passwd out", false},
		{"Bash(cp docs/* out)", "cp 'docs/[.]x' out", true},
		{"Bash(git:*)", "git log #1", false},
		{"Bash(git:*)", "git log a#1", true},

		// another command
		{"Bash(git:*)", "gitx", false},
		{"Bash(git:*)", "gi", false},
		{"Bash(git:*)", "rm -rf /", false},
		{"Bash(git:*)", "", false},
		{"Bash(git:*)", ";", false},
		{"Bash(git:*)", "git status; rm -rf /", false},
		{"Bash(git:*)", "git status;rm -rf /", false},
		{"Bash(git:*)", "git status\nrm -rf /", false},
		{"Bash(git:*)", "git status\r\nrm -rf /", false},
		{"Bash(git:*)", "git status && rm -rf /", false},
		{"Bash(git:*)", "git status || rm -rf /", false},
		{"Bash(git:*)", "git status | sh", false},
		{"Bash(git:*)", "git status |& sh", false},
		{"Bash(git:*)", "git status & rm -rf /", false},
		{"Bash(git:*)", "git status &! rm -rf /", false},
		{"Bash(git:*)", "rm -rf / # git status", false},
		{"Bash(git:*)", "git status #'\nrm -rf / #'", false},
		{"Bash(git:*)", "git status \\\nrm; rm -rf /", false},
		{"Bash(git:*)", `git "a" "b"; rm`, false},
		{"Bash(git:*)", `git 'a\'; rm -rf / #'`, false},
		{"Bash(git:*)", `git "a\\"; rm -rf / #"`, false},
		{"Bash(git:*)", `git 'a\' 'b; rm -rf /; '`, false}, // fish would run rm
		{"Bash(git:*)", `git 'a\n' "b"`, true},
		{"Bash(git:*)", `"git status"`, false},
		{"Bash(git:*)", `git\ status`, false},
		{"Bash(git:*)", "! git status", false},
		{"Bash(git:*)", "if git status; then rm x; fi", false},
		{"Bash(git:*)", "{ git status; rm x; }", false},
		{"Bash(git:*)", "{git,status}", false},
		{"Bash(git:*)", "function git { rm x; }", false},
		{"Bash(git:*)", "git() { rm x; }; git", false},
		{"Bash(git:*)", "(git status)", false},
		{"Bash(git:*)", "alias git=rm", false},
		{"Bash(git:*)", "for i in a; do git log; done", false},

		// shells differ: in dash &> ends the command, and rm would run
		{"Bash(git:*)", "git log &>/dev/null rm -rf /", false},
		{"Bash(git:*)", "git log &>>/dev/null rm -rf /", false},
		{"Bash(git:*)", "git log |& git x", false},
		{"Bash(git:*)", "coproc git log", false},
		{"Bash(git:*)", "coproc { rm x; }", false},
		{"Bash(git:*)", "exec git log", false},
		{"Bash(git:*)", "git log ;; rm x", false},
		{"Bash(git:*)", "git log ;& git x", false},
		{"Bash(git:*), Bash(export:*)", "export A=$(rm x)", false},
		{"Bash(git:*), Bash(export:*)", "export A=(rm x)", false},
		{"Bash(git:*), Bash(export:*)", "export PATH=. && rm x", false},
		{"Bash(git:*)", "a[$(rm x)]=1 git log", false},
		{"Bash(git:*)", "[[ -v a[$(rm x)] ]]", false},
		{"Bash(git:*)", "(( a[$(rm x)] ))", false},
		{"Bash(git:*)", "let 'a[$(rm x)]'", false},
		{"Bash(git:*)", "git log ~(rm x)", false},
		{"Bash(git:*)", "git log @(rm|x)", false},
		{"Bash(git:*)", "git log *(e:rm x:)", false},
		{"Bash(git:*)", "git log $(<x)", false},
		{"Bash(git:*)", "git log ${ rm x; }", false},
		{"Bash(git:*)", "git log ${|rm x}", false},
		{"Bash(git:*)", "git log ${!x}", false},
		{"Bash(git:*)", "git log $", true},
		{"Bash(git a)", "git \"\\\na\"", true},
		{"Bash(git:*)", `git log "a$"`, true},
		{"Bash(git:*)", `git log a$"b"`, false},
		{"Bash(git:*)", "git log 1<>x", false},
		{"Bash(git:*)", "git log <&0", false},
		{"Bash(git:*)", "git log >& /dev/null", false},
		{"Bash(git:*)", "case git in git) rm x;; esac", false},
		{"Bash(git:*)", "while git log; do rm x; done", false},
		{"Bash(git:*)", "repeat 2 git log", false},
		{"Bash(git:*)", "git log\nthen", false},

		// something before the command
		{"Bash(* --version)", "git --version", true},
		{"Bash(* --version)", "LD_PRELOAD=/tmp/x.so git --version", false},
		{"Bash(* --version)", "A[0]+=x git --version", false},
		{"Bash(A=* * --version)", "A=1 git --version", true},
		{"Bash(A=* * --version)", "A=1 LD_PRELOAD=x git --version", false},
		{"Bash(X=1 git --version)", "X=1 git --version", true}, // as it is written
		{"Bash(git:*)", "GIT_PAGER='rm -rf /' git log", false},
		{"Bash(git:*)", "LD_PRELOAD=./x.so git log", false},
		{"Bash(git:*)", "PATH=.:$PATH git log", false},
		{"Bash(git:*)", "env git log", false},
		{"Bash(git:*)", "sudo git log", false},
		{"Bash(git:*)", "bash -c 'git log'", false},
		{"Bash(git:*)", "eval git log", false},
		{"Bash(git:*)", "xargs git", false},
		{"Bash(git:*)", "time git log", false},
		{"Bash(git:*)", "/usr/bin/git log", false},
		{"Bash(git:*)", "./git log", false},
		{"Bash(git:*)", "../git log", false},
		{"Bash(git:*)", "~/git log", false},
		{"Bash(git:*)", "$GIT log", false},
		{"Bash(git:*)", "gi? log", false},
		{"Bash(git:*)", "=git log", false},

		// text that a shell transforms
		{"Bash(git:*)", "git log $(rm x)", false},
		{"Bash(git:*)", `git log "$(rm x)"`, false},
		{"Bash(git:*)", "git log `rm x`", false},
		{"Bash(git:*)", "git log \"`rm x`\"", false},
		{"Bash(git:*)", "git log ${x:-$(rm x)}", false},
		{"Bash(git:*)", "git log ${x@P}", false},
		{"Bash(git:*)", "git log $((a[$(rm x)]))", false},
		{"Bash(git:*)", "git log $[a[0]]", false},
		{"Bash(git:*)", "git log $x[1]", false},
		{"Bash(git:*)", `git log $'\x3b'`, false},
		{"Bash(git:*)", `git log $"a"`, false},
		{"Bash(git:*)", "git log <(rm x)", false},
		{"Bash(git:*)", "git log >(rm x)", false},
		{"Bash(git:*)", "git log =(rm x)", false},
		{"Bash(git:*)", "git log > ~/.bashrc", false},
		{"Bash(git:*)", "git log >x", false},
		{"Bash(git:*)", "git log >>x", false},
		{"Bash(git:*)", "git log >|x", false},
		{"Bash(git:*)", "git log 2>x", false},
		{"Bash(git:*)", "git log &>x", false},
		{"Bash(git:*)", "git log >&x", false},
		{"Bash(git:*)", "git log >&1x", false},
		{"Bash(git:*)", "git log >/dev/null/../../etc/x", false},
		{"Bash(git:*)", "git log >/dev/nullx", false},
		{"Bash(git:*)", "git log < x", false},
		{"Bash(git:*)", "git log << EOF\nrm\nEOF", false},
		{"Bash(git:*)", "git log <<< x", false},
		{"Bash(git:*)", "git log {a}>x", false},
		{"Bash(git:*)", "git log 'a", false},
		{"Bash(git:*)", `git log "a`, false},
		{"Bash(git:*)", `git log \`, false},
		{"Bash(git:*)", "git\u00a0log", false},
		{"Bash(git:*)", "git\u2028rm x", false},
		{"Bash(git:*)", "git \u202elog", false},
		{"Bash(git:*)", "git log\x00; rm", false},
		{"Bash(git:*)", "git log\x0brm", false},
		{"Bash(git:*)", "git log \xff", false},
		{"Bash(git:*)", "git " + strings.Repeat("a", 70<<10), false},

		// the forms of patterns
		{"Bash(git status)", "git status", true},
		{"Bash(git status)", "git  'status'", true},
		{"Bash(git status)", "git status -s", false},
		{"Bash(git status)", "git", false},
		{"Bash(git log:*)", "git log -1", true},
		{"Bash(git log:*)", "git logs", false},
		{"Bash(git log:*)", "git push", false},
		{"Bash(git log:*)", "git -C /x log", false},
		{"Bash(npm run *)", "npm run build", true},
		{"Bash(npm run *)", "npm run", true},
		{"Bash(npm run *)", "npm install", false},
		{"Bash(npm run *)", "npm run build; npm publish", false},
		{"Bash(npm run test*)", "npm run test:unit --watch", true},
		{"Bash(npm run test*)", "npm run build", false},
		{"Bash(ls*)", "lsof", true},
		{"Bash(git * main)", "git push --force origin main", true},
		{"Bash(git * main)", "git main", false},
		{"Bash(git * main)", "git push main; rm", false},
		{"Bash(git * main)", "git push origin dev", false},
		{"Bash(* --version)", "go --version", true},
		{"Bash(* --version)", "rm -rf / --versions", false},
		{"Bash(python scripts/*.py)", "python scripts/a.py", true},
		{"Bash(python scripts/*.py)", "python scripts/../../x.py", false},
		{"Bash(python scripts/*.py)", "python scripts/$X.py", false},
		{"Bash(python scripts/*.py)", "python scripts/a.sh b.py", false},
		{"Bash(NODE_ENV=test npm run *)", "NODE_ENV=test npm run a", true},
		{"Bash(NODE_ENV=test npm run *)", "NODE_ENV=prod npm run a", false},
		{`Bash(find . -name "*.py")`, `find . -name "*.py"`, true},
		{`Bash(find . -name "*.py")`, `find . -name x.py`, false},
		{"Bash(npm ci && npm test)", "npm ci && npm test", true},
		{"Bash(npm ci && npm test)", " npm ci && npm test\n", true},
		{"Bash(npm ci && npm test)", "npm ci && npm test && rm", false},
		{"Bash(npm ci && npm test)", "npm ci", false},
		{"Bash(echo $(date))", "echo $(date)", true},
		{"Bash(echo $(date))", "echo $(rm x)", false},
		{"Bash(git && *)", "git && rm", false},
		{`Bash(echo "a; b")`, `echo "a; b"`, true},
		{"Bash(git log;)", "git log", false},
		{"Bash(*)", "rm -rf / > x; echo $(y)", true},
		{"Bash(:*)", "rm", true},
		{"Bash", "rm -rf / > x; echo $(y)", true},
		{"shell(git:*)", "git log", true},
		{"run_shell_command(git)", "git", true},
		{"*", "rm", true},
		{"Read", "git log", false},
		{"", "git log", false},
	} {
		v := tool.Of(patterns(t, test.list)).Allow(tool.Call{Tool: "Bash", Input: map[string]any{"command": test.line}})
		if v.Allowed != test.want {
			t.Errorf("%s with %.60q: allowed %v, want %v (%s)", test.list, test.line, v.Allowed, test.want, v.Reason)
		}
		if !v.Allowed && (v.Reason == "" || v.Tool != "Bash") {
			t.Errorf("%s with %.60q is denied without a reason or a tool: %+v", test.list, test.line, v)
		}
	}
}

// TestO10HostsOfCommands checks SPEC O10: agents' names of one tool match, with the field of each that has the command.
func TestO10HostsOfCommands(t *testing.T) {
	argv := func(words ...any) []any { return words }
	for _, test := range []struct {
		tool  string
		input map[string]any
		want  bool
	}{
		{"Bash", map[string]any{"command": "git log"}, true},
		{"bash", map[string]any{"command": "git log", "description": "looks"}, true},
		{"run_shell_command", map[string]any{"command": "git log", "dir_path": "x"}, true},
		{"exec_command", map[string]any{"cmd": "git log", "workdir": "/x"}, true},
		{"exec_command", map[string]any{"cmd": "git log", "shell": "/bin/zsh"}, true},
		{"exec_command", map[string]any{"cmd": "git log", "shell": "./evil"}, false},
		{"shell", map[string]any{"command": argv("bash", "-lc", "git log && git status")}, true},
		{"shell", map[string]any{"command": argv("bash", "-lc", "git log && rm x")}, false},
		{"shell", map[string]any{"command": argv("git", "log", "$(x);")}, true}, // no shell reads these
		{"shell", map[string]any{"command": argv("git log")}, false},
		{"shell", map[string]any{"command": argv("./bash", "-c", "git log")}, false},
		{"shell", map[string]any{"command": argv("bash", "-c", "git log", "x")}, false},
		{"shell", map[string]any{"command": argv("git", 1)}, false},
		{"shell", map[string]any{"command": argv()}, false},
		{"run_command", map[string]any{"CommandLine": "git log"}, true},
		{"bash_exec", map[string]any{"command": "git log", "timeout_ms": 1000}, true},
		{"execute_bash", map[string]any{"command": "rm"}, false},
		{"Bash", map[string]any{}, false},
		{"Bash", nil, false},
		{"Bash", map[string]any{"command": 3}, false},
		{"Bash", map[string]any{"command": "git log", "cmd": "rm"}, false},
		{"Bash", map[string]any{"command": "git log", "env": map[string]any{"LD_PRELOAD": "x"}}, false},
		{"Bash", map[string]any{"command": "git log", "env": map[string]any{}}, true},
		{"PowerShell", map[string]any{"command": "git log"}, false}, // another shell is another tool
		{"BASH", map[string]any{"command": "git log"}, false},
		{"BashOutput", map[string]any{"bash_id": "1"}, true},
		{"KillShell", map[string]any{"shell_id": "1"}, true},
		{"write_stdin", map[string]any{"session_id": 1, "chars": "rm\n"}, false},
	} {
		v := tool.Of(patterns(t, "Bash(git:*)")).Allow(tool.Call{Tool: test.tool, Input: test.input})
		if v.Allowed != test.want {
			t.Errorf("%s %v: allowed %v, want %v (%s)", test.tool, test.input, v.Allowed, test.want, v.Reason)
		}
	}
	if v := tool.Of(patterns(t, "shell")).Allow(tool.Call{Tool: "write_stdin"}); !v.Allowed {
		t.Errorf("what writes to a shell that is allowed whole is refused: %s", v.Reason)
	}
}

func TestWindowsCommands(t *testing.T) {
	set := tool.Of(patterns(t, "Bash(git:*), PowerShell(git:*)"))
	for _, test := range []struct {
		tool, line string
		want       bool
	}{
		{"run_shell_command", `git log --oneline docs\a.md`, true},
		{"run_shell_command", "git 'a & rm b'", false},
		{"run_shell_command", `git "a\"; rm b; "`, false},
		{"run_shell_command", "git %X%", false},
		{"run_shell_command", "git log\nrm x", false},
		{"PowerShell", "git log", true},
		{"PowerShell", "git log; rm x", false},
		{"PowerShell", "git @x", false},
		{"Bash", "git 'a & rm b'", true}, // Claude Code has a POSIX shell there too
	} {
		v := set.Allow(tool.Call{Tool: test.tool, Input: map[string]any{"command": test.line}, Windows: true})
		if v.Allowed != test.want {
			t.Errorf("%s %q: allowed %v, want %v (%s)", test.tool, test.line, v.Allowed, test.want, v.Reason)
		}
	}
}

// TestO10Files checks SPEC O10: patterns for files are relative to the project, and match nothing outside.
func TestO10Files(t *testing.T) {
	for _, test := range []struct {
		list, path string
		want       bool
	}{
		{"Read(./docs/**)", "/p/docs/a.md", true},
		{"Read(./docs/**)", "/p/docs/a/b.md", true},
		{"Read(docs/**)", "/p/docs/a.md", true},
		{"Read(/docs/**)", "/p/docs/a.md", true},
		{"Read(docs)", "/p/docs/a.md", true},
		{"Read(docs/)", "/p/docs/a.md", true},
		{"Read(docs/**)", "docs/a.md", true}, // relative to the directory of the call
		{"Read(docs/**)", "./docs/../docs/a.md", true},
		{"Read(docs/**)", "/p/docs/../src/a.go", false},
		{"Read(docs/**)", "/p/docs/../../etc/passwd", false},
		{"Read(docs/**)", "docs/../../etc/passwd", false},
		{"Read(docs/**)", "/etc/passwd", false},
		{"Read(docs/**)", "/etc/docs/a", false},
		{"Read(docs/**)", "/p/docsx/a", false},
		{"Read(docs/**)", "/px/docs/a", false},
		{"Read(docs/**)", "~/docs/a", false},
		{"Read(docs/**)", "$HOME/docs/a", false},
		{"Read(**)", "/p/x/y", true},
		{"Read(*)", "/p/x/y", true},
		{"Read(**)", "/etc/passwd", false},
		{"Read(*)", "/etc/passwd", false},
		{"Read(**)", "../q", false},
		{"Read(**)", "file:///etc/passwd", false},
		{"Read(**)", "file:/etc/passwd", false},
		{"Read(**)", "a\x00b", false},
		{"Read(**)", "a\nb", false},
		{"Read(**)", `docs\..\..\x`, false},
		{"Read(**)", "~root/x", false},
		{"Read(**)", "", false},
		{"Read(**)", strings.Repeat("a/", 3000), false},
		{"Read(*.md)", "/p/a/b.md", true},
		{"Read(./*.md)", "/p/b.md", true},
		{"Read(./*.md)", "/p/a/b.md", false},
		{"Read(src/*.go)", "/p/src/a.go", true},
		{"Read(src/*.go)", "/p/src/a/b.go", false},
		{"Read(src/**/*.go)", "/p/src/a/b/c.go", true},
		{"Read(src/**/*.go)", "/p/src/c.go", true},
		{"Read(src/**/test/?.go)", "/p/src/a/test/c/test/d.go", true},
		{"Read(src/**/test/?.go)", "/p/src/a/test/c/d.go", false},
		{"Read(docs/../../etc/**)", "/etc/passwd", false},
		{"Read(../**)", "/q/a", false},
		{"Read(//etc/hosts)", "/etc/hosts", true},
		{"Read(//etc/hosts)", "/etc/passwd", false},
		{"Read(//**)", "/etc/passwd", true},
		{"Read(~/notes/**)", "/home/u/notes/a", true},
		{"Read(~/notes/**)", "~/notes/a", true},
		{"Read(~/notes/**)", "/home/u/.ssh/id", false},
		{"Read(~/notes/**)", "~/notes/../.ssh/id", false},
		{"Read(~root/**)", "/home/u/x", false},
		{"Read", "/etc/passwd", true},
		{"read_file(docs/**)", "/p/docs/a", true},
		{"Edit(docs/**)", "/p/docs/a", false},
	} {
		v := tool.Of(patterns(t, test.list)).Allow(tool.Call{
			Tool: "Read", Input: map[string]any{"file_path": test.path}, Project: "/p", Home: "/home/u",
		})
		if v.Allowed != test.want {
			t.Errorf("%s with %.60q: allowed %v, want %v (%s)", test.list, test.path, v.Allowed, test.want, v.Reason)
		}
	}
}

func TestFilesOfHosts(t *testing.T) {
	for _, test := range []struct {
		list, tool string
		input      map[string]any
		want       bool
	}{
		{"Read(docs/**)", "read_many_files", map[string]any{"paths": []any{"docs/a", "docs/b"}}, true},
		{"Read(docs/**)", "read_many_files", map[string]any{"paths": []any{"docs/a", "src/b"}}, false},
		{"Read(docs/**)", "read_file", map[string]any{"absolute_path": "/p/docs/a"}, true},
		{"Read(docs/**)", "read_file", map[string]any{"file_path": "docs/a", "path": "/etc/passwd"}, false},
		{"Read(docs/**)", "read_file", map[string]any{"where": "docs/a"}, false},
		{"Read(docs/**)", "read_file", map[string]any{"path": map[string]any{"a": "docs/a"}}, false},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: src/a.go\n@@\n-a\n+b\n*** End Patch"}, true},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: src/a.go\n*** Delete File: b.go\n*** End Patch"}, false},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: src/a.go\n*** Move to: /etc/x\n*** End Patch"}, false},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: src/a.go\n+a\n*** End Patch"}, false},
		{"Edit(src/**), Write(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: src/a.go\n+a\n*** End Patch"}, true},
		{"Edit(src/**)", "apply_patch", map[string]any{"command": []any{"apply_patch", "*** Begin Patch\n*** Update File: x\n*** End Patch"}}, false},
		{"Edit", "apply_patch", map[string]any{"input": "nothing"}, false}, // it may add a file
		{"Edit, Write", "apply_patch", map[string]any{"input": "nothing"}, true},
		{"apply_patch", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch"}, true},
		{"apply_patch", "Edit", map[string]any{"file_path": "a"}, false},
		{"apply_patch(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: src/a\n+a\n*** End Patch"}, true},
		{"apply_patch(src/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch"}, false},
		{"str_replace_editor", "str_replace_editor", map[string]any{"command": "create", "path": "a"}, true},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": "nothing"}, false},
		{"Edit(src/**)", "apply_patch", map[string]any{"input": []any{}}, false},
		{"Edit, Write(docs/**)", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: src/x\n+a\n*** End Patch", "patch": "x"}, false},
		{"Read(docs/**)", "str_replace_based_edit_tool", map[string]any{"command": "view", "path": "docs/a"}, true},
		{"Read(docs/**)", "str_replace_based_edit_tool", map[string]any{"command": "create", "path": "docs/a"}, false},
		{"Edit(docs/**)", "str_replace_editor", map[string]any{"command": "insert", "path": "docs/a"}, true},
		{"Grep(docs/**)", "Grep", map[string]any{"pattern": "x", "path": "docs"}, true},
		{"Grep(docs/**)", "Grep", map[string]any{"pattern": "x"}, false},
		{"Grep(**)", "search_file_content", map[string]any{"pattern": "x"}, true},
		{"Glob(docs/**)", "glob", map[string]any{"pattern": "docs/**/*.md"}, true},
		{"Glob(docs/**)", "glob", map[string]any{"pattern": "**/*.md", "path": "docs"}, true},
		{"Glob(docs/**)", "glob", map[string]any{"pattern": "../**", "path": "docs"}, false},
		{"Glob(docs/**)", "glob", map[string]any{"pattern": "*/../../**", "path": "docs"}, false},
		{"Glob(docs/**)", "glob", map[string]any{"pattern": "/etc/*", "path": "docs"}, false},
		{"LS(docs)", "list_directory", map[string]any{"path": "/p/docs"}, true},
		{"WebFetch(domain:example.com)", "WebFetch", map[string]any{"url": "https://example.com/a", "prompt": "see https://evil.com"}, true},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": "read https://example.com/a"}, true},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": "read https://example.com/a and https://evil.com"}, false},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": "read evil.com"}, false},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": "read https://evil.com", "url": "https://example.com"}, false},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": "read https://example.com/,https://evil.com"}, false},
		{"WebFetch(domain:example.com)", "web_fetch", map[string]any{"prompt": []any{}}, false},
		{"WebFetch(domain:example.com)", "fetch_webpage", map[string]any{"urls": []any{"https://example.com", "https://evil.com"}}, false},
		{"Task(explore)", "Task", map[string]any{"subagent_type": "explore", "prompt": "x"}, true},
		{"Task(explore)", "Agent", map[string]any{"subagent_type": "root"}, false},
		{"Task(explore)", "Task", map[string]any{"prompt": "x"}, false},
		{"WebSearch(x)", "WebSearch", map[string]any{"query": "x"}, false},
		{"custom_tool", "custom_tool", nil, true},
		{"custom_tool(x)", "custom_tool", map[string]any{"x": "x"}, false},
		{"custom_tool", "Custom_tool", nil, false},
		{"Read", "unknown", nil, false},
		{"Read", "", nil, false},
		{"*", "unknown", nil, true},
	} {
		v := tool.Of(patterns(t, test.list)).Allow(tool.Call{Tool: test.tool, Input: test.input, Project: "/p"})
		if v.Allowed != test.want {
			t.Errorf("%s with %s %v: allowed %v, want %v (%s)", test.list, test.tool, test.input, v.Allowed, test.want, v.Reason)
		}
	}
}

// TestEveryFieldCounts checks that all fields count, at any depth and in any spelling, because it is unknown which of
// them an agent reads.
func TestEveryFieldCounts(t *testing.T) {
	type input = map[string]any
	list := "Bash(git:*), Bash(make), Bash(./scripts/x.sh), Read(docs/**), Edit(docs/**), Glob(docs/**), Grep(docs/**), WebFetch(domain:good.com), Task(explore)"
	for _, test := range []struct {
		tool  string
		input input
		want  bool
	}{
		{"multi_replace_string_in_file", input{"replacements": []any{input{"filePath": "docs/a"}, input{"filePath": "docs/b"}}}, true},
		{"multi_replace_string_in_file", input{"filePath": "docs/a", "replacements": []any{input{"filePath": "/etc/passwd"}}}, false},
		{"MultiEdit", input{"file_path": "docs/a", "edits": []any{input{"old_string": "/etc/a", "new_string": "b"}}}, true},
		{"Edit", input{"file_path": "docs/a", "patch": "*** Begin Patch\n*** Update File: src/a\n*** End Patch"}, false},
		{"Edit", input{"file_path": "src/a", "patch": "*** Begin Patch\n*** Update File: docs/a\n*** End Patch"}, false},
		{"Edit", input{"input": "x", "patch": "*** Begin Patch\n*** Update File: src/a\n*** End Patch", "path": "docs/a"}, false},
		{"Edit", input{"file_path": "docs/a", "patch": "*** Begin Patch\n*** Update File: docs/b\n*** End Patch"}, true},
		{"read_file", input{"path": "docs/a", "start_line": 3.0}, true},
		{"read_file", input{"path": "docs/a", "files": []any{input{"path": "/etc/passwd"}}}, false},
		{"read_file", input{"args": input{"file": []any{input{"path": "docs/a"}, input{"path": "src/a"}}}}, false},
		{"read_file", input{"path": "docs/a", "files": []any{"src/a"}}, false},
		{"read_file", input{"path": "docs/a", "Path": "src/a"}, false},
		{"read_file", input{"path": "docs/a", "FILE_PATH": "src/a"}, false},
		{"read_file", input{"path": "docs/a", "file": input{"name": "src/a"}}, false},
		{"read_file", input{"path": "docs/a", "file": 1.0}, false},
		{"read_file", input{"path": "docs/[slug]/{id}.md"}, true},
		{"str_replace_editor", input{"command": "view", "path": "docs/a"}, true},
		{"str_replace_editor", input{"command": "view", "Command": "create", "path": "docs/a"}, true}, // it edits
		{"read_many_files", input{"paths": []any{"docs/**/*.md", "docs/{a,b}.md"}}, true},
		{"read_many_files", input{"paths": []any{"docs/{x,../..}/etc/passwd"}}, false},
		{"read_many_files", input{"paths": []any{"docs/{x,/etc}/passwd"}}, false},
		{"read_many_files", input{"paths": []any{"docs/{.,x}{.,x}/secret.txt"}}, false},
		{"read_many_files", input{"paths": []any{"docs/.{,x}./secret.txt"}}, false},
		{"read_many_files", input{"paths": []any{"docs/{x/.,y}./a"}}, false},
		{"read_many_files", input{"paths": []any{"docs/@(.|x)@(.|x)/secret.txt"}}, false},
		{"read_many_files", input{"paths": []any{"./docs/**/*.{test,spec}.ts", "docs/{.env,b.d.ts}"}}, true},
		{"read_many_files", input{"paths": []any{"docs/a"}, "include": []any{"src/**"}}, false},
		{"read_many_files", input{"paths": []any{"docs/a"}, "include": []any{"../**"}}, false},
		{"Grep", input{"pattern": "../x", "path": "docs", "glob": "**/*.{ts,tsx}"}, true},
		{"Grep", input{"pattern": "x", "path": "docs", "include": "../../**"}, false},
		{"Grep", input{"pattern": "x", "path": "docs", "include": "/etc/*"}, false},
		{"file_search", input{"query": "docs/**/*.md"}, true},
		{"file_search", input{"query": "docs/*.md", "path": "/etc"}, false},
		{"glob_file_search", input{"target_directory": "docs", "glob_pattern": "../**"}, false},
		{"find_by_name", input{"SearchDirectory": "docs", "Pattern": "{a,/etc}/*"}, false},
		{"web_fetch", input{"url": "https://good.com/", "Prompt": "read https://evil.com/x"}, false},
		{"WebFetch", input{"url": "https://good.com/", "URL": "https://evil.com/"}, false},
		{"WebFetch", input{"url": "https://good.com/", "requests": []any{input{"url": "https://evil.com/"}}}, false},
		{"Task", input{"subagent_type": "explore", "subagentType": "root"}, false},
		{"Bash", input{"command": "git status", "description": "look", "timeout": 1.0}, true},
		{"Bash", input{"command": "git status", "Command": "rm -rf /"}, false},
		{"Bash", input{"command": "git status", "input": input{"command": "rm -rf /"}}, false},
		{"Bash", input{"command": "git status", "args": []any{"; rm -rf /"}}, false},
		{"Bash", input{"command": "git status", "args": []any{}}, true},
		{"Bash", input{"command": "git status", "ENV": input{"A": "b"}}, false},
		{"exec_command", input{"cmd": "git status", "workdir": "/tmp/evil"}, true}, // git -C /tmp/evil is allowed, too
		{"exec_command", input{"cmd": "./scripts/x.sh", "workdir": "/tmp/evil"}, false},
		{"exec_command", input{"cmd": "make", "workdir": "/tmp/evil"}, false},
		{"exec_command", input{"cmd": "make", "workdir": "sub"}, false},
		{"exec_command", input{"cmd": "make", "working_directory": []any{"sub"}}, false},
		{"exec_command", input{"cmd": "./scripts/x.sh", "workdir": "/p"}, true},
		{"exec_command", input{"cmd": "./scripts/x.sh", "workdir": "."}, true},
		{"exec_command", input{"cmd": "./scripts/x.sh", "workdir": ""}, true},
		{"apply_patch", input{"input": "*** Begin Patch\n*** Update File: docs/a\n*** End Patch"}, true},
		{"apply_patch", input{"input": "*** Begin Patch\n*** Update File: docs/a\n*** End Patch", "Input": "*** Begin Patch\n*** Update File: src/a\n*** End Patch"}, false},
	} {
		v := tool.Of(patterns(t, list)).Allow(tool.Call{Tool: test.tool, Input: test.input, Project: "/p"})
		if v.Allowed != test.want {
			t.Errorf("%s %v: allowed %v, want %v (%s)", test.tool, test.input, v.Allowed, test.want, v.Reason)
		}
	}
	secret := tool.Set{}.Without("", patterns(t, "Read(secrets/**)"))
	for _, in := range []input{{"path": "docs/a", "files": []any{input{"path": "secrets/a"}}}, {"Path": "secrets/a"}, {"path": 1.0}} {
		if v := secret.Allow(tool.Call{Tool: "read_file", Input: in, Project: "/p"}); v.Allowed {
			t.Errorf("%v is allowed, with secrets/** disallowed", in)
		}
	}
}

// TestLargeInput checks that a deep or large input is refused if patterns are checked against it.
func TestLargeInput(t *testing.T) {
	set := tool.Of(patterns(t, "Read(docs/**)"))
	deep := map[string]any{"path": "docs/a"}
	for range 1000 {
		deep = map[string]any{"path": "docs/a", "x": deep}
	}
	for _, in := range []map[string]any{deep, {"path": "docs/a", "x": make([]any, 100_000)}} {
		if v := set.Allow(tool.Call{Tool: "Read", Input: in, Project: "/p"}); v.Allowed || !strings.Contains(v.Reason, "too large") {
			t.Errorf("allowed %v: %s", v.Allowed, v.Reason)
		}
	}
}

func TestFilesWithoutProject(t *testing.T) {
	set := tool.Of(patterns(t, "Read(docs/**)"))
	for p, want := range map[string]bool{"docs/a": true, "./docs/a": true, "/docs/a": false, "../docs/a": false, "src/a": false, "/x/docs/a": false} {
		if v := set.Allow(tool.Call{Tool: "Read", Input: map[string]any{"file_path": p}}); v.Allowed != want {
			t.Errorf("%s: allowed %v, want %v (%s)", p, v.Allowed, want, v.Reason)
		}
	}
}

func TestFilesOfWindows(t *testing.T) {
	set := tool.Of(patterns(t, "Read(docs/**)"))
	for p, want := range map[string]bool{
		`C:\p\docs\a.md`: true, "C:/p/docs/a.md": true, `docs\a.md`: true, `C:\p\docs\..\x`: false, `D:\p\docs\a`: false, `\\server\docs\a`: false,
	} {
		if v := set.Allow(tool.Call{Tool: "Read", Input: map[string]any{"file_path": p}, Project: `C:\p`}); v.Allowed != want {
			t.Errorf("%s: allowed %v, want %v (%s)", p, v.Allowed, want, v.Reason)
		}
	}
}

// TestFilesBehindLinks checks that with links, both the path and its target must be allowed, whether an agent cleans
// the path first or not.
func TestFilesBehindLinks(t *testing.T) {
	real := func(p string) string {
		if strings.HasPrefix(p, "/p/docs/loop") {
			return ""
		}
		if rest, ok := strings.CutPrefix(p, "/p/docs/link"); ok {
			return path.Join("/etc/ssl", rest) // a .. after a link goes on from where it leads
		}
		if rest, ok := strings.CutPrefix(p, "/p/docs/up/../"); ok {
			return "/real/p/docs/" + rest
		}
		if rest, ok := strings.CutPrefix(path.Clean(p), "/p"); ok {
			return "/real/p" + rest
		}
		return path.Clean(p)
	}
	allow, deny := tool.Of(patterns(t, "Read(docs/**)")), tool.Set{}.Without("", patterns(t, "Read(//etc/**)"))
	for p, want := range map[string]struct{ only, but bool }{
		"/p/docs/a":              {true, true},
		"docs/b":                 {true, true},
		"/p/docs/link/passwd":    {false, false},
		"/p/docs/link/../docs/a": {false, false},
		"docs/link/../passwd":    {false, false}, // /etc/passwd, which cleaned is docs/passwd
		"docs/up/../link":        {false, false}, // docs/link to a host that cleans it, /real/p/docs/link to another
		"docs/loop":              {false, false},
		"/p/src/a":               {false, true},
	} {
		call := tool.Call{Tool: "Read", Input: map[string]any{"file_path": p}, Project: "/p", Real: real}
		if v := allow.Allow(call); v.Allowed != want.only {
			t.Errorf("%s: allowed %v, want %v (%s)", p, v.Allowed, want.only, v.Reason)
		}
		if v := deny.Allow(call); v.Allowed != want.but {
			t.Errorf("%s: allowed %v where the files of /etc are not, want %v (%s)", p, v.Allowed, want.but, v.Reason)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		list, url string
		want      bool
	}{
		{"WebFetch(domain:example.com)", "https://example.com/a?b", true},
		{"WebFetch(domain:example.com)", "http://EXAMPLE.com", true},
		{"WebFetch(domain:example.com)", "https://example.com:443/", true},
		{"WebFetch(domain:example.com)", "https://example.com:8443/", false},
		{"WebFetch(domain:example.com:8443)", "https://example.com:8443/", true},
		{"WebFetch(domain:example.com)", "https://www.example.com", false},
		{"WebFetch(domain:*.example.com)", "https://www.example.com", true},
		{"WebFetch(domain:*.example.com)", "https://example.com", false},
		{"WebFetch(domain:*.example.com)", "https://evilexample.com", false},
		{"WebFetch(domain:example.com)", "https://example.com.evil.com", false},
		{"WebFetch(domain:example.com)", "https://example.com@evil.com", false},
		{"WebFetch(domain:example.com)", "https://u:p@example.com", false},
		{"WebFetch(domain:example.com)", `https://evil.com\@example.com`, false},
		{"WebFetch(domain:example.com)", "https://evil.com#@example.com", false},
		{"WebFetch(domain:example.com)", "https://ex\u0430mple.com", false},
		{"WebFetch(domain:example.com)", "https://example.com\n.evil.com", false},
		{"WebFetch(domain:example.com)", "ftp://example.com", false},
		{"WebFetch(domain:example.com)", "file:///example.com", false},
		{"WebFetch(domain:example.com)", "example.com", false},
		{"WebFetch(domain:example.com)", "//example.com", false},
		{"WebFetch(example.com)", "https://example.com", true},
		{"url(example.com)", "https://example.com", true},
		{"WebFetch(https://example.com/docs/*)", "https://example.com/docs/a", true},
		{"WebFetch(https://example.com/docs/*)", "https://example.com/docs/../a", false},
		{"WebFetch(https://example.com/docs/*)", "https://example.com/docs/%2e%2e/a", false},
		{"WebFetch(https://example.com/docs/*)", "http://example.com/docs/a", false},
		{"WebFetch(https://example.com*)", "https://example.com.evil.com/", false},
		{"WebFetch(https://example.com/a)", "https://example.com/a", true},
		{"WebFetch(https://example.com/a)", "https://example.com/ab", false},
		{"WebFetch(domain:*)", "https://x.y", true},
		{"WebFetch", "ftp://x.y", true},
	} {
		v := tool.Of(patterns(t, test.list)).Allow(tool.Call{Tool: "WebFetch", Input: map[string]any{"url": test.url}})
		if v.Allowed != test.want {
			t.Errorf("%s with %q: allowed %v, want %v (%s)", test.list, test.url, v.Allowed, test.want, v.Reason)
		}
	}
}

func TestServers(t *testing.T) {
	for _, test := range []struct {
		list, tool string
		want       bool
	}{
		{"mcp__github", "mcp__github__create_issue", true},
		{"mcp__github__*", "mcp__github__create_issue", true},
		{"mcp__github__create_issue", "mcp__github__create_issue", true},
		{"mcp__github__create_*", "mcp__github__create_issue", true},
		{"mcp__github__get_*", "mcp__github__create_issue", false},
		{"mcp__git", "mcp__github__create_issue", false},
		{"mcp__github", "mcp__github", true},
		{"mcp__github", "mcp__github_x__y", false},
		{"mcp__github", "mcp__github__x__y", false}, // the server may be github__x
		{"mcp__github__x__y", "mcp__github__x__y", true},
		{"mcp__*", "mcp__a__b__c", true},
		{"mcp__*", "Bash", false},
		{"mcp__GitHub", "mcp__github__x", false},
		{"mcp__github(x)", "mcp__github__x", false},
	} {
		if v := tool.Of(patterns(t, test.list)).Allow(tool.Call{Tool: test.tool}); v.Allowed != test.want {
			t.Errorf("%s with %s: allowed %v, want %v (%s)", test.list, test.tool, v.Allowed, test.want, v.Reason)
		}
	}
}
