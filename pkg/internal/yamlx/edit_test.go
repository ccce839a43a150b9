package yamlx_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// edits are named after their effect on a file.
var edits = map[string]func(e *yamlx.Editor) error{
	"set a.x":     func(e *yamlx.Editor) error { return e.Set("new", "a", "x") },
	"set o.m.k":   func(e *yamlx.Editor) error { return e.Set("new", "o", "m", "k") },
	"set block":   func(e *yamlx.Editor) error { return e.Set(yamlx.Block{{"b", true}, {"c", 1}}, "a", "x") },
	"set mapping": func(e *yamlx.Editor) error { return e.Set(yamlx.Mapping{{"b", true}, {"c", 1}}, "a", "x") },
	"set words":   func(e *yamlx.Editor) error { return e.Set([]yamlx.Word{"two", "yes", "new"}, "l") },
	"set list":    func(e *yamlx.Editor) error { return e.Set([]any{yamlx.Word("z"), "y"}, "l") },
	"append":      func(e *yamlx.Editor) error { return e.Append("new", "l") },
	"append a.l":  func(e *yamlx.Editor) error { return e.Append(yamlx.Word("new"), "a", "l") },
	"remove a.x":  func(e *yamlx.Editor) error { _, err := e.Remove("a", "x"); return err },
	"prune a.x":   func(e *yamlx.Editor) error { _, err := e.Prune("a", "x"); return err },
	"remove l[0]": func(e *yamlx.Editor) error {
		if l := yamlx.Lookup(e.Root(), "l"); l == nil || l.Kind != yaml.SequenceNode || len(l.Content) == 0 {
			return nil
		}
		return e.RemoveItem(0, "l")
	},
}

func TestEditor(t *testing.T) {
	for _, tt := range []struct{ edit, before, after string }{
		{"set a.x", "", "a:\n  x: \"new\"\n"},
		{"set a.x", "# c\n", "# c\na:\n  x: \"new\"\n"},
		{"set a.x", "a:\n  x: 1 # c\nb: 2\n", "a:\n  x: \"new\" # c\nb: 2\n"},
		{"set a.x", "a: {x: '1', y: 2} # c\n", "a: {x: 'new', y: 2} # c\n"},
		{"set a.x", "a:\n    y: 1\n    # about a\n\n# about b\nb: 2", "a:\n    y: 1\n    # about a\n    x: \"new\"\n\n# about b\nb: 2"},
		{"set a.x", `{"a": {"y": 1}}`, `{"a": {"y": 1, "x": "new"}}`},
		{"set a.x", "a:\nb: 1\n", "a:\n  x: \"new\"\nb: 1\n"},
		{"set a.x", "a: {}\r\nb: 1\r\n", "a:\r\n  x: \"new\"\r\nb: 1\r\n"},
		{"set a.x", "a: text\n", "error 1:4"},
		{"set a.x", "a: &a {y: 1}\nb: *a\n", "error 1:4"},
		{"set a.x", "a: {x: !!str 1}\n", "error 1:8"},
		{"set a.x", "a:\n  x: |\n    text\n", "error 2:6"},
		{"set a.x", "a:\n  x:\n    y: 1\n", "error 3:5"},
		{"set a.x", "a: [1]\n", "error 1:4"},
		{"set a.x", "base: &b {x: 1}\na:\n  y: *b\n", "base: &b {x: 1}\na:\n  y: *b\n  x: \"new\"\n"},
		{"set o.m.k", "a: 1", "a: 1\no:\n  m:\n    k: \"new\""},
		{"set o.m.k", "{a: 1}\n", "{a: 1, o: {m: {k: \"new\"}}}\n"},
		{"set block", "a:\n  y: 1\n", "a:\n  y: 1\n  x:\n    b: true\n    c: 1\n"},
		{"set mapping", "a:\n  y: 1\n", "a:\n  y: 1\n  x: {b: true, c: 1}\n"},
		{"set words", "l:\n- one # 1\n# c\n- two # 2\n", "l:\n# c\n- two # 2\n- \"yes\"\n- new\n"},
		{"set words", "l: [one]\n", "l: [two, \"yes\", new]\n"},
		{"set list", "l:\n- one # 1\n- two\nx: 1\n", "l: [z, \"y\"]\nx: 1\n"},
		{"append", "x: 1\n", "x: 1\nl:\n  - \"new\"\n"},
		{"append", "l: # c\n- a\n  # d\n# e\n", "l: # c\n- a\n- \"new\"\n  # d\n# e\n"},
		{"append", "l: [a, b,] # c\n", "l: [a, b, \"new\"] # c\n"},
		{"append a.l", "", "a:\n  l:\n    - new\n"},
		{"append a.l", "a: {}\n", "a:\n  l:\n    - new\n"},
		{"append a.l", "{x: 1}", "{x: 1, a: {l: [new]}}"},
		{"remove a.x", "a:\n  # c\n  x: 1\n  y: 2\n", "a:\n  # c\n  y: 2\n"},
		{"remove a.x", "a: {x: 1, y: 2}\n", "a: {y: 2}\n"},
		{"remove a.x", "a: {y: 2, x: 1 }\n", "a: {y: 2 }\n"},
		{"prune a.x", "b: 1\na:\n  x: 1\n", "b: 1\n"},
		{"prune a.x", "b: 1\na: # c\n  x: 1\n", "b: 1\na: # c\n"},
		{"remove l[0]", "l:\n- a\nb: 1\n", "b: 1\n"},
		{"remove l[0]", "l: # c\n- a\nb: 1\n", "l: # c\n []\nb: 1\n"},
		{"set o.m.k", "a: |\n  x\n   \n\n# c\n", "a: |\n  x\n   \no:\n  m:\n    k: \"new\"\n\n# c\n"},
		{"remove a.x", "a:\n  y: 1\n  x: 2", "a:\n  y: 1"},
		{"remove l[0]", "l: ['a', b]\n", "l: [b]\n"},
	} {
		e, err := yamlx.NewEditor("f", []byte(tt.before))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := edits[tt.edit](e); err != nil {
			got = "error " + strings.TrimPrefix(strings.TrimSuffix(err.Error(), ": skillpm cannot edit this value automatically"), "f:")
			if string(e.Bytes()) != tt.before {
				t.Errorf("%s of %q was refused and made %q", tt.edit, tt.before, e.Bytes())
			}
		} else {
			got = string(e.Bytes())
		}
		if got != tt.after {
			t.Errorf("%s of %q: %q, want %q", tt.edit, tt.before, got, tt.after)
		}
	}
}

