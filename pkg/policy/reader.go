package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

// reader reads one YAML file strictly, and goes on after a problem.
type reader struct {
	path     string
	problems []Problem
}

// add notes a problem at the place of n.
func (r *reader) add(n *yaml.Node, hint, format string, args ...any) {
	r.note(Problem{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *reader) note(p Problem) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, p)
	}
}

// root parses data as one document with a mapping at its root. It returns nil where there is nothing to go on with.
func (r *reader) root(data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.note(Problem{Message: fmt.Sprintf("the file has more than %d bytes", maxFile)})
		return nil
	}
	if r.conflicts(data) {
		return nil
	}
	root := r.document(data)
	if root == nil {
		return nil
	}
	r.plain(root)
	if root.Kind != yaml.MappingNode {
		if !spoilt(root) {
			r.add(root, "write version: 1 in the first line", "a mapping is wanted here, with a key on each line")
		}
		return nil
	}
	return root
}

// document returns the root of the only document in data.
func (r *reader) document(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		r.note(Problem{Line: 1, Column: 1, Message: "the policy is empty", Hint: "write version: 1 in the first line"})
		return nil
	}
	if err == nil {
		err = dec.Decode(&second)
		if err == nil {
			r.add(&second, "remove the line --- and what follows it", "there is a second document, and only one is read")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.unreadable(data, err)
		return nil
	}
	return doc.Content[0]
}

// unreadable notes what keeps data from being YAML.
func (r *reader) unreadable(data []byte, err error) {
	p := Problem{Message: "not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := syntax.YAML(r.path, data); found != nil {
		p = Problem{Line: found.Line, Column: found.Column, Message: "not valid YAML: " + found.Message}
	}
	r.note(p)
}

// conflicts notes what git leaves behind in a file that it could not merge.
func (r *reader) conflicts(data []byte) bool {
	line, before := 0, len(r.problems)
	for text := range bytes.Lines(data) {
		line++
		for _, marker := range [...]string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if bytes.HasPrefix(text, []byte(marker)) {
				r.note(Problem{
					Line: line, Column: 1, Message: "merge conflict that is not resolved",
					Hint: "choose one side, and remove the lines <<<<<<<, ======= and >>>>>>>",
				})
			}
		}
	}
	return len(r.problems) > before
}

