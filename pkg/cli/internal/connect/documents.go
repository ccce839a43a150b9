package connect

import (
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// agentsDocument is the output of "agents --json".
type agentsDocument struct {
	Agents []*agentStatus `json:"agents"` // all supported agents, or the agents that arguments name
}

// budgetDocument is the output of "budget --json".
type budgetDocument struct {
	Agents []*agentCost `json:"agents"` // agents in use, or the agents that --agent names
	Skills []skillCost  `json:"skills"` // listed skills, those with the longest descriptions first
}

// connectDocument is the output of "connect --json" and "disconnect --json".
type connectDocument struct {
	Agents []*connected `json:"agents"` // changes for each agent
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{Command: "agents", Types: []any{agentsDocument{}}},
		{Command: "budget", Types: []any{budgetDocument{}}},
		{Command: "connect", Others: []string{"disconnect"}, Types: []any{connectDocument{}}},
	}
}
