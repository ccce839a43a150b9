package profile

import (
	_ "embed"
	"fmt"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// Native is how an agent lists the skills that it reads itself for its model.
type Native struct {
	// Tested is the version of the program on which the listing was measured; "" if it follows documentation only.
	Tested string `yaml:"tested"`
	// Window is the size of the context window of the agent's default model, in tokens; 0 if it is unknown.
	Window int `yaml:"window"`
	// Parts are the texts with skills, one after the other.
	Parts []NativePart `yaml:"parts"`
}

// NativePart is one text with skills.
type NativePart struct {
	// Left means that the part lists only the skills that do not fit into the one before it.
	Left bool `yaml:"left"`
	// Reserved is how many characters of the limit the agent's own skills take.
	Reserved int `yaml:"reserved"`

	Stage1 `yaml:",inline"`
}

// Cap returns the number of characters after which the agent cuts every description, 0 for none.
func (n *Native) Cap() int {
	if len(n.Parts) == 0 {
		return 0
	}
	return n.Parts[0].Cap
}

// Variable returns the environment variable that replaces the agent's limit of characters, "" for none.
func (n *Native) Variable() string {
	if len(n.Parts) == 0 {
		return ""
	}
	return n.Parts[0].Budget.Variable
}

//go:embed native/agents.yaml
var nativeFile []byte

// NativeOf returns how an agent lists its skills. An agent whose listing was not measured is taken to follow the client
// guide of agentskills.io.
func NativeOf(a agent.Agent) (*Native, error) {
	var all map[string]*Native
	if err := yamlx.Unmarshal(nativeFile, &all); err != nil {
		return nil, fmt.Errorf("listings of agents: %w", err)
	}
	if n := all[a.ID]; n != nil {
		return n, nil
	}
	p, err := read(Default + suffix)
	if err != nil {
		return nil, err
	}
	return &Native{Parts: []NativePart{{Stage1: p.Stage1}}}, nil
}
