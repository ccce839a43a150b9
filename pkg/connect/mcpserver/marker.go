package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// marker is the name of a hidden tool, prompt, and resource in the SDK. Requests to skillpm are answered through them,
// so that the SDK adapts the answers to each version of the protocol. Adding one again makes the SDK report that a list
// changed.
const marker = "skillpm-marker"

// markerURI is the URI of the hidden resource.
const markerURI = skillScheme + marker

type answerKey struct{}

// answered calls the function in a request's context.
func answered[P, R any](ctx context.Context, req P) (r R, err error) {
	f, ok := ctx.Value(answerKey{}).(func(context.Context, P) (R, error))
	if !ok {
		return r, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "tool, prompt, or resource not found"}
	}
	return f(ctx, req)
}

// answer returns a context with the function that answers a request.
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
