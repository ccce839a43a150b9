package sign

import (
	"bytes"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// checkJSON rejects JSON that two programs could read differently, and JSON that is too large or too deep. Keys that
// differ in case are different, because [object] compares them exactly.
func checkJSON(data []byte, limit int) error {
	return jsonx.Check(data, jsonx.Options{MaxBytes: limit, ExactKeys: true})
}

// object is a JSON object whose keys are compared exactly. encoding/json ignores case for the fields of a struct.
type object map[string]json.RawMessage

// parseObject parses an object of a document that [checkJSON] has accepted.
func parseObject(data []byte, what string) (object, error) {
	var o object
	if err := json.Unmarshal(data, &o); err != nil || o == nil {
		return nil, diag.Errorf(diag.Invalid, "%s is not a JSON object", what)
	}
	return o, nil
}

// has reports whether a key exists with a value other than null.
func (o object) has(key string) bool {
	v, ok := o[key]
	return ok && string(v) != "null"
}

// text returns the string value of a key, or "".
func (o object) text(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(o[key], &s); err != nil {
		return "", diag.Errorf(diag.Invalid, "%s is not a string", key)
	}
	return s, nil
}

// list returns the elements of a list value.
func (o object) list(key string, most int) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(o[key], &all); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s is not a list", key)
	}
	if len(all) > most {
		return nil, diag.Errorf(diag.Invalid, "%s has %d entries; the limit is %d", key, len(all), most)
	}
	return all, nil
}

// encodeJSON returns v on one line, without optional escapes.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, diag.Errorf(diag.Internal, "%w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}
