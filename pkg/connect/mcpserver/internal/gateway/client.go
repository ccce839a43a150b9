package gateway

import (
	"context"
	"fmt"
	"math"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientOptions are what servers may ask of us: what they ask of the user is asked of whoever called.
func (s *server) clientOptions() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // a result that asks goes to whoever called
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
			s.outdated(req.Session) // which does not wait: the answer is read by whoever calls this
		},
		ProgressNotificationHandler: s.progress,
	}
}

// attributed returns a question with who asks it, which the user would else take for skillpm's.
func (s *server) attributed(p *mcp.ElicitParams) *mcp.ElicitParams {
	question := *p
	question.Message = s.Name + " asks: " + p.Message
	return &question
}

// progress tells whoever called how far a call is.
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
	_ = c.client.NotifyProgress(ctx, &p) // who does not listen any more has no progress
}

// caller returns who has a call going on, if it is one alone: a server does not say for which call it asks.
func (s *server) caller() (*mcp.ServerSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *mcp.ServerSession
	for _, c := range s.calls {
		if c.client == nil || found != nil && found != c.client {
			return nil, fmt.Errorf("several clients call %s, and it is not known whom it asks", s.Name)
		}
		found = c.client
	}
	if found == nil {
		return nil, fmt.Errorf("%s asks, and nobody called it", s.Name)
	}
	return found, nil
}
