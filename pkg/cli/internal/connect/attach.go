package connect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// attachFlags are the flags of commands that change agents' configuration.
type attachFlags struct {
	kind     connect.Kind
	agents   []string
	all      bool
	scope    string
	command  string
	dryRun   bool
	force    bool
	exitCode bool

	failClosed *bool    // nil: unchanged
	args       []string // of the server; nil: unchanged
}

// attachCommand returns the command of a verb, with the common flags.
func (a *app) attachCommand(kind connect.Kind, use, short string) (*cobra.Command, *attachFlags) {
	o := &attachFlags{kind: kind}
	cmd := &cobra.Command{Use: use, Short: short}
	f := cmd.Flags()
	f.StringSliceVar(&o.agents, "host", nil, "`HOST` whose configuration it is: "+strings.Join(connect.IDs(kind), ", "))
	f.BoolVar(&o.all, "all", false, "every host of which there is a sign on this machine")
	f.StringVar(&o.scope, "scope", "", "`SCOPE`: project, user, or another one that the host has")
	a.CompleteFlag(cmd, "host", cobra.FixedCompletions(connect.IDs(kind), cobra.ShellCompDirectiveNoFileComp))
	scopes := func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return console.Matching(o.scopes(), prefix), cobra.ShellCompDirectiveNoFileComp
	}
	a.CompleteFlag(cmd, "scope", scopes)
	return cmd, o
}

// scopes returns the scopes of the named agents, or of all agents.
func (o *attachFlags) scopes() []string {
	var all []string
	for _, h := range connect.Agents() {
		named := func(id string) bool { return id == h.ID || id == h.Alias }
		if len(o.agents) > 0 && !slices.ContainsFunc(o.agents, named) {
			continue
		}
		for _, in := range h.Scopes(o.kind) {
			if !slices.Contains(all, string(in)) {
				all = append(all, string(in))
			}
		}
	}
	return all
}

// changeFlags adds the flags of install and remove.
func (o *attachFlags) changeFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change, and change nothing")
}

// programFlag adds the flag for the program in agents' configuration.
func (o *attachFlags) programFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&o.command, "command", "", usage)
}

// The descriptions of --command.
const (
	writesProgram = "write `PROGRAM` in place of this one's path, as skillpm to look it up each time"
	looksProgram  = "`PROGRAM` that should be there, in place of this one's path"
)

// attachEnv returns the locations of agents' configuration.
func (a *app) attachEnv(needsProject bool) (connect.Env, error) {
	o, err := a.Options()
	if err != nil {
		return connect.Env{}, err
	}
	e := connect.Env{
		Home: o.Paths.Home, Project: o.Dir, OS: a.OS, Getenv: a.Getenv, State: o.Paths.State,
		Machine: a.Paths.Enterprise,
	}
	s, found, err := o.Paths.Project(o.Dir)
	switch {
	case err != nil && needsProject:
		return e, err
	case err != nil:
		e.Project = ""
	case found:
		e.Project = s.Root
	}
	return e, nil
}

