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
)

// Options says what a server is for.
type Options struct {
	// Profiles are the ids of the hosts that skills are for, where the client names none; empty means those of the
	// project's skillpm.yaml, else the default one.
	Profiles []string

	Version string           // of skillpm, which the client is told
	OS      string           // as runtime.GOOS: how paths look, and whether files have executable bits
	Home    string           // the user's home directory, in which no project is
	Locks   []string         // locks of skills that are installed whatever the project
	Now     func() time.Time // for suppressions that end
	Delay   time.Duration    // how long nothing must be typed before a skill is checked
}

// Serve talks to a client over two streams, until it says exit, its stream ends, or ctx is cancelled. Nothing else is
// written to w. The error, with code Internal, is that the client left without asking for the shutdown first.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	caller := ctx
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	wire := newStream(r, w)
	s := &server{
		ctx: ctx, conn: jsonrpc2.NewConn(wire), exited: make(chan struct{}), checks: newChecks(),
		calls: map[jsonrpc2.ID]context.CancelFunc{},
		view: &view{
			library: newLibrary(o), docs: map[string]*document{}, profiles: o.Profiles,
			client: client{encoding: utf16Units},
		},
	}
	s.methods = s.table()
	sent := make(chan struct{})
	go func() { defer close(sent); wire.send() }()
	s.work.Go(func() { s.check(ctx) })
	s.conn.Go(ctx, s.handle)
	err := s.wait(ctx)
	cancel()
	s.work.Wait()
	wire.finish()
	if caller.Err() == nil { // what was answered goes out before the process ends
		<-sent
	}
	return err
}

// wait returns when the connection is over.
func (s *server) wait(ctx context.Context) error {
	var left string
	select {
	case <-s.exited:
		left = "the client said exit"
	case <-s.conn.Done():
		left = "the client's stream ended"
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.state
	s.state = gone
	if err := ctx.Err(); err != nil || was == down {
		return err
	}
	return diag.Errorf(diag.Internal, "%s before it asked for the shutdown", left)
}

// server is one connection.
type server struct {
	ctx     context.Context // ends with the connection
	conn    jsonrpc2.Conn
	methods map[string]method
	work    sync.WaitGroup // what must end before the server does
	checks  *checks
	exited  chan struct{}

	mu    sync.Mutex // of what follows
	view  *view
	state state
	calls map[jsonrpc2.ID]context.CancelFunc // requests that are being answered
}

// state is how far the connection is.
type state int

const (
	fresh state = iota
	running
	down
	gone
)

// method answers one kind of message. It is given the parameters and the view at the time when the message came; what
// it returns is called beside other messages, unless it is nil.
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

// notice makes a method from a function that changes the server's state, in the order in which messages come.
func notice[P any](f func(*P)) method {
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
		protocol.MethodTextDocumentDidOpen:                notice(s.opened),
		protocol.MethodTextDocumentDidChange:              notice(s.changed),
		protocol.MethodTextDocumentDidSave:                notice(s.saved),
		protocol.MethodTextDocumentDidClose:               notice(s.closed),
		protocol.MethodWorkspaceDidChangeConfiguration:    notice(s.configurationChanged),
		protocol.MethodWorkspaceDidChangeWatchedFiles:     notice(s.filesChanged),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: notice(s.foldersChanged),
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

// handle takes a message. It returns at once: what takes time goes on beside the next message.
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
		respond(nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "%s is not known", req.Method()))
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

// answer works a request out. A defect ends the request and not the server.
func (s *server) answer(ctx context.Context, name string, do answer) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "a defect in skillpm, in %s: %v", name, p)
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
	if s.state == gone {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.calls[id] = cancel
	s.work.Go(func() {
		do(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
		cancel()
	})
}

// cancel ends a request that the client has no use for any more.
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

// ready returns the view, or why messages are not answered.
func (s *server) ready() (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case fresh:
		return nil, jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "the first message must be initialize")
	case running:
		return s.view, nil
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server is shut down")
}

func (s *server) shutdown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case fresh:
		return jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "the first message must be initialize")
	case running:
		s.state = down
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

// now returns the view.
func (s *server) now() *view {
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

// tell sends a notification. A client that is gone shows when the next message is read.
func (s *server) tell(method string, params any) {
	_ = s.conn.Notify(s.ctx, method, params)
}

func (s *server) log(kind protocol.MessageType, message string) {
	s.tell(protocol.MethodWindowLogMessage, &protocol.LogMessageParams{Type: kind, Message: message})
}

func (s *server) warn(message string) {
	s.tell(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{
		Type:    protocol.MessageTypeWarning,
		Message: message,
	})
}
