package dispatch

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestD1Parse checks the forms of a dispatch (SPEC D1), and that any model is passed through (D7).
func TestD1Parse(t *testing.T) {
	for _, c := range []struct {
		line, skill string
		args        []string
		description string
		model       string
	}{
		{line: "执行 @page-maker README.md", skill: "page-maker", args: []string{"README.md"}},
		{line: "execute @thumbnail cover.png --height 96", skill: "thumbnail", args: []string{"cover.png", "--height", "96"}},
		{line: "run @a", skill: "a", args: []string{}},
		{line: "  Execute\t@a   b  \n", skill: "a", args: []string{"b"}},
		{line: "\ufeff执行@a 你好", skill: "a", args: []string{"你好"}},
		{line: `run @"Marketing Ideas Generator" tea`, skill: "Marketing Ideas Generator", args: []string{"tea"}},
		{line: `执行 @“营销 策略” 茶`, skill: "营销 策略", args: []string{"茶"}},
		{line: "run @deploy@acme/deploy x", skill: "deploy@acme/deploy", args: []string{"x"}},
		{line: `run @a "two words" 'it''s' "say \"so\"" ""`, skill: "a", args: []string{"two words", "its", `say "so"`, ""}},
		{line: `run @a “你 好” 「x y」 it's`, skill: "a", args: []string{"你 好", "x y", "it's"}},
		{line: `run @a C:\dir\file two\ words \"`, skill: "a", args: []string{`C:\dir\file`, "two words", `"`}},
		{line: `run @a "first x, then y; run @b" a;b https://x/?a=1;b=2`, skill: "a", args: []string{"first x, then y; run @b", "a;b", "https://x/?a=1;b=2"}},
		{line: "run @a b;", skill: "a", args: []string{"b"}},
		{line: "run @translate 再见 thenceforth 然后呢", skill: "translate", args: []string{"再见", "thenceforth", "然后呢"}},
		{line: `Task("skills", "convert one file", "执行 @a b", {model: "sonnet"})`, skill: "a", args: []string{"b"}, description: "convert one file", model: "sonnet"},
		{line: `Task('skills', '转换文档', 'run @a', {"model": 'my/own-model'});`, skill: "a", args: []string{}, description: "转换文档", model: "my/own-model"},
		{line: "Task(\n  \"skills\", // who\n  \"one two three four five\", // what\n  \"run @a \\\"b c\\\"\",\n)", skill: "a", args: []string{"b c"}, description: "one two three four five"},
		{line: `{"subagent_type": "skills", "description": "convert one file", "prompt": "run @a b", "model": "opus"}`, skill: "a", args: []string{"b"}, description: "convert one file", model: "opus"},
	} {
		r, err := Parse(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		if r.Skill != c.skill || !slices.Equal(r.Args, c.args) || r.Description != c.description || r.Model != c.model {
			t.Errorf("%q: got %+v", c.line, r)
		}
	}
}

// TestD1D2Refused checks that lines that are not a dispatch (SPEC D1) and lines with several steps (D2) are rejected.
func TestD1D2Refused(t *testing.T) {
	for _, c := range []struct {
		line, want   string
		steps, skill bool
	}{
		{line: "", want: "does not name a skill", skill: true},
		{line: "run", want: "does not name a skill", skill: true},
		{line: "run a", want: "does not name a skill", skill: true},
		{line: "run @", want: "does not name a skill", skill: true},
		{line: `run "@a"`, want: "does not name a skill", skill: true},
		{line: "run @a\x1b[31m", want: "does not name a skill", skill: true},
		{line: "hello @a", want: `begins with "hello"`},
		{line: "@a b", want: `begins with "@a"`},
		{line: `run @a "open`, want: "is not closed"},
		{line: "run @a \xff", want: "UTF-8"},
		{line: "run @a \x00", want: "UTF-8"},
		{line: "run @a " + strings.Repeat("x", maxLine), want: "the limit is 65536"},
		{line: "run @a" + strings.Repeat(" x", maxArgs), want: "arguments"},
		{line: `{"subagent_type": "skills", "description": "a b c", "prompt": "run @a", "Prompt": "run @b"}`, want: "is duplicated"},
		{line: "run @a b then run @c", want: "several steps", steps: true},
		{line: "run @a b, then @c", want: "several steps", steps: true},
		{line: "run @a b; run @c", want: "several steps", steps: true},
		{line: "run @a b ; do it again", want: "several steps", steps: true},
		{line: "run @a b;run @c", want: "several steps", steps: true},
		{line: "run @a b\nrun @c", want: "several steps", steps: true},
		{line: "执行 @a b 然后 执行 @c", want: "several steps", steps: true},
		{line: "执行 @a b 再执行 @c", want: "several steps", steps: true},
		{line: "执行 @a b；执行 @c", want: "several steps", steps: true},
		{line: "执行 @a b 执行@c", want: "several steps", steps: true},
		{line: "run @a b && run @c", want: "several steps", steps: true},
		{line: "run @a run @b", want: "several steps", steps: true},
		{line: `Task("skills", "do it", "run @a")`, want: "3 to 5 words"},
		{line: `Task("skills", "one two three four five six", "run @a")`, want: "3 to 5 words"},
		{line: `Task("worker", "run the script now", "run @a")`, want: `"worker"`},
		{line: `Task("skills", "convert one file")`, want: "Task form"},
		{line: `Task("skills", "convert one file", "run @a", {model: 1})`, want: "Task form"},
		{line: `Task("skills", "convert one file", "run @a"`, want: "at the end"},
		{line: `Task("skills", "convert one file", "run @a") Task("skills", "convert one file", "run @b")`, want: "several steps", steps: true},
		{line: `{"prompt": "run @a"}`, want: `the agent ""`},
		{line: `{"prompt": `, want: "JSON"},
	} {
		_, err := Parse(c.line)
		le, ok := errors.AsType[*lineError](err)
		if !ok {
			t.Errorf("%.60q: got %v", c.line, err)
			continue
		}
		reason, advice := le.in(English)
		if !strings.Contains(reason, c.want) || (le.problem == severalSteps) != c.steps || (le.problem == noSkillNamed) != c.skill || advice == "" {
			t.Errorf("%.60q: got %s, %s", c.line, reason, advice)
		}
		if reason, advice := le.in(Chinese); !strings.ContainsFunc(reason, isHan) || !strings.ContainsFunc(advice, isHan) || strings.Contains(reason, "%!") {
			t.Errorf("%.60q: in Chinese %s, %s", c.line, reason, advice)
		}
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// TestD1Language checks SPEC D1: a reply is in the language of the request.
func TestD1Language(t *testing.T) {
	for line, want := range map[string]Language{
		"执行 @a b": Chinese, "执行@a": Chinese, "run @a 你好": English, "Execute @a": English,
		`Task("skills", "convert one file", "执行 @a")`: Chinese,
		`Task("skills", "转换文档", "run @a")`:            English,
		"请转换文档": Chinese, "please convert it": English, "": English, "prune @a": English,
	} {
		if got := languageOf(line); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestCountWords(t *testing.T) {
	for _, c := range []struct {
		text        string
		least, most int
	}{
		{"", 0, 0},
		{"one", 1, 1},
		{"one two three", 3, 3},
		{"it's a well-known thing", 4, 4},
		{"转换文档", 1, 4},
		{"Markdown转换", 2, 3},
		{"- -", 0, 0},
	} {
		if least, most := countWords(c.text); least != c.least || most != c.most {
			t.Errorf("%q has %d to %d words, want %d to %d", c.text, least, most, c.least, c.most)
		}
	}
}

// TestD2Declared checks SPEC D2: parameters that `arguments:` and the hint declare.
func TestD2Declared(t *testing.T) {
	for _, c := range []struct {
		arguments          []string
		hint               string
		required, optional string
	}{
		{nil, "", "", ""},
		{[]string{"a", "b"}, "", "a b", ""},
		{nil, "<source_page> [theme] [language]", "source_page", "theme language"},
		{[]string{"issue"}, "[issue]", "", "issue"},
		{[]string{"file"}, "<file> [format]", "file", "format"},
		{nil, "[--width <n>] <file> [--format=png]", "file", "width format"},
		{nil, "<a", "", ""},
		{nil, "<> [] [ ]", "", ""},
		{nil, "<file...> [more…]", "file", "more"},
		{nil, "a > b [c [d]] <e<f>>", "e<f", "c"},
	} {
		p := declared(c.arguments, c.hint)
		if strings.Join(p.Required, " ") != c.required || strings.Join(p.Optional, " ") != c.optional {
			t.Errorf("%v %q: required %q, optional %q", c.arguments, c.hint, p.Required, p.Optional)
		}
	}
}

// TestD2Missing checks SPEC D2: which parameters are missing.
func TestD2Missing(t *testing.T) {
	p := parameters{Required: []string{"source_page", "target"}, Optional: []string{"width"}}
	for _, c := range []struct{ args, want string }{
		{"", "source_page target"},
		{"a", "target"},
		{"a b", ""},
		{"a b c", ""},
		{"--target b", "source_page"},
		{"--target=b a", ""},
		{"--Source-Page a b", ""},
		{"source_page=a target=b", ""},
		{"source_page= target=b", "source_page"},
		{"--height 96", "source_page target"},
		{"--height 96 a", "target"},
		{"--verbose a", "source_page target"},
		{"--verbose=1 a", "target"},
		{"--verbose --debug a b", "target"},
		{"a --height 800", "target"},
		{"--height 800 a b", ""},
		{"--target", "source_page target"},
		{"https://x/?a=b b", ""},
	} {
		if got := strings.Join(p.Missing(strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%q: missing %q, want %q", c.args, got, c.want)
		}
	}
	if got := p.Missing([]string{"", "b"}); len(got) != 1 {
		t.Errorf("an empty argument counts: %q", got)
	}
}

// TestD2Bind checks SPEC D2: a parameter's value counts, at the position where the skill looks for it.
func TestD2Bind(t *testing.T) {
	for _, c := range []struct{ arguments, hint, args, want, missing string }{
		{"file format", "", "--file a.md --format pdf", "a.md pdf", ""},
		{"file format", "", "format=pdf file=a.md", "a.md pdf", ""},
		{"file format", "", "--format pdf a.md", "a.md pdf", ""},
		{"file format", "", "--format pdf", "|pdf", "file"},
		{"file format", "", "a.md pdf x", "a.md pdf x", ""},
		{"file", "", "--height 800 a", "a --height 800", ""},
		{"file", "", "--height 800", "--height 800", "file"},
		{"", "<file> [format]", "big.md --format html", "big.md html", ""},
		{"", "<file> [theme] [language]", "big.md --language de", "big.md||de", ""},
		{"", "<file> [--width N]", "--width 80 a", "--width 80 a", ""},
		{"", "<file> [--width N]", "--width 80", "--width 80", "file"},
		{"", "<file> --width <px>", "--width 80", "--width 80", "file"},
		{"", "<file> --width <px>", "a --width=80", "a --width=80", ""},
		{"", "<file> --width <px>", "a", "a", "width"},
		{"", "[--verbose] <file>", "--verbose a", "--verbose a", ""},
		{"", "[format] <file>", "a", "a", ""},
		{"", "[format] <file>", "pdf a", "pdf a", ""},
		{"", "[format] <file>", "file=a", "|a", ""},
		{"", "", "--file a b=c", "--file a b=c", ""},
	} {
		p := declared(strings.Fields(c.arguments), c.hint)
		args, missing := p.Bind(strings.Fields(c.args))
		want := strings.Fields(c.want)
		if strings.Contains(c.want, "|") {
			want = strings.Split(c.want, "|")
		}
		if got := strings.Join(args, "|"); got != strings.Join(want, "|") || strings.Join(missing, " ") != c.missing {
			t.Errorf("%s %s: %q gives %q without %q, want %q without %q", c.arguments, c.hint, c.args, args, missing, want, c.missing)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"执行 @a b", "run @a 'x y' \"z\" \\\"", "run @a; run @b", `Task("skills", "convert one file", "run @a", {model: "x"})`,
		`{"subagent_type": "skills", "prompt": "run @a", "description": "a b c"}`, "run @a 然后 @b", "run @a “x”", "Task(", "run @a it's",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := Parse(line)
		if err != nil {
			if _, ok := errors.AsType[*lineError](err); !ok || strings.Contains(err.Error(), "%!(") {
				t.Fatalf("%#v", err)
			}
			return
		}
		if !skillName(r.Skill) && !quotedName(r.Skill) {
			t.Fatalf("skill %q", r.Skill)
		}
		// A parsed request can be written and parsed again.
		again := "run @" + r.Skill
		if !skillName(r.Skill) {
			again = `run @"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.Skill) + `"`
		}
		for _, a := range r.Args {
			if !utf8.ValidString(a) {
				t.Fatalf("argument %q", a)
			}
			again += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a) + `"`
		}
		if len(again) > maxLine {
			return
		}
		if second, err := Parse(again); err != nil || second.Skill != r.Skill || !slices.Equal(second.Args, r.Args) {
			t.Fatalf("%q is read as %+v, and then as %+v, %v", line, r, second, err)
		}
	})
}

func FuzzDeclared(f *testing.F) {
	f.Add("<a> [b]", "x y")
	f.Add("[--width <n>]", "--width=1")
	f.Fuzz(func(t *testing.T, hint, args string) {
		p := declared(nil, hint)
		for _, name := range slices.Concat(p.Required, p.Optional) {
			if name == "" {
				t.Fatal("a parameter without a name")
			}
		}
		if missing := p.Missing(strings.Fields(args)); len(missing) > len(p.Required) {
			t.Fatalf("%q are missing of %q", missing, p.Required)
		}
		if words := strings.Fields(args); len(p.Required)+len(p.Optional) == 0 {
			if bound, _ := p.Bind(words); !slices.Equal(bound, words) {
				t.Fatalf("%q became %q", words, bound)
			}
		}
	})
}
