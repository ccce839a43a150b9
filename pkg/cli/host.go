package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/run"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// runtimeFlags are the flags of every command that serves skills.
type runtimeFlags struct {
	profile, session           string
	agent, tenant, environment string
	noSkills                   bool
	noSession                  bool  // of task submit
	shell                      bool  // --allow-shell of load and message
	fileLimit                  int64 // --limit of read

	trace  audit.Trace // what the records of one request to a server belong to
	client string      // the agent's program, for the audit log
}

// runtimeFlags adds the flags that say for whom skills are served.
func (a *app) runtimeFlags(cmd *cobra.Command) *runtimeFlags {
	f := &runtimeFlags{}
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", "", "serve skills as `HOST` does (SKILLPM_PROFILE; default "+profile.Runtime+")")
	flags.StringVar(&f.session, "session", "", "the agent's session `ID` (SKILLPM_SESSION); without one nothing is kept")
	flags.StringVar(&f.agent, "agent-type", "", "serve skills that are for agents of `TYPE` (SKILLPM_AGENT)")
	flags.StringVar(&f.tenant, "tenant", "", "serve skills that are for `TENANT` (SKILLPM_TENANT)")
	flags.StringVar(&f.environment, "environment", "", "serve skills that are for `ENVIRONMENT` (SKILLPM_ENVIRONMENT)")
	flags.BoolVar(&f.noSkills, "no-skills", false, "serve no skills at all")
	a.completeFlag(cmd, "profile", a.completeHosts)
	a.completeFlag(cmd, "session", a.completeSessions)
	for _, name := range []string{"agent-type", "tenant", "environment"} {
		a.completeFlag(cmd, name, cobra.NoFileCompletions)
	}
	return f
}

// host returns what serves skills to this invocation.
func (a *app) host(ctx context.Context, f *runtimeFlags) (*runtime.Host, error) {
	o, err := a.hostOptions(f)
	if err != nil {
		return nil, err
	}
	run.Adopt() // a skill's scripts and hooks, and tasks, are what this process may start
	return runtime.Open(ctx, o)
}

// hostOptions say for whom this invocation serves skills, and where.
func (a *app) hostOptions(f *runtimeFlags) (runtime.Options, error) {
	dir, paths, err := a.places()
	if err != nil {
		return runtime.Options{}, err
	}
	return a.hostOptionsAt(f, dir, paths), nil
}

// hostOptionsAt are those of a directory.
func (a *app) hostOptionsAt(f *runtimeFlags, dir string, paths scope.Paths) runtime.Options {
	config := a.config
	if config != "" {
		config = a.abs(config)
	}
	var environ []string
	if a.Environ != nil {
		environ = a.Environ()
	}
	return runtime.Options{
		Paths: paths, Dir: dir, Profile: f.profile, Session: f.session, Agent: f.agent, Tenant: f.tenant, Environment: f.environment,
		NoSkills: f.noSkills, NoSession: f.noSession, OS: a.OS, Shell: f.shell, FileLimit: f.fileLimit, ConfigFile: config, Getenv: a.Getenv, Environ: environ, Self: taskRunner(), Helper: confiner(), Now: a.Now, Admin: a.Admin,
		Trace: f.trace, Host: f.client,
	}
}

// places returns the directory that this invocation works in, and where skillpm keeps things.
func (a *app) places() (dir string, paths scope.Paths, err error) {
	if dir, err = a.workDir(); err != nil {
		return "", paths, err
	}
	paths, err = a.paths(dir)
	return dir, paths, err
}

// paths returns where skillpm keeps things.
func (a *app) paths(dir string) (scope.Paths, error) {
	paths, err := scope.New(scope.Env{Home: a.Home, Dir: dir, Getenv: a.Getenv, OS: a.OS})
	if a.Enterprise != "" {
		paths.Enterprise = a.Enterprise
	}
	return paths, err
}

