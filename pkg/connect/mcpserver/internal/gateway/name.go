package gateway

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// longest is the maximum length of a tool's name here: agents prefix it with mcp__skillpm__, and models accept names of
// at most 64 characters.
const longest = 64 - len("mcp__skillpm__")

// exposed returns the name of a server's tool here: one that models accept. A name that is too long or has other
// characters is shortened and gets a digest, so that it stays unique.
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

// agentToolName returns the name of a server's tool in lists of allowed tools.
func agentToolName(server, name string) string { return "mcp__" + server + "__" + name }
