package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

const (
	maxTools       = 1000             // per server
	maxDefinitions = 4 << 20          // bytes of the definitions of a server's tools
	connectLimit   = 30 * time.Second // to connect to a server
	closeLimit     = 4 * endLimit     // to end a connection, and to end all of them
)

// The pauses of a gateway, so that no server keeps it busy.
const (
	relistPause = time.Second     // between two lists of a server's tools
	againPause  = 5 * time.Second // before an unreachable server is tried again; doubles each time
	maxPause    = 5 * time.Minute

	progressPause = 100 * time.Millisecond // between two reports of a call's progress
	requestPause  = 100 * time.Millisecond // between two requests of a server, after requestBurst of them
)

const (
	requestBurst = 100
	maxQuestions = 4 // unanswered questions of a server to the user
)

// server is an MCP server behind the gateway.
type server struct {
	Upstream
	gateway *Gateway
	life    context.Context // the context of connections, which outlive the call that needed one

	connecting sync.Mutex // held while connecting

	requests  allowance
	questions chan struct{} // has a value for each unanswered question

	mu      sync.Mutex
	closed  bool
	session *mcp.ClientSession // nil if not connected
	end     func()             // frees the resources of the connection
	tools   []*mcp.Tool
	digest  string          // of the definitions of tools
	stale   bool            // the server reported that its tools changed
	listing bool            // a goroutine is listing the tools again
	calls   map[int64]*call // in progress, by progress token
	tokens  int64
}

func newServer(g *Gateway, u Upstream) *server {
	return &server{
		Upstream: u, gateway: g, life: context.Background(), calls: map[int64]*call{}, end: func() {},
		questions: make(chan struct{}, maxQuestions),
	}
}

// knownTools returns the tools of the last list.
func (s *server) knownTools() []*mcp.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// connected returns the connection, and connects first if there is none.
func (s *server) connected(ctx context.Context) (*mcp.ClientSession, error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	s.mu.Lock()
	session, closed := s.session, s.closed
	s.mu.Unlock()
	if session != nil {
		return session, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if closed {
		return nil, errors.New("the gateway is closed")
	}
	return s.connect()
}

// connect connects to the server, and offers its tools.
func (s *server) connect() (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(s.life, connectLimit)
	defer cancel()
	transport, end, err := s.transport()
	if err != nil {
		return nil, s.unavailable(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "skillpm", Version: s.gateway.options.Version}, s.clientOptions())
	if s.URL != "" { // the messages of a program are limited before they are queued
		client.AddReceivingMiddleware(s.limit)
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		end()
		return nil, s.unavailable(err)
	}
	tools, digest, err := list(ctx, session)
	if err != nil {
		finish(session, end)
		return nil, s.unavailable(err)
	}
	s.mu.Lock()
	if s.closed { // in the meantime
		s.mu.Unlock()
		finish(session, end)
		return nil, errors.New("the gateway is closed")
	}
	s.session, s.end, s.tools, s.digest = session, end, tools, digest
	s.gateway.running.Go(func() {
		_ = session.Wait() // the next call finds out why
		s.drop(session)
	})
	s.mu.Unlock()
	s.gateway.changed(s, tools)
	return session, nil
}

// unavailable returns the error for an unreachable server, without the URL, which may contain a credential.
func (s *server) unavailable(err error) error {
	if diag.HintOf(err) != "" {
		return diag.Errorf(diag.Remote, "upstream %s is not available: %w", s.Name, err).
			WithHint("%s", diag.HintOf(err))
	}
	if cause, ok := errors.AsType[*url.Error](err); ok {
		endpoint, _ := url.Parse(s.URL) // check has parsed it
		return diag.Errorf(diag.Remote, "upstream %s is not available: %s: %w", s.Name, endpoint.Host, cause.Err).
			WithHint("check the address of the upstream, and whether its server is running")
	}
	return diag.Errorf(diag.Remote, "upstream %s is not available: %w", s.Name, err).
		WithHint("run the command of the upstream by hand: the program must use the Model Context Protocol")
}

// finish ends a connection and frees its resources. It does not wait for unanswered questions of the server.
func finish(session *mcp.ClientSession, end func()) {
	ended := make(chan struct{})
	bug.Go(func() {
		defer close(ended)
		_ = session.Close() // its error changes nothing
	})
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
	}
	end()
}

// drop ends a connection, if it has not ended, and forgets it.
func (s *server) drop(session *mcp.ClientSession) {
	s.mu.Lock()
	if s.session != session {
		s.mu.Unlock()
		return
	}
	end := s.end
	s.session, s.end = nil, func() {}
	s.mu.Unlock()
	finish(session, end)
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	session := s.session
	s.mu.Unlock()
	if session != nil {
		s.drop(session)
	}
}

// list returns the tools of a server and a digest of their definitions. Too many or too large ones are an error.
func list(ctx context.Context, session *mcp.ClientSession) (tools []*mcp.Tool, digest string, err error) {
	if caps := session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, "", nil
	}
	size, sum := 0, sha256.New()
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, "", err
		}
		removeReserved(t)
		data, err := json.Marshal(t)
		if err != nil {
			return nil, "", err
		}
		if size += len(data); size > maxDefinitions || len(tools) == maxTools {
			return nil, "", fmt.Errorf("it has more than %d tools, or more than %d bytes of definitions", maxTools,
				maxDefinitions)
		}
		_, _ = sum.Write(append(data, '\n')) // writing to a hash never fails
		tools = append(tools, t)
	}
	return tools, string(sum.Sum(nil)), nil
}

// outdated requests the list of tools again. However often a server reports a change, there is one request at a time,
// and a pause before the next.
func (s *server) outdated(session *mcp.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.session != nil && s.session != session {
		return
	}
	s.stale = true
	if s.listing {
		return
	}
	s.listing = true
	s.gateway.running.Go(func() {
		for s.takeStale() {
			s.relist(session)
			pause(s.life, s.gateway.relist)
		}
	})
}

// takeStale reports whether the list has to be requested again.
func (s *server) takeStale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing = s.stale && !s.closed && s.life.Err() == nil
	s.stale = false
	return s.listing
}

// pause waits, or returns early if the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// relist requests the list of tools again.
func (s *server) relist(session *mcp.ClientSession) {
	s.mu.Lock()
	over := s.session != nil && s.session != session
	s.mu.Unlock()
	if over {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, connectLimit)
	defer cancel()
	tools, digest, err := list(ctx, session)
	if err != nil {
		if s.life.Err() == nil {
			s.gateway.warn(s.listError(err))
		}
		return
	}
	s.mu.Lock()
	same := s.digest == digest
	s.tools, s.digest = tools, digest
	s.mu.Unlock()
	if !same {
		s.gateway.changed(s, tools)
	}
}

// listError returns the error for a server whose tools cannot be listed.
func (s *server) listError(err error) error {
	return diag.Errorf(diag.Remote, "upstream %s reported changed tools, but did not list them: %w",
		s.Name, err)
}

// warn shows a problem of a server to the user.
func (g *Gateway) warn(err error) {
	if g.options.Stderr != nil {
		w := &lines{out: g.options.Stderr, name: "skillpm: warning"}
		text := strings.ReplaceAll(diag.TextOf(err), "\n", " ")
		_, _ = io.WriteString(w, text+"\n") // there is no other way to report it
	}
}
