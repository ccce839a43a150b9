// Package attach writes skillpm into the configuration of agents, its hooks and its MCP server, and takes it out again.
package attach

import (
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/tailscale/hujson"
)
