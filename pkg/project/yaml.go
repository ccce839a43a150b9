package project

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
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
	path string
}

// errorf returns an error about the place of n.
func (r reader) errorf(n *yaml.Node, format string, args ...any) *diag.Error {
	place := []any{r.path, n.Line, n.Column}
	return diag.Errorf(diag.Invalid, "%s:%d:%d: "+format, append(place, args...)...)
}

// mapping parses data as one document with a mapping at its root, and returns nil for a document without content.
func (r reader) mapping(data []byte, limit int) (*yaml.Node, error) {
	if len(data) > limit {
		return nil, diag.Errorf(diag.Invalid, "%s has more than %d bytes", r.path, limit)
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
		return nil, r.syntax(data, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, r.errorf(&second, "there is a second document, and only one is read").
			WithHint("remove the line --- and what follows it")
	} else if !errors.Is(err, io.EOF) {
		return nil, r.syntax(data, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// trap is a value that means something to YAML unless it is quoted. What may follow > or | in YAML is none.
var trap = regexp.MustCompile(`^(\s*(?:- *)?(?:"[^"]*"|'[^']*'|[^\s:#"']+)\s*:\s+|\s*-\s+)` +
	`([>|][-+0-9]*\s*[^-+0-9\s#][^\s#]*|[*&!%@` + "`" + `][^\s#]*)`)

// syntax turns the YAML library's message into an error with a place, and recognises values that lack quotes.
func (r reader) syntax(data []byte, err error) error {
	message, line := err.Error(), 0
	if m := yamlError.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, at := range []int{line, line - 1, line + 1} {
		if at < 1 || at > len(lines) {
			continue
		}
		text := strings.TrimRight(string(lines[at-1]), "\r ")
		if m := trap.FindStringSubmatchIndex(text); m != nil {
			n := &yaml.Node{Line: at, Column: len([]rune(text[:m[4]])) + 1}
			return r.errorf(n, "%s starts with a character that YAML keeps for itself", text[m[4]:m[5]]).
				WithHint("write it in quotes: %s%s", strings.TrimSpace(text[:m[4]])+" ", strconv.Quote(text[m[4]:]))
		}
	}
	if line == 0 {
		return diag.Errorf(diag.Invalid, "%s: not valid YAML: %s", r.path, message)
	}
	return diag.Errorf(diag.Invalid, "%s:%d: not valid YAML: %s", r.path, line, message)
}

// mergeMarkers finds what git leaves behind in a file that it could not merge.
func (r reader) mergeMarkers(data []byte) error {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		for _, marker := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if bytes.HasPrefix(text, []byte(marker)) {
				return diag.Errorf(diag.Invalid, "%s:%d:1: merge conflict that is not resolved: %s", r.path, line,
					bytes.TrimSpace(text)).
					WithHint("choose one side, remove the lines <<<<<<<, ======= and >>>>>>>, and run skillpm install")
			}
		}
	}
	return nil
}

// plain refuses what makes a file say something else than it seems to say: duplicate keys, anchors, aliases and tags.
func (r reader) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return r.errorf(n, "*%s is an alias, which is not used here", n.Value).WithHint("write the value itself, in quotes")
	case n.Anchor != "":
		return r.errorf(n, "&%s is an anchor, which is not used here", n.Anchor).WithHint("write the value itself, in quotes")
	case n.Style&yaml.TaggedStyle != 0:
		return r.errorf(n, "%s is a tag, which is not used here", n.Tag).WithHint("write the value in quotes")
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

// keys checks that the keys of a mapping are scalars and each there once.
func (r reader) keys(n *yaml.Node) error {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return r.errorf(k, "a key must be one word")
		}
		if first := seen[k.Value]; first != nil {
			return r.errorf(k, "%q is there twice, first on line %d", k.Value, first.Line)
		}
		seen[k.Value] = k
	}
	return nil
}

// fields calls each with the keys and values of a mapping in order, and refuses a key that is not in known. A null
// value, and a nil node, have no fields.
func (r reader) fields(n *yaml.Node, what string, known []string, each func(k, v *yaml.Node) error) error {
	for k, v := range pairs(n) {
		if known != nil && !slices.Contains(known, k.Value) {
			err := r.errorf(k, "unknown key %q in %s", k.Value, what)
			if near := diag.Nearest(k.Value, known); near != "" {
				return err.WithHint("did you mean %s?", near)
			}
			return err.WithHint("known keys are %s", strings.Join(known, ", "))
		}
		if err := each(k, v); err != nil {
			return err
		}
	}
	return nil
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

// texts returns a list of scalars; null is an empty list.
func (r reader) texts(v *yaml.Node, what string) ([]string, error) {
	if isNull(v) {
		return nil, nil
	}
	if v.Kind != yaml.SequenceNode {
		return nil, r.errorf(v, "%s must be a list", what).WithHint("write [a, b], or a line with a hyphen for each")
	}
	var list []string
	for _, item := range v.Content {
		s, err := r.text(item, "an entry of "+what)
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, s) {
			return nil, r.errorf(item, "%s lists %q twice", what, s)
		}
		list = append(list, s)
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
