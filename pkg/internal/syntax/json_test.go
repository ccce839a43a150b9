package syntax_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

// check compares a problem with what is wanted: a place and the start of a message, or "".
func check(t *testing.T, text string, p *syntax.Problem, want string) {
	t.Helper()
	if got := render(p); got != want {
		t.Errorf("%.200q:\n got %s\nwant %s", text, got, want)
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{}`, ""},
		{` [1, -0.5e+10, "a\u00e9\n", true, false, null, {"a": {}, "b": []}] `, ""},
		{"\ufeff{\"a\": 1}\r\n", ""},
		{`{"a": 1, "a": 2}`, ""}, // duplicate keys are for another check
		{`"\ud800"`, ""},

		{"", "1:1: the file is empty, and JSON needs a value"},
		{" \n\t\n", "1:1: the file is empty, and JSON needs a value"},
		{"{\n  \"a\": 1,\n}\n", "2:9: a comma after the last value"},
		{"[1, 2, ]", "1:6: a comma after the last value"},
		{"{\"größe\": 1 \"b\": 2}", "1:13: a comma is missing before this"},
		{"[1 2]", "1:4: a comma is missing before this"},
		{"[1,, 2]", "1:4: a value is missing before ,"},
		{`{"a": }`, "1:7: a value is missing before }"},
		{`{"a" 1}`, "1:6: a colon is wanted here, and there is 1, which has no quotes"},
		{`{"a", "b"}`, "1:5: a colon and a value are missing after the key"},
		{`{"a": 1: 2}`, "1:8: a colon after a value: only keys in { } have one"},
		{`{a: 1}`, "1:2: a key is wanted here, and there is a, which has no quotes"},
		{`{1: 1}`, "1:2: a key is wanted here, and there is 1, which has no quotes"},
		{`{'a': 1}`, "1:2: ' is no quotation mark in JSON: write \""},
		{`{“a”: 1}`, "1:2: “ is a typographic quotation mark: write \""},
		{"{\n\"a\": 1\n", "1:1: this { is not closed"},
		{"[{\"]}\": [1, {}]},\n [\n", "2:2: this [ is not closed"},
		{"{\n\"a\": [1}\n", "2:8: } cannot close the [ of line 2"},
		{`{]`, "1:2: ] cannot close the { of line 1"},
		{"{}}", "1:3: } closes nothing"},
		{"{}\n{}\n", "2:1: a second document: a file with one a line is named .jsonl"},
		{"{} x", "1:4: the end is wanted here, and there is x, which has no quotes"},
		{"// hello\n{}", "1:1: a comment, which JSON does not have"},
		{"{\n  # hello\n}", "2:3: a comment, which JSON does not have"},
		{"[True]", "1:2: True is not JSON: write true"},
		{"[None, NaN]", "1:2: None is not JSON: write null"},
		{"[-Infinity]", "1:2: -Infinity is not a number"},
		{"[nullx]", "1:2: a value is wanted here, and there is nullx, which has no quotes"},
		{"[01]", "1:2: 01 has a zero before its digits"},
		{"[-]", "1:2: - is not a number"},
		{"[+1]", "1:2: +1 has a plus sign, which JSON does not have"},
		{"[.5]", "1:2: .5 needs a digit on both sides of its point"},
		{"[5.]", "1:2: 5. needs a digit on both sides of its point"},
		{"[0x1f]", "1:2: 0x1f is not a number as JSON writes them"},
		{"[1e]", "1:2: 1e is not a number as JSON writes them"},
		{"[1.2.3]", "1:2: 1.2.3 is not a number as JSON writes them"},
		{"[\"a\nb\"]", "1:2: the text that starts here is not closed on its line"},
		{"{\"a: 1}", "1:2: the text that starts here is not closed"},
		{"[\"a\tb\"]", "1:4: a tab in a text: write \\t"},
		{"[\"a\x01b\"]", "1:4: a control character in a text: write \\u0001"},
		{`["C:\dir"]`, `1:5: \d is no escape in JSON: write \\ for a backslash`},
		{`["\u12g4"]`, `1:3: \u needs four hexadecimal digits after it`},
		{"[\x00]", "1:2: a value is wanted here, and there is U+0000"},
		{"[...]", "1:2: a value is wanted here, and there is ."},
		{"[\"\xff\"]", "1:3: byte 0xff is not UTF-8"},
		{"\xff\xfe{\x00", "1:1: the file is UTF-16, and JSON is UTF-8"},
		{"{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> other\n}", "2:1: a merge conflict that is not resolved"},
		{strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), ""},
		{strings.Repeat("[", 10_001), "1:10001: more than 10,000 brackets lie in each other"},
		{strings.Repeat(`{"a":`, 1_000_000), "1:50001: more than 10,000 brackets lie in each other"},
	} {
		check(t, tt.text, syntax.JSON("data.json", []byte(tt.text)), tt.want)
	}
}

// Files with something to be replaced are no JSON yet, and nobody who wrote one wants to hear so.
func TestJSONTemplates(t *testing.T) {
	for _, text := range []string{
		`{"a": {{ value }}, "b": {{{raw}}}}`,
		"{{#each items}}\"a\",{{/each}}",
		"{\n{% if x %}\n\"a\": 1\n{% endif %}\n}",
		`[<% for x in y %>1<% end %>]`,
		`{"port": ${PORT}, }`,
		`{"port": $PORT}`,
		`{"name": <your name>}`,
		`{"name": @NAME@}`,
		`{"name": __NAME__}`,
		`{"name": {name}}`,
		`{"a": 1 {{- if .B }}, "b": 2{{ end }}}`,
		`{{"a": {value}}}`, // for a function that replaces {value} and turns {{ into {
		`{$KEY: 1}`,
	} {
		check(t, text, syntax.JSON("template.json", []byte(text)), "")
	}
	for _, tt := range []struct{ text, want string }{
		{`{{"a": 1}}`, "1:2: a key is wanted here, and there is {"},
		{`["{{a}}", ]`, "1:9: a comma after the last value"},
		{`{"a": $}`, "1:7: a value is wanted here, and there is $"},
		{`{"a": {{ x }`, "1:8: a key is wanted here, and there is {"},
	} {
		check(t, tt.text, syntax.JSON("data.json", []byte(tt.text)), tt.want)
	}
}

func TestJSONDialects(t *testing.T) {
	const commented = "// a comment, with \"quotes\" and {\n{\n  /* and\n another */ \"a\": [1, 2,], // http://x\n}"
	for _, tt := range []struct{ name, text, want string }{
		{"tsconfig.json", commented, ""},
		{"app/tsconfig.build.json", commented, ""},
		{".vscode/settings.json", commented, ""},
		{`C:\app\.vscode\launch.json`, commented, ""},
		{".devcontainer/devcontainer.json", commented, ""},
		{"x.code-workspace", commented, ""},
		{"a.jsonc", "", ""},
		{"a.json", commented, "1:1: a comment, which JSON does not have"},
		{"package.json", "{\"a\": 1,}", "1:8: a comma after the last value"},
		{"a.jsonc", "{\"a\": 1,,}", "1:9: a key is missing before the comma"},
		{"a.jsonc", "[,]", "1:2: a value is missing before ,"},
		{"a.jsonc", "{} /* x", "1:4: the comment is not closed"},
		{"a.jsonc", "{ // }\n/* } */ \"a\": [ // ]\n", "2:14: this [ is not closed"},
		{"a.json5", "{a: 'b',}", ""},

		{"log.jsonl", "{\"a\": 1}\n\n[2]\r\n\"x\"\n", ""},
		{"log.jsonl", "", ""},
		{"log.ndjson", "{\"a\": 1}\n{\"a\": 1,}\n", "2:8: a comma after the last value"},
		{"log.ndjson", "{}\n{\"a\": [\n1]}\n", "2:7: this [ is not closed"},
		{"log.ndjson", "{}\n[1}\n", "2:3: } cannot close the [ of line 2"},
		{"log.jsonl", "{} {}\n", "1:4: a second document: a file with one a line is named .jsonl"},
	} {
		check(t, tt.name+": "+tt.text, syntax.JSON(tt.name, []byte(tt.text)), tt.want)
	}
}