// completeSkills completes the names of skills in force, with what they are for; after an @ also the exact names of those
// that others shadow.
func (a *app) completeSkills(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c := a.completionCatalog(cmd)
	if c == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range c.Skills() {
		names = append(names, cobra.CompletionWithDesc(k.Name, brief(k.Description)))
	}
	if strings.Contains(prefix, "@") {
		for _, e := range c.All() {
			if e.Pack != "" && (e.State == catalog.InForce || e.State == catalog.Shadowed) {
				names = append(names, cobra.CompletionWithDesc(e.Exact(), brief(e.Description)))
			}
		}
	}
	return matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completionHost opens the host that a command's flags ask for, nil where that fails: a completion says no errors.
func (a *app) completionHost(cmd *cobra.Command) *runtime.Host {
	text := func(name string) string {
		if f := cmd.Flag(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	h, err := a.host(cmd.Context(), &runtimeFlags{
		profile: text("profile"), session: text("session"), agent: text("agent-type"), tenant: text("tenant"), environment: text("environment"),
		noSkills: text("no-skills") == "true",
	})
	if err != nil {
		return nil
	}
	return h
}

func (a *app) completionCatalog(cmd *cobra.Command) *catalog.Catalog {
	h := a.completionHost(cmd)
	if h == nil {
		return nil
	}
	c, err := h.Catalog(cmd.Context())
	if err != nil {
		return nil
	}
	return c
}

// completeProfiles completes the ids of profiles, the user's own among them.
func (a *app) completeProfiles(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	ids := profile.IDs()
	if _, paths, err := a.places(); err == nil {
		ids = append(ids, profile.UserIDs(runtime.Profiles(paths))...)
	}
	return matching(ids, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeHosts completes the ids of profiles that skills are served under.
func (a *app) completeHosts(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	ids, directive := a.completeProfiles(cmd, args, prefix)
	return slices.DeleteFunc(ids, func(id string) bool {
		p, err := profile.Lookup(id)
		return err == nil && p.Preset
	}), directive
}

// completeSessions completes the ids of sessions that are kept.
func (a *app) completeSessions(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	_, paths, err := a.places()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	kept, _ := session.List(paths.State) // what cannot be read is not completed
	for _, k := range kept {
		if k.ID != "" {
			ids = append(ids, cobra.CompletionWithDesc(k.ID, strings.Join(k.Active, ", ")))
		}
	}
	return matching(ids, prefix), cobra.ShellCompDirectiveNoFileComp
}

// brief returns the beginning of a description for a menu.
func brief(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(printable(s)), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// forModel writes what a model is to see. To a terminal nothing is written that could steer it.
func (a *app) forModel(text string) {
	if terminal(a.Stdout) {
		text = printable(text)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	fmt.Fprint(a.Stdout, text)
}

// answer writes a result in the profile's form: as the model sees it, or with --json as the host's structured data.
func (a *app) answer(h *runtime.Host, r prompt.Result) error {
	if !a.json {
		a.forModel(prompt.Text(h.Profile(), r))
		return nil
	}
	data, err := prompt.JSON(h.Profile(), r)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s\n", escaped(strings.TrimSuffix(string(data), "\n")))
	return nil
}

// refused reports an error about a skill: as every error, and with --json in the profile's form.
func (a *app) refused(cmd *cobra.Command, h *runtime.Host, name string, err error) error {
	if !a.json {
		return err
	}
	a.json = false // what report says of it on standard error is for people
	a.report(cmd, err)
	a.json = true
	if err := a.answer(h, h.Failed(name, err)); err != nil {
		return err
	}
	return reported{diag.CodeOf(err)}
}

// loading returns what says that a skill is loaded, as soon as nothing stands in the way.
func (a *app) loading(h *runtime.Host) func(*catalog.Skill) {
	if a.quiet {
		return nil
	}
	return func(k *catalog.Skill) {
		a.remark(prompt.Notice(h.Profile(), prompt.Result{Kind: prompt.Activated, Name: k.Name}))
	}
}

// warnings prints what people should know.
func (a *app) warnings(texts []string) {
	for i, w := range texts {
		if !slices.Contains(texts[:i], w) {
			a.warn("%s", w)
		}
	}
}

// remark prints a line on standard error that people are to see even where the result is JSON.
func (a *app) remark(text string) {
	if text != "" {
		fmt.Fprintf(a.Stderr, "skillpm: %s\n", flat(text))
	}
}
