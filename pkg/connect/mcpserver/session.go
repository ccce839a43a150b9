package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// prefix begins the ids of the sessions of clients and connections, so that none is another program's.
const prefix = "mcp-"

// ending is the maximum time to end the skills of a closed connection.
const ending = 10 * time.Second

// sessionOf returns the id of a connection's own session, and creates it at first use. A connection for a single
// request has none.
func (s *Server) sessionOf(ss *mcp.ServerSession, extra *mcp.RequestExtra) (id string, ownSession bool) {
	if extra != nil && extra.Header != nil && ss.ID() == "" {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := s.sessions[ss]; id != "" {
		return id, true
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	id = prefix + hex.EncodeToString(b[:])
	s.sessions[ss] = id
	if ss.ID() == "" { // Run ends this connection's session
		return id, true
	}
	s.background.Go(func() {
		over := make(chan struct{})
		bug.Go(func() {
			defer close(over)
			_ = ss.Wait() // the reason is reported elsewhere
		})
		select {
		case <-over:
		case <-s.life.Done():
		}
		s.disconnected(ss)
	})
	return id, true
}

// disconnected ends a connection's own session.
func (s *Server) disconnected(ss *mcp.ServerSession) {
	s.mu.Lock()
	id := s.sessions[ss]
	delete(s.sessions, ss)
	s.mu.Unlock()
	if id != "" {
		s.jobs.stop(id)
		s.end(id)
	}
}

// stopJobs ends the jobs of a connection's own session.
func (s *Server) stopJobs(ss *mcp.ServerSession) {
	s.mu.Lock()
	id := s.sessions[ss]
	s.mu.Unlock()
	if id != "" {
		s.jobs.stop(id)
	}
}

// end ends the skills of a session.
func (s *Server) end(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), ending)
	defer cancel()
	h, err := s.o.Open(ctx, Request{Session: id})
	if err != nil {
		s.o.Logger.Warn("cannot end the session", "session", id, "error", err)
		return
	}
	if state, err := h.Session().State(); err == nil && !state.Known() {
		return
	}
	if _, err := h.Session().End(ctx); err != nil {
		s.o.Logger.Warn("cannot end the session", "session", id, "error", err)
	}
}
