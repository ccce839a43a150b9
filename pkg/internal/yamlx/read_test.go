package yamlx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// read reads a file with one key of each kind, and returns its problems, one a line.
func read(text string, f yamlx.Format) string {
	f.Name = "the file"
	r := yamlx.Read("f", []byte(text), f)
	root, _ := r.Root()
	for key, v := range root.Fields("text", "list", "number", "bool", "word", "map") {
		switch key {
		case "text":
			v.Text()
		case "list":
			v.Texts()
		case "number":
			v.Int(9)
		case "bool":
			v.Bool()
		case "word":
			v.OneOf("one", "two", "three")
		case "map":
			for range v.Fields("key") {
			}
			v.Require("", "key")
		}
	}
	var b strings.Builder
	for _, p := range r.Problems() {
		fmt.Fprintf(&b, "%d:%d: %s", p.Line, p.Column, p.Message)
		if p.Hint != "" {
			b.WriteString(" (" + p.Hint + ")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"text: 1.10\nlist: [a, 2]\nnumber: 3\nbool: true\nword: two\nmap: {key: x}\n", ""},
		{"text: ~\n", "1:7: text is ~, which YAML reads as null (write the value in quotes: \"~\")\n"},
		{"text:\n", "1:6: text does not have a value (write a value, or remove the key)\n"},
		{"text: [a]\n", "1:7: text must be text (write the value in quotes)\n"},
		{"text: >1\n  a\n", "1:7: text must be one line of text, without > or | (write the value in quotes on one line)\n"},
		{"text: >1.2\n", "1:7: >1.2 starts with a character that YAML reserves (write the value in quotes: text: \">1.2\")\n"},
		{"text: \"a\\nb\"\n", "1:7: text contains a line break (write the value in quotes on one line)\n"},
		{"text: !!str a\n", "1:7: the YAML tag !!str is not allowed here (write the value in quotes)\n"},
		{"text: &a b\nword: *a\n", "1:7: the YAML anchor &a is not allowed here (write the value itself in quotes)\n" +
			"2:7: the YAML alias *a is not allowed here (write the value itself in quotes)\n"},
		{"<<: {text: a}\n", "1:1: unknown key \"<<\" in the file (use one of text, list, number, bool, word, or map)\n"},
		{"txt: a\n", "1:1: unknown key \"txt\" in the file (did you mean text?)\n"},
		{"text: a\ntext: b\n", "2:1: the key \"text\" is duplicated; it first appears on line 1\n"},
		{"[a]: b\n", "1:1: a key must be one word\n"},
		{"list: a\n", "1:7: list must be a list (write [a, b], or one line with a hyphen for each entry)\n"},
		{"list: [a, a]\n", "1:11: \"a\" appears more than once in list (remove one of the two entries)\n"},
		{"number: 10\n", "1:9: number must be a number from 1 to 9\n"},
		{"number: \"1\"\n", "1:9: number must be a number from 1 to 9\n"},
		{"bool: yes\n", "1:7: bool must be true or false (write true or false, without quotes)\n"},
		{"word: tow\n", "1:7: word has the unknown value \"tow\" (did you mean two?)\n"},
		{"word: none of them\n", "1:7: word has the unknown value \"none of them\" (use one of one, two, or three)\n"},
		{"map: {}\n", "1:6: the key \"key\" is missing in map\n"},
		{"map: a\n", "1:6: map must be a mapping (write {key: value}, or one indented line for each key)\n"},
		{"- a\n", "1:1: expected a mapping, with a key on each line\n"},
		{"text: a\n---\ntext: b\n", "2:1: unexpected second YAML document (remove the line --- and the text after it)\n"},
		{"text: a\n<<<<<<< HEAD\n=======\n>>>>>>> b\n", "2:1: unresolved merge conflict: <<<<<<< HEAD " +
			"(choose one side, and remove the lines <<<<<<<, =======, and >>>>>>>)\n"},
		{"text: a: b\nnumber: 10\n", "1:8: a value without quotes contains a colon and a space (use double quotes around the value)\n" +
			"2:9: number must be a number from 1 to 9\n"},
		{strings.Repeat("#", 1001), "0:0: the file has 1001 bytes; the limit is 1000\n"},
	} {
		if got := read(tt.text, yamlx.Format{MaxBytes: 1000, Salvage: true}); got != tt.want {
			t.Errorf("%q: got\n%swant\n%s", tt.text, got, tt.want)
		}
	}
}

// FuzzRead checks that text is read or rejected, and that every problem has a position in it.
func FuzzRead(f *testing.F) {
	f.Add("text: 1\nlist: [a, {b: c}]\nmap:\n  key: |\n    x\n", true)
	f.Add("a: 'x'y\nb:\n - c\n- d\ne: [\n", true)
	f.Add("text: &a b\n<<: *a\n--- x", false)
	f.Fuzz(func(t *testing.T, text string, aliases bool) {
		f := yamlx.Format{Salvage: true, NullIsEmpty: aliases, Aliases: aliases}
		r := yamlx.Read("f", []byte(text), f)
		if (r.Err() == nil) != (len(r.Problems()) == 0) {
			t.Fatalf("%v, and %v", r.Err(), r.Problems())
		}
		for _, p := range r.Problems() {
			if p.Message == "" || p.Line < 0 || p.Line > len(text)+1 || p.Column < 0 || p.Column > len(text)+2 {
				t.Fatalf("%+v", p)
			}
		}
		read(text, f)
	})
}