// plain notes what makes a file say something else than it seems to say: duplicate keys, anchors, aliases and tags.
func (r *reader) plain(n *yaml.Node) {
	const hint = "write the value itself, in quotes"
	switch {
	case n.Kind == yaml.AliasNode:
		r.add(n, hint, "*%s is an alias, which is not used here", n.Value)
		return
	case n.Style&yaml.TaggedStyle != 0:
		r.add(n, hint, "%s is a tag, which is not used here", n.Tag)
	case n.Anchor != "":
		r.add(n, hint, "&%s is an anchor, which is not used here", n.Anchor)
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, child := range n.Content {
		r.plain(child)
	}
}

// keys notes keys that are no scalars, or there twice.
func (r *reader) keys(n *yaml.Node) {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for k := range pairs(n) {
		if k.Kind != yaml.ScalarNode {
			if !spoilt(k) {
				r.add(k, "", "a key must be one word")
			}
			continue
		}
		if first := seen[k.Value]; first != nil {
			r.add(k, "", "%q is there twice, first on line %d", k.Value, first.Line)
			continue
		}
		seen[k.Value] = k
	}
}

// spoilt reports whether all was said about a value that is not what it seems to be.
func spoilt(n *yaml.Node) bool { return n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 }

// fields are the known keys of a mapping, and what reads the value of each.
type fields map[string]func(v *yaml.Node)

// fields reads a mapping, and reports whether it is one.
func (r *reader) fields(n *yaml.Node, what string, known fields) bool {
	if !r.has(n, what) {
		return false
	}
	if n.Kind != yaml.MappingNode {
		r.add(n, "write {key: value}, or an indented line for each key", "%s must be a mapping", what)
		return false
	}
	read := make(map[string]bool, len(known))
	for k, v := range pairs(n) {
		switch each := known[k.Value]; {
		case k.Kind != yaml.ScalarNode || read[k.Value]: // it was noted
		case each == nil:
			r.unknown(k, what, slices.Sorted(maps.Keys(known)))
		default:
			read[k.Value] = true
			each(v)
		}
	}
	return true
}

func (r *reader) unknown(k *yaml.Node, what string, known []string) {
	hint := "known keys are " + strings.Join(known, ", ")
	if near := diag.Nearest(k.Value, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.add(k, hint, "unknown key %q in %s", k.Value, what)
}

// has notes a value that is nothing, and reports whether there is one to read.
func (r *reader) has(n *yaml.Node, what string) bool {
	switch {
	case spoilt(n):
		return false
	case isNull(n) && n.Value == "":
		r.add(n, "write a value, or remove the key", "%s has no value", what)
		return false
	case isNull(n):
		r.add(n, fmt.Sprintf("write it in quotes if it is text: %q", n.Value), "%s is %s, which YAML reads as nothing", what, n.Value)
		return false
	}
	return true
}

// text returns a scalar of one line as it is written.
func (r *reader) text(v *yaml.Node, what string) (string, bool) {
	if !r.has(v, what) {
		return "", false
	}
	if v.Kind != yaml.ScalarNode {
		r.add(v, "write the value in quotes", "%s must be a text", what)
		return "", false
	}
	if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.ContainsFunc(v.Value, isControl) {
		r.add(v, "write the value in quotes on one line", "%s must be one line of text", what)
		return "", false
	}
	return v.Value, true
}

// isControl is for characters that change how a text looks: controls, and those that turn its direction.
func isControl(c rune) bool {
	return c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x200b && c <= 0x200f || c >= 0x2028 && c <= 0x202e ||
		c >= 0x2060 && c <= 0x2069 || c == 0xfeff || c >= 0xe0000 && c < 0xe0080
}

// oneOf returns a text that is one of some words, "" for another.
func (r *reader) oneOf(v *yaml.Node, what string, words ...string) string {
	s, ok := r.text(v, what)
	if !ok || slices.Contains(words, s) {
		return s
	}
	hint := "use " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	if near := diag.Nearest(s, words); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.add(v, hint, "%s is %q, which is not known", what, s)
	return ""
}

func (r *reader) boolean(v *yaml.Node, what string) bool {
	if !r.has(v, what) {
		return false
	}
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!bool" {
		r.add(v, "write true or false, without quotes", "%s must be true or false", what)
		return false
	}
	return strings.EqualFold(v.Value, "true")
}

// list reads a sequence without equal entries. It is never nil for one that is there, so that an empty one is told from
// none.
func list[T comparable](r *reader, v *yaml.Node, what string, each func(item *yaml.Node) (T, bool)) []T {
	items, ok := r.sequence(v, what)
	if !ok {
		return nil
	}
	all := make([]T, 0, len(items))
	seen := make(map[T]bool, len(items))
	for _, item := range items {
		value, ok := each(item)
		switch {
		case !ok:
		case seen[value]:
			r.add(item, "remove one of them", "%s lists %q twice", what, item.Value)
		default:
			all, seen[value] = append(all, value), true
		}
	}
	return all
}

func (r *reader) sequence(v *yaml.Node, what string) ([]*yaml.Node, bool) {
	if !spoilt(v) && isNull(v) && v.Value == "" {
		r.add(v, "write [] for an empty list, or remove the key", "%s has no value", what)
		return nil, false
	}
	if !r.has(v, what) {
		return nil, false
	}
	if v.Kind != yaml.SequenceNode {
		r.add(v, "write [a, b], or a line with a hyphen for each", "%s must be a list", what)
		return nil, false
	}
	return v.Content, true
}

// pairs yields the keys and values of a mapping; nothing for every other node.
func pairs(n *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// lookup returns the value of a key of a mapping, or nil.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(n) {
		if k.Kind == yaml.ScalarNode && k.Value == key {
			return v
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// lazily returns a regular expression that is compiled when it is first asked for, so that programs that read no policy
// start without it.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