// FuzzEditor checks that an edit changes only its target: the result parses, every other entry keeps its value, and the
// splices restore the original bytes.
func FuzzEditor(f *testing.F) {
	for _, s := range []string{
		"", "# c\n", "a: 1\nb: {c: d, e: [f, 'g']} # h\n", "a:\n  x: 1\n  y: 2 # z\n\n# c\nl:\n- one\n- two\n", "{a: {x: 1}, l: []}",
		"\ufeffa:\r\n  x: |\r\n    text\r\n  # c\r\nb: 2\r\n", "{\"a\": {\n  \"x\": 1,\n  \"y\": 2\n}}\n", "a: &a {x: 1}\nb: *a\n", "a:\nl:\n  - - x\n  - {y: z}\n...\n",
		"? a\n: x: 1\n", "a: \"x\n  y\"\nl: [a,\n  b, # c\n  ]\n", "a: !!map {x: 1}\n", "x: 1\u2028a: 2\n", "l:\n- &x a\n- *x\n", "--- \na: {x: y,}\n",
	} {
		for name := range edits {
			f.Add([]byte(s), name)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		edit := edits[name]
		before, err := yamlx.NewEditor("f", data)
		if err != nil || edit == nil {
			return
		}
		e, _ := yamlx.NewEditor("f", data)
		if err := edit(e); err != nil {
			if !bytes.Equal(e.Bytes(), data) {
				t.Fatalf("%q was refused, and is %q", data, e.Bytes())
			}
			return
		}
		after, err := yamlx.NewEditor("f", e.Bytes())
		if err != nil {
			t.Fatalf("%q became %q: %v", data, e.Bytes(), err)
		}
		if !slices.EqualFunc(others(before.Root()), others(after.Root()), sameNodes) {
			t.Fatalf("%q became %q", data, e.Bytes())
		}
		undone := e.Bytes()
		for _, s := range slices.Backward(e.Splices()) {
			undone = slices.Concat(undone[:s.Offset], []byte(s.Old), undone[s.Offset+s.Length:])
		}
		if !bytes.Equal(undone, data) {
			t.Fatalf("%q became %q, and back %q", data, e.Bytes(), undone)
		}
	})
}

// others returns the keys and values that no edit affects.
func others(root *yaml.Node) (list []*yaml.Node) {
	for k, v := range yamlx.Pairs(root) {
		if !slices.Contains([]string{"a", "l", "o"}, k.Value) {
			list = append(list, k, v)
		}
	}
	return list
}

func sameNodes(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, sameNodes)
}
