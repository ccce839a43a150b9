package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// decode reads the file as JSON or YAML. Its root is a mapping.
func (f file) decode(data []byte) (*value, error) {
	if !utf8.Valid(data) {
		return nil, f.errorf(nil, "is not valid UTF-8")
	}
	var root *value
	var err error
	switch {
	case isJSON(data):
		root, err = f.json(data)
	case strings.HasSuffix(strings.ToLower(f.name), ".json"):
		return nil, f.errorf(&value{line: 1}, "a JSON object is wanted here")
	default:
		root, err = f.yaml(data)
	}
	if err != nil {
		return nil, err
	}
	if root.kind != isFields {
		return nil, f.errorf(&value{line: max(1, root.line)}, "a mapping is wanted here")
	}
	return root, nil
}

// jsonReader reads JSON and counts lines.
type jsonReader struct {
	file
	dec     *json.Decoder
	data    []byte
	counted int // bytes whose lines are counted
	lines   int
}

func (f file) json(data []byte) (*value, error) {
	r := &jsonReader{file: f, dec: json.NewDecoder(bytes.NewReader(data)), data: data, lines: 1}
	r.dec.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.errorf(r.here(), "there is something after the end of the object")
	}
	return v, nil
}

// here is a value without content on the line that is read.
func (r *jsonReader) here() *value {
	at := min(int(r.dec.InputOffset()), len(r.data))
	if at > r.counted {
		r.lines += bytes.Count(r.data[r.counted:at], []byte("\n"))
		r.counted = at
	}
	return &value{line: r.lines}
}

func (r *jsonReader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if err == nil {
		return t, nil
	}
	at := r.here()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		until := min(int(syntax.Offset), len(r.data))
		at = &value{line: 1 + bytes.Count(r.data[:until], []byte("\n"))}
	}
	if errors.Is(err, io.EOF) {
		return nil, r.errorf(at, "the file ends too early")
	}
	return nil, r.errorf(at, "%s", err)
}

func (r *jsonReader) value(depth int) (*value, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	v := r.here()
	switch t := t.(type) {
	case json.Delim:
		if depth == maxNesting {
			return nil, r.errorf(v, "lists and objects are more than %d deep in each other", maxNesting)
		}
		v.kind = isFields
		if t == '[' {
			v.kind = isList
		}
		return v, r.below(v, depth+1)
	case string:
		v.kind, v.text = isText, t
	case json.Number:
		v.kind, v.text = isNumber, t.String()
	case bool:
		v.kind, v.text = isFlag, "false"
		if t {
			v.text = "true"
		}
	}
	return v, nil
}

// below reads what is in a list or an object, and its end.
func (r *jsonReader) below(v *value, depth int) error {
	for r.dec.More() {
		if v.kind == isList {
			item, err := r.value(depth)
			if err != nil {
				return err
			}
			v.items = append(v.items, item)
			continue
		}
		t, err := r.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // nothing else is let through here
		at := r.here()
		item, err := r.value(depth)
		if err != nil {
			return err
		}
		if !v.set(key, item) {
			return r.errorf(at, "the key %s is there twice", plain(key))
		}
	}
	_, err := r.token()
	return err
}

func (f file) yaml(data []byte) (*value, error) {
	root, second, err := yamlx.Documents(data)
	switch {
	case err != nil:
		line, text := yamlx.ErrorLine(err)
		return nil, f.errorf(&value{line: max(1, line)}, "not YAML: %s", plain(text))
	case second != nil:
		return nil, f.errorf(&value{line: second.Line}, "there is a second document, and only one is read")
	case root == nil:
		return nil, f.errorf(nil, "is empty")
	}
	return f.fromYAML(root, 0)
}

// fromYAML makes a value of a node. Aliases are not followed.
func (f file) fromYAML(n *yaml.Node, depth int) (*value, error) {
	v := &value{line: n.Line}
	switch {
	case n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0:
		v.kind = isOdd
		return v, nil
	case n.Kind == yaml.ScalarNode:
		v.text = n.Value
		switch n.ShortTag() {
		case "!!null":
		case "!!bool":
			v.kind = isFlag
			v.text = strings.ToLower(v.text)
		default: // a number is the text that it is written as
			v.kind = isText
		}
		return v, nil
	case depth == maxNesting:
		return nil, f.errorf(v, "lists and mappings are more than %d deep in each other", maxNesting)
	case n.Kind == yaml.SequenceNode:
		v.kind = isList
		for _, item := range n.Content {
			below, err := f.fromYAML(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, below)
		}
		return v, nil
	}
	v.kind = isFields
	for key, item := range yamlx.Pairs(n) {
		if key.Kind != yaml.ScalarNode {
			return nil, f.errorf(&value{line: key.Line}, "a key must be one word")
		}
		below, err := f.fromYAML(item, depth+1)
		if err != nil {
			return nil, err
		}
		if !v.set(key.Value, below) {
			return nil, f.errorf(&value{line: key.Line}, "the key %s is there twice", plain(key.Value))
		}
	}
	return v, nil
}
