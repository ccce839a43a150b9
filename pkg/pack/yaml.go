package pack

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxFile is the size in bytes beyond which a manifest or a configuration is refused; locks may be larger.
const (
	maxFile = 1 << 20
	maxLock = 64 << 20
)

var bom = []byte("\xef\xbb\xbf")

// reader reads one YAML file strictly. Its errors name the file, the line and the column.
type reader struct {
	path  string
	notes *notes // nil to stop at the first problem
}

// mapping parses data as one document with a mapping at its root, and returns nil for a document without content.
func (r reader) mapping(data []byte, limit int) (*yaml.Node, error) {
	if len(data) > limit {
		return nil, r.fileError("has more than %d bytes", limit)
	}
	if err := r.mergeMarkers(data); err != nil {
		return nil, err
	}
	root, err := r.document(bytes.TrimPrefix(data, bom))
	if err != nil || root == nil {
		return nil, err
	}
	if err := r.plain(root); err != nil {
		return nil, err
	}
	if isNull(root) {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, r.errorf(root, "a mapping is wanted here, with a key on each line")
	}
	return root, nil
}

// document returns the root node of the only document in data.
func (r reader) document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return r.pieces(data, err)
	}
	err := dec.Decode(&second)
	switch {
	case err == nil:
		err = r.errorf(&second, "there is a second document, and only one is read").
			WithHint("remove the line --- and what follows it")
	case errors.Is(err, io.EOF):
		err = nil
	default:
		err = r.syntax(data, err)
	}
	if err := r.note(err); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// pieces reads what can be read of a text that YAML refuses as a whole, where problems are noted.
func (r reader) pieces(data []byte, refused error) (*yaml.Node, error) {
	if r.notes == nil || r.notes.whole {
		return nil, r.syntax(data, refused)
	}
	rest, err := r.salvage(data)
	if err != nil {
		return nil, err
	}
	if rest == nil {
		return nil, r.syntax(data, refused)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(rest, &doc); err != nil || len(doc.Content) == 0 {
		return nil, errNoted
	}
	return doc.Content[0], nil
}

// mergeMarkers finds what git leaves behind in a file that it could not merge: each conflict once.
func (r reader) mergeMarkers(data []byte) error {
	line, before, open := 0, r.noted(), false
	for text := range bytes.Lines(data) {
		line++
		for _, marker := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if !bytes.HasPrefix(text, []byte(marker)) {
				continue
			}
			if !open || marker == "<<<<<<<" {
				n := &yaml.Node{Line: line, Column: 1}
				err := r.note(r.errorf(n, "merge conflict that is not resolved: %s", bytes.TrimSpace(text)).
					WithHint("choose one side, remove the lines <<<<<<<, ======= and >>>>>>>, and run skillpm install"))
				if err != nil {
					return err
				}
			}
			open = marker != ">>>>>>>"
		}
	}
	if r.noted() > before {
		return errNoted
	}
	return nil
}

// plain refuses what makes a file say something else than it seems to say: duplicate keys, anchors, aliases and tags.
func (r reader) plain(n *yaml.Node) error {
	if err := r.note(r.odd(n)); err != nil {
		return err
	}
	if n.Kind == yaml.MappingNode {
		if err := r.keys(n); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := r.plain(child); err != nil {
			return err
		}
	}
	return nil
}

func (r reader) odd(n *yaml.Node) error {
	switch {
	case r.spoilt(n):
	case n.Kind == yaml.AliasNode:
		r.spoil(n)
		return r.errorf(n, "*%s is an alias, which is not used here", n.Value).WithHint("write the value itself, in quotes")
	case n.Anchor != "":
		return r.errorf(n, "&%s is an anchor, which is not used here", n.Anchor).WithHint("write the value itself, in quotes")
	case n.Style&yaml.TaggedStyle != 0:
		if n.Kind == yaml.ScalarNode {
			r.spoil(n)
		}
		return r.errorf(n, "%s is a tag, which is not used here", n.Tag).WithHint("write the value in quotes")
	}
	return nil
}

