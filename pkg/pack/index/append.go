package index

import (
	"bytes"
	"encoding/json"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Append returns data, the file of a pack, with a line for one more version. It is an error if the version is there.
func Append(path string, data []byte, l Line) ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return appendLine(path, data, l.Encode())
}

// AppendYank returns data, the file of a pack, with a line that withdraws a version for the given reason; an empty
// reason restores it.
func AppendYank(path string, data []byte, version, reason string) ([]byte, error) {
	return appendNote(path, data, struct {
		Version string `json:"version"`
		Yanked  any    `json:"yanked"`
	}{version, orFalse(reason)})
}

// AppendDeprecate returns data, the file of a pack, with a line that advises against the pack, all versions of it, with
// the given message; an empty message takes the advice back.
func AppendDeprecate(path string, data []byte, message string) ([]byte, error) {
	return appendNote(path, data, struct {
		Deprecated any `json:"deprecated"`
	}{orFalse(message)})
}

func orFalse(text string) any {
	if text == "" {
		return false
	}
	return text
}

// appendNote appends a line that says something about what was published above.
func appendNote(path string, data []byte, l any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", path, err)
	}
	return appendLine(path, data, buf.Bytes())
}

// appendLine appends and reads the result back, so that what is written is always what can be read.
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
