package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// marker is the name of a tool, a prompt and a resource that the SDK has and nobody sees. What is asked of skillpm is
// asked of these, so that the SDK does to the answers what each version of the protocol wants; and that a list changed
// is told when one is added to it once more.
const marker = "skillpm-marker"

// markerURI is the address of the resource.
const markerURI = skillScheme + marker

type answerKey struct{}

// answered calls what a request's context has for it.
func answered[P, R any](ctx context.Context, req P) (r R, err error) {
	f, ok := ctx.Value(answerKey{}).(func(context.Context, P) (R, error))
	if !ok {
		return r, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such thing"}
	}
	return f(ctx, req)
}

// answer returns a context with what answers a request.
func answer[P, R any](ctx context.Context, f func(context.Context, P) (R, error)) context.Context {
	return context.WithValue(ctx, answerKey{}, f)
}

// mark adds the markers.
func (s *Server) mark() {
	s.sdk.AddTool(&mcp.Tool{Name: marker, InputSchema: map[string]any{"type": "object"}},
		answered[*mcp.CallToolRequest, *mcp.CallToolResult])
	s.sdk.AddPrompt(&mcp.Prompt{Name: marker}, answered[*mcp.GetPromptRequest, *mcp.GetPromptResult])
	s.sdk.AddResource(&mcp.Resource{URI: markerURI, Name: marker},
		answered[*mcp.ReadResourceRequest, *mcp.ReadResourceResult])
}
