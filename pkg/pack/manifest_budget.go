package pack

import (
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// Budget is how many tokens the list of the project's skills may cost an agent.
type Budget struct {
	Agent  agent.Agent
	Tokens int

	Line, Column int // of the agent's id in the file
}

// maxBudget is the largest budget, more than any model's context window.
const maxBudget = 1 << 30

// budgets reads the mapping of agents to tokens.
func budgets(v yamlx.Value) (list []Budget) {
	for id, v := range v.Fields() {
		a, err := agent.Lookup(id)
		if !v.Key().Check(err) {
			continue
		}
		key := v.Key().Node
		list = append(list, Budget{Agent: a, Tokens: int(v.Int(maxBudget)), Line: key.Line, Column: key.Column})
	}
	return list
}
