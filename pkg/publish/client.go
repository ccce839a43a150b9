package publish

import "github.com/skillpm/skillpm/pkg/skillpm/provider"

// Options is what a [Client] needs of the world around it.
type Options = provider.ToolOptions

// Client does an author's work in one directory, for one user.
type Client struct{ *provider.Tools }

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client { return &Client{Tools: provider.NewTools(o)} }
