package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Logging is on its way out of the protocol, and for clients of older versions the way to tell people something.

// tell logs something to a client. One that is gone, or does not want it, is told nothing.
func tell(ctx context.Context, ss *mcp.ServerSession, warning bool, about string, data any) {
	p := &mcp.LoggingMessageParams{Level: "info", Logger: about, Data: data} //nolint:staticcheck // see above
	if warning {
		p.Level = "warning"
	}
	_ = ss.Log(ctx, p) //nolint:staticcheck // see above
}

// tellUser tells people something about what is done for a request.
func (v *serving) tellUser(ctx context.Context, text string) {
	if text != "" {
		tell(ctx, v.ss, false, serverName, text)
	}
}
