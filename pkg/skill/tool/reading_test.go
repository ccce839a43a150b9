package tool_test

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestO10ReadingCommands checks SPEC O10: tool lists apply by effect. A command line that only reads, in an exact form,
// counts as Read, Grep, or Glob, so that agents without these tools can work; any other form stays a shell command.
func TestO10ReadingCommands(t *testing.T) {
	const all, docs = "Read, Grep, Glob", "Read(docs/**), Grep(docs/**), Glob(docs/**)"
	for _, test := range []struct {
		list string
		want bool
		line string
	}{
		// files
		{all, true, "cat README.md"},
		{all, true, "cat README.md docs/a.md"},
		{all, true, "cat -n README.md"},
		{all, true, "cat -- README.md"},
		{all, true, "cat -- -odd"},
		{all, true, `cat 'a b.md' "c d.md"`},
		{all, true, "cat ~/notes.md"},
		{all, true, "cat /etc/hosts"},
		{all, true, "nl -ba README.md"},
		{all, true, "head README.md"},
		{all, true, "head -n 20 README.md"},
		{all, true, "head -n20 README.md"},
		{all, true, "head -20 README.md"},
		{all, true, "head -c 100 README.md"},
		{all, true, "tail -n 5 a b"},
		{all, true, "tail -n +5 a"},
		{all, true, "wc -l README.md"},
		{all, true, "wc -lw README.md"},
		{all, true, "sed -n 1,200p README.md"},
		{all, true, "sed -n '1,200p' README.md"},
		{all, true, `sed -n "5p" README.md`},
		{all, true, "sed -n '10,$p' README.md"},
		{"Read", true, "cat a | head -n 5"},
		{"Read", true, "cat a && cat b; cat c || cat d"},
		{"Read", false, "grep x a"},
		{"Read", false, "ls"},
		{"Read", false, "find . -name a"},
		{"Grep", false, "cat a"},
		{"Glob", false, "cat a"},
		{"Edit", false, "cat a"},

		// options that run programs, write, or read other files; and options where they do not belong
		{all, false, "sed -n 1p '-e1e touch pwned' README.md"},
		{all, false, "sed -n 1p README.md '-e1e touch pwned'"},
		{all, false, "sed -n 1p --expression=1w README.md"},
		{all, false, "sed -n 1p -i.bak README.md"},
		{all, false, "sed -n -i 1p README.md"},
		{all, false, "sed -i -n 1p README.md"},
		{all, false, "sed -ni 1p README.md"},
		{all, false, "sed -n '1e touch pwned' README.md"},
		{all, false, "sed -n '1w pwned' README.md"},
		{all, false, "sed -n 's/a/b/e' README.md"},
		{all, false, "sed -n '1,5p;1w x' README.md"},
		{all, false, "sed -n '/x/p' README.md"},
		{all, false, "sed -n -f script README.md"},
		{all, false, "sed -n p README.md"},
		{all, false, "sed 1,5p README.md"},
		{all, false, "sed -n -s 1p README.md"},
		{all, false, "sed -n 1p -- README.md"}, // BSD reads the file --
		{all, false, "cat README.md -n"},
		{all, false, "head README.md -n 5"},
		{all, false, "head -n x README.md"},
		{all, false, "head -n -- README.md"},
		{all, false, "tail -f log"},
		{all, false, "tail -n 5 --follow log"},
		{all, false, "tail --pid=1 log"},
		{all, false, "wc --files0-from=list"},
		{all, false, "cat --help"},
		{all, false, "nl -v 1 a"},

		// lists of files
		{all, true, "ls"},
		{all, true, "ls -la docs"},
		{all, true, "ls -1 docs src"},
		{all, true, "ls --all --color=never docs"},
		{"Glob", true, "ls -R"},
		{"LS", true, "ls docs"},
		{all, false, "ls -L docs"},
		{all, false, "ls --dereference"},
		{all, false, "ls docs -l"},
		{all, false, "ls -Ra docs"},
		{all, false, "ls -R --all docs"},
		{all, true, "ls -RA docs"},
		{all, true, "find . -name '*.go' -type f"},
		{all, true, "find docs src -maxdepth 2 -not -path '*/x/*' -print"},
		{all, true, "find -name a"},
		{all, true, "find . '(' -name a -o -name b ')'"},
		{all, true, "find . -name -exec"}, // the name -exec
		{"LS", true, "find docs -type d"},
		{all, false, "find . -exec touch pwned ';'"},
		{all, false, "find . -name a -exec sh -c 'touch pwned' ';'"},
		{all, false, "find . -execdir touch pwned +"},
		{all, false, "find . -ok touch pwned ';'"},
		{all, false, "find . -okdir touch pwned ';'"},
		{all, false, "find . -delete"},
		{all, false, "find . -name a -delete"},
		{all, false, "find . -fprint pwned"},
		{all, false, "find . -fprint0 pwned"},
		{all, false, "find . -fprintf pwned x"},
		{all, false, "find . -fls pwned"},
		{all, false, "find -L . -name a"},
		{all, false, "find . -follow"},
		{all, false, "find -files0-from list"},
		{all, false, "find . -newer a"},
		{all, false, "find . -name a docs"},
		{all, false, "find . -name"},

		// searches
		{all, true, "grep x README.md"},
		{all, true, "grep -rn 'a b' docs"},
		{all, true, "grep -rnE --include='*.go' 'func|type' ."},
		{all, true, "grep -n -A3 -B 2 x README.md"},
		{all, true, "grep -e -x README.md"},
		{all, true, "grep -- -x README.md"},
		{all, true, "grep --recursive --line-number x docs"},
		{all, true, "cat a | grep -n x | head -5"},
		{all, true, "rg x"},
		{all, true, "rg -n x docs src"},
		{all, true, "rg -tgo -g '!vendor/**' -C2 'func \\w+' ."},
		{all, true, "rg --glob '*.go' -l x"},
		{all, true, "rg --files"},
		{all, true, "rg --files docs"},
		{"Glob", true, "rg --files docs"},
		{"Glob", false, "rg x docs"},
		{"Grep", false, "rg --files docs"},
		{all, false, "grep -f list README.md"},
		{all, false, "grep --file=list README.md"},
		{all, false, "grep -nf list README.md"},
		{all, false, "grep -R x ."},
		{all, false, "grep --dereference-recursive x ."},
		{all, false, "grep --exclude-from=list -r x ."},
		{all, false, "grep --recurs x ."},
		{all, false, "grep x README.md -r"},
		{all, false, "grep -D read x ."},
		{all, false, "grep -A x README.md"},
		{all, false, "grep"},
		{all, false, "rg --pre cat x"},
		{all, false, "rg --pre=./run x"},
		{all, false, "rg --pre-glob '*' --pre ./run x"},
		{all, false, "rg x --pre ./run"},
		{all, false, "rg x --pre=./run docs"},
		{all, false, "rg --hostname-bin=./run x"},
		{all, false, "rg -z x"},
		{all, false, "rg --search-zip x"},
		{all, false, "rg -f list"},
		{all, false, "rg --ignore-file list x"},
		{all, false, "rg -L x"},
		{all, false, "rg --follow x"},
		{all, false, "rg --type-add 'x:include:y' x"},
		{all, false, "rg x -L"},

		// syntax that is not literal
		{all, false, "cat $FILE"},
		{all, false, `cat "$FILE"`},
		{all, false, "cat ${FILE}"},
		{all, false, "cat $(echo x)"},
		{all, false, "cat `echo x`"},
		{all, false, "cat <(touch pwned)"},
		{all, false, "cat < README.md"},
		{all, false, "cat <<< x"},
		{all, false, "cat a > b"},
		{all, false, "cat a >> b"},
		{all, false, "cat a 2>/dev/null"},
		{all, false, "cat a 2>&1"},
		{all, false, "cat a &>/dev/null"},
		{all, false, "cat a &"},
		{all, false, "cat a |& head"},
		{all, false, "! cat a"},
		{all, false, "(cat a)"},
		{all, false, "{ cat a; }"},
		{all, false, "time cat a"},
		{all, false, "if cat a; then cat b; fi"},
		{all, false, "for f in a; do cat a; done"},
		{all, false, "cat() { touch pwned; }; cat a"},
		{all, false, "alias cat=touch; cat a"},
		{all, false, "X=1 cat a"},
		{all, false, "PATH=. cat a"},
		{all, false, "PATH=.; cat a"},
		{all, false, "export PATH=. && cat a"},
		{all, false, "cat *.md"},
		{all, false, "cat a?.md"},
		{all, false, "cat [ab].md"},
		{all, false, "cat {a,b}.md"},
		{all, false, "cat =ls"},
		{all, false, "cat ~root/a"},
		{all, false, "cat ~+/a"},
		{all, false, "cat '~/a'"},
		{all, false, `cat ''"~/a"`},
		{all, false, `cat ""~/a`},
		{all, false, "cat a==ls"},
		{all, false, "cat a:=ls"},
		{all, false, "cat a^b"},
		{all, false, "cat a#b"},
		{all, false, "cat a # b"},
		{all, false, `cat a\ b`},
		{all, false, `c\at a`},
		{all, false, `"cat" a`},
		{all, false, "cat $'a'"},
		{all, false, `cat $"a"`},
		{all, false, "cat 'a"},
		{all, false, "cat a\rb"},

		// other programs
		{all, false, "touch a"},
		{all, false, "./cat a"},
		{all, false, "/bin/cat a"},
		{all, false, "command cat a"},
		{all, false, "env cat a"},
		{all, false, "sudo cat a"},
		{all, false, "xargs cat"},
		{all, false, "cat a | sh"},
		{all, false, "cat a; touch b"},
		{all, false, "cat a && touch b"},
		{all, false, "cat a\ntouch b"},
		{all, false, "cat a | tee b"},
		{all, false, "cat a | xargs touch"},
		{all, false, "awk 1 a"},
		{all, false, "less a"},
		{all, false, "bat a"},
		{all, false, "cd docs && cat a"},
		{all, false, "cat"},
		{all, false, "head -n 5"},

		// paths
		{docs, true, "cat docs/a.md docs/b/c.md"},
		{docs, true, "sed -n 1,5p docs/a.md"},
		{docs, true, "ls docs"},
		{docs, true, "ls -R docs"},
		{docs, true, "rg x docs"},
		{docs, true, "rg x docs/a.md"},
		{docs, true, "grep -r x docs/b"},
		{docs, true, "find docs -name '*.md'"},
		{docs, true, "cat /p/docs/a.md"},
		{docs, false, "cat src/a.go"},
		{docs, false, "cat docs/a.md src/a.go"},
		{docs, false, "cat docs/a.md && cat src/a.go"},
		{docs, false, "cat docs/../src/a.go"},
		{docs, false, "cat /p/docs/../src/a.go"},
		{docs, false, "cat docs/link/a"},
		{docs, false, "cat ~/docs/a.md"},
		{docs, false, "cat %2e%2e/a"},
		{docs, false, "cat ''"},
		{docs, false, "ls"},
		{docs, false, "ls src"},
		{docs, false, "rg x"},
		{docs, false, "rg x docs src"},
		{docs, false, "grep -r x"},
		{docs, false, "grep -r x ."},
		{docs, false, "find -name x"},
		{docs, false, "find docs src -name x"},
		{"Read(docs/*.md)", true, "cat docs/a.md"},
		{"Read(docs/*.md)", false, "cat docs/b/c.md"},
		{"Grep(docs/*)", true, "grep x docs/a.md"},
		{"Grep(docs/*)", false, "grep -r x docs/b"}, // it reads docs/b/c
		{"Grep(docs/*)", false, "rg x docs"},
		{"Glob(docs/*)", false, "find docs/b"},
		{"Grep(docs)", true, "rg x docs"},
		{"Read(//etc/**)", true, "cat /etc/hosts"},
		{"Read(//etc/**)", false, "cat /usr/x"},
		{"Read(~/notes/**)", true, "cat ~/notes/a"},
	} {
		c := bash(test.line)
		c.Project, c.Home, c.Real = "/p", "/home/u", realOf
		if v := tool.Of(patterns(t, test.list)).Allow(c); v.Allowed != test.want {
			t.Errorf("%s: %q is allowed: %v, want %v (%s)", test.list, test.line, v.Allowed, test.want, v.Reason)
		}
	}
}

