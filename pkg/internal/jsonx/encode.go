package jsonx

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Marshal returns a value as JSON on one line. It does not escape <, >, and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Quote returns a text as a JSON string.
func Quote(s string) string {
	b, _ := Marshal(s) // encoding a string never fails
	return string(b)
}

// MarshalObject returns an object as JSON, with its members in the given order.
func MarshalObject(members iter.Seq2[string, any]) ([]byte, error) {
	b := []byte{'{'}
	for key, value := range members {
		if len(b) > 1 {
			b = append(b, ',')
		}
		for i, part := range []any{key, value} {
			text, err := Marshal(part)
			if err != nil {
				return nil, err
			}
			if b = append(b, text...); i == 0 {
				b = append(b, ':')
			}
		}
	}
	return append(b, '}'), nil
}
