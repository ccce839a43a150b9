package gateway

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/stdio"
)

// messages returns the messages in a program's output. Every other line is shown to the user.
func messages(input io.Reader, show func(string)) io.Reader {
	return stdio.NewFilter(input, func(line []byte, tooLong bool) ([]byte, error) {
		if tooLong {
			return nil, fmt.Errorf("a message is larger than %d bytes", stdio.MaxMessage)
		}
		all := each(line)
		if all == nil && len(line) > 0 {
			show(string(line[:min(len(line), maxLine)]))
		}
		return all, nil
	})
}

// each returns the messages of a line, one per line, or nil.
func each(line []byte) []byte {
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
