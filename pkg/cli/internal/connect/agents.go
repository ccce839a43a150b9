package connect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newAgents(a *app) *cobra.Command {
	var check, all bool
	o := &connectFlags{}
	cmd := &cobra.Command{
		Use:   "agents [AGENT...]",
		Short: "List agents and their connections",
		Long: `Each row shows the id of an agent, whether the agent is detected, what is connected in which
scope, and the version of the agent that skillpm is tested with. Connections marked "from
documentation" have not been tested with the program. Without --all, the table contains only
agents that are detected, connected, or named.

Warnings show which agents need attention. Foreign hooks and MCP servers belong to another
program. "skillpm connect" updates stale hooks and MCP servers. Broken hooks and MCP servers
are in a file that skillpm cannot read.

With --check, the exit code is 3 if a detected or named agent needs attention, or if a named
agent is not connected.`,
		Example: `  skillpm agents
  skillpm agents --all
  skillpm agents claude-code --check`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.listAgents(o, args, check, all)
		},
		ValidArgsFunction: completeAgents,
	}
	cmd.Flags().BoolVar(&check, "check", false, "exit 3 if an agent needs attention")
	cmd.Flags().BoolVar(&all, "all", false, "list all agents in the table")
	cmd.Flags().StringVar(&o.command, "command", "",
		"check that agents start `PROGRAM` instead of the path of this program")
	return cmd
}

// agentStatus is an agent in the output.
type agentStatus struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Detected  bool              `json:"detected"`
	Tested    string            `json:"tested,omitempty"` // newest version of the program that tests have run
	Connected []string          `json:"connected"`        // connected parts with their scopes, such as "skills (project)"
	Attention []string          `json:"attention"`
	Entries   []*connect.Result `json:"entries"`
}

