package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is how many bytes a message of a server has at most.
const maxMessage = 16 << 20

// messages are the lines of a program that are messages, one a line. What else it prints is told to people.
type messages struct {
	from *bufio.Reader
	say  func(string)
	rest []byte // of what is to be read
}

func newMessages(from io.Reader, say func(string)) *messages {
	return &messages{from: bufio.NewReaderSize(from, 64<<10), say: say}
}

// Read reads from the next message.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		if err != nil {
			return 0, err
		}
		if m.rest = each(line); m.rest == nil && len(bytes.TrimSpace(line)) > 0 {
			m.say(string(line[:min(len(line), maxLine)]))
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line returns the next line. The last may have no end.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		part, err := m.from.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, fmt.Errorf("a message has more than %d bytes", maxMessage)
		}
		line = append(line, part...)
		switch {
		case err == nil, err == io.EOF && len(line) > 0:
			return line, nil
		case err != bufio.ErrBufferFull: //nolint:errorlint // likewise
			return nil, err
		}
	}
}

// each returns the messages that a line has, each on a line of its own; nil for none.
func each(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	all := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &all) != nil {
		return nil
	}
	var out []byte
	for _, one := range all {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			continue
		}
		out = append(append(out, one...), '\n')
	}
	return out
}