// program returns the program that agents start. A configuration that is shared through a repository contains only its
// name, because its path differs between machines.
func (o *attachFlags) program(in connect.Scope) (string, error) {
	switch {
	case strings.ContainsFunc(o.command, func(r rune) bool { return r < ' ' }):
		return "", diag.Errorf(diag.Usage, "--command %q is no program", o.command)
	case o.command != "":
		return o.command, nil
	case in == connect.Project:
		return connect.ServerName, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	// keep a link in PATH, because an update changes its target
	if onPath, err := exec.LookPath(connect.ServerName); err == nil && filepath.IsAbs(onPath) {
		if sameFile(onPath, self) {
			return onPath, nil
		}
	}
	return self, nil
}

func sameFile(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

// attachAgents returns the requested agents.
func (a *app) attachAgents(o *attachFlags, e connect.Env) ([]connect.Agent, error) {
	if len(o.agents) > 0 && o.all {
		return nil, diag.Errorf(diag.Usage, "--host and --all exclude each other")
	}
	some := (&attachFlags{kind: o.kind}).scopes()
	if o.scope != "" && !slices.Contains(some, o.scope) && len(o.agents) == 0 {
		return nil, diag.Errorf(diag.Usage, "no host has the scope %s for its %s", o.scope, attachWords[o.kind]).
			WithHint("the scopes are %s", strings.Join(some, ", "))
	}
	var agents []connect.Agent
	for _, id := range o.agents {
		h, err := connect.Find(id, o.kind)
		if err == nil && o.scope != "" { // check all agents before the first change
			err = h.Check(o.kind, connect.Scope(o.scope))
		}
		if err != nil {
			return nil, err
		}
		agents = append(agents, h)
	}
	if len(agents) > 0 {
		return agents, nil
	}
	for _, h := range connect.Detect(e, detectedAgents(e)) {
		switch {
		case len(h.Scopes(o.kind)) == 0:
		case o.scope != "" && !h.HasScope(o.kind, connect.Scope(o.scope)):
			a.Note("%s has no %s in the scope %s, and is left out", h.Title, attachWords[o.kind], o.scope)
		default:
			agents = append(agents, h)
		}
	}
	return agents, nil
}

// attachWords are the names of what is installed.
var attachWords = map[connect.Kind]string{connect.Hook: "hooks", connect.MCP: "MCP server"}

// noAgentDetected reports that no agent was detected, and how agents are detected.
func (o *attachFlags) noAgentDetected() string {
	return "name one with --host: " + strings.Join(connect.IDs(o.kind), ", ") +
		"; a sign of one is its directory, as ~/.claude or .claude, or a file of its configuration"
}

// detectedAgents returns the ids of the detected agents.
func detectedAgents(e connect.Env) []string {
	var ids []string
	for _, found := range agent.InUse(isDir, e.Project, e.Home, e.Getenv) {
		ids = append(ids, found.ID)
	}
	return ids
}

func isDir(path string) bool {
	info, err := os.Stat(filepath.FromSlash(path))
	return err == nil && info.IsDir()
}

// scopeFor returns the requested scope, or the agent's default.
func (o *attachFlags) scopeFor(h connect.Agent) connect.Scope {
	if o.scope != "" {
		return connect.Scope(o.scope)
	}
	if scopes := h.Scopes(o.kind); !slices.Contains(scopes, connect.Project) {
		return scopes[0]
	}
	return connect.Project
}

// attachChange installs or removes for each agent.
func (a *app) attachChange(cmd *cobra.Command, o *attachFlags, install bool) error {
	if len(o.agents) == 0 && !o.all {
		return diag.Errorf(diag.Usage, "%s needs --host or --all", cmd.CommandPath()).
			WithHint("the hosts are %s", strings.Join(connect.IDs(o.kind), ", "))
	}
	e, err := a.attachEnv(o.scope == "" || o.scope == scope.KindProject || o.scope == string(connect.Local))
	if err != nil {
		return err
	}
	agents, err := a.attachAgents(o, e)
	if err != nil {
		return err
	}
	if len(agents) == 0 {
		err := diag.Errorf(diag.NotFound, "there is no sign of such a host on this machine")
		return err.WithHint("%s", o.noAgentDetected())
	}
	results := []*connect.Result{}
	var failed error
	for _, h := range agents { // continue with the others after an error
		r, err := a.attachOne(cmd.Context(), o, e, h, install)
		switch {
		case err == nil:
			results = append(results, r)
		case failed == nil:
			failed = err
		default:
			a.Warn("%v", err)
		}
	}
	if a.JSON && failed == nil {
		return a.PrintJSON(map[string]any{"hosts": results})
	}
	a.printAttached(results, install)
	return failed
}

// attachOne installs or removes for one agent.
func (a *app) attachOne(ctx context.Context, o *attachFlags, e connect.Env, h connect.Agent,
	install bool,
) (*connect.Result, error) {
	one := connect.Options{
		Kind: o.kind, Agent: h, Scope: o.scopeFor(h), DryRun: o.dryRun, Force: o.force, FailClosed: o.failClosed,
		Args: o.args,
	}
	var err error
	if one.Program, err = o.program(one.Scope); err != nil {
		return nil, err
	}
	if !install {
		return connect.Remove(ctx, e, one)
	}
	if one.Scope == connect.Enterprise {
		if err := a.checkShared(one.Program); err != nil {
			return nil, err
		}
	}
	r, err := connect.Install(ctx, e, one)
	if err != nil {
		return nil, err
	}
	if o.command == "" && one.Scope == connect.Project {
		if _, err := exec.LookPath(one.Program); err != nil {
			r.Notes = append(r.Notes, "skillpm is not on the PATH, where the host will look for it")
		}
	}
	if dir := missingSkillDir(e, h); o.kind == connect.Hook && dir != "" {
		const format = "%s looks for skills in %s, which is not there: " +
			"skillpm install links those of this project for it"
		r.Notes = append(r.Notes, fmt.Sprintf(format, h.Title, dir))
	}
	return r, nil
}

// missingSkillDir returns the directory where an agent looks for a project's skills, if it is missing and the project
// has some.
func missingSkillDir(e connect.Env, h connect.Agent) string {
	if e.Project == "" || isDir(filepath.Join(e.Project, h.Project)) {
		return ""
	}
	if _, err := os.Stat(filepath.Join(e.Project, pack.LockName)); err != nil {
		return ""
	}
	return h.Project
}

// checkShared rejects a program for all users of the machine if others than its administrator can replace it.
func (a *app) checkShared(program string) error {
	if !filepath.IsAbs(program) || a.OS == "windows" {
		return nil
	}
	real, err := pathx.ResolveExisting(program)
	if err != nil { // status reports missing programs
		return nil //nolint:nilerr // status reports missing programs
	}
	for _, path := range []string{program, real} {
		for at := path; ; at = filepath.Dir(at) {
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if why := others(info, a.Admin); why != "" {
				return diag.Errorf(diag.Denied, "everybody on the machine would run %s, and %s %s", program, at, why).
					WithHint("put skillpm where only the administrator writes, and name it: %s",
						"--command /usr/local/bin/skillpm")
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// printAttached prints the result for each agent.
func (a *app) printAttached(results []*connect.Result, install bool) {
	if a.JSON {
		return
	}
	for _, r := range results {
		what := attachWords[r.Kind]
		switch file := console.Printable(r.File); {
		case r.DryRun && r.Changed:
			fmt.Fprint(a.Stdout, textdiff.Visible(r.Diff))
			continue
		case a.Quiet:
		case r.Changed && install:
			fmt.Fprintf(a.Stdout, "%s: %s installed in %s\n", r.Title, what, file)
		case r.Changed:
			fmt.Fprintf(a.Stdout, "%s: %s removed from %s\n", r.Title, what, file)
		case install:
			fmt.Fprintf(a.Stdout, "%s: %s installed already in %s\n", r.Title, what, file)
		default:
			fmt.Fprintf(a.Stdout, "%s: no %s of skillpm in %s\n", r.Title, what, file)
		}
		for _, n := range r.Notes {
			a.Note("%s", n)
		}
		for _, o := range r.Obstacles {
			a.Warn("%s", o)
		}
	}
}

// attachStatus prints the state of each agent's configuration.
func (a *app) attachStatus(o *attachFlags) error {
	e, err := a.attachEnv(false)
	if err != nil {
		return err
	}
	agents, err := a.attachAgents(o, e)
	if err != nil {
		return err
	}
	results := []*connect.Result{}
	wrong := false
	for _, h := range agents {
		installed := false
		for _, in := range h.Scopes(o.kind) {
			if o.scope != "" && in != connect.Scope(o.scope) ||
				e.Project == "" && (in == connect.Project || in == connect.Local) {
				continue
			}
			one := connect.Options{Kind: o.kind, Agent: h, Scope: in}
			if one.Program, err = o.program(in); err != nil {
				return err
			}
			r, err := connect.Status(e, one)
			if err != nil {
				return err
			}
			installed = installed || r.State == connect.Installed && len(r.Obstacles) == 0
			wrong = wrong || r.State != connect.Installed && r.State != connect.Missing
			results = append(results, r)
		}
		wrong = wrong || !installed
	}
	if err := a.printAttachStatus(o, results); err != nil {
		return err
	}
	if o.exitCode && wrong {
		return console.Reported{Exit: diag.Conflict}
	}
	return nil
}

func (a *app) printAttachStatus(o *attachFlags, results []*connect.Result) error {
	if a.JSON {
		return a.PrintJSON(map[string]any{"hosts": results})
	}
	if len(results) == 0 {
		a.Note("there is no sign of such a host on this machine; %s", o.noAgentDetected())
		return nil
	}
	var rows [][]string
	notes := map[string]bool{}
	for _, r := range results {
		state := string(r.State)
		if r.Reason != "" {
			state += ": " + r.Reason
		}
		if len(r.Args) > 0 {
			state += ", with " + strings.Join(r.Args, " ")
		}
		if r.FailClosed {
			state += ", denies without skillpm"
		}
		rows = append(rows, []string{r.Agent, string(r.Scope), r.File, state})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	for _, r := range results {
		for _, o := range r.Obstacles {
			if text := r.Title + o.String(); !notes[text] {
				notes[text] = true
				a.Warn("%s", o)
			}
		}
		for _, n := range r.Notes {
			if !notes[n] {
				notes[n] = true
				a.Note("%s", n)
			}
		}
	}
	return nil
}
