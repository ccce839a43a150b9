package mcpserver

import (
	"context"
	"time"

	"github.com/skillpm/skillpm/pkg/runtime"
)

// SetPatience makes a server wait less for scripts, and report more often that they run.
func (s *Server) SetPatience(patience, beat time.Duration) { s.patience, s.beat = patience, beat }

// Panics makes a server panic at each request except initialize.
func (s *Server) Panics() {
	open := s.o.Open
	s.o.Open = func(ctx context.Context, r Request) (*runtime.Host, error) {
		if r.Host != "" {
			panic("a mistake")
		}
		return open(ctx, r)
	}
}
