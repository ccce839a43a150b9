package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// Options configure a server.
type Options struct {
	// Profiles are the ids of profiles if the client selects none; empty means those of the project's skillpm.yaml,
	// else the default one.
	Profiles []string

	Version string           // of skillpm, for the client
	OS      string           // as runtime.GOOS: the form of paths, and whether files have executable bits
	Home    string           // the user's home directory, which is not a project
	Locks   []string         // lockfiles of skills that are installed for every project
	Now     func() time.Time // for suppressions that expire
	Delay   time.Duration    // how long to wait after the last change before a check
}

// Serve serves a client over two streams, until it sends exit, its stream ends, or ctx is cancelled. Nothing else may
// be written to w. The error, with code Internal, is that the client exited without a shutdown request.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	caller := ctx
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	wire := newStream(r, w)
	s := &server{
		ctx: ctx, conn: jsonrpc2.NewConn(wire), exited: make(chan struct{}), checks: newChecks(),
		calls: map[jsonrpc2.ID]context.CancelFunc{},
		view: &view{
			shared: newShared(o), docs: map[string]*document{}, profiles: o.Profiles,
			client: client{encoding: utf16Units},
		},
	}
	s.methods = s.table()
	written := make(chan struct{})
	bug.Go(func() { defer close(written); wire.send() })
	s.tasks.Go(func() { s.check(ctx) })
	s.conn.Go(ctx, s.handle)
	err := s.wait(ctx)
	cancel()
	s.tasks.Wait()
	wire.finish()
	if caller.Err() == nil { // send all answers before the process ends
		<-written
	}
	return err
}

// wait returns when the connection ends.
func (s *server) wait(ctx context.Context) error {
	var reason string
	select {
	case <-s.exited:
		reason = "the client sent exit"
	case <-s.conn.Done():
		reason = "the client's stream ended"
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	s.state = stateExited
	if err := ctx.Err(); err != nil || state == stateShutdown {
		return err
	}
	return diag.Errorf(diag.Internal, "%s before the shutdown request", reason)
}

// server is one connection.
type server struct {
	ctx     context.Context // ends with the connection
	conn    jsonrpc2.Conn
	methods map[string]method
	tasks   bug.WaitGroup // goroutines that must end before the server
	checks  *checks
	exited  chan struct{}

	mu    sync.Mutex // guards the fields below
	view  *view
	state state
	calls map[jsonrpc2.ID]context.CancelFunc // requests that are being answered
}

// state is the state of the connection.
type state int

const (
	stateNew state = iota
	stateRunning
	stateShutdown
	stateExited
)

// method handles one kind of message. It receives the parameters and the view when the message arrived; it returns a
// function that runs concurrently with other messages, or nil.
type method func(params json.RawMessage, v *view) (answer, error)

type answer func(ctx context.Context) (any, error)

// request makes a method from a function over a view.
func request[P any](f func(*view, context.Context, *P) (any, error)) method {
	return func(params json.RawMessage, v *view) (answer, error) {
		p := new(P)
		if err := json.Unmarshal(params, p); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%v", err)
		}
		return func(ctx context.Context) (any, error) { return f(v, ctx, p) }, nil
	}
}

// notification makes a method from a function that changes the server's state, in the order of the messages.
func notification[P any](f func(*P)) method {
	return func(params json.RawMessage, _ *view) (answer, error) {
		p := new(P)
		if err := json.Unmarshal(params, p); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%v", err)
		}
		f(p)
		return nil, nil
	}
}

