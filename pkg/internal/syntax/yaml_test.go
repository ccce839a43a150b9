package syntax_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

func TestYAML(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"# nothing\n", ""},
		{"a: 1\nb: [x, {y: z}]\n---\n- c\n...\n", ""},
		{"bucket: !Ref Name\narn: !Sub '${A}'\nkeys: !GetAtt [A, B]\n", ""},
		{"a: 1\na: 2\n", ""}, // duplicate keys are for another check
		{"base: &b {x: 1}\nuse:\n  <<: *b\n", ""},
		{"on: push\nrun: ${{ github.ref }}\n", ""},
		{"%YAML 1.1\n---\na: |\n  text\n  \ttab\n", ""},
		{"\xff\xfea\x00", ""},

		{"a: b: c", `1:5: unexpected ": " inside a value: write the value in quotes`},
		{"x: 1\nключ: знач: c", `2:11: unexpected ": " inside a value: write the value in quotes`},
		{"\ufeffa: b: c", `1:5: unexpected ": " inside a value: write the value in quotes`},
		{"x: 1\r\na: b: c\r\n", `2:5: unexpected ": " inside a value: write the value in quotes`},
		{"x: 1\na: b\n  c: d", "3:3: unexpected key below a line that already has a value: check the indentation"},
		{"a: \"b\nc: d", "1:4: the string that starts here is not closed"},
		{"x: \"1\"\na: \"it's\nc: d\n", "2:4: the string that starts here is not closed"},
		{"x: 1\n\nb: 'c' 'd", "3:8: the string that starts here is not closed"},
		{"a: [b, c\nd: e", "1:4: this [ is not closed, or a comma is missing in it"},
		{"x: [1]\na: {b: [1, 2], c\nd: e", "2:4: this { is not closed, or a comma is missing in it"},
		{"a: {b: [1,\n\n", "1:8: this [ is not closed"},
		{"a: [b,, c]", "1:7: , cannot start a value"},
		{"x: 1\na: ]", "2:4: ] cannot start a value"},
		{"a: {b: }}", "1:9: expected a key: check the indentation"},
		{"x:\n  - a\n  b: c", `3:3: expected an entry that starts with "- " in the list above: check the indentation`},
		{"a: b\n\n- c", "3:1: expected a key: check the indentation"},
		{"x: 1\na: \"b\" c\n\n# d\n\ne: f", "2:8: unexpected text after a closing quotation mark: write the whole value in quotes"},
		{"x: 1\nfoo bar\nd: e", "2:1: expected a key with a colon, or an entry of a list"},
		{"a: - b", "1:4: a list cannot start on the line of its key: start the list on the next line"},
		{"a: @b", "1:4: @ cannot start a value: write the value in quotes"},
		{"a: `b`", "1:4: ` cannot start a value: write the value in quotes"},
		{"a: **b**", "1:4: expected a name after *: write the value in quotes if it is text"},
		{"x: [*one, *two]", "1:5: *one refers to an unknown anchor: write the value in quotes if it is text"},
		{`a: "C:\dir"`, `1:7: \d is not an escape sequence in YAML: use \\ for a backslash, or single quotes`},
		{`a: "\xZZ"`, "1:6: invalid escape sequence"},
		{"a:\n\tb: c", "2:1: YAML does not allow tabs for indentation: use spaces"},
		{"a: b\n\tc", "2:1: YAML does not allow tabs for indentation: use spaces"},
		{"a: |x\n b", "1:5: unexpected text after | or >: start the text on the next line"},
		{"%foo", "1:2: unknown directive: use quotes around a value that starts with %"},
		{"a: b\n...\nc: d", "3:1: expected a document: start the document with the line ---"},
		{"a: b\x07c", "1:5: YAML does not allow the control character U+0007"},
		{"a: b\nc: \xff", "2:4: byte 0xff is not valid UTF-8"},
		{"a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n", "2:1: unresolved merge conflict"},
		{strings.Repeat("[", 20_000), "1:10001: the document is nested too deeply"},
	} {
		check(t, tt.text, syntax.YAML("a.yaml", []byte(tt.text)), tt.want)
	}
}

// TestYAMLLarge checks that after 64 KiB the line is the parser's, which is close to the error.
func TestYAMLLarge(t *testing.T) {
	text := strings.Repeat("key: value\n", 10_000) + "a: b: c\n"
	check(t, "a large file", syntax.YAML("a.yaml", []byte(text)), `10001:1: unexpected key below a line that already has a value: check the indentation`)
}

// TestYAMLAliases checks that nested aliases are not expanded, so that they cost nothing.
func TestYAMLAliases(t *testing.T) {
	text := "a: &a [x, x]\n"
	for c := 'b'; c <= 'z'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 10), ", ") + "]\n"
	}
	check(t, "aliases of aliases", syntax.YAML("a.yaml", []byte(text)), "")
}

func TestYAMLTemplates(t *testing.T) {
	for _, text := range []string{
		"{{- if .Values.on }}\na: {{ .Values.a }}\n{{- end }}\nb: c: d\n",
		"a:\n  {{- toYaml .Values.a | nindent 2 }}\n",
		"{% for x in y %}\n- {{ x }}: {{ x.y }}\n{% endfor %}\n",
		"<% if x %>\n\ta: 1\n<% end %>\n",
		"a: x-{{ b }}: c\n",
		"name: @NAME@\n",
		"name: %NAME%\n",
		"- <name>: <value>: x\n",
		"a: $NAME: x\n",
	} {
		check(t, text, syntax.YAML("a.yaml", []byte(text)), "")
	}
	for _, tt := range []struct{ text, want string }{
		{"run: ${{ a }}\nb: c: d\n", `2:5: unexpected ": " inside a value: write the value in quotes`},
		{"msg: \"Hello {{ name }}\"\nb: c: d\n", `2:5: unexpected ": " inside a value: write the value in quotes`},
		{"a: {{ b\n", "1:4: this { is not closed, or a comma is missing in it"},
	} {
		check(t, tt.text, syntax.YAML("a.yaml", []byte(tt.text)), tt.want)
	}
}
