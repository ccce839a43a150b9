package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// decode reads the file as JSON or YAML. Its root must be a mapping.
func (f file) decode(data []byte) (*value, error) {
	if !utf8.Valid(data) {
		return nil, f.errorf(nil, "is not valid UTF-8")
	}
	var root *value
	var err error
	switch {
	case isJSON(data):
		root, err = f.json(data)
	case f.isTOML(data):
		root, err = f.toml(data)
	case strings.HasSuffix(strings.ToLower(f.name), ".json"):
		return nil, f.errorf(&value{line: 1}, "expected a JSON object")
	default:
		root, err = f.yaml(data)
	}
	if err != nil {
		return nil, err
	}
	if root.kind != isMapping {
		return nil, f.errorf(&value{line: max(1, root.line)}, "expected a mapping")
	}
	return root, nil
}

// json reads JSON. Keys that differ in case are different.
func (f file) json(data []byte) (*value, error) {
	err := jsonx.Check(data, jsonx.Options{MaxDepth: maxNesting, ExactKeys: true})
	refused, _ := errors.AsType[*jsonx.Error](err)
	if refused == nil {
		r := jsonReader{data: data, line: 1}
		return r.value(data, 0), nil
	}
	at := &value{line: refused.Line}
	switch {
	case refused.Kind == jsonx.TrailingData:
		return nil, f.errorf(at, "unexpected data after the end of the object")
	case refused.Kind == jsonx.TooDeep:
		return nil, f.errorf(at, "lists and objects are nested more than %d levels deep", maxNesting)
	case refused.Kind == jsonx.DuplicateKey:
		return nil, f.errorf(at, "the key %s is duplicated", printable(refused.Key))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, f.errorf(at, "unexpected end of file")
	}
	return nil, f.errorf(at, "%s", refused.Err)
}

// jsonReader converts checked JSON to values, and counts lines.
type jsonReader struct {
	data    []byte
	counted int // bytes whose lines are counted
	line    int
}

// value makes a value of JSON at an offset.
func (r *jsonReader) value(raw []byte, offset int) *value {
	offset += len(raw)
	raw = bytes.TrimLeft(raw, " \t\r\n")
	offset -= len(raw)
	r.line += bytes.Count(r.data[r.counted:offset], []byte("\n"))
	r.counted = offset
	v := &value{line: r.line}
	switch raw[0] {
	case '{', '[':
		v.kind = isMapping
		if raw[0] == '[' {
			v.kind = isList
		}
		for m := range jsonx.Members(raw) {
			item := r.value(m.Value, offset+m.Offset)
			if v.kind == isList {
				v.items = append(v.items, item)
			} else {
				v.set(m.Key, item)
			}
		}
	case '"':
		v.kind = isText
		_ = json.Unmarshal(raw, &v.text) // it was checked
	case 't', 'f':
		v.kind, v.text = isBool, string(bytes.TrimSpace(raw))
	case 'n':
	default:
		v.kind, v.text = isNumber, string(bytes.TrimSpace(raw))
	}
	return v
}

func (f file) yaml(data []byte) (*value, error) {
	root, second, err := yamlx.Documents(data)
	switch {
	case err != nil:
		line, text := yamlx.ErrorLine(err)
		return nil, f.errorf(&value{line: max(1, line)}, "not YAML: %s", printable(text))
	case second != nil:
		return nil, f.errorf(&value{line: second.Line}, "the file contains more than one YAML document")
	case root == nil:
		return nil, f.errorf(nil, "is empty")
	}
	return f.fromYAML(root, 0)
}

// fromYAML converts a YAML node. It does not follow aliases.
func (f file) fromYAML(n *yaml.Node, depth int) (*value, error) {
	v := &value{line: n.Line}
	switch {
	case n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0:
		v.kind = isUnsupported
		return v, nil
	case n.Kind == yaml.ScalarNode:
		v.text = n.Value
		switch n.ShortTag() {
		case "!!null":
		case "!!bool":
			v.kind = isBool
			v.text = strings.ToLower(v.text)
		default: // a number is the text that it is written as
			v.kind = isText
		}
		return v, nil
	case depth == maxNesting:
		return nil, f.errorf(v, "lists and mappings are nested more than %d levels deep", maxNesting)
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
	v.kind = isMapping
	for key, item := range yamlx.Pairs(n) {
		if key.Kind != yaml.ScalarNode {
			return nil, f.errorf(&value{line: key.Line}, "a key must be text, not a list or a mapping")
		}
		below, err := f.fromYAML(item, depth+1)
		if err != nil {
			return nil, err
		}
		if !v.set(key.Value, below) {
			return nil, f.errorf(&value{line: key.Line}, "the key %s is duplicated", printable(key.Value))
		}
	}
	return v, nil
}
