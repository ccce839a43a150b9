package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/budget"
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// commonWindow is the context window in tokens of agents for which it is unknown.
const commonWindow = 200_000

// The values of [listingCost].Source.
const (
	byAgent   = "agent"   // the agent lists skills that it reads itself
	byMCP     = "mcp"     // skillpm's MCP server lists the others
	byProfile = "profile" // "skillpm prompt" lists skills for the agent of a profile
)

type budgetFlags struct {
	*console.RuntimeFlags
	agents []string
	window int
	check  bool
}

func newBudget(a *app) *cobra.Command {
	f := &budgetFlags{}
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Show what skills cost an agent",
		Long: `An agent's model always reads the list of skills: names, descriptions, and often paths. For
each agent in use or with a budget, the command shows how many tokens the list has, the
share of the context window, the limit of the agent, and what the agent cuts. An agent lists
the skills that it reads itself; skillpm's MCP server lists others if it is connected. The
lists of Claude Code, Codex, Copilot CLI, Gemini CLI, and OpenCode were measured on the
programs; those of others follow documentation. Limits are what the agent's own skills leave.

With --verbose, a second table shows each skill: the tokens of its description, of its
instructions, which an activation adds, and of files that the model reads when it needs them.
WASTED counts repeated sentences of a description, and text that an agent cuts.

Token counts are estimates. Typical errors are 3% for descriptions and 2% for other English
texts. The tokenizers of models differ by about 10%.

To set a limit, add "budget: {AGENT: TOKENS}" to skillpm.yaml. "skillpm validate" then checks
the project's own skills without the agent's limit. With --check, the exit code of this
command is 3 if the lists of an agent have more tokens.`,
		Example: `  skillpm budget
  skillpm budget --verbose
  skillpm budget --agent claude-code,codex --check
  skillpm budget --agent claude-code --context-window 1000000
  skillpm budget --profile pegasus`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showBudget(cmd.Context(), f) },
	}
	f.RuntimeFlags = a.RuntimeFlags(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.agents, "agent", nil,
		"show only the agent `ID` (repeatable; default: agents in use or with a budget)")
	flags.IntVar(&f.window, "context-window", 0, "assume a context window of `TOKENS` (default: the agent's)")
	flags.BoolVar(&f.check, "check", false, "exit 3 if an agent exceeds the budget in skillpm.yaml")
	a.CompleteFlag(cmd, "agent", completeAgents)
	a.CompleteFlag(cmd, "context-window", cobra.NoFileCompletions)
	return cmd
}

// agentCost is what skills cost one agent.
type agentCost struct {
	ID     string        `json:"id"` // of the agent, or of the profile
	Title  string        `json:"title"`
	Window int           `json:"contextWindow"`    // in tokens
	Tokens int           `json:"tokens"`           // of all lists
	Budget int           `json:"budget,omitempty"` // tokens that skillpm.yaml allows
	Lists  []listingCost `json:"lists"`            // lists of skills that its model reads
}

// listingCost is the cost of one list of skills.
type listingCost struct {
	Source     string   `json:"source"`           // who writes the list: agent, mcp, or profile
	Tested     string   `json:"tested,omitempty"` // version of the agent on which the form of the list was measured
	Skills     int      `json:"skills"`
	Tokens     int      `json:"tokens"`          // estimated number of tokens
	Uncut      int      `json:"uncut,omitempty"` // tokens if the agent had no limit
	Characters int      `json:"characters"`      // length of the list
	Limit      int      `json:"limit"`           // in characters; 0 if unlimited
	Left       []string `json:"left"`            // skills that the model does not see
	Shortened  []string `json:"shortened"`       // skills whose description the agent cuts or leaves out
}

// skillCost is what one skill costs.
type skillCost struct {
	Name        string   `json:"name"`
	Directory   string   `json:"directory"`
	Agents      []string `json:"agents"`            // ids of the agents that list the skill
	Description int      `json:"description"`       // tokens of its description
	Wasted      int      `json:"wasted"`            // tokens of its description that do not help a model
	Repeated    int      `json:"repeated"`          // wasted tokens of repeated sentences
	Others      int      `json:"others"`            // number of skills with the same sentence
	Cut         int      `json:"cut"`               // wasted tokens that an agent cuts
	Activation  int      `json:"activation"`        // tokens of its instructions
	Files       int      `json:"files"`             // number of its other text files
	FileTokens  int      `json:"fileTokens"`        // tokens of these files
	Partial     bool     `json:"partial,omitempty"` // whether further files were not counted
}

