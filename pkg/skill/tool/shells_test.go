package tool

import "testing"

// TestO10ShellsDiffer checks SPEC O10 for lines that bash, dash, zsh, and other shells read differently: they do not match
// any pattern. TestSplitLikeShells looks for more of them with real shells.
func TestO10ShellsDiffer(t *testing.T) {
	for _, line := range []string{
		"find . &>/dev/null echo -maxdepth 0 -exec b", "a &>/dev/null b", "a 2&>/dev/null", "a 2&>>/dev/null", "a&>/dev/null",
		"a 10>/dev/null b", "a 99>&1", "10>/dev/null a", "a {fd}>/dev/null", "a >&/dev/null", "a 1\\\n>/dev/null",
		"a &\\\n>/dev/null", "a &\\\n& b", "a |\\\n| b", "a |& b", "a &| b", "a &! b", "a ;& b", "a ;| b", "a & & b",
		">/dev/null", ">&2; b", ">/dev/null | b", "1=2 a", "A+=x a", "A[0]=1 a", "\u00e9=1 a", "2a=b a", "+a= a", "=a=b",
		"repeat 2 a", "nocorrect a", "noglob a", "- a", "foreach a", "time a", "A=1 time a", "coproc a", "function a",
		"'repeat' 2 a", "select a", "integer a", "float a", "end a", "always a", "a: b", "alias a=b", "a }", "a b}", "a {", "a {b",
		"a } {", "a 'b''c'", "a '\\'", "a *(e:b:)", "a *(.)", "a =(b)", "a <(b)", "a @(b|c)", "a $x[1]", `a "$x[1]"`,
		`a "$x[$(b)]"`, "a $'b'", `a $"b"`, "a ${b:-c}", "a $((1))", "a `b`", "a # b", "a\r", "a\vb", "a\u00a0b", "a\u2028b",
		"a\x00b", "! a", "[[ a ]]", "(( a ))", "{ a; }", "a <<E\nb\nE", "a <<<b", "a > b", "a <> b", "printf -v 'x[$(a)]' b",
		"test -v 'x[$(a)]'", "[ -v 'x[`a`]' ]", "read 'x[$(a)]'", "unset 'x[$(a)]'", "let 'x[$(a)]'", "export 'x[$(a)]=1'",
		"declare -i 'x=y[$(a)]'", "typeset 'x[$(a)]=1'",
	} {
		if commands, refused := split(line); refused == "" {
			t.Errorf("%q is split into %v", line, commands)
		}
	}
	for line, want := range map[string]int{
		"a": 1, "a b; c && d || a | b & c": 6, "a\nb": 2, "a >/dev/null 2>&1": 1, "a 2>/dev/null": 1, "a &>/dev/null": 1,
		"a &>/dev/null &": 1, "a \\\n  b \\\n  c": 1, "a 'b c' \"d e\"": 1, "git show HEAD@{1} HEAD~2 HEAD^": 1, "a {b,c}": 1,
		"find . -exec a {} +": 1, "a ~/b": 1, "a é": 1, "A=1 a": 1, "export A=1": 1, "a $B": 1, "a 'it'\\''s'": 1,
		"a -m \"b \\\nc\"": 1, "[ a = b ]": 1, "printf '%s[x]' a": 1, "./a-b_c.d": 1,
	} {
		if commands, refused := split(line); refused != "" || len(commands) != want {
			t.Errorf("%q is split into %v (%s)", line, commands, refused)
		}
	}
}

// TestO10Tilde checks SPEC O10: a quoted ~ is a directory of that name and not the home directory, so that a pattern for
// a program below the home directory does not allow one in the project.
func TestO10Tilde(t *testing.T) {
	for _, test := range []struct {
		pattern, line string
		want          bool
	}{
		{"~/bin/a:*", "~/bin/a b", true},
		{"~/bin/a:*", "'~/bin/a' b", false},
		{"~/bin/a:*", `"~/bin/a" b`, false},
		{"~/bin/a:*", `\~/bin/a b`, false},
		{"~/bin/a:*", `""~/bin/a b`, false},
		{"~/bin/a:*", `~''/bin/a b`, false},
		{"~/bin/*", "'~/bin/a' b", false},
		{"'~/bin/a':*", "'~/bin/a' b", true},
		{"'~/bin/a':*", "~/bin/a b", false},
		{"~x/a:*", "~x/a", false},
		{"~+/a:*", "~+/a", false},
		{"=a:*", "=a", false},
	} {
		commands, refused := split(test.line)
		got := refused == "" && len(commands) == 1 && readLine(test.pattern).fits(commands[0])
		if got != test.want {
			t.Errorf("%s matches %s: %v, want %v (%s)", test.pattern, test.line, got, test.want, refused)
		}
	}
	for _, set := range []struct {
		word string
		want bool
	}{{"/home/u/bin/a", false}, {"~/bin/a", false}} {
		v := Of([]Pattern{{"Bash", "~/bin/a", true}}).Allow(Call{Tool: "shell", Input: map[string]any{"command": []any{set.word}}})
		if v.Allowed != set.want {
			t.Errorf("without a shell, %s is allowed: %v", set.word, v.Allowed)
		}
	}
}
