package mcpserver

import "time"

// SetPatience has a server wait less for scripts, and say more often that they run.
func (s *Server) SetPatience(patience, beat time.Duration) { s.patience, s.beat = patience, beat }
