package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// clientOptions returns the handlers of servers' requests. Questions to the user go to the client that made the call.
func (s *server) clientOptions() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // a result with a question goes to the caller
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			select {
			case s.questions <- struct{}{}:
				defer func() { <-s.questions }()
			default:
				return nil, fmt.Errorf("upstream %s has %d unanswered questions; the limit is reached", s.Name,
					maxQuestions)
			}
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
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			s.progress(req.Params.ProgressToken, func() *mcp.ProgressNotificationParams { return req.Params })
		},
	}
}

// attributed adds the server's name to its question, so that the user does not take it for skillpm's.
func (s *server) attributed(p *mcp.ElicitParams) *mcp.ElicitParams {
	question := *p
	removeReserved(&question)
	question.Message = s.Name + " asks: " + p.Message
	return &question
}

// progress forwards the progress of a call to the caller: the latest one, and at most one in each progressPause. It is
// read only then.
func (s *server) progress(token any, read func() *mcp.ProgressNotificationParams) {
	number, ok := token.(float64)
	if !ok || number != math.Trunc(number) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[int64(number)]
	if c == nil || c.token == nil || c.client == nil {
		return
	}
	c.latest = read
	if c.active {
		return
	}
	c.active = true
	bug.Go(func() {
		for s.sendProgress(c) {
			pause(s.life, progressPause)
		}
	})
}

// isWanted reports whether the gateway handles a message of a server. It drops what it does not forward, such as log
// messages, and what a server sends too often, before it is queued.
func (s *server) isWanted(m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	switch {
	case !ok || r.Method == "notifications/cancelled":
		return true
	case r.IsCall():
		return s.requests.take()
	case r.Method == "notifications/progress":
		var p struct {
			ProgressToken any `json:"progressToken"`
		}
		if json.Unmarshal(r.Params, &p) == nil {
			s.progress(p.ProgressToken, func() *mcp.ProgressNotificationParams { return readProgress(r.Params) })
		}
		return false
	case r.Method == "notifications/tools/list_changed":
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.stale
	}
	return false
}

// readProgress returns the progress in a notification, or nil if it is invalid.
func readProgress(params json.RawMessage) *mcp.ProgressNotificationParams {
	p := new(mcp.ProgressNotificationParams)
	if json.Unmarshal(params, p) != nil {
		return nil
	}
	return p
}

// limit refuses what a server requests too often.
func (s *server) limit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !strings.HasPrefix(method, "notifications/") && !s.requests.take() {
			return nil, fmt.Errorf("upstream %s sends too many requests", s.Name)
		}
		return next(ctx, method, req)
	}
}

// allowance limits how often something may happen: requestBurst times at once, and then once in each requestPause.
type allowance struct {
	mu   sync.Mutex
	full time.Time // when all of it is available again
}

// take reports whether it may happen now.
func (a *allowance) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now() //nolint:forbidigo // a limit in real time
	if a.full.Before(now) {
		a.full = now
	}
	if a.full.Sub(now) >= requestBurst*requestPause {
		return false
	}
	a.full = a.full.Add(requestPause)
	return true
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