func (a *app) listAgents(o *connectFlags, ids []string, check, all bool) error {
	e, err := a.attachEnv(false)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, h := range detected(e) {
		found[h.ID] = true
	}
	var agents []connect.Agent
	for _, id := range ids {
		h, err := findAgent(id)
		if err != nil {
			return err
		}
		agents = append(agents, h)
	}
	if len(ids) == 0 {
		for _, id := range agent.IDs() {
			if h, err := findAgent(id); err == nil && id != agent.SharedID {
				agents = append(agents, h)
			}
		}
	}
	links := a.linkedDirs(e)
	list := []*agentStatus{}
	wrong := false
	for _, h := range agents {
		s, err := a.agentStatus(o, e, h, found[h.ID])
		if err != nil {
			return err
		}
		links.mark(s, h.Agent)
		list = append(list, s)
		wrong = wrong || len(s.Attention) > 0 && (s.Detected || len(ids) > 0) || len(ids) > 0 && len(s.Connected) == 0
	}
	slices.SortStableFunc(list, func(x, y *agentStatus) int { return rank(x) - rank(y) })
	if err := a.printAgents(list, all || len(ids) > 0); err != nil {
		return err
	}
	if check && wrong {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}

// skillLinks are the directories with links to skills, the agents that a manifest names, and those that connect linked
// skills for, by scope.
type skillLinks map[string]*scopeLinks

type scopeLinks struct {
	*skillpm.ListReport
	linked []string // ids
}

// linkedDirs returns the links of the project and of the user.
func (a *app) linkedDirs(e connect.Env) skillLinks {
	links := skillLinks{}
	c, err := a.Client()
	if err != nil {
		return links
	}
	for _, in := range []string{scope.KindProject, scope.KindUser} {
		if in == scope.KindProject && e.Project == "" {
			continue
		}
		if list, err := c.List(context.Background(), in); err == nil && len(list.Packs) > 0 {
			links[in] = &scopeLinks{list, e.LinkRecord(list.Manifest, list.ManifestData).Agents}
		}
	}
	return links
}

// mark adds the links that an agent reads. Many agents read the same directory: an agent that is neither detected, nor
// connected, nor named in the manifest is not connected by links that other agents need.
func (l skillLinks) mark(s *agentStatus, row agent.Agent) {
	var texts []string
	for _, in := range []string{scope.KindProject, scope.KindUser} {
		list, dir := l[in], row.Project
		if in == scope.KindUser {
			dir = row.User
		}
		if list == nil || !slices.ContainsFunc(list.Agents, func(d skillpm.AgentDir) bool { return d.Dir == dir }) {
			continue
		}
		if s.Detected || len(s.Entries) > 0 || slices.ContainsFunc(list.Named, row.Is) ||
			slices.Contains(list.linked, row.ID) {
			texts = append(texts, "skills ("+in+")")
		}
	}
	s.Connected = append(texts, s.Connected...)
}

// unseen is the rank of agents that are neither detected nor connected.
const unseen = 2

// rank orders agents: connected, detected, others.
func rank(s *agentStatus) int {
	switch {
	case len(s.Connected) > 0 || len(s.Attention) > 0:
		return 0
	case s.Detected:
		return 1
	}
	return unseen
}

// agentStatus returns the state of one agent.
func (a *app) agentStatus(o *connectFlags, e connect.Env, h connect.Agent, found bool) (*agentStatus, error) {
	s := &agentStatus{
		ID: h.ID, Title: h.Title, Detected: found, Tested: h.Tested, Connected: []string{}, Attention: []string{},
		Entries: []*connect.Result{},
	}
	attend := func(text string) {
		if !slices.Contains(s.Attention, text) {
			s.Attention = append(s.Attention, text)
		}
	}
	for _, kind := range []connect.Kind{connect.Hook, connect.MCP} {
		for _, in := range h.Scopes(kind) {
			if e.Project == "" && in == connect.Project {
				continue
			}
			one := connect.Options{Kind: kind, Agent: h, Scope: in}
			var err error
			if one.Program, err = o.program(in); err != nil {
				return nil, err
			}
			r, err := connect.Status(e, one)
			if err != nil {
				return nil, err
			}
			if r.State == connect.Missing {
				continue
			}
			s.Entries = append(s.Entries, r)
			what := entryNames[kind] + " (" + string(in) + ")"
			if r.State == connect.Installed {
				s.Connected = append(s.Connected, what)
			} else {
				attend(what + " " + string(r.State) + ": " + r.Reason)
			}
			for _, obstacle := range r.Obstacles {
				attend(obstacle.String())
			}
		}
	}
	return s, nil
}

// printAgents prints agents as rows, but only the ids of the last ones, which are not detected, unless all is set.
func (a *app) printAgents(list []*agentStatus, all bool) error {
	if a.JSON {
		return a.PrintJSON(agentsDocument{list})
	}
	rows, others := [][]string{{"AGENT", "NAME", "DETECTED", "CONNECTED", "TESTED"}}, []string{}
	for _, s := range list {
		if !all && rank(s) == unseen {
			others = append(others, s.ID)
			continue
		}
		found := "-"
		if s.Detected {
			found = "yes"
		}
		rows = append(rows, []string{
			s.ID, s.Title, found, cmp.Or(byScope(s.Connected), "-"),
			cmp.Or(s.Tested, agent.FromDocumentation),
		})
	}
	if err := a.Paged(func() error {
		if len(rows) == 1 {
			fmt.Fprintln(a.Stdout, "No agents detected.")
			return a.printOthers("Supported", others)
		}
		if err := console.Table(a.Stdout, rows); err != nil {
			return err
		}
		return a.printOthers("Also supported", others)
	}); err != nil {
		return err
	}
	for _, s := range list {
		for _, text := range s.Attention {
			a.Warn("%s", about(s.Title, text))
		}
		for _, r := range s.Entries {
			for _, n := range r.Notes {
				a.Note("note: %s", about(s.Title, n))
			}
		}
	}
	return nil
}

// byScope joins entries such as "hooks (project)", and names each scope once: "skills, hooks (project)".
func byScope(entries []string) string {
	var scopes []string
	parts := map[string][]string{}
	for _, entry := range entries {
		what, in, _ := strings.Cut(entry, " ")
		if parts[in] == nil {
			scopes = append(scopes, in)
		}
		parts[in] = append(parts[in], what)
	}
	for i, in := range scopes {
		scopes[i] = strings.Join(parts[in], ", ") + " " + in
	}
	return strings.Join(scopes, ", ")
}

// about puts an agent's title before a text that does not name the agent.
func about(title, text string) string {
	if strings.Contains(text, title) {
		return text
	}
	return title + ": " + text
}

// printOthers prints the ids of agents in lines.
func (a *app) printOthers(label string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	text := label + ": " + strings.Join(ids, ", ")
	for _, line := range console.Wrap(text, cmp.Or(console.TerminalWidth(a.Stdout), 80)) {
		if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}