// costs collects what skills cost.
type costs struct {
	*app
	*budgetFlags
	host    *runtime.Host
	env     connect.Env
	budgets []pack.Budget // of the project
	agents  []*agentCost
	skills  map[string]*listedSkill // by directory
}

// listedSkill is a skill that an agent lists, with what its cost is computed from.
type listedSkill struct {
	*catalog.Skill
	profile *profile.Profile
	agents  []string
	cap     int // the least number of characters that an agent reads of its description, 0 for all
}

func (a *app) showBudget(ctx context.Context, f *budgetFlags) error {
	if f.window < 0 {
		return diag.Errorf(diag.Usage, "--context-window must not be negative")
	}
	e, err := a.attachEnv(false)
	if err != nil {
		return err
	}
	h, err := a.Host(ctx, f.RuntimeFlags)
	if err != nil {
		return err
	}
	c := &costs{app: a, budgetFlags: f, host: h, env: e, skills: map[string]*listedSkill{}}
	if err := c.readBudgets(); err != nil {
		return err
	}
	agents, err := c.selected()
	if err != nil {
		return err
	}
	for _, one := range agents {
		if err := c.add(ctx, one); err != nil {
			return err
		}
	}
	if h.NamesProfile() && len(f.agents) == 0 {
		if err := c.addProfile(ctx); err != nil {
			return err
		}
	}
	return c.print()
}

// selected returns the agents to show: the named ones, else those in use or with a budget, else the shared directory.
func (c *costs) selected() ([]agent.Agent, error) {
	if len(c.budgetFlags.agents) > 0 {
		return agent.LookupAll(c.budgetFlags.agents)
	}
	var found []agent.Agent
	for _, one := range detected(c.env) {
		found = append(found, one.Agent)
	}
	for _, b := range c.budgets {
		if !slices.Contains(found, b.Agent) {
			found = append(found, b.Agent)
		}
	}
	if len(found) == 0 && !c.host.NamesProfile() {
		return agent.LookupAll([]string{agent.SharedID})
	}
	return found, nil
}

// add adds the lists of an agent.
func (c *costs) add(ctx context.Context, one agent.Agent) error {
	p, err := profile.Lookup(one.ID)
	if err != nil {
		return err
	}
	form, err := profile.NativeOf(one)
	if err != nil {
		return err
	}
	own, err := c.host.Native(ctx, one, p)
	if err != nil {
		return err
	}
	out := &agentCost{
		ID: one.ID, Title: one.Title, Window: cmp.Or(c.window, form.Window, commonWindow),
		Budget: c.budgetOf(one),
	}
	entries := c.host.EntriesOf(ctx, own)
	characters, _ := strconv.Atoi(c.Getenv(form.Variable())) // the agent ignores other values, too
	l, err := prompt.Native(form, entries, prompt.Options{ContextWindow: out.Window, Budget: characters})
	if err != nil {
		return err
	}
	out.add(byAgent, form.Tested, len(entries), l)
	c.list(own, entries, p, one.ID, form.Cap())
	connected, err := c.connected(one)
	if err != nil {
		return err
	}
	if connected {
		if err := c.addServed(ctx, out, one, p); err != nil {
			return err
		}
	}
	c.agents = append(c.agents, out)
	return nil
}

// add adds a list.
func (o *agentCost) add(source, tested string, skills int, l prompt.Cost) {
	o.Tokens += l.Tokens
	o.Lists = append(o.Lists, listingCost{
		source, tested, skills, l.Tokens, l.Uncut, l.Characters, l.Limit,
		append([]string{}, l.Left...), append([]string{}, l.Shortened...),
	})
}

// list remembers skills that an agent lists.
func (c *costs) list(from *catalog.Catalog, entries []prompt.Entry, p *profile.Profile, id string, most int) {
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.Dir] = true
	}
	for _, k := range from.Skills() {
		if !listed[k.Dir] {
			continue
		}
		s := c.skills[k.Dir]
		if s == nil {
			s = &listedSkill{Skill: k, profile: p}
			c.skills[k.Dir] = s
		}
		if !slices.Contains(s.agents, id) {
			s.agents = append(s.agents, id)
		}
		if most > 0 && (s.cap == 0 || most < s.cap) {
			s.cap = most
		}
	}
}

