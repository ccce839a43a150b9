package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/runtime/prompt"
)

// Preview is what a client's model gets of the server before it calls a tool.
type Preview struct {
	Instructions string
	Tools        []*mcp.Tool
	Listing      prompt.Listing // of the skills that the client's agent does not read itself; part of these texts
}

// Preview returns what the agent that the server was started for gets if its program has a version.
func (s *Server) Preview(ctx context.Context, version string) (*Preview, error) {
	h, err := s.o.Open(ctx, Request{})
	if err != nil {
		return nil, err
	}
	v := &serving{Server: s, host: h, view: s.viewOf(h), ownSession: true}
	v.client = &mcp.Implementation{Name: s.o.Agent, Version: version}
	v.peer = s.peerOf(v.client)
	p := &Preview{}
	if p.Instructions, p.Listing, err = v.instructions(ctx); err != nil {
		return nil, err
	}
	tools, l, err := v.tools(ctx)
	if p.Tools = tools; v.inDescription() {
		p.Listing = l
	}
	return p, err
}
