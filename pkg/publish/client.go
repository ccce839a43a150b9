package publish

import "github.com/skillpm/skillpm/pkg/skillpm"

// Options configure a [Client].
type Options = skillpm.Options

// Client does an author's work in one directory, for one user.
type Client struct{ *skillpm.Base }

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client { return &Client{Base: skillpm.NewBase(o)} }
