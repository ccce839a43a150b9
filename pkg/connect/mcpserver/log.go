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

// tellUser logs a message about a request for the user.
func (v *serving) tellUser(ctx context.Context, text string) {
	if text != "" {
		tell(ctx, v.ss, false, serverName, text)
	}
}
