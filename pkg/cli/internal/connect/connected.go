package connect

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// connected is the result for one agent.
type connected struct {
	Agent  string `json:"agent"`
	Title  string `json:"title"`
	Skills string `json:"skills,omitempty"` // directory with the links to the skills
	Linked bool   `json:"linked"`           // whether the command added or removed the links
	// Manifest is the change to the list of agents in the manifest. All agents with changed links have the same value.
	Manifest *manifestEdit   `json:"manifest,omitempty"`
	recorded bool            // connect now has, or no longer has, a record that skills are linked for the agent
	Hooks    *connect.Result `json:"hooks,omitempty"`
	MCP      *connect.Result `json:"mcp,omitempty"`
	Notes    []string        `json:"notes,omitempty"` // notes for the user
}

func (c *connected) results() []*connect.Result {
	return slices.DeleteFunc([]*connect.Result{c.Hooks, c.MCP}, func(r *connect.Result) bool { return r == nil })
}

// printConnected prints the results of connect or disconnect.
func (a *app) printConnected(
	o *connectFlags, e connect.Env, results []*connected, failed error, added bool,
) error {
	if a.JSON {
		if failed != nil {
			return failed
		}
		return a.PrintJSON(connectDocument{results})
	}
	changed := map[string]bool{}
	p := connectedPrinter{app: a, env: e, dryRun: o.dryRun, added: added, printed: map[string]bool{}}
	if err := a.Paged(func() error {
		for _, c := range results {
			if err := p.print(c); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	p.printNotes(results)
	for _, c := range results {
		hasChanges := slices.ContainsFunc(c.results(), func(r *connect.Result) bool { return r.Changed })
		if c.Linked || c.recorded || c.Manifest != nil || hasChanges {
			changed[c.Agent] = true
		}
	}
	if failed != nil {
		return failed
	}
	what := textx.Count(len(changed), "agent")
	switch {
	case o.dryRun:
		a.Note("Dry run: %s would change.", what)
	case len(changed) == 0 && added:
		a.Note("Already connected.")
	case len(changed) == 0:
		a.Note("Nothing to disconnect.")
	case added:
		a.Note("Connected %s.", what)
	default:
		a.Note("Disconnected %s.", what)
	}
	return nil
}

// connectedPrinter prints the results for several agents.
type connectedPrinter struct {
	*app
	env           connect.Env
	dryRun, added bool
	last          string          // the agent whose name was printed
	printed       map[string]bool // notes and obstacles
}

// print prints the result for one agent.
func (p *connectedPrinter) print(c *connected) error {
	if !p.Quiet {
		if c.Agent != p.last {
			fmt.Fprintf(p.Stdout, "%s (%s)\n", c.Title, c.Agent)
		}
		p.last = c.Agent
		if err := console.Table(p.Stdout, p.rows(c)); err != nil {
			return err
		}
	}
	if m := c.Manifest; m != nil && m.Diff != "" {
		p.once(func(_ string, args ...any) { p.Verbatim(textdiff.Visible(m.Diff)) }, "%s", m.Diff)
	}
	for _, r := range c.results() {
		if r.DryRun && r.Changed {
			p.Verbatim(textdiff.Visible(r.Diff))
		}
	}
	return nil
}

// printNotes prints what the user has to know or do.
func (p *connectedPrinter) printNotes(results []*connected) {
	for _, c := range results {
		for _, r := range c.results() {
			for _, n := range r.Notes {
				p.once(p.Note, "note: %s", n)
			}
			for _, obstacle := range r.Obstacles {
				p.once(p.Warn, "%s", obstacle.String())
			}
		}
	}
}

// rows returns what was changed for an agent, a row for each part.
func (p *connectedPrinter) rows(c *connected) (rows [][]string) {
	if c.Skills != "" {
		verb := "linked in "
		switch {
		case !p.added && !c.Linked:
			verb = "still read from " // a directory that other agents share
		case !p.added && p.dryRun:
			verb = "would no longer be linked in "
		case !p.added:
			verb = "no longer linked in "
		case p.dryRun && c.Linked:
			verb = "would be linked in "
		case !c.Linked:
			verb = "already linked in "
		}
		rows = append(rows, []string{"  skills", verb + shownPath(p.env, c.Skills)})
	}
	if m := c.Manifest; m != nil {
		rows = append(rows, []string{"  manifest", describe(&connect.Result{DryRun: p.dryRun, Changed: true},
			"agents in "+shownPath(p.env, m.File), p.added)})
	}
	for _, r := range c.results() {
		rows = append(rows, []string{"  " + entryNames[r.Kind], describe(r, shownPath(p.env, r.File), p.added)})
	}
	if len(rows) == 0 {
		rows = append(rows, []string{"  nothing to configure: the agent only reads skills from files"})
	}
	return rows
}

// once prints a text that was not printed for another agent.
func (p *connectedPrinter) once(print func(format string, args ...any), format, text string) {
	if !p.printed[text] {
		p.printed[text] = true
		print(format, text)
	}
}

// entryNames are the names of what connect adds.
var entryNames = map[connect.Kind]string{connect.Hook: "hooks", connect.MCP: "mcp"}

// shownPath returns a file's path, relative to the project if it is in it.
func shownPath(e connect.Env, file string) string {
	if rel, ok := pathx.Rel(e.Project, file); e.Project != "" && ok {
		file = rel
	}
	return console.Printable(filepath.ToSlash(file))
}

// describe describes a change.
func describe(r *connect.Result, file string, added bool) string {
	switch {
	case r.DryRun && r.Changed && added:
		return "would be added to " + file
	case r.DryRun && r.Changed:
		return "would be removed from " + file
	case r.Changed && added:
		return "added to " + file
	case r.Changed:
		return "removed from " + file
	}
	return "already in " + file
}
