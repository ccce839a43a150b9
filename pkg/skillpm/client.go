package skillpm

import (
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/provider"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// Options is what a [Client] needs of the world around it.
type Options = provider.ToolOptions

// Event is a step of long work.
type Event = provider.Event

// Client is the package manager for one directory and user.
type Client struct {
	*provider.Tools
	machine *workspace.Machine
}

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client {
	t := provider.NewTools(o)
	return &Client{Tools: t, machine: t.Machine}
}

// packSources returns what packs are fetched from, made when it is first needed with the user's settings.
func (c *Client) packSources(config *pack.Config) *provider.Sources { return c.Sources(config) }
