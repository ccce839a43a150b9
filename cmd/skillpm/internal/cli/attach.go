package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/agent"
	"github.com/skillpm/skillpm/pkg/attach"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/textdiff"
)

// attachFlags are those of the commands that write hosts' configuration.
type attachFlags struct {
	kind     attach.Kind
	hosts    []string
	all      bool
	scope    string
	command  string
	dryRun   bool
	force    bool
	exitCode bool
}

// attachCommand returns the command of a verb, with the flags that all three have.
func (a *app) attachCommand(kind attach.Kind, use, short string) (*cobra.Command, *attachFlags) {
	o := &attachFlags{kind: kind}
	cmd := &cobra.Command{Use: use, Short: short}
	f := cmd.Flags()
	f.StringSliceVar(&o.hosts, "host", nil, "`HOST` whose configuration it is: "+strings.Join(attach.IDs(kind), ", "))
	f.BoolVar(&o.all, "all", false, "every host of which there is a sign on this machine")
	f.StringVar(&o.scope, "scope", "", "`SCOPE`: project, user, or another one that the host has")
	a.completeFlag(cmd, "host", cobra.FixedCompletions(attach.IDs(kind), cobra.ShellCompDirectiveNoFileComp))
	scopes := []string{string(attach.Project), string(attach.User)}
	if kind == attach.Hook {
		scopes = append(scopes, string(attach.Local), string(attach.Enterprise))
	}
	a.completeFlag(cmd, "scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	return cmd, o
}

// changeFlags adds the flags of install and remove.
func (o *attachFlags) changeFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change, and change nothing")
}

// programFlag adds the flag that says which program is written.
func (o *attachFlags) programFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.command, "command", "", "write `PROGRAM` in place of this one's path, as skillpm to look it up each time")
}

