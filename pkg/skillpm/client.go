package skillpm

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/store"
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
type Event struct {
	Text string // what is being done, as "fetching acme/deploy 1.4.0"
	Done bool   // the work is over, Text is empty
}

// Client is the package manager for one directory and user.
type Client struct {
	Options
	sources sources
	storeMu sync.Mutex
	store   *store.Store
	keyOnce sync.Once
	key     []byte
}

// New returns a client. It touches neither disk nor network.
func New(o Options) *Client {
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	return &Client{Options: o, sources: sources{options: o}}
}

// openStore returns the content-addressed store, opened once.
func (c *Client) openStore() (*store.Store, error) {
	c.storeMu.Lock()
	defer c.storeMu.Unlock()
	if c.store != nil {
		return c.store, nil
	}
	s, err := store.Open(c.Paths.Store())
	if err != nil {
		return nil, err
	}
	c.store = s
	return s, nil
}

// abs returns path as an absolute path, relative ones being relative to the client's directory.
func (c *Client) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.Dir, path)
}

// Close frees what the client holds: temporary clones and idle connections.
func (c *Client) Close() { c.sources.close() }