// connected reports whether an agent starts skillpm's MCP server.
func (c *costs) connected(one agent.Agent) (bool, error) {
	h, err := findAgent(one.ID)
	if err != nil {
		return false, err
	}
	for _, in := range h.Scopes(connect.MCP) {
		if c.env.Project == "" && in == connect.Project {
			continue
		}
		o := connect.Options{Kind: connect.MCP, Agent: h, Scope: in}
		if o.Program, err = new(connectFlags).program(in); err != nil {
			return false, err
		}
		r, err := connect.Status(c.env, o)
		if err != nil {
			return false, err
		}
		if r.State == connect.Installed || r.State == connect.Stale {
			return true, nil
		}
	}
	return false, nil
}

// addServed adds what skillpm's MCP server gives to an agent.
func (c *costs) addServed(ctx context.Context, out *agentCost, one agent.Agent, p *profile.Profile) error {
	s, err := mcpserver.New(mcpserver.Options{
		Open:  func(context.Context, mcpserver.Request) (*runtime.Host, error) { return c.host, nil },
		Agent: one.ID, HostNames: c.host.NamesProfile(), ContextWindow: c.window, Now: c.Now,
		Version: console.BuildVersion(c.Version),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	served, err := s.Preview(ctx, one.Tested)
	if err != nil {
		return err
	}
	texts := []string{served.Instructions}
	for _, t := range served.Tools {
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return err
		}
		texts = append(texts, t.Name, t.Description, string(schema))
	}
	out.add(byMCP, one.Tested, len(served.Listing.Names)+len(served.Listing.Left), prompt.CostOf(served.Listing, texts...))
	all, err := c.host.Catalog(ctx)
	if err != nil {
		return err
	}
	entries := slices.DeleteFunc(c.host.EntriesOf(ctx, all), func(e prompt.Entry) bool {
		return !slices.Contains(served.Listing.Names, e.Name) && !slices.Contains(served.Listing.Left, e.Name)
	})
	c.list(all, entries, p, one.ID, 0)
	return nil
}

// addProfile adds the list of the selected profile.
func (c *costs) addProfile(ctx context.Context) error {
	p := c.host.Profile()
	entries, err := c.host.Entries(ctx)
	if err != nil {
		return err
	}
	o := prompt.Options{ContextWindow: c.window}
	l, err := prompt.List(p, entries, o)
	if err != nil {
		return err
	}
	out := &agentCost{ID: p.ID, Title: p.Title, Window: cmp.Or(c.window, commonWindow)}
	out.add(byProfile, "", len(entries), prompt.CostOf(l, l.Text))
	all, err := c.host.Catalog(ctx)
	if err != nil {
		return err
	}
	c.list(all, entries, p, p.ID, 0)
	c.agents = append(c.agents, out)
	return nil
}

// budgetOf returns the budget of an agent in the project's manifest, 0 for none.
func (c *costs) budgetOf(one agent.Agent) int {
	for _, b := range c.budgets {
		if b.Agent == one {
			return b.Tokens
		}
	}
	return 0
}

// readBudgets reads the budgets in the project's manifest.
func (c *costs) readBudgets() error {
	if c.env.Project == "" {
		return nil
	}
	path := filepath.Join(c.env.Project, pack.ManifestName)
	data, err := safefile.ReadOptional(path)
	if err != nil || data == nil {
		return err
	}
	m, err := pack.ParseManifest(path, data)
	if err == nil {
		c.budgets = m.Budgets
	}
	return err
}

// costsOfSkills returns the costs of all listed skills, those with the longest descriptions first.
func (c *costs) costsOfSkills() ([]skillCost, error) {
	var all []*listedSkill
	for _, s := range c.skills {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *listedSkill) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dir, b.Dir)) })
	descriptions := make([]budget.Description, len(all))
	for i, s := range all {
		descriptions[i] = budget.Description{Skill: s.Name, Text: s.Description, Cap: s.cap}
	}
	wastes := budget.FindWaste(descriptions)
	out := []skillCost{}
	for i, s := range all {
		active, err := budget.SkillCost(s.profile, s.Skill)
		if err != nil {
			return nil, err
		}
		w := wastes[i]
		out = append(out, skillCost{
			Name: s.Name, Directory: s.Dir, Agents: s.agents, Description: descriptions[i].Tokens(),
			Wasted: w.Tokens(), Repeated: w.Repeated, Others: w.Others, Cut: w.Cut,
			Activation: active.Tokens, Files: active.Files, FileTokens: active.FileTokens, Partial: active.Partial,
		})
	}
	slices.SortStableFunc(out, func(a, b skillCost) int { return cmp.Compare(b.Description, a.Description) })
	return out, nil
}

