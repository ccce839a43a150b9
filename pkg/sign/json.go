package sign

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 64

// checkJSON refuses JSON that two programs could read differently: keys that are there twice, more than one document,
// text that is not UTF-8; and what is too large or too deep.
func checkJSON(data []byte, limit int) error {
	switch {
	case len(data) > limit:
		return diag.Errorf(diag.Invalid, "it has %d bytes, more than %d", len(data), limit)
	case !utf8.Valid(data):
		return diag.Errorf(diag.Invalid, "it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []map[string]bool // the keys of each object that is open; nil for a list
	key := false               // a key comes next
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && len(open) == 0 && dec.InputOffset() > 0:
			return nil
		case err != nil:
			return diag.Errorf(diag.Invalid, "it is not JSON: %v", err)
		}
		ended := false
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open, key = append(open, map[string]bool{}), true
			case '[':
				open, key = append(open, nil), false
			default:
				open, ended = open[:len(open)-1], true
			}
		case string:
			if key {
				keys := open[len(open)-1]
				if keys[t] {
					return diag.Errorf(diag.Invalid, "the key %q is there twice", t)
				}
				keys[t], key = true, false
				continue
			}
			ended = true
		default:
			ended = true
		}
		if len(open) > maxDepth {
			return diag.Errorf(diag.Invalid, "it is nested deeper than %d", maxDepth)
		}
		if ended {
			if len(open) == 0 {
				return onlySpace(data[dec.InputOffset():])
			}
			key = open[len(open)-1] != nil
		}
	}
}

func onlySpace(rest []byte) error {
	if len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		return diag.Errorf(diag.Invalid, "there is more behind the JSON document")
	}
	return nil
}

// object is a JSON object whose keys are compared exactly, which encoding/json does not do for the fields of a struct.
type object map[string]json.RawMessage

// parseObject reads an object of a document that [checkJSON] has passed.
func parseObject(data []byte, what string) (object, error) {
	var o object
	if err := json.Unmarshal(data, &o); err != nil || o == nil {
		return nil, diag.Errorf(diag.Invalid, "%s is not a JSON object", what)
	}
	return o, nil
}

// has reports whether a key is there, with a value other than null.
func (o object) has(key string) bool {
	v, ok := o[key]
	return ok && string(v) != "null"
}

// text returns the string at a key, "" where there is none.
func (o object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(o[key], &s); err != nil {
		return "", diag.Errorf(diag.Invalid, "%s is not a text", key)
	}
	return s, nil
}

// list returns the elements of the list at a key.
func (o object) list(key string, most int) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(o[key], &all); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s is not a list", key)
	}
	if len(all) > most {
		return nil, diag.Errorf(diag.Invalid, "%s has %d entries, more than %d", key, len(all), most)
	}
	return all, nil
}

// encodeJSON returns v on one line, with nothing escaped that JSON does not ask for.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}