// attachEnv says where hosts keep what they read.
func (a *app) attachEnv(needsProject bool) (attach.Env, error) {
	o, err := a.toolOptions()
	if err != nil {
		return attach.Env{}, err
	}
	e := attach.Env{Home: o.Paths.Home, Project: o.Dir, OS: a.OS, Getenv: a.Getenv, State: o.Paths.State, Machine: a.Enterprise}
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

// program returns the program that hosts are to start. What others get from a repository names it only, since it is
// somewhere else on their machines.
func (o *attachFlags) program(in attach.Scope) (string, error) {
	switch {
	case strings.ContainsFunc(o.command, func(r rune) bool { return r < ' ' }):
		return "", diag.Errorf(diag.Usage, "--command %q is no program", o.command)
	case o.command != "":
		return o.command, nil
	case in == attach.Project:
		return attach.ServerName, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	// a link that the PATH leads to stays when an update moves what it leads to
	if onPath, err := exec.LookPath(attach.ServerName); err == nil && filepath.IsAbs(onPath) {
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

// attachHosts returns the hosts that were asked for.
func (a *app) attachHosts(o *attachFlags, e attach.Env) ([]attach.Host, error) {
	if len(o.hosts) > 0 && o.all {
		return nil, diag.Errorf(diag.Usage, "--host and --all exclude each other")
	}
	var hosts []attach.Host
	for _, id := range o.hosts {
		h, err := attach.Find(id, o.kind)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	if len(hosts) > 0 {
		return hosts, nil
	}
	for _, h := range attach.Detect(e, detectedAgents(e)) {
		if len(h.Scopes(o.kind)) > 0 {
			hosts = append(hosts, h)
		}
	}
	return hosts, nil
}

// detectedAgents returns the ids of the agents of which there is a sign.
func detectedAgents(e attach.Env) []string {
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

// scopeFor returns the scope that was asked for, or the one that a host has.
func (o *attachFlags) scopeFor(h attach.Host) attach.Scope {
	if o.scope != "" {
		return attach.Scope(o.scope)
	}
	if scopes := h.Scopes(o.kind); !slices.Contains(scopes, attach.Project) {
		return scopes[0]
	}
	return attach.Project
}

// attachChange installs or removes for each host.
func (a *app) attachChange(cmd *cobra.Command, o *attachFlags, install bool) error {
	if len(o.hosts) == 0 && !o.all {
		return diag.Errorf(diag.Usage, "%s needs --host or --all", cmd.CommandPath()).WithHint("the hosts are %s", strings.Join(attach.IDs(o.kind), ", "))
	}
	e, err := a.attachEnv(o.scope == "" || o.scope == scope.KindProject || o.scope == string(attach.Local))
	if err != nil {
		return err
	}
	hosts, err := a.attachHosts(o, e)
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return diag.Errorf(diag.NotFound, "there is no sign of a host on this machine").WithHint("name one with --host")
	}
	var results []*attach.Result
	for _, h := range hosts {
		one := attach.Options{Kind: o.kind, Host: h, Scope: o.scopeFor(h), DryRun: o.dryRun, Force: o.force}
		if one.Program, err = o.program(one.Scope); err != nil {
			return err
		}
		do := attach.Remove
		if install {
			do = attach.Install
		}
		r, err := do(cmd.Context(), e, one)
		if err != nil {
			a.printAttached(results, install) // what was done before
			return err
		}
		if install && o.command == "" && one.Scope == attach.Project {
			if _, err := exec.LookPath(one.Program); err != nil {
				r.Notes = append(r.Notes, "skillpm is not on the PATH, where the host will look for it")
			}
		}
		results = append(results, r)
	}
	if a.json {
		return a.printJSON(map[string]any{"hosts": results})
	}
	a.printAttached(results, install)
	return nil
}

// printAttached says what was done to each host.
func (a *app) printAttached(results []*attach.Result, install bool) {
	if a.json {
		return
	}
	for _, r := range results {
		what := map[attach.Kind]string{attach.Hook: "hooks", attach.MCP: "MCP server"}[r.Kind]
		switch file := printable(r.File); {
		case r.DryRun && r.Changed:
			fmt.Fprint(a.Stdout, textdiff.Visible(r.Diff))
			continue
		case a.quiet:
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
			a.note("%s", n)
		}
		for _, o := range r.Obstacles {
			a.warn("%s", o)
		}
	}
}

// attachStatus says how each host's configuration is.
func (a *app) attachStatus(o *attachFlags) error {
	e, err := a.attachEnv(false)
	if err != nil {
		return err
	}
	hosts, err := a.attachHosts(o, e)
	if err != nil {
		return err
	}
	results := []*attach.Result{}
	wrong := false
	for _, h := range hosts {
		installed := false
		for _, in := range h.Scopes(o.kind) {
			if o.scope != "" && in != attach.Scope(o.scope) || e.Project == "" && (in == attach.Project || in == attach.Local) {
				continue
			}
			one := attach.Options{Kind: o.kind, Host: h, Scope: in}
			if one.Program, err = o.program(in); err != nil {
				return err
			}
			r, err := attach.Status(e, one)
			if err != nil {
				return err
			}
			installed = installed || r.State == attach.Installed && len(r.Obstacles) == 0
			wrong = wrong || r.State != attach.Installed && r.State != attach.Missing
			results = append(results, r)
		}
		wrong = wrong || !installed
	}
	if err := a.printAttachStatus(results); err != nil {
		return err
	}
	if o.exitCode && wrong {
		return reported{code: diag.Conflict}
	}
	return nil
}

func (a *app) printAttachStatus(results []*attach.Result) error {
	if a.json {
		return a.printJSON(map[string]any{"hosts": results})
	}
	if len(results) == 0 {
		a.note("there is no sign of a host on this machine; name one with --host")
		return nil
	}
	var rows [][]string
	notes := map[string]bool{}
	for _, r := range results {
		state := string(r.State)
		if r.Reason != "" {
			state += ": " + r.Reason
		}
		rows = append(rows, []string{r.Host, string(r.Scope), r.File, state})
	}
	if err := table(a.Stdout, rows); err != nil {
		return err
	}
	for _, r := range results {
		for _, o := range r.Obstacles {
			if !notes[o] {
				notes[o] = true
				a.warn("%s", o)
			}
		}
	}
	return nil
}
