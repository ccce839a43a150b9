package skillpm

import (
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/provider"
	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/workspace"
)

// Options is what a [Client] needs of the world around it.
type Options struct {
	Dir      string              // absolute directory that the verbs work in
	Paths    scope.Paths         // where the user's files are
	Config   string              // user settings file; "" for the default place
	Getenv   func(string) string // the environment
	Now      func() time.Time    // the clock
	OS       string              // as runtime.GOOS
	Version  string              // skillpm's own version
	Progress func(Event)         // told of long work; may be nil
}

// Event is a step of long work.
type Event = provider.Event

// Client is the package manager for one directory and user.
type Client struct {
	Options
	machine *workspace.Machine
	mu      sync.Mutex
	sources *provider.Sources
}

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client {
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	return &Client{Options: o, machine: workspace.NewMachine(workspace.Options{
		Dir: o.Dir, Paths: o.Paths, Config: o.Config, Getenv: o.Getenv, OS: o.OS, Version: o.Version,
		Now:     o.Now,
		Waiting: func() { o.Progress(Event{Text: "waiting for another skillpm, which is changing the same scope"}) },
	})}
}

// packSources returns what packs are fetched from, made when it is first needed with the user's settings.
func (c *Client) packSources(config *project.Config) *provider.Sources {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources == nil {
		c.sources = provider.NewSources(provider.SourceOptions{
			Dir: c.Dir, Paths: c.Paths, Getenv: c.Getenv, OS: c.OS, Version: c.Version, GitProgram: config.Git, Now: c.Now,
		})
	}
	return c.sources
}

// userSources is packSources with the settings as they are on disk.
func (c *Client) userSources() (*provider.Sources, error) {
	config, err := c.machine.UserConfig()
	if err != nil {
		return nil, err
	}
	return c.packSources(config), nil
}

// Close frees what the client holds: temporary clones and idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources != nil {
		c.sources.Close()
	}
}
