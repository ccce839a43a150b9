// Package gateway connects to other MCP servers, and passes their tools on as long as a check of each call allows it.
package gateway

import _ "github.com/modelcontextprotocol/go-sdk/mcp"
