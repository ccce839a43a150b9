package syntax_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

func TestShell(t *testing.T) {
	const sh, bash = "#!/bin/sh\n", "#!/usr/bin/env bash\n"
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{bash + "set -euo pipefail\nfor x in a b; do echo \"$x\"; done\n", ""},
		{bash + "a=(1 2)\n[[ ${a[0]} =~ ^(a|b)$ ]] && diff <(ls) <(ls -a)\n", ""},
		{sh + "if [ -f x ]; then\n  . ./x\nfi\n", ""},
		{sh + "f() { local a=1; echo \"$a\"; }\n", ""},
		{"\ufeff" + bash + "echo \"ü\r\n\"\r\n", ""},

		{bash + "if true; then\n  echo a\n", "2:1: `if` statement must end with `fi`"},
		{bash + "echo ü \"a\n", "2:8: reached EOF without closing quote `\"`"},
		{bash + "f() {\n  echo a\n", "2:5: reached EOF without matching `{` with `}`"},
		{bash + "for x in a; do echo; fi\n", "2:22: `fi` can only be used to end an `if`"},
		{bash + "echo $(ls\n", "2:6: reached EOF without matching `$(` with `)`"},
		{bash + "cat <<EOF\nx\n", "2:5: unclosed here-document `EOF`"},
		{bash + "echo a)\n", "2:7: a command can only contain words and redirects; encountered `)`"},
		{"\ufeff\necho )\n", "2:6: a command can only contain words and redirects; encountered `)`"},
		{bash + "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", "2:1: unresolved merge conflict"},

		// Syntax that one shell has and another does not.
		{sh + "a=(1 2)\n", "2:3: arrays are for bash or mksh or zsh, but this script is for sh"},
		{sh + "echo ${a:0:2}\n", "2:9: slicing is for bash or mksh or zsh, but this script is for sh"},
		{sh + "[ -n \"$BASH_VERSION\" ] && echo ${a:0:2}\n", ""},
		{"a=(1 2)\n", ""},
		{bash + "echo ${(%):-%x} $((1.5 + 1))\n", ""},

		// Errors that shells detect only at run time, if at all.
		{bash + "echo $((time ls) 2>&1)\n", ""},
		{bash + "declare -A a; a[x y]=1; echo $((a[$b/c d]))\n", ""},
		{bash + "echo \"\xff\"\n", ""},

		// Text that is never executed.
		{bash + "echo a\nexit 0\n) PAYLOAD (\n", ""},
		{sh + "'''exec' python3 \"$0\" \"$@\"\n' '''\nimport (\n", ""},
		{sh + "\"exec\" python3 \"$0\"\nimport (\n", ""},
		{bash + "exec 3>&1\necho )\n", "3:6: a command can only contain words and redirects; encountered `)`"},
		{bash + "exit 1 &\necho )\n", "3:6: a command can only contain words and redirects; encountered `)`"},
		{bash + "echo \x00 )\n", ""},

		// Placeholders.
		{bash + "curl -o <file>\n", ""},
		{bash + "{{#if x}}\necho {{ name }} (a)\n", ""},
		{bash + "echo ${name} (a)\n", "2:14: a command can only contain words and redirects; encountered `(`"},
	} {
		check(t, tt.text, syntax.Shell("run.sh", []byte(tt.text)), tt.want)
	}
}

func TestShellVariants(t *testing.T) {
	const wrong = "echo )\n"
	for _, tt := range []struct {
		name, first string
		checked     bool
	}{
		{"run.sh", "", true},
		{"run.bash", "", true},
		{"RUN.SH", "", true},
		{"home/.bashrc", "", true},
		{"run", "", false},
		{"run.zsh", "", false},
		{"run.fish", "", false},
		{"run.txt", "#!/bin/sh\n", true},
		{"run", "#! /bin/bash -e\n", true},
		{"run", "#!/usr/bin/env -S A=b bash -x\n", true},
		{"run", "#!/bin/busybox sh\n", true},
		{"run", "#!/bin/mksh\n", true},
		{"run", "#!/usr/bin/env bats\n", true},
		{"run.sh", "#!/bin/zsh\n", false},
		{"run.sh", "#!/bin/ksh\n", false},
		{"run.sh", "#!/usr/bin/env python3\n", false},
		{"run.sh", "#!\n", false},
		{"run.sh", "#!/usr/bin/env\n", false},
	} {
		if p := syntax.Shell(tt.name, []byte(tt.first+wrong)); (p != nil) != tt.checked {
			t.Errorf("%s with %q: got %s", tt.name, tt.first, render(p))
		}
	}
}

// TestShellDeep checks that deeply nested constructs do not crash the parser.
func TestShellDeep(t *testing.T) {
	for _, part := range []string{
		"(", "$(", "{ ", "\"$(", "${a:-", "$((", "((", "`", "if ", "while ", "! ", "[[ ! ", "[[ ( ", "a=$(", "case a in a) ", "f() ",
		"time ", "coproc ", "function f ", "$((- ", "$((1?", "a[", "<(", "@(", "if a; then b; elif ", "a | ", "a && ", "let -",
		"cat <<A$(", "${a/${", "\"${a:-\"", "$((a=", "$((1+(", "exec ", "\\", "'", "$'", "declare a=(", "let a[",
	} {
		text := strings.Repeat(part, (1<<20-100)/len(part))
		syntax.Shell("run.sh", []byte(text))
	}
	text := "#!/bin/bash\n" + strings.Repeat("(", 100_000)
	check(t, "many parentheses", syntax.Shell("run.sh", []byte(text)), "1:1: the script is nested too deeply")
}
