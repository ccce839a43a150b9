package mcpserver

import (
	"context"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// sessionKey is the key in a request's _meta with the session of a client without its own connection.
const sessionKey = "skillpm/session"

// stateless is the first version of the protocol without sessions.
const stateless = "2026-07-28"

// maxHandle is the maximum length of a session's name that a client chooses, in characters.
const maxHandle = 128

// serving answers one request.
type serving struct {
	*Server
	host       *runtime.Host
	view       *profile.Profile
	client     *mcp.Implementation // nil if it is unknown
	peer       *peer               // nil if it is not an agent
	ss         *mcp.ServerSession
	meta       map[string]any
	id         string // of the session
	ownSession bool   // the connection or the server has a session; otherwise the client may name one
	token      any    // the client's progress token, nil for none
	protocol   string // the version of the protocol
}

// The keys of values in the context of a request.
type (
	servingKey struct{}
	requestKey struct{}
)

// open prepares the answer to a request. A call's arguments may name the session.
func (s *Server) open(ctx context.Context, req mcp.Request, named string) (*serving, error) {
	v := &serving{Server: s, id: s.o.Session, ownSession: true}
	v.ss, _ = req.GetSession().(*mcp.ServerSession)
	if p := v.ss.InitializeParams(); p != nil {
		v.client, v.protocol = p.ClientInfo, p.ProtocolVersion
	}
	v.peer = s.peerOf(v.client)
	if p := req.GetParams(); p != nil && !reflect.ValueOf(p).IsNil() {
		v.meta = p.GetMeta()
		if t, ok := p.(mcp.RequestParams); ok {
			v.token = t.GetProgressToken()
		}
	}
	if version, ok := v.meta[mcp.MetaKeyProtocolVersion].(string); ok {
		v.protocol = version
	}
	if v.id == "" {
		v.id, v.ownSession = s.sessionOf(v.ss, req.GetExtra())
	}
	if !v.ownSession {
		if named == "" {
			named, _ = v.meta[sessionKey].(string)
		}
		if len(named) > maxHandle {
			return nil, invalid(diag.Errorf(diag.Usage,
				"the name of the session is longer than %d characters", maxHandle))
		}
		if named != "" {
			v.id = prefix + named
		}
	}
	request := Request{Session: v.id}
	if v.client != nil {
		request.Host = clean(v.client.Name)
	}
	if text, ok := v.meta["traceparent"].(string); ok {
		request.Trace = audit.ParseTraceparent(text)
	}
	var err error
	if v.host, err = s.o.Open(ctx, request); err != nil {
		return nil, problem(err)
	}
	v.view = s.viewOf(v.host)
	return v, nil
}

// clean returns the name of a client for audit records.
func clean(name string) string {
	const most = 64
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, name)
	return name[:min(len(name), most)]
}

// check returns why another server's tool must not be called now.
func (s *Server) check(ctx context.Context, c tool.Call) error {
	v, ok := ctx.Value(servingKey{}).(*serving)
	if !ok {
		return diag.Errorf(diag.Internal, "cannot identify the caller of %s", c.Tool)
	}
	verdict, err := v.host.Session().Allow(ctx, c)
	if err != nil {
		return err
	}
	if err := v.rewordError(verdict.Err()); err != nil {
		return explainedError{err}
	}
	return nil
}

// explainedError is an error whose text includes the hint.
type explainedError struct{ error }

// Error returns the error and its hint.
func (t explainedError) Error() string { return diag.ModelTextOf(t.error) }

// Unwrap returns the error.
func (t explainedError) Unwrap() error { return t.error }

// serve answers requests about skills, and leaves the rest to the SDK. It recovers from a panic, so that one client
// cannot end the others' requests.
func (s *Server) serve(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.o.Logger.Error("the handler of a request panicked", "method", method, "panic", r, "stack",
					string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{
					Code:    jsonrpc.CodeInternalError,
					Message: "internal error in skillpm",
				}
			}
		}()
		ctx = context.WithValue(ctx, requestKey{}, req)
		switch r := req.(type) {
		case *mcp.CallToolRequest:
			return s.call(ctx, r, next)
		case *mcp.ListToolsRequest:
			return s.listTools(ctx, r, next)
		case *mcp.ListPromptsRequest:
			return s.listPrompts(ctx, r)
		case *mcp.GetPromptRequest:
			return s.getPrompt(ctx, r, next)
		case *mcp.ListResourcesRequest:
			return s.listResources(ctx, r)
		case *mcp.ListResourceTemplatesRequest:
			return listTemplates(), nil
		case *mcp.ReadResourceRequest:
			return s.readResource(ctx, r, next)
		case *mcp.SubscriptionsListenRequest:
			if v, err := s.open(ctx, req, ""); err == nil {
				v.watched(ctx)
			}
		}
		res, err = next(ctx, method, req)
		if err != nil { // a typed nil would not be equal to nil
			return nil, err
		}
		switch r := res.(type) {
		case *mcp.InitializeResult:
			s.startLogging(ctx, req, next)
			err = s.instruct(ctx, req, &r.Instructions)
		case *mcp.DiscoverResult:
			err = s.instruct(ctx, req, &r.Instructions)
		}
		return res, err
	}
}

// invalid returns a protocol error for invalid parameters.
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: diag.ModelTextOf(err)}
}

// problem returns an error as a protocol error.
func problem(err error) error {
	switch diag.CodeOf(err) {
	case diag.Usage, diag.Invalid, diag.NotFound, diag.Denied, diag.Conflict:
		return invalid(err)
	}
	return err
}
