package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// peer is the agent at the other end of a connection, with its profile.
type peer struct {
	agent.Agent
	profile *profile.Profile
}

// peerOf returns the agent that the server was started for or, if none is set, the one that a client says it is. It
// returns nil for any other program.
func (s *Server) peerOf(client *mcp.Implementation) *peer {
	id := s.o.Agent
	if id == "" && client != nil {
		id = strings.TrimSuffix(client.Name, "-mcp-client")
	}
	a, ok := agent.Find(id)
	if !ok {
		return nil
	}
	if known, ok := s.peers.Load(a.ID); ok {
		p, _ := known.(*peer)
		return p
	}
	pr, err := profile.Lookup(a.ID)
	if err != nil {
		return nil
	}
	p := &peer{a, pr}
	s.peers.Store(a.ID, p)
	return p
}

// limits returns how much the client reads of the server's texts.
func (v *serving) limits() profile.Limits {
	version := ""
	if v.client != nil {
		version = v.client.Version
	}
	if v.peer != nil {
		return v.peer.profile.LimitsOf(version)
	}
	return v.view.LimitsOf(version)
}

// owned are the skills that an agent reads itself.
type owned struct {
	dirs  map[string]bool    // the real directories
	texts map[[2]string]bool // the names and descriptions, for copies
}

// owned returns the skills that the client's agent reads itself, nil if it reads none.
func (v *serving) owned(ctx context.Context) (*owned, error) {
	if v.peer == nil {
		return nil, nil
	}
	c, err := v.host.Native(ctx, v.peer.Agent, v.peer.profile)
	if err != nil || len(c.Skills()) == 0 {
		return nil, err
	}
	own := &owned{dirs: map[string]bool{}, texts: map[[2]string]bool{}}
	for _, k := range c.Skills() {
		own.dirs[realDir(k.Dir)] = true
		own.texts[[2]string{k.Name, k.Description}] = true
	}
	return own, nil
}

// has reports whether the agent reads a skill itself. A skill without a directory is not one of them.
func (o *owned) has(name, description, dir string) bool {
	return o != nil && (o.texts[[2]string{name, description}] || o.dirs[realDir(dir)])
}

// realDir returns a directory without links, or as it is if it does not exist.
func realDir(dir string) string {
	if real, err := pathx.ResolveExisting(dir); err == nil {
		return real
	}
	return dir
}

// split returns the skills that only this server offers to the model, and those that the agent reads itself.
func (v *serving) split(ctx context.Context) (served, own []prompt.Entry, err error) {
	entries, err := v.host.Entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	o, err := v.owned(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if o.has(e.Name, e.Description, e.Dir) {
			own = append(own, e)
		} else {
			served = append(served, e)
		}
	}
	return served, own, nil
}