func (s *server) table() map[string]method {
	return map[string]method{
		protocol.MethodInitialized: func(json.RawMessage, *view) (answer, error) {
			s.initialized()
			return nil, nil
		},
		protocol.MethodTextDocumentDidOpen:                notification(s.didOpen),
		protocol.MethodTextDocumentDidChange:              notification(s.didChange),
		protocol.MethodTextDocumentDidSave:                notification(s.didSave),
		protocol.MethodTextDocumentDidClose:               notification(s.didClose),
		protocol.MethodWorkspaceDidChangeConfiguration:    notification(s.didChangeConfiguration),
		protocol.MethodWorkspaceDidChangeWatchedFiles:     notification(s.didChangeFiles),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: notification(s.didChangeFolders),
		protocol.MethodTextDocumentHover:                  request((*view).hover),
		protocol.MethodTextDocumentCompletion:             request((*view).complete),
		protocol.MethodTextDocumentDocumentLink:           request((*view).documentLinks),
		protocol.MethodTextDocumentCodeAction: request(func(v *view, ctx context.Context,
			p *protocol.CodeActionParams,
		) (any, error) {
			return s.actions(ctx, v, p)
		}),
	}
}

// handle handles a message. It returns at once: slow requests run concurrently with the next messages.
func (s *server) handle(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
	call, isCall := req.(*jsonrpc2.Call)
	respond := func(result any, err error) {
		if isCall {
			// a client that is gone shows when the next message is read
			_ = reply(context.WithoutCancel(ctx), result, err)
		}
	}
	switch req.Method() {
	case protocol.MethodInitialize:
		respond(s.initialize(req.Params()))
		return nil
	case protocol.MethodShutdown:
		respond(nil, s.shutdown())
		return nil
	case protocol.MethodExit:
		s.exit()
		return nil
	case protocol.MethodCancelRequest:
		s.cancel(req.Params())
		return nil
	}
	v, err := s.ready()
	if err != nil {
		respond(nil, err)
		return nil
	}
	m := s.methods[req.Method()]
	if m == nil {
		respond(nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "unknown method %s", req.Method()))
		return nil
	}
	do, err := m(req.Params(), v)
	if err != nil || do == nil {
		respond(nil, err)
		return nil
	}
	if !isCall {
		return nil
	}
	s.begin(ctx, call.ID(), func(ctx context.Context) { respond(s.answer(ctx, req.Method(), do)) })
	return nil
}

// answer answers a request. A panic fails the request and not the server.
func (s *server) answer(ctx context.Context, name string, do answer) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "internal error in %s: %v", name, p)
			s.log(protocol.MessageTypeError, fmt.Sprintf("%v\n%s", err, debug.Stack()))
		}
	}()
	result, err = do(ctx)
	if ctx.Err() != nil {
		return nil, protocol.ErrRequestCancelled
	}
	if err != nil && !errors.As(err, new(*jsonrpc2.Error)) {
		err = jsonrpc2.Errorf(jsonrpc2.InternalError, "%v", err)
	}
	return result, err
}

// begin answers a request beside others; until it is answered it can be cancelled.
func (s *server) begin(ctx context.Context, id jsonrpc2.ID, do func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stateExited {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.calls[id] = cancel
	s.tasks.Go(func() {
		do(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
		cancel()
	})
}

// cancel cancels a request.
func (s *server) cancel(params json.RawMessage) {
	var p struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.calls[p.ID]; cancel != nil {
		cancel()
	}
}

// ready returns the view, or an error if the server is not running.
func (s *server) ready() (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stateNew:
		return nil, jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "the first request must be \"initialize\"")
	case stateRunning:
		return s.view, nil
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server is shut down")
}

func (s *server) shutdown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stateNew:
		return jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "the first request must be \"initialize\"")
	case stateRunning:
		s.state = stateShutdown
		return nil
	}
	return jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server is shut down")
}

func (s *server) exit() {
	select {
	case <-s.exited:
	default:
		close(s.exited)
	}
}

// currentView returns the view.
func (s *server) currentView() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view
}

// update replaces the view.
func (s *server) update(change func(*view)) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view = s.view.with(change)
	return s.view
}

// notify sends a notification. The next read notices a client that is gone.
func (s *server) notify(method string, params any) {
	_ = s.conn.Notify(s.ctx, method, params)
}

func (s *server) log(kind protocol.MessageType, message string) {
	s.notify(protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: kind, Message: message})
}

func (s *server) warn(message string) {
	s.notify(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{
		Type:    protocol.MessageTypeWarning,
		Message: message,
	})
}
