package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxInput is how many bytes a message on standard input has at most.
const maxInput = 16 << 20

// lenient returns a transport over streams on which a line that is no message is answered with an error, and ends
// nothing.
func lenient(t *mcp.IOTransport, batches func() bool) *mcp.IOTransport {
	out := &whole{WriteCloser: t.Writer}
	in := &input{Closer: t.Reader, from: bufio.NewReaderSize(t.Reader, 64<<10), out: out, batches: batches}
	return &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: 2 * maxInput}
}

// whole writes one message at a time.
type whole struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write writes a message.
func (w *whole) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(data)
}

// input are the lines of a stream that are messages.
type input struct {
	io.Closer
	from    *bufio.Reader
	out     io.Writer
	batches func() bool // whether the protocol that is spoken has them
	rest    []byte      // of what is to be read
}

// Read reads from the next message.
func (in *input) Read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		line, long, err := in.line()
		if err != nil {
			return 0, err
		}
		switch wrong := in.wrong(line); {
		case long:
			in.refuse(nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("Parse error: a message has at most %d bytes", maxInput)})
		case len(line) == 0:
		case wrong != nil:
			in.refuse(line, wrong)
		default:
			in.rest = append(line, '\n')
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// line returns the next line without its end, or that it was too long. The last may have no end.
func (in *input) line() (line []byte, long bool, err error) {
	for {
		part, err := in.from.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxInput; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == nil, err == io.EOF && (long || len(line) > 0):
			return bytes.TrimSpace(line), long, nil
		case err != bufio.ErrBufferFull: //nolint:errorlint // likewise
			return nil, false, err
		}
	}
}

// wrong returns why a line is no message, nil if it is one.
func (in *input) wrong(line []byte) *jsonrpc.Error {
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "Parse error: the line is not JSON; a message of the Model Context Protocol is one line"}
	}
	invalid := func(text string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + text}
	}
	if line[0] != '[' {
		if _, err := jsonrpc.DecodeMessage(line); err != nil {
			return invalid("it is not a message of JSON-RPC 2.0")
		}
		return nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 {
		return invalid("it is an empty batch")
	}
	if !in.batches() {
		return invalid("the version of the protocol that is spoken has no batches")
	}
	ids := map[jsonrpc.ID]bool{}
	for _, one := range all {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return invalid("what is in the batch is not a message of JSON-RPC 2.0")
		}
		if r, ok := m.(*jsonrpc.Request); ok {
			if ids[r.ID] {
				return invalid("two requests of the batch have one id")
			}
			ids[r.ID] = true
		}
	}
	return nil
}

// refuse answers a line. The id is that of the line, if it has one.
func (in *input) refuse(line []byte, wrong *jsonrpc.Error) {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(line, &m) // null is the id of what has none
	switch m.ID.(type) {
	case string, float64:
	default:
		m.ID = nil
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": wrong})
	if err == nil {
		_, _ = in.out.Write(append(data, '\n')) // who does not listen is told nothing
	}
}