// realOf resolves /p/docs/link, which is the only link.
func realOf(p string) string {
	return path.Clean(strings.Replace(path.Clean(p), "/p/docs/link", "/p/src", 1))
}

// TestO10ReadingCalls checks SPEC O10 for the other ways to write a reading command, and for lists that disallow.
func TestO10ReadingCalls(t *testing.T) {
	input := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	words := func(w ...any) any { return w }
	for _, test := range []struct {
		allow, deny, tool string
		input             map[string]any
		want              bool
	}{
		{"Read", "", "exec_command", input("cmd", "cat a"), true},
		{"Read", "", "exec_command", input("cmd", "touch a"), false},
		{"Read", "", "shell", input("command", words("cat", "a b")), true},
		{"Read", "", "shell", input("command", words("bash", "-lc", "cat a")), true},
		{"Read", "", "shell", input("command", words("bash", "-lc", "cat a; touch b")), false},
		{"Read", "", "shell", input("command", words("cat", "~/a")), false},
		{"Read", "", "shell", input("command", words("sed", "-n", "1p", "-e1e touch x", "a")), false},
		{"Read", "", "Monitor", input("command", "cat a"), true},
		{"Read", "", "Monitor", input("command", "tail -f a"), false},
		{"Read", "", "Bash", input("command", "cat a", "env", input("PATH", ".")), false},
		{"Read", "", "Bash", input("command", "cat a", "shell", "fish"), false},
		{"Read", "", "PowerShell", input("command", "cat a"), false},
		{"Read", "", "write_stdin", input("chars", "cat a\n"), false},
		{"Read(docs/**)", "", "exec_command", input("cmd", "cat a", "workdir", "/p/docs"), true},
		{"Read(docs/**)", "", "exec_command", input("cmd", "cat ../a", "workdir", "/p/docs"), false},
		{"Read(docs/**)", "", "exec_command", input("cmd", "cat docs/a", "workdir", "/etc"), false},
		{"Read(docs/**)", "", "exec_command", input("cmd", "cat docs/a", "workdir", "/p"), true},
		{"Read(docs/**)", "", "exec_command", input("cmd", "cat a", "workdir", "/p/docs", "cwd", "/etc"), false},
		{"Read, Grep, Glob", "Read(secret/**)", "Bash", input("command", "cat secret/a"), false},
		{"Read, Grep, Glob", "Read(secret/**)", "Bash", input("command", "cat docs/a"), true},
		{"Read, Grep, Glob", "Bash", "Bash", input("command", "cat docs/a"), false},
		{"Read, Grep, Glob", "LS", "Bash", input("command", "ls docs"), false},
		{"Bash", "Read(secret/**)", "Bash", input("command", "cat secret/a"), false},
		{"Bash(git:*), Read", "", "Bash", input("command", "git log"), true},
		{"Bash(git:*), Read", "", "Bash", input("command", "cat a"), true},
		{"Bash(git:*), Read", "", "Bash", input("command", "git log | cat"), false},
	} {
		set := tool.Of(patterns(t, test.allow)).Without("x", patterns(t, test.deny))
		c := tool.Call{Tool: test.tool, Input: test.input, Project: "/p", Home: "/home/u", Real: realOf}
		if v := set.Allow(c); v.Allowed != test.want {
			t.Errorf("%s without %s: %s %v is allowed: %v, want %v (%s)", test.allow, test.deny, test.tool, test.input,
				v.Allowed, test.want, v.Reason)
		}
	}
	nested := tool.Of(patterns(t, "Read, Grep")).And("inner", patterns(t, "Bash"))
	if v := nested.Allow(bash("cat a")); !v.Allowed {
		t.Errorf("one list allows the shell and the other the effect: %s", v.Reason)
	}
	if v := nested.Allow(bash("touch a")); v.Allowed {
		t.Error("the intersection allows touch")
	}
	v := tool.Of(patterns(t, "Read(docs/**)")).Allow(bash("cat src/a"))
	if want := `allows Read(docs/**), but not "src/a"`; !strings.Contains(v.Reason, want) {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
}

// TestO4OwnFiles checks SPEC O4 and O10: the files of an active skill can be read whatever its list allows, but not
// those that its profile only lets run, and a list that disallows the tool still applies.
func TestO4OwnFiles(t *testing.T) {
	own := func(p string, tree bool) bool {
		rest, ok := strings.CutPrefix(p, "/p/.agents/skills/x/")
		return ok && !tree && !strings.HasPrefix(rest, "scripts/")
	}
	read := func(p string) tool.Call { return tool.Call{Tool: "Read", Input: map[string]any{"file_path": p}} }
	for _, test := range []struct {
		call tool.Call
		want bool
	}{
		{read(".agents/skills/x/references/a.md"), true},
		{read("/p/.agents/skills/x/SKILL.md"), true},
		{read(".agents/skills/x/scripts/run.sh"), false},
		{read(".agents/skills/x/../y/SKILL.md"), false},
		{read("src/a.go"), false},
		{bash("cat .agents/skills/x/SKILL.md"), true},
		{bash("sed -n 1,5p .agents/skills/x/a.md"), true},
		{bash("grep -r x .agents/skills/x/"), false}, // it would show scripts
		{bash("cat .agents/skills/x/scripts/run.sh"), false},
		{bash("cat .agents/skills/x/a.md src/a.go"), false},
		{bash("cat .agents/skills/x/a.md; touch a"), false},
		{tool.Call{Tool: "Write", Input: map[string]any{"file_path": ".agents/skills/x/a.md"}}, false},
	} {
		c := test.call
		c.Project, c.Home, c.Real, c.OwnFile = "/p", "/home/u", realOf, own
		for _, list := range []string{"WebFetch", "Read(docs/**)"} {
			if v := tool.Of(patterns(t, list)).Allow(c); v.Allowed != test.want {
				t.Errorf("%s: %s %v is allowed: %v, want %v (%s)", list, c.Tool, c.Input, v.Allowed, test.want, v.Reason)
			}
		}
		if v := (tool.Set{}).Without("x", patterns(t, "Read, Bash, Write")).Allow(c); v.Allowed {
			t.Errorf("%s %v is disallowed", c.Tool, c.Input)
		}
	}
}

// TestO10Unrestricted checks SPEC O10: no list of allowed tools stops the discovery of tools, questions to the user, and
// todo lists, under any agent's name for them; a list of disallowed tools does.
func TestO10Unrestricted(t *testing.T) {
	for _, name := range []string{
		"ToolSearch", "tool_search", "AskUserQuestion", "ask_user", "request_user_input", "question", "TodoWrite",
		"TodoRead", "todowrite", "write_todos", "update_plan", "TaskCreate", "TaskUpdate", "TaskList", "update_topic",
	} {
		c := tool.Call{Tool: name}
		if v := tool.Of(nil).And("x", patterns(t, "Read")).Allow(c); !v.Allowed {
			t.Errorf("%s: %s", name, v.Reason)
		}
		if v := (tool.Set{}).Without("x", patterns(t, name)).Allow(c); v.Allowed {
			t.Errorf("%s is allowed although the list disallows it", name)
		}
	}
}

// FuzzReading checks that an accepted command line contains only literal words of the programs that only read, and that
// a real shell runs nothing else for it.
func FuzzReading(f *testing.F) {
	for _, s := range []string{
		"cat a | head -n 5", "rg -e x -g '*.go' .", "find . -name a -exec x", "sed -n 1,5p a", "grep -r 'a b' c",
		"ls -la ~/x; wc -l \"a\"", "cat =ls", "cat '~/a'", "sed -n 1p '-e1e touch x' a", "cat a\\ b", "cat a 2>&1",
	} {
		f.Add(s)
	}
	programs := []string{"cat", "nl", "head", "tail", "wc", "sed", "ls", "grep", "rg", "find"}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash")
	}
	set := tool.Of(patterns(f, "Read, Grep, Glob"))
	f.Fuzz(func(t *testing.T, line string) {
		if !set.Allow(tool.Call{Tool: "Bash", Input: map[string]any{"command": line}}).Allowed {
			return
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
		if err != nil {
			t.Fatalf("%q is allowed, and is not a command line", line)
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case nil, *syntax.File, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
			case *syntax.Stmt:
				if len(n.Redirs) > 0 || n.Background || n.Negated {
					t.Fatalf("%q is allowed with a redirection or in the background", line)
				}
			case *syntax.CallExpr:
				if len(n.Assigns) > 0 || !slices.Contains(programs, n.Args[0].Lit()) {
					t.Fatalf("%q is allowed with an assignment or another program", line)
				}
			default:
				t.Fatalf("%q is allowed with %T", line, n)
			}
			return true
		})
		if runsOtherThan(t, bash, line, programs) {
			t.Fatalf("%q is allowed, and a shell runs something else", line)
		}
	})
}

// runsOtherThan reports whether a shell runs anything but some programs for a line, or writes a file. The shell has no
// programs and no builtins.
func runsOtherThan(t testing.TB, bash, line string, programs []string) bool {
	t.Helper()
	dir := t.TempDir()
	var functions strings.Builder
	for _, p := range programs {
		functions.WriteString(p + "() { [[ 1 ]]; }\n")
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", functions.String()+`command_not_found_handle() { >ran; }
for b in $(compgen -b); do [[ $b = enable ]] || enable -n "$b"; done; enable -n enable
`+line)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/nonexistent"}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(left) > 0
}
