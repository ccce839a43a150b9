package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
)

const (
	maxTools       = 1000             // of one server
	maxDefinitions = 4 << 20          // bytes of their definitions
	connectLimit   = 30 * time.Second // to begin with a server
)

// server is one server behind the gateway.
type server struct {
	Upstream
	gateway *Gateway
	life    context.Context // in which connections are made: they outlive the call that asked for one

	connecting sync.Mutex // is held while a connection is made

	mu      sync.Mutex
	closed  bool
	session *mcp.ClientSession // nil while there is none
	end     func()             // frees what belongs to it
	tools   []*mcp.Tool
	calls   map[int64]*call // that are going on, by the token of their progress
	tokens  int64
}

func newServer(g *Gateway, u Upstream) *server {
	return &server{Upstream: u, gateway: g, life: context.Background(), calls: map[int64]*call{}, end: func() {}}
}

// known returns the tools that the server had last.
func (s *server) known() []*mcp.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// connected returns the connection, which is made where there is none.
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

// connect makes a connection, and shows the tools that there are.
func (s *server) connect() (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(s.life, connectLimit)
	defer cancel()
	transport, end, err := s.transport()
	if err != nil {
		return nil, s.unreached(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "skillpm", Version: s.gateway.options.Version}, s.clientOptions())
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		end()
		return nil, s.unreached(err)
	}
	tools, err := list(ctx, session)
	if err != nil {
		_ = session.Close() // the error is the list's
		end()
		return nil, s.unreached(err)
	}
	s.mu.Lock()
	s.session, s.end, s.tools = session, end, tools
	closed := s.closed
	s.mu.Unlock()
	if closed { // meanwhile
		s.drop(session)
		return nil, errors.New("the gateway is closed")
	}
	s.gateway.running.Go(func() {
		_ = session.Wait() // why it ended is what the next call finds out
		s.drop(session)
	})
	s.gateway.changed(s, tools)
	return session, nil
}

func (s *server) unreached(err error) error {
	return diag.Errorf(diag.Remote, "upstream %s: %w", s.Name, err)
}

// drop forgets a connection that has ended, or ends it.
func (s *server) drop(session *mcp.ClientSession) {
	s.mu.Lock()
	if s.session != session {
		s.mu.Unlock()
		return
	}
	end := s.end
	s.session, s.end = nil, func() {}
	s.mu.Unlock()
	_ = session.Close() // nothing more is to be had of it
	end()
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

// list returns the tools of a server, which are not more than there may be.
func list(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	if caps := session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil
	}
	var tools []*mcp.Tool
	size := 0
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if size += len(data); size > maxDefinitions || len(tools) == maxTools {
			return nil, fmt.Errorf("it has more than %d tools, or %d bytes of definitions", maxTools, maxDefinitions)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// relist asks for the tools once more.
func (s *server) relist(ctx context.Context, session *mcp.ClientSession) {
	tools, err := list(ctx, session)
	if err != nil {
		s.gateway.say(s, err.Error())
		return
	}
	s.mu.Lock()
	s.tools = tools
	s.mu.Unlock()
	s.gateway.changed(s, tools)
}

// say writes a line about a server for people.
func (g *Gateway) say(s *server, text string) {
	if g.options.Stderr == nil {
		return
	}
	text = strings.TrimPrefix(text, "upstream "+s.Name+": ")
	w := &lines{to: g.options.Stderr, name: s.Name}
	_, _ = w.Write([]byte(text + "\n")) // nobody else could be told
}
