package skillpm

import (
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// Options configure a [Client].
type Options = base.Options

// Event is a step of long work.
type Event = fetch.Event

// Base is what a [Client] shares with the clients of other packages: settings, sources, and the audit log.
type Base = base.Base

// NewBase returns a base. It touches neither disk nor network.
func NewBase(o Options) *Base { return base.New(o) }

// Client is the package manager for one directory and user.
type Client struct {
	*Base
	machine *workspace.Machine
}

// Open returns a client for the project that dir is in, with the directories, the environment, and the clock of the
// operating system.
func Open(dir string) (*Client, error) {
	o, err := DefaultOptions(dir)
	if err != nil {
		return nil, err
	}
	return New(o), nil
}

// DefaultOptions returns the options that [Open] uses for dir, for callers that change some of them before they call
// [New].
func DefaultOptions(dir string) (Options, error) {
	env, err := environ.Default(dir)
	return Options{Environment: env}, err
}

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client {
	b := base.New(o)
	return &Client{Base: b, machine: b.Machine}
}

// CheckSigners returns what is wrong with the key files that a rule of a policy names, nil if they are as it says.
func CheckSigners(r policy.Rule) error { return admission.CheckSigners(r) }
