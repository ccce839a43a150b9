package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is how long the answers to requests may take that came before the end of the input.
const grace = 2 * time.Second

// patient is a transport whose end is told when what came before it is answered, so that whoever writes some requests
// into a pipe gets the answers.
type patient struct{ mcp.Transport }

// Connect returns the connection.
func (t *patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConnection{
		Connection: c, open: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1),
		closed: make(chan struct{}),
	}, nil
}

type patientConnection struct {
	mcp.Connection
	idle   chan struct{} // has something when nothing is open after there was something
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // the requests that are not answered
}

// Read returns the next message. The end waits for the answers.
func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
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

func (c *patientConnection) await(ctx context.Context) {
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
func (c *patientConnection) Write(ctx context.Context, m jsonrpc.Message) error {
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

// coded gives an error a code that has none: one that the SDK has for what comes out of turn, as a request before
// initialize.
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
func (c *patientConnection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
