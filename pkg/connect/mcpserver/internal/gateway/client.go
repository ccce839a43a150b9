package gateway

import (
	"context"
	"fmt"
	"math"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientOptions returns the handlers of servers' requests. Questions to the user go to the client that made the call.
func (s *server) clientOptions() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // a result with a question goes to the caller
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			client, err := s.caller()
			if err != nil {
				return nil, err
			}
			if p := client.InitializeParams(); p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
				return &mcp.ElicitResult{Action: "cancel"}, nil
			}
			return client.Elicit(ctx, s.attributed(req.Params))
		},
		ToolListChangedHandler: func(_ context.Context, req *mcp.ToolListChangedRequest) {
			s.outdated(req.Session) // it does not wait: the goroutine that calls it reads the answer
		},
		ProgressNotificationHandler: s.progress,
	}
}

// attributed adds the server's name to its question, so that the user does not take it for skillpm's.
func (s *server) attributed(p *mcp.ElicitParams) *mcp.ElicitParams {
	question := *p
	question.Message = s.Name + " asks: " + p.Message
	return &question
}

// progress forwards the progress of a call to the caller.
func (s *server) progress(ctx context.Context, req *mcp.ProgressNotificationClientRequest) {
	number, ok := req.Params.ProgressToken.(float64)
	if !ok || number != math.Trunc(number) {
		return
	}
	s.mu.Lock()
	c := s.calls[int64(number)]
	s.mu.Unlock()
	if c == nil || c.token == nil || c.client == nil {
		return
	}
	p := *req.Params
	p.ProgressToken = c.token
	_ = c.client.NotifyProgress(ctx, &p) // a caller that is gone needs no progress
}

// caller returns the client that has a call in progress if there is exactly one: a server's question does not identify
// the call.
func (s *server) caller() (*mcp.ServerSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *mcp.ServerSession
	for _, c := range s.calls {
		if c.client == nil || found != nil && found != c.client {
			return nil, fmt.Errorf(
				"cannot assign a question of upstream %s to a client: several clients call the upstream", s.Name)
		}
		found = c.client
	}
	if found == nil {
		return nil, fmt.Errorf("upstream %s sent a request outside of a call", s.Name)
	}
	return found, nil
}
