package gateway

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/stdio"
)

// messages returns the wanted messages in a program's output. Every other line is shown to the user.
func messages(input io.Reader, show func(string), isWanted func(jsonrpc.Message) bool) io.Reader {
	return stdio.NewFilter(input, func(line []byte, tooLong bool) ([]byte, error) {
		if tooLong {
			return nil, fmt.Errorf("a message is larger than %d bytes", stdio.MaxMessage)
		}
		all, valid := each(line, isWanted)
		if !valid && len(line) > 0 {
			show(string(line[:min(len(line), maxLine)]))
		}
		return all, nil
	})
}

// each returns the wanted messages of a line, one per line, and whether the line has a message.
func each(line []byte, isWanted func(jsonrpc.Message) bool) (out []byte, valid bool) {
	if len(line) == 0 {
		return nil, false
	}
	all := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &all) != nil {
		return nil, false
	}
	for _, one := range all {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			continue
		}
		if valid = true; !isWanted(m) {
			continue
		}
		out = append(append(out, one...), '\n')
	}
	return out, valid
}
