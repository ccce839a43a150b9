package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Logging is deprecated in the protocol. Clients of older versions show it to the user.

// tell logs to a client, unless the client is gone or did not enable logging.
func tell(ctx context.Context, ss *mcp.ServerSession, warning bool, about string, data any) {
	p := &mcp.LoggingMessageParams{Level: "info", Logger: about, Data: data} //nolint:staticcheck // see above
	if warning {
		p.Level = "warning"
	}
	_ = ss.Log(ctx, p) //nolint:staticcheck // see above
}

// startLogging sends the messages of the server to a client that does not choose a level. Without that, it would not
// learn of the end of a task.
func (s *Server) startLogging(ctx context.Context, req mcp.Request, next mcp.MethodHandler) {
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	_, err := next(ctx, "logging/setLevel", &mcp.ServerRequest[*mcp.SetLoggingLevelParams]{ //nolint:staticcheck // see above
		Session: ss, Params: &mcp.SetLoggingLevelParams{Level: "info"}, //nolint:staticcheck // see above
	})
	if err != nil {
		s.o.Logger.Warn("cannot set the level of messages", "error", err)
	}
}

// tellUser logs a message about a request for the user.
func (v *serving) tellUser(ctx context.Context, text string) {
	if text != "" {
		tell(ctx, v.ss, false, serverName, text)
	}
}
