package gateway

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// longest is how long the name of a tool is here at most: hosts put mcp__skillpm__ before it, and models know tools by
// names of 64 characters.
const longest = 64 - len("mcp__skillpm__")

// exposed returns the name under which a tool of a server is called here: one that models can know. Of a name that they
// cannot, a digest keeps it apart from others.
func exposed(server, name string) string {
	full := server + "__" + name
	safe := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, full)
	if safe == full && len(full) <= longest {
		return full
	}
	digest := textx.SHA256(full)[:8]
	return safe[:min(len(safe), longest-len(digest)-1)] + "_" + digest
}

// agentToolName returns the name by which lists of allowed tools know a tool of a server.
func agentToolName(server, name string) string { return "mcp__" + server + "__" + name }
