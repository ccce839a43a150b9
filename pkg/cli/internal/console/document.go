package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// SchemaVersion is the version of all documents that --json prints. It changes if a field is renamed or removed, or
// gets values of another type.
const SchemaVersion = 1

// Document describes what a command prints with --json, for its schema in schema/output.
type Document struct {
	Command string   // its name without "skillpm", such as "log verify"
	Others  []string // other commands that print the same
	// Types has a value of each type that the command passes to PrintJSON. Several mean that flags or arguments select
	// one.
	Types []any
}

// ErrorDocument is what any command prints with --json if it fails.
type ErrorDocument struct {
	Error Failure `json:"error"` // error of the failed command
}

// Failure is the error of a failed command.
type Failure struct {
	Code    string         `json:"code"`             // name of the exit code, such as not-found
	Exit    int            `json:"exit"`             // exit code
	Message string         `json:"message"`          // message that names the failed operation and the reason
	Hint    string         `json:"hint"`             // suggestion for the next step; "" if skillpm has no suggestion
	Edited  []skillpm.Edit `json:"edited,omitempty"` // installed skills whose local edits stopped the command

	// updates with new capabilities, because of which a policy stopped the command
	Increases []skillpm.Increase `json:"increases,omitempty"`
}

// WriteLine writes a value as one line of JSON, for streams.
func WriteLine(w io.Writer, v any) error { return writeJSONText(w, v, "\n") }

// WriteJSONText writes a value as JSON without a line end.
func WriteJSONText(w io.Writer, v any) error { return writeJSONText(w, v, "") }

func writeJSONText(w io.Writer, v any, end string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escaped(strings.TrimSuffix(b.String(), "\n"))+end)
	return err
}

// WriteDocument writes an object as an indented document that begins with its schemaVersion.
func WriteDocument(w io.Writer, v any) error {
	document, err := versioned(v)
	if err != nil {
		return err
	}
	return WriteJSON(w, document)
}

// WriteDocumentLine writes an object as a document in one line.
func WriteDocumentLine(w io.Writer, v any) error {
	document, err := versioned(v)
	if err != nil {
		return err
	}
	return WriteLine(w, document)
}

// versioned returns an object with its schemaVersion.
func versioned(v any) (json.RawMessage, error) {
	var object bytes.Buffer
	enc := json.NewEncoder(&object)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withLists(v)); err != nil {
		return nil, err
	}
	fields, ok := bytes.CutPrefix(bytes.TrimSpace(object.Bytes()), []byte("{"))
	if !ok {
		return nil, errors.New("a document must be a JSON object")
	}
	text := fmt.Appendf(nil, `{"schemaVersion":%d`, SchemaVersion)
	if !bytes.Equal(fields, []byte("}")) {
		text = append(text, ',')
	}
	return append(text, fields...), nil
}

// VersionDocument is the output of "version --json".
type VersionDocument struct {
	Version string `json:"version"` // version of skillpm
	Go      string `json:"go"`      // version of the Go toolchain that built it
	OS      string `json:"os"`      // operating system in the form of GOOS, such as linux
	Arch    string `json:"arch"`    // processor architecture in the form of GOARCH, such as amd64
}
