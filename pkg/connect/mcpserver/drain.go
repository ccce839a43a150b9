package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is the maximum time for requests to be answered after the end of the input.
const grace = 2 * time.Second

// maxOpen is the maximum number of unanswered requests of a connection. The server reads no more until one is answered,
// so that a client which never reads its answers does not use up memory.
const maxOpen = 128

// cancelled is the method with which a client cancels a request.
const cancelled = "notifications/cancelled"

// draining is a transport that reports the end of the input only after all requests are answered. A client that writes
// some requests into a pipe and closes it gets the answers. A cancelled request gets none.
type draining struct{ mcp.Transport }

// Connect implements [mcp.Transport].
func (t *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConnection{
		Connection: c, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1),
		closed: make(chan struct{}),
	}, nil
}

type drainingConnection struct {
	mcp.Connection
	answered chan struct{} // has a value if a request was answered
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // the unanswered requests; true if they are cancelled
}

// Read returns the next message. It returns the end of the input after the answers.
func (c *drainingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	c.await(ctx, maxOpen, nil)
	m, err := c.Connection.Read(ctx)
	if err != nil {
		limit := time.NewTimer(grace)
		defer limit.Stop()
		c.await(ctx, 1, limit.C)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		c.note(r)
	}
	return m, nil
}

// note records a request, or that it is cancelled.
func (c *drainingConnection) note(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.open[r.ID] = false
		return
	}
	var p mcp.CancelledParams
	if r.Method != cancelled || json.Unmarshal(r.Params, &p) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(p.RequestID); err == nil {
		if _, ok := c.open[id]; ok {
			c.open[id] = true
		}
	}
}

// await waits until fewer than a number of requests are open, or for the time limit.
func (c *drainingConnection) await(ctx context.Context, most int, limit <-chan time.Time) {
	for {
		c.mu.Lock()
		open := len(c.open)
		c.mu.Unlock()
		if open < most {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-limit:
			return
		}
	}
}

// Write writes a message, unless it answers a cancelled request.
func (c *drainingConnection) Write(ctx context.Context, m jsonrpc.Message) (err error) {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	r.Error = coded(r.Error)
	c.mu.Lock()
	drop := c.open[r.ID]
	c.mu.Unlock()
	if !drop {
		err = c.Connection.Write(ctx, m)
	}
	c.mu.Lock()
	delete(c.open, r.ID)
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return err
}

// coded adds a code to an error of the SDK that has none, such as the one for a request before initialize.
func coded(err error) error {
	if err == nil {
		return nil
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// Close closes the connection.
func (c *drainingConnection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
