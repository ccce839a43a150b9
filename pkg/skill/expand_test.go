package skill_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// indexed has the rules of most agents.
var indexed = skill.ExpandRules{Indexed: true, Append: "line"}

// claude has the rules of Claude Code.
var claude = skill.ExpandRules{
	Indexed: true, Named: true, Shell: true, Append: "paragraph",
	Variables: map[string]string{
		"CLAUDE_SKILL_DIR": "skill-dir", "CLAUDE_SESSION_ID": "session-id", "CLAUDE_PROJECT_DIR": "project-dir", "CLAUDE_PLUGIN_ROOT": "plugin-root",
	},
}

// TestP3Body checks SPEC P3: the placeholders in a body and their expansion.
func TestP3Body(t *testing.T) {
	for _, test := range []struct {
		name, text, arguments string
		rules                 skill.ExpandRules
		want                  string
	}{
		{"all", "Do $ARGUMENTS.", "a b", indexed, "Do a b."},
		{"all, as they were given", "$ARGUMENTS", ` "a  b"  c `, indexed, ` "a  b"  c `},
		{"by index", "$ARGUMENTS[1] and $ARGUMENTS[0]", "a b", indexed, "b and a"},
		{"by number", "$1 and $0", "a b", indexed, "b and a"},
		{"in quotes", "$0|$1", `"a b" 'c d'`, indexed, "a b|c d"},
		{"number and a word character", "$0a $0_ $00 $0-", "x", indexed, "$0a $0_ x x-"},
		{"more digits", "$10", "a b c d e f g h i j k", indexed, "k"},
		{"a missing index stays", "$0 $ARGUMENTS[7] $7", "a", indexed, "a $ARGUMENTS[7] $7"},
		{"an index out of all bounds", "$0 $99999999999999999999", "a", indexed, "a $99999999999999999999"},
		{"a price survives", "It costs $5.00: $ARGUMENTS", "a", indexed, "It costs $5.00: a"},
		{"a price alone takes nothing", "It costs $5.00", "a", indexed, "It costs $5.00\nARGUMENTS: a"},
		{"no index", "$ARGUMENTS[x] $ARGUMENTS[]", "a", indexed, "a[x] a[]"},
		{"right after", "$ARGUMENTS$0$1", "a b", indexed, "a bab"},
		{"at the end", "a $", "x", indexed, "a $\nARGUMENTS: x"},
		{"other dollars", "$HOME ${X} $$ $", "x", indexed, "$HOME ${X} $$ $\nARGUMENTS: x"},
		{"in a code block", "```sh\necho $ARGUMENTS\n```\n", "a", indexed, "```sh\necho a\n```\n"},

		{"escaped", `\$ARGUMENTS \$0 \$ARGUMENTS[0] $0`, "a", indexed, "$ARGUMENTS $0 $ARGUMENTS[0] a"},
		{"an escaped price", `\$1.00 $0`, "a b", indexed, "$1.00 a"},
		{"escaped ones use nothing", `\$ARGUMENTS`, "a", indexed, "$ARGUMENTS\nARGUMENTS: a"},
		{"two backslashes escape nothing", `\\$0`, "a", indexed, `\\a`},
		{"the last of three backslashes escapes", `\\\$0 $0`, "a", indexed, `\\$0 a`},
		{"four backslashes escape nothing", `\\\\$0`, "a", indexed, `\\\\a`},
		{"backslashes elsewhere stay", `\$HOME \n $0`, "a", indexed, `\$HOME \n a`},
		{"an escape right after an argument", `$0\$0`, "a", indexed, `a$0`},
		{"an argument that ends with a backslash escapes nothing", `$0$0`, `a\\`, indexed, `a\a\`},

		{"inserted text is text", "$0 $1", "'$1' '$0 $ARGUMENTS'", indexed, "$1 $0 $ARGUMENTS"},
		{"inserted text does not join", "$0ARGUMENTS $0[0]", "'$' b", indexed, "$0ARGUMENTS $[0]"},
		{"an inserted backslash", "$0$1", `\\ b`, indexed, `\b`},
		{"an inserted command", "$ARGUMENTS", "!`rm`", claude, "!`rm`"},
		{"an inserted variable", "$ARGUMENTS", "${CLAUDE_SKILL_DIR}", claude, "${CLAUDE_SKILL_DIR}"},

		{"nothing used", "Do it.", "a b", indexed, "Do it.\nARGUMENTS: a b"},
		{"nothing used, with a last newline", "Do it.\n", "a b", indexed, "Do it.\nARGUMENTS: a b\n"},
		{"nothing used, after a blank line", "Do it.\n\n", "a", claude, "Do it.\n\nARGUMENTS: a\n"},
		{"nothing used, no body", "", "a", indexed, "ARGUMENTS: a"},
		{"nothing used, never appended", "Do it.", "a", skill.ExpandRules{Indexed: true}, "Do it."},
		{"only $0", "Do $0.", "a b", indexed, "Do a."},
		{"no arguments", "Do it.", "", indexed, "Do it."},
		{"blank arguments", "Do it.", "  ", indexed, "Do it."},
		{"no arguments, all", "Do $ARGUMENTS.", "", indexed, "Do ."},
		{"no arguments, an index", "Do $0.", "", indexed, "Do $0."},
		{"an empty argument", "[$0]", `""`, indexed, "[]"},

		{"no rules", `Do \$0 $ARGUMENTS ${CLAUDE_SKILL_DIR}`, "a", skill.ExpandRules{}, `Do \$0 $ARGUMENTS ${CLAUDE_SKILL_DIR}`},
		{"no rules, appended", `Do $0`, "a", skill.ExpandRules{Append: "line"}, "Do $0\nARGUMENTS: a"},

		{"named", "$issue by $who", "42 me", claude, "42 by me"},
		{"a missing name is nothing", "[$who] $issue", "42", claude, "[] 42"},
		{"names take no word character and no bracket", "$issues $issue[0] $issue.", "42", claude, "$issues $issue[0] 42."},
		{"the longest name", "$issue-id", "42 me 7", claude, "7"},
		{"a name that is not declared", "$other", "42", claude, "$other\n\nARGUMENTS: 42"},
		{"names and the rest", `$issue $1 $ARGUMENTS \$issue`, "42 me", claude, "42 me 42 me $issue"},
		{"names without the rule", "$issue $0", "42", indexed, "$issue 42"},

		{"variables", "${CLAUDE_SKILL_DIR}/a ${CLAUDE_SESSION_ID}", "", claude, "/skills/x/a s1"},
		{"a variable that is not known", "${CLAUDE_PLUGIN_ROOT}", "", claude, "${CLAUDE_PLUGIN_ROOT}"},
		{"another variable", "${HOME} ${CLAUDE_SKILL_DIR", "", claude, "${HOME} ${CLAUDE_SKILL_DIR"},
		{"an escaped variable", `\${CLAUDE_SKILL_DIR}`, "", claude, "${CLAUDE_SKILL_DIR}"},
		{"variables take no arguments", "${CLAUDE_SESSION_ID}", "a", claude, "s1\n\nARGUMENTS: a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := skill.ExpandBody(test.text, test.rules, skill.ExpandInput{
				Arguments: test.arguments, Names: []string{"issue", "who", "issue-id"},
				Values: map[string]string{"skill-dir": "/skills/x", "session-id": "s1"},
			})
			if got != test.want {
				t.Errorf("%q with %q:\ngot  %q\nwant %q", test.text, test.arguments, got, test.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	rules := skill.ExpandRules{Named: true}
	for _, test := range []struct {
		names []string
		text  string
		want  string
	}{
		{[]string{"0", ""}, "$0 $", "$0 $"}, // a number would be an index
		{[]string{"a", "a"}, "$a", "x"},     // the first counts
		{[]string{strings.Repeat("n", 65)}, "$" + strings.Repeat("n", 65), "$" + strings.Repeat("n", 65)},
		{[]string{"ARGUMENTS"}, "$ARGUMENTS", "x"},
		{[]string{"a.b"}, "$a.b $axb", "x $axb"},
	} {
		if got := skill.ExpandBody(test.text, rules, skill.ExpandInput{Arguments: "x y", Names: test.names}); got != test.want {
			t.Errorf("%q with %v: got %q, want %q", test.text, test.names, got, test.want)
		}
	}
}

// TestP3Split checks SPEC P3: words are split like in a shell.
func TestP3Split(t *testing.T) {
	for in, want := range map[string][]string{
		"":                   nil,
		"  \t\n ":            nil,
		"a b":                {"a", "b"},
		" a\tb\nc ":          {"a", "b", "c"},
		`"a b" 'c d' e`:      {"a b", "c d", "e"},
		`a"b c"d'e f'`:       {"ab cde f"},
		`"" ''`:              {"", ""},
		`a\ b \"c\"`:         {"a b", `"c"`},
		`"a\"b\\c\$d\e"`:     {`a"b\c$d\e`},
		`'a\b'`:              {`a\b`},
		`a\`:                 {`a\`},
		"fix the user's bug": {"fix", "the", "user's", "bug"},
		`say "a b`:           {"say", `"a`, "b"},
		`"a\" b`:             {`"a"`, "b"},
		"ä ö":                {"ä", "ö"},
		"#1 $x `y`":          {"#1", "$x", "`y`"},
	} {
		if got := skill.SplitArguments(in); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		"- !`git log` and !`ls`":     {"git log", "ls"},
		"!`a`":                       {"a"},
		"a!`b`":                      nil, // not after a word
		"!`a`!`b`":                   {"a"},
		"! `a`":                      nil,
		"!`a":                        nil,
		"!``":                        nil,
		"!`a\nb`":                    {"a\nb"},
		"`!`a`":                      nil,
		"\u00a0!`a`":                 {"a"},
		"x\n```!\na\nb\n```\ny !`c`": {"a\nb", "c"},
		"```!\n```":                  nil,
		"```! a":                     nil,
		"```sh\n!`a`\n```":           {"a"}, // hosts run these in code blocks as well
		"```!\n!`a`\n```":            {"!`a`"},
		"Done! `a` !":                nil,
	} {
		var got []string
		for _, c := range skill.ShellCommands(text) {
			got = append(got, c.Line)
			whole := text[c.Start:c.End]
			if !strings.Contains(whole, c.Line) || strings.HasPrefix(whole, "```!") != c.Block {
				t.Errorf("%q: %+v is at %q", text, c, whole)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShell(t *testing.T) {
	for _, test := range []struct {
		name, text, arguments string
		ran                   []string
		want                  string
		refused               []string
	}{
		{"in its place", "now: !`date` end", "", []string{"date"}, "now: <date> end", nil},
		{"a block", "a\n```!\nx\ny\n```\nb", "", []string{"x\ny"}, "a\n<x\ny>\nb", nil},
		{"output is text", "!`echo` $0", "a", []string{"echo"}, "<echo> a", nil},
		{"one that is not run stays, as text", "!`no $0` $0", "a", []string{"no a"}, "!`no $0` a", []string{""}},
		{"with an argument", "!`gh pr view $0`", "42", []string{"gh pr view 42"}, "<gh pr view 42>", nil},
		{"with all", "!`gh $ARGUMENTS`", "pr 4.2/a_b", []string{"gh pr 4.2/a_b"}, "<gh pr 4.2/a_b>", nil},
		{"with a variable", "!`ls ${CLAUDE_SKILL_DIR}`", "", []string{"ls /skills/x"}, "<ls /skills/x>", nil},
		{"with what is not substituted", "!`awk '{print $NF $7}' $HOME`", "", []string{"awk '{print $NF $7}' $HOME"}, "<awk '{print $NF $7}' $HOME>", nil},
		{"a harmful argument", "!`x $0`", "'a;rm'", nil, "!`x $0`\n\nARGUMENTS: 'a;rm'", []string{"an argument in it has characters that"}},
		{"a harmful one in quotes", "!`x \"$0\" '$0'`", "'$(rm)'", nil, "!`x \"$0\" '$0'`\n\nARGUMENTS: '$(rm)'", []string{"an argument in it has characters that"}},
		{"an option", "!`x $0`", "--exec=rm", nil, "!`x $0`\n\nARGUMENTS: --exec=rm", []string{"an argument in it has characters that"}},
		{"an option further on", "!`x $ARGUMENTS`", "a -rf", nil, "!`x $ARGUMENTS`\n\nARGUMENTS: a -rf", []string{"an argument in it has characters that"}},
		{"a newline", "!`x $0`", "'a\nb'", nil, "!`x $0`\n\nARGUMENTS: 'a\nb'", []string{"an argument in it has characters that"}},
		{"a quote", "!`x '$0'`", `"a'b"`, nil, "!`x '$0'`\n\nARGUMENTS: \"a'b\"", []string{"an argument in it has characters that"}},
		{"a glob", "!`x $0`", "*", nil, "!`x $0`\n\nARGUMENTS: *", []string{"an argument in it has characters that"}},
		{"an escape", "!`x \\$0`", "a", nil, "!`x \\$0`\n\nARGUMENTS: a", []string{"escaped"}},
		{"one that is not run takes nothing", "!`no $0`", "a", []string{"no a"}, "!`no $0`\n\nARGUMENTS: a", []string{""}},
		{"in an inserted one", "$0 !`x`", "'!`rm`'", []string{"x"}, "!`rm` <x>", nil},
		{"arguments that a command took are used", "!`x $0`", "a", []string{"x a"}, "<x a>", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ran []string
			got := skill.Expand(test.text, claude, skill.ExpandInput{
				Arguments: test.arguments, Values: map[string]string{"skill-dir": "/skills/x"},
				Shell: func(command string) (string, bool) {
					ran = append(ran, command)
					return "<" + command + ">", !strings.HasPrefix(command, "no ")
				},
			})
			if got.Text != test.want || !slices.Equal(ran, test.ran) {
				t.Errorf("got %q and ran %q, want %q and %q", got.Text, ran, test.want, test.ran)
			}
			if len(got.Left) != len(test.refused) {
				t.Fatalf("left %+v, want %q", got.Left, test.refused)
			}
			for i, want := range test.refused {
				if !strings.Contains(got.Left[i].Refused, want) {
					t.Errorf("left because %q, want %q", got.Left[i].Refused, want)
				}
			}
		})
	}
	if got := skill.ExpandBody("!`x` $0", indexed, skill.ExpandInput{Arguments: "a", Shell: func(string) (string, bool) {
		t.Error("a command is run for a host that has none")
		return "", true
	}}); got != "!`x` a" {
		t.Errorf("got %q", got)
	}
	if got := skill.Expand("!`x`", claude, skill.ExpandInput{}); got.Text != "!`x`" || len(got.Left) != 1 {
		t.Errorf("without anybody to run it: %+v", got)
	}
}

func TestBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	text := strings.Repeat("$0 ", 1000)
	got := skill.Expand(text, indexed, skill.ExpandInput{Arguments: long})
	if !got.Cut || len(got.Text) > len(text)+skill.MaxInserted || !strings.HasSuffix(got.Text, "$0 ") {
		t.Errorf("%d bytes, cut %v", len(got.Text), got.Cut)
	}
	out := skill.Expand("!`x` !`x`", claude, skill.ExpandInput{Shell: func(string) (string, bool) { return strings.Repeat("y", skill.MaxInserted), true }})
	if !out.Cut || len(out.Left) != 1 || !strings.HasSuffix(out.Text, " !`x`") {
		t.Errorf("%d bytes, cut %v, left %v", len(out.Text), out.Cut, out.Left)
	}
}

// FuzzBody checks for any text and arguments that expansion ends, and that inserted text is bounded and unchanged.
func FuzzBody(f *testing.F) {
	for _, s := range []string{"$ARGUMENTS $0 $x", `\$0 \\$1`, "!`a $0`", "```!\n$0\n```", "${CLAUDE_SKILL_DIR}", "$5.00", "$", "$ARGUMENTS[", "!`", "\\"} {
		f.Add(s, "a 'b c'")
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		in := skill.ExpandInput{
			Arguments: arguments, Names: []string{"x", "long"}, Values: map[string]string{"skill-dir": arguments},
			Shell: func(command string) (string, bool) { return command, len(command)%2 == 0 },
		}
		got := skill.Expand(text, claude, in)
		if len(got.Text) > len(text)+len(arguments)+len("\n\nARGUMENTS: \n")+skill.MaxInserted {
			t.Fatalf("%d bytes from %d", len(got.Text), len(text))
		}
		for _, c := range skill.ShellCommands(text) {
			if !strings.Contains(text[c.Start:c.End], c.Line) {
				t.Fatalf("%+v is not in %q", c, text)
			}
		}
		marker := "$0!`m`$ARGUMENTS\\$1${CLAUDE_SKILL_DIR}"
		in.Arguments = "'" + marker + "'"
		in.Shell = nil
		if n := strings.Count(skill.ExpandBody("[$0]", claude, in), marker); n != 1 {
			t.Fatalf("an inserted text was read again")
		}
		if again := skill.Expand(text, skill.ExpandRules{}, in); again.Text != text {
			t.Fatalf("without rules %q became %q", text, again.Text)
		}
		if !strings.Contains(text, "$") {
			in.Arguments = ""
			if got := skill.ExpandBody(text, claude, in); got != text {
				t.Fatalf("without a placeholder and arguments %q became %q", text, got)
			}
		}
	})
}

// FuzzSplit checks that words are split the same after joining.
func FuzzSplit(f *testing.F) {
	f.Add("a 'b c' \"d\\\" e\" f\\ g")
	f.Add("the user's \"")
	f.Fuzz(func(t *testing.T, arguments string) {
		words := skill.SplitArguments(arguments)
		var written []string
		for _, w := range words {
			written = append(written, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		if again := skill.SplitArguments(strings.Join(written, " ")); !reflect.DeepEqual(again, words) {
			t.Fatalf("%q is %q, and again %q", arguments, words, again)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	paragraph := strings.Repeat("Roll the service out to $0 and look at what $ARGUMENTS says; it costs $5.00 in `prod`, as \\$1 tells.\n", 10)
	for name, text := range map[string]string{
		"10KB": strings.Repeat(paragraph, 10), "1MB": strings.Repeat(paragraph, 1000), "1MB of dollars": strings.Repeat("$", 1<<20),
		"1MB of commands": strings.Repeat(" !`a $0`", 1<<17), "1MB of marks": strings.Repeat("!`", 1<<19), "1MB of fences": strings.Repeat("```!", 1<<18),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				skill.ExpandBody(text, claude, skill.ExpandInput{Arguments: "web 'two words'", Names: []string{"env"}, Values: map[string]string{"skill-dir": "/x"}})
			}
		})
	}
}
