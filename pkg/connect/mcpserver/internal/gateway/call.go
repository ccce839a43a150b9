package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// progressToken is the key of the progress token in a call's _meta.
const progressToken = "progressToken"

// call is a call in progress.
type call struct {
	client *mcp.ServerSession                    // the caller
	token  any                                   // the caller's progress token, nil for none
	notify func(*mcp.ProgressNotificationParams) // sends progress to the caller

	sending sync.Mutex // held while progress is sent
	// the fields below are guarded by the server's lock
	latest func() *mcp.ProgressNotificationParams // reads the progress to send, nil for none
	active bool                                   // a goroutine sends progress
}

// handler forwards the calls of one tool.
func (s *server) handler(name string, check Check) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments, err := object(req.Params.Arguments)
		if err != nil {
			return failed("the arguments of %s are not a JSON object: %v", agentToolName(s.Name, name), err), nil
		}
		if err := check(ctx, tool.Call{Tool: agentToolName(s.Name, name), Input: arguments}); err != nil {
			return failed("%v", err), nil
		}
		session, err := s.connected(ctx)
		if err != nil {
			return failed("%v", err), nil
		}
		params := &mcp.CallToolParams{
			Meta: maps.Clone(req.Params.Meta), Name: name, Arguments: arguments,
			InputResponses: req.Params.InputResponses, RequestState: req.Params.RequestState,
		}
		delete(params.Meta, progressToken)
		maps.DeleteFunc(params.Meta, func(key string, _ any) bool { return strings.HasPrefix(key, "skillpm/") })
		own := s.begin(&call{
			client: req.Session, token: req.Params.GetProgressToken(),
			notify: func(p *mcp.ProgressNotificationParams) {
				_ = req.Session.NotifyProgress(ctx, p) // a caller that is gone needs no progress
			},
		})
		defer s.finish(own)
		if req.Params.GetProgressToken() != nil {
			params.SetProgressToken(own)
		}
		res, err := session.CallTool(ctx, params)
		return s.result(ctx, session, name, res, err)
	}
}

// result returns the result of a call.
func (s *server) result(ctx context.Context, session *mcp.ClientSession, name string, res *mcp.CallToolResult,
	err error,
) (*mcp.CallToolResult, error) {
	if err == nil {
		removeReserved(res)
		for id, request := range res.InputRequests {
			if question, ok := request.(*mcp.ElicitParams); ok {
				res.InputRequests[id] = s.attributed(question)
			}
		}
		return res, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && !errors.Is(err, mcp.ErrConnectionClosed) {
		return nil, wire
	}
	s.drop(session)
	return failed(
		"upstream %s exited or became unreachable during the call of %s: %v; the effect of the call is unknown", s.Name,
		name, err), nil
}

// failed returns an error for the model as a result.
func failed(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}},
	}
}

// object decodes the arguments of a call. Numbers keep their spelling.
func object(data json.RawMessage) (map[string]any, error) {
	arguments := map[string]any{}
	if len(bytes.TrimSpace(data)) == 0 {
		return arguments, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&arguments); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the object")
	}
	if arguments == nil { // null
		arguments = map[string]any{}
	}
	return arguments, nil
}

func (s *server) begin(c *call) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	s.calls[s.tokens] = c
	return s.tokens
}

// finish ends a call. The caller gets the last progress before the result.
func (s *server) finish(token int64) {
	s.mu.Lock()
	c := s.calls[token]
	delete(s.calls, token)
	s.mu.Unlock()
	s.sendProgress(c)
}

// sendProgress sends the latest progress of a call, and reports whether there was one.
func (s *server) sendProgress(c *call) bool {
	c.sending.Lock()
	defer c.sending.Unlock()
	s.mu.Lock()
	read := c.latest
	c.latest, c.active = nil, read != nil
	s.mu.Unlock()
	if read == nil {
		return false
	}
	if p := read(); p != nil {
		removeReserved(p)
		p.ProgressToken = c.token
		c.notify(p)
	}
	return true
}
