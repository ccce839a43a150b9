package syntax_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

// check compares a problem with the expected position and start of the message, or "".
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

		{"", "1:1: the file is empty: expected a JSON value"},
		{" \n\t\n", "1:1: the file is empty: expected a JSON value"},
		{"{\n  \"a\": 1,\n}\n", "2:9: unexpected comma after the last value"},
		{"[1, 2, ]", "1:6: unexpected comma after the last value"},
		{"{\"größe\": 1 \"b\": 2}", "1:13: expected a comma before the next value or key"},
		{"[1 2]", "1:4: expected a comma before the next value or key"},
		{"[1,, 2]", "1:4: expected a value before ,"},
		{`{"a": }`, "1:7: expected a value before }"},
		{`{"a" 1}`, "1:6: expected a colon, but found 1 without quotes"},
		{`{"a", "b"}`, "1:5: expected a colon and a value after the key"},
		{`{"a": 1: 2}`, "1:8: unexpected colon after a value: in JSON, a colon follows only a key in { }"},
		{`{a: 1}`, "1:2: expected a key, but found a without quotes"},
		{`{1: 1}`, "1:2: expected a key, but found 1 without quotes"},
		{`{'a': 1}`, "1:2: ' is not a quotation mark in JSON: use \""},
		{`{“a”: 1}`, "1:2: “ is a typographic quotation mark: write \""},
		{"{\n\"a\": 1\n", "1:1: this { is not closed"},
		{"[{\"]}\": [1, {}]},\n [\n", "2:2: this [ is not closed"},
		{"{\n\"a\": [1}\n", "2:8: } cannot close the [ of line 2"},
		{`{]`, "1:2: ] cannot close the { of line 1"},
		{"{}}", "1:3: } does not have an opening bracket"},
		{"{}\n{}\n", "2:1: unexpected second document: use the extension .jsonl for one document per line"},
		{"{} x", "1:4: expected the end of the file, but found x without quotes"},
		{"// hello\n{}", "1:1: JSON does not allow comments"},
		{"{\n  # hello\n}", "2:3: JSON does not allow comments"},
		{"[True]", "1:2: True is not a JSON value: write true"},
		{"[None, NaN]", "1:2: None is not a JSON value: write null"},
		{"[-Infinity]", "1:2: -Infinity is not a number"},
		{"[nullx]", "1:2: expected a value, but found nullx without quotes"},
		{"[01]", "1:2: 01 has a leading zero"},
		{"[-]", "1:2: - is not a number"},
		{"[+1]", "1:2: +1 has a plus sign, which JSON does not allow"},
		{"[.5]", "1:2: .5 needs a digit on both sides of its decimal point"},
		{"[5.]", "1:2: 5. needs a digit on both sides of its decimal point"},
		{"[0x1f]", "1:2: 0x1f is not a JSON number"},
		{"[1e]", "1:2: 1e is not a JSON number"},
		{"[1.2.3]", "1:2: 1.2.3 is not a JSON number"},
		{"[\"a\nb\"]", "1:2: the string that starts here is not closed on its line"},
		{"{\"a: 1}", "1:2: the string that starts here is not closed"},
		{"[\"a\tb\"]", "1:4: unexpected tab in a string: write \\t"},
		{"[\"a\x01b\"]", "1:4: unexpected control character in a string: write \\u0001"},
		{`["C:\dir"]`, `1:5: \d is not an escape sequence in JSON: use \\ for a backslash`},
		{`["\u12g4"]`, `1:3: expected four hexadecimal digits after \u`},
		{"[\x00]", "1:2: expected a value, but found U+0000"},
		{"[...]", "1:2: expected a value, but found ."},
		{"[\"\xff\"]", "1:3: byte 0xff is not valid UTF-8"},
		{"\xff\xfe{\x00", "1:1: the file is UTF-16, but JSON must be UTF-8"},
		{"{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> other\n}", "2:1: unresolved merge conflict"},
		{strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), ""},
		{strings.Repeat("[", 10_001), "1:10001: brackets are nested more than 10,000 levels deep"},
		{strings.Repeat(`{"a":`, 1_000_000), "1:50001: brackets are nested more than 10,000 levels deep"},
	} {
		check(t, tt.text, syntax.JSON("data.json", []byte(tt.text)), tt.want)
	}
}

// TestJSONTemplates checks that files with placeholders, which are not JSON yet, are not reported.
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
		{`{{"a": 1}}`, "1:2: expected a key, but found {"},
		{`["{{a}}", ]`, "1:9: unexpected comma after the last value"},
		{`{"a": $}`, "1:7: expected a value, but found $"},
		{`{"a": {{ x }`, "1:8: expected a key, but found {"},
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
		{"a.json", commented, "1:1: JSON does not allow comments"},
		{"package.json", "{\"a\": 1,}", "1:8: unexpected comma after the last value"},
		{"a.jsonc", "{\"a\": 1,,}", "1:9: expected a key before the comma"},
		{"a.jsonc", "[,]", "1:2: expected a value before ,"},
		{"a.jsonc", "{} /* x", "1:4: the comment is not closed"},
		{"a.jsonc", "{ // }\n/* } */ \"a\": [ // ]\n", "2:14: this [ is not closed"},
		{"a.json5", "{a: 'b',}", ""},

		{"log.jsonl", "{\"a\": 1}\n\n[2]\r\n\"x\"\n", ""},
		{"log.jsonl", "", ""},
		{"log.ndjson", "{\"a\": 1}\n{\"a\": 1,}\n", "2:8: unexpected comma after the last value"},
		{"log.ndjson", "{}\n{\"a\": [\n1]}\n", "2:7: this [ is not closed"},
		{"log.ndjson", "{}\n[1}\n", "2:3: } cannot close the [ of line 2"},
		{"log.jsonl", "{} {}\n", "1:4: unexpected second document: use the extension .jsonl for one document per line"},
	} {
		check(t, tt.name+": "+tt.text, syntax.JSON(tt.name, []byte(tt.text)), tt.want)
	}
}
