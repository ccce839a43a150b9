package evaluate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// Agent is a program that runs a prompt without a terminal.
type Agent struct {
	ID string // of the table of agents, or the command as the user wrote it

	title    string
	argv     []string // program and arguments
	skills   string   // its skill directory in a project
	headless *headless
}

// promptArgument is the argument of a command that stands for the prompt.
const promptArgument = "{prompt}"

// NewAgent returns the agent for an id or alias, or for a command. Arguments are added to its command line. A command
// gets the prompt as its argument {prompt}, or else on standard input. Its skill directory is that of the agent with
// the name of its program, or else [agent.Shared]. Abs resolves the path of a program.
func NewAgent(text string, arguments []string, getenv, abs func(string) string) (*Agent, error) {
	a := &Agent{ID: text, title: text, skills: agent.Shared}
	known, ok := agent.Find(text)
	if ok {
		a.ID, a.title, a.skills = known.ID, known.Title, known.Project
		i := slices.IndexFunc(headlessAgents, func(h headless) bool { return h.id == known.ID })
		if i < 0 {
			return nil, diag.Errorf(diag.Usage, "evaluations with %s are not supported", known.Title).
				WithHint("use %s, or a command that runs the agent, such as 'agent run %s'", textx.Or(AgentIDs()),
					promptArgument)
		}
		a.headless = &headlessAgents[i]
		a.argv = append([]string{a.headless.program}, a.headless.args...)
	} else {
		a.argv = skill.SplitArguments(text)
		if len(a.argv) == 0 {
			return nil, diag.Errorf(diag.Usage, "--agent is empty").
				WithHint("use %s, or a command", textx.Or(AgentIDs()))
		}
		if of, ok := agent.Find(strings.TrimSuffix(filepath.Base(a.argv[0]), ".exe")); ok {
			a.skills = of.Project
		}
	}
	switch program, found := environ.LookPath(a.argv[0], getenv("PATH")); {
	case strings.ContainsAny(a.argv[0], `/\`):
		a.argv[0] = abs(a.argv[0])
	case found:
		a.argv[0] = program
	case a.headless == nil && len(a.argv) == 1:
		_, err := agent.Lookup(text)
		return nil, err
	default:
		return nil, diag.Errorf(diag.NotFound, "%s is not installed: no directory on PATH contains %s", a.title,
			a.argv[0])
	}
	a.argv = append(a.argv, arguments...)
	return a, nil
}

// AgentIDs returns the ids of the agents that [NewAgent] knows how to run.
func AgentIDs() []string {
	ids := make([]string, len(headlessAgents))
	for i, h := range headlessAgents {
		ids[i] = h.id
	}
	return ids
}

// Title returns the agent's name for users.
func (a *Agent) Title() string { return a.title }

// Command returns the command line without a prompt, for users to see what runs.
func (a *Agent) Command() string { return strings.Join(a.argv, " ") }

// reports reports whether the agent's output shows which skills it activates.
func (a *Agent) reports() bool { return a.headless != nil }

// commandLine returns the command line for a prompt, and what it reads. A prompt is untrusted: it never begins like an
// option.
func (a *Agent) commandLine(prompt string) (argv []string, stdin string) {
	argv = slices.Clone(a.argv)
	given := false
	for i, arg := range argv {
		if i == 0 || !strings.Contains(arg, promptArgument) {
			continue
		}
		given = true
		if argv[i] = strings.ReplaceAll(arg, promptArgument, prompt); strings.HasPrefix(arg, promptArgument) {
			argv[i] = strings.TrimLeft(argv[i], "-")
		}
	}
	if given {
		return argv, ""
	}
	return argv, prompt
}