func (c *costs) print() error {
	var skills []skillCost
	if c.JSON || c.Verbose > 0 {
		var err error
		if skills, err = c.costsOfSkills(); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := c.PrintJSON(budgetDocument{c.agents, skills}); err != nil {
			return err
		}
		return c.verdict()
	}
	if err := c.Paged(func() error { return c.tables(skills) }); err != nil {
		return err
	}
	return c.verdict()
}

// verdict warns about agents that exceed their budget.
func (c *costs) verdict() error {
	over := false
	for _, one := range c.agents {
		if one.Budget > 0 && one.Tokens > one.Budget {
			over = true
			c.Warn("%s: the lists of skills have %s tokens; the budget is %s", one.Title,
				number(one.Tokens), number(one.Budget))
		}
	}
	if over && c.check {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}

// sourceNames are the sources of lists in the table.
var sourceNames = map[string]string{byAgent: "agent", byMCP: "skillpm mcp", byProfile: "skillpm prompt"}

// tables prints the lists and, if there are any, the costs of skills.
func (c *costs) tables(skills []skillCost) error {
	rows := [][]string{{"AGENT", "LISTED BY", "SKILLS", "TOKENS", "CONTEXT", "LIMIT", "CUT", "TESTED"}}
	for _, one := range c.agents {
		for _, l := range one.Lists {
			tested := cmp.Or(l.Tested, agent.FromDocumentation)
			if l.Source == byProfile {
				tested = "-"
			}
			limit := "-"
			if l.Limit > 0 {
				limit = number(l.Limit) + " characters"
			}
			rows = append(rows, []string{
				one.ID, sourceNames[l.Source], number(l.Skills), number(l.Tokens), percent(l.Tokens, one.Window), limit,
				l.cut(), tested,
			})
		}
	}
	if err := console.Table(c.Stdout, rows); err != nil {
		return err
	}
	if len(skills) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	rows = [][]string{{"SKILL", "DESCRIPTION", "WASTED", "INSTRUCTIONS", "FILES", "REASON"}}
	for _, s := range skills {
		files := "-"
		if s.Files > 0 {
			files = number(s.FileTokens) + " in " + textx.Count(s.Files, "file")
		}
		rows = append(rows, []string{
			s.Name, number(s.Description), number(s.Wasted), number(s.Activation), files, s.reason(),
		})
	}
	return console.Table(c.Stdout, rows)
}

// cut describes what a model does not see of a list.
func (l *listingCost) cut() string {
	switch left, short := len(l.Left), len(l.Shortened); {
	case left > 0 && short > 0:
		return textx.Count(left, "skill") + ", " + textx.Count(short, "description")
	case left > 0:
		return textx.Count(left, "skill")
	case short > 0:
		return textx.Count(short, "description")
	}
	return "-"
}

// reason explains wasted tokens.
func (s *skillCost) reason() string {
	switch {
	case s.Cut > 0 && s.Repeated > 0:
		return "an agent cuts it, and it repeats sentences"
	case s.Cut > 0:
		return "an agent cuts it"
	case s.Others > 0:
		return "has a sentence of " + textx.Count(s.Others, "other skill")
	case s.Repeated > 0:
		return "has a sentence twice"
	}
	return "-"
}

func number(n int) string { return textx.Thousands(int64(n)) }

// percent formats a share of a context window.
func percent(tokens, window int) string {
	return strconv.FormatFloat(100*float64(tokens)/float64(window), 'f', 1, 64) + "%"
}
