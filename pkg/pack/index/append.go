package index

import (
	"bytes"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Append returns the file of a pack with a line for one more version. The version must be new.
func Append(path string, data []byte, l Line) ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return appendLine(path, data, l.Encode())
}

// AppendYank returns the file of a pack with a line that yanks a version for a reason. An empty reason restores it.
func AppendYank(path string, data []byte, version, reason string) ([]byte, error) {
	return appendNote(path, data, struct {
		Version string `json:"version"`
		Yanked  any    `json:"yanked"`
	}{version, textOrFalse(reason)})
}

// AppendDeprecate returns the file of a pack with a line that deprecates all versions with a message. An empty message
// ends that.
func AppendDeprecate(path string, data []byte, message string) ([]byte, error) {
	return appendNote(path, data, struct {
		Deprecated any `json:"deprecated"`
	}{textOrFalse(message)})
}

func textOrFalse(text string) any {
	if text == "" {
		return false
	}
	return text
}

// appendNote appends a line about versions that the file has.
func appendNote(path string, data []byte, l any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", path, err)
	}
	return appendLine(path, data, buf.Bytes())
}

// appendLine appends a line and parses the result, so that it never writes an invalid file.
func appendLine(path string, data, line []byte) ([]byte, error) {
	out := bytes.Clone(data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = append(out, line...)
	if _, err := Parse(path, out); err != nil {
		return nil, err
	}
	return out, nil
}
