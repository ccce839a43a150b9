package mcpserver

import "github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"

// Gateway is connected to other MCP servers. With its method Attach as [Options].Attach, the server offers their tools,
// and checks each call.
type Gateway = gateway.Gateway

// GatewayOptions describe the servers behind a gateway.
type GatewayOptions = gateway.Options

// Upstream is an MCP server behind a gateway: a program, or a URL.
type Upstream = gateway.Upstream

// OpenGateway returns a gateway that is not connected yet. The error has code Usage for an invalid upstream.
func OpenGateway(o GatewayOptions) (*Gateway, error) { return gateway.Open(o) }

// ParseUpstream parses NAME=COMMAND LINE, whose words are split as a shell does, or NAME=URL.
func ParseUpstream(text string) (Upstream, error) { return gateway.ParseFlag(text) }

// ParseUpstreams parses a file of MCP servers as agents keep it, such as .mcp.json. It may have comments, and variables
// of the environment as ${NAME} and ${NAME:-default}. It leaves out a server called skillpm: that is this one.
func ParseUpstreams(path string, data []byte, getenv func(string) string) ([]Upstream, error) {
	return gateway.ParseConfig(path, data, getenv)
}
