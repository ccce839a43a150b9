package mcpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/stdio"
)

// lenient returns a transport over streams that answers a line that is not a message with an error, and goes on.
func lenient(t *mcp.IOTransport, batches func() bool) *mcp.IOTransport {
	in := &input{Closer: t.Reader, out: &lockedWriter{WriteCloser: t.Writer}, batches: batches}
	in.Filter = stdio.NewFilter(t.Reader, in.accept)
	return &mcp.IOTransport{Reader: in, Writer: in.out, MaxLineLength: 2 * stdio.MaxMessage}
}

// lockedWriter writes one message at a time.
type lockedWriter struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write writes a message.
func (w *lockedWriter) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(data)
}

// input selects the lines of a stream that are messages.
type input struct {
	io.Closer
	*stdio.Filter
	out     *lockedWriter
	batches func() bool // reports whether the version of the protocol has batches
}

// accept returns a line that is a message, and answers any other with an error.
func (in *input) accept(line []byte, tooLong bool) ([]byte, error) {
	switch wrong := in.wrong(line); {
	case tooLong:
		text := fmt.Sprintf("Parse error: the message is larger than %d bytes", stdio.MaxMessage)
		in.refuse(nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: text})
	case len(line) == 0:
	case wrong != nil:
		in.refuse(line, wrong)
	default:
		return append(line, '\n'), nil
	}
	return nil, nil
}

// wrong returns why a line is not a message, nil if it is one.
func (in *input) wrong(line []byte) *jsonrpc.Error {
	if !json.Valid(line) {
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeParseError,
			Message: "Parse error: the line is not JSON; each message must be one line of JSON",
		}
	}
	invalid := func(text string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + text}
	}
	if line[0] != '[' {
		if _, err := jsonrpc.DecodeMessage(line); err != nil {
			return invalid("the line is not a JSON-RPC 2.0 message")
		}
		return nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 {
		return invalid("the batch is empty")
	}
	if !in.batches() {
		return invalid("this version of the protocol does not support batches")
	}
	ids := map[jsonrpc.ID]bool{}
	for _, one := range all {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return invalid("the batch contains an invalid JSON-RPC 2.0 message")
		}
		if r, ok := m.(*jsonrpc.Request); ok {
			if ids[r.ID] {
				return invalid("two requests in the batch have the same id")
			}
			ids[r.ID] = true
		}
	}
	return nil
}

// refuse answers a line with an error, and with the line's id if it has one.
func (in *input) refuse(line []byte, wrong *jsonrpc.Error) {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(line, &m) // without an id, the answer's id is null
	switch m.ID.(type) {
	case string, float64:
	default:
		m.ID = nil
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": wrong})
	if err == nil {
		_, _ = in.out.Write(append(data, '\n')) // a client that is gone needs no answer
	}
}
