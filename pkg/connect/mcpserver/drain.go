package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is the maximum time for requests to be answered after the end of the input.
const grace = 2 * time.Second

// draining is a transport that reports the end of the input only after all requests are answered. A client that writes
// some requests into a pipe and closes it gets the answers.
type draining struct{ mcp.Transport }

// Connect implements [mcp.Transport].
func (t *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConnection{
		Connection: c, open: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1),
		closed: make(chan struct{}),
	}, nil
}

type drainingConnection struct {
	mcp.Connection
	idle   chan struct{} // has a value if the last open request was answered
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // the unanswered requests
}

// Read returns the next message. It returns the end of the input after the answers.
func (c *drainingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.await(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	return m, nil
}

func (c *drainingConnection) await(ctx context.Context) {
	limit := time.NewTimer(grace)
	defer limit.Stop()
	for {
		c.mu.Lock()
		open := len(c.open)
		c.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-limit.C:
			return
		}
	}
}

// Write writes a message.
func (c *drainingConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		r.Error = coded(r.Error)
	}
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		select {
		case c.idle <- struct{}{}:
		default:
		}
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