// keys checks that the keys of a mapping are scalars and each there once.
func (r reader) keys(n *yaml.Node) error {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for k, v := range pairs(n) {
		var err error
		switch first := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode:
			r.spoil(k)
			err = r.errorf(k, "a key must be one word")
		case first != nil:
			if v.Kind == yaml.ScalarNode {
				r.spoil(k)
			}
			err = r.errorf(k, "%q is there twice, first on line %d", k.Value, first.Line)
		default:
			seen[k.Value] = k
		}
		if err := r.note(err); err != nil {
			return err
		}
	}
	return nil
}

// fields calls each with the keys and values of a mapping in order, and refuses a key that is not in known. A null
// value, and a nil node, have no fields.
func (r reader) fields(n *yaml.Node, what string, known []string, each func(k, v *yaml.Node) error) error {
	for k, v := range pairs(n) {
		if r.spoilt(k) || r.spoilt(v) {
			continue
		}
		err := r.known(k, what, known)
		if err == nil {
			err = each(k, v)
		}
		if err := r.note(err); err != nil {
			return err
		}
	}
	return nil
}

// known refuses a key that is not in the list; nil is a list of all.
func (r reader) known(k *yaml.Node, what string, known []string) error {
	if known == nil || slices.Contains(known, k.Value) {
		return nil
	}
	err := r.errorf(k, "unknown key %q in %s", k.Value, what)
	if near := diag.Nearest(k.Value, known); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("known keys are %s", strings.Join(known, ", "))
}

// mappingOf checks that v is a mapping; null counts as an empty one.
func (r reader) mappingOf(v *yaml.Node, what string) error {
	if v.Kind == yaml.MappingNode || isNull(v) {
		return nil
	}
	return r.errorf(v, "%s must be a mapping", what)
}

// text returns a scalar as it is written. Values over several lines are for descriptions only, see [reader.prose].
func (r reader) text(v *yaml.Node, what string) (string, error) {
	if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return "", r.errorf(v, "%s starts a text over several lines with > or |", what).
			WithHint("write the value in quotes on one line")
	}
	s, err := r.prose(v, what)
	if err == nil && strings.ContainsAny(s, "\r\n") {
		return "", r.errorf(v, "%s has a line break", what)
	}
	return s, err
}

// prose returns a scalar that may have several lines.
func (r reader) prose(v *yaml.Node, what string) (string, error) {
	switch {
	case v.Kind != yaml.ScalarNode:
		return "", r.errorf(v, "%s must be a text", what).WithHint("write the value in quotes")
	case isNull(v) && v.Value == "":
		return "", r.errorf(v, "%s has no value", what)
	case isNull(v):
		return "", r.errorf(v, "%s is %s, which YAML reads as nothing", what, v.Value).
			WithHint("write it in quotes: %q", v.Value)
	}
	return v.Value, nil
}

// texts returns a list of scalars that pass the check, if there is one; null is an empty list.
func (r reader) texts(v *yaml.Node, what string, check func(string) error) ([]string, error) {
	if isNull(v) {
		return nil, nil
	}
	if v.Kind != yaml.SequenceNode {
		return nil, r.errorf(v, "%s must be a list", what).WithHint("write [a, b], or a line with a hyphen for each")
	}
	var list []string
	seen := make(map[string]bool, len(v.Content))
	for _, item := range v.Content {
		if r.spoilt(item) {
			continue
		}
		s, err := r.text(item, "an entry of "+what)
		if err == nil && seen[s] {
			err = r.errorf(item, "%s lists %q twice", what, s)
		}
		if err == nil && check != nil {
			err = r.at(item, check(s))
		}
		if err == nil {
			list, seen[s] = append(list, s), true
		}
		if err := r.note(err); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// at adds the place of n to an error from elsewhere, and keeps its hint.
func (r reader) at(n *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	placed := r.errorf(n, "%w", err)
	if hint := diag.HintOf(err); hint != "" {
		return placed.WithHint("%s", hint)
	}
	return placed
}

// pairs yields the keys and values of a mapping node; nothing for every other node and for nil.
func pairs(n *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// lookup returns the value of a key of a mapping, or nil.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(n) {
		if k.Value == key {
			return v
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
