package console

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// RuntimeFlags are the flags of commands that serve skills.
type RuntimeFlags struct {
	Profile, Session           string
	agent, tenant, environment string
	toolsets                   []string // nil for all
	noSkills                   bool
	NoSession                  bool  // of "task submit"
	Shell                      bool  // --allow-shell of "load" and "message"
	FileLimit                  int64 // --max-bytes of "read"

	Trace  audit.Trace // trace id for the records of one request
	Client string      // the agent's program, for the audit log
}

// RuntimeFlags adds the flags that select the agent, the user, and the session.
func (a *App) RuntimeFlags(cmd *cobra.Command) *RuntimeFlags {
	f := &RuntimeFlags{}
	flags := cmd.Flags()
	flags.StringVar(&f.Profile, "profile", "",
		"use the rules of the profile `ID` (default: the project's, or "+profile.Runtime+")")
	flags.StringVar(&f.Session, "session", "",
		"use the session `ID` of the agent (default: do not store a session)")
	flags.StringVar(&f.agent, "agent-type", "", "use skills for the agent type `TYPE`")
	flags.StringVar(&f.tenant, "tenant", "", "use skills for the tenant `TENANT`")
	flags.StringVar(&f.environment, "environment", "", "use skills for the environment `ENVIRONMENT`")
	flags.StringSliceVar(&f.toolsets, "toolsets", nil,
		"use only skills whose toolsets are all in `TOOLSETS` (default: any)")
	flags.BoolVar(&f.noSkills, "no-skills", false, "disable all skills")
	a.CompleteFlag(cmd, "profile", a.completeHosts)
	a.CompleteFlag(cmd, "session", a.CompleteSessions)
	for _, name := range []string{"agent-type", "tenant", "environment", "toolsets"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
	MarkRare(cmd, "profile", "session", "agent-type", "tenant", "environment", "toolsets", "no-skills")
	return f
}

// Host opens the runtime for this invocation.
func (a *App) Host(ctx context.Context, f *RuntimeFlags) (*runtime.Host, error) {
	o, err := a.hostOptions(f)
	if err != nil {
		return nil, err
	}
	if a.OwnsProcess {
		runtime.AdoptProcesses() // it starts only the scripts and hooks of skills, and tasks
	}
	h, err := runtime.New(ctx, o)
	if err == nil && h.Recognized() != "" {
		a.recognized.Do(func() {
			a.Note("Using profile %s: %s. To select another profile, use --profile, or set profile in skillpm.yaml.",
				h.Profile().ID, h.Recognized())
		})
	}
	return h, err
}

// hostOptions returns the runtime's options for this invocation.
func (a *App) hostOptions(f *RuntimeFlags) (runtime.Options, error) {
	e, err := a.Env()
	if err != nil {
		return runtime.Options{}, err
	}
	return HostOptions(f, e), nil
}

// HostOptions returns the runtime's options for a directory.
func HostOptions(f *RuntimeFlags, e environ.Environment) runtime.Options {
	return runtime.Options{
		Environment: e, Profile: f.Profile, Session: f.Session, NoSession: f.NoSession, NoSkills: f.noSkills,
		Agent: f.agent, Tenant: f.tenant, SkillEnvironment: f.environment, Toolsets: f.toolsets, Shell: f.Shell, FileLimit: f.FileLimit,
		Self: taskRunner(), Helper: Confiner(), Trace: f.Trace, Host: f.Client,
		ReadOnly: connect.Files(connect.Env{
			Home: e.Paths.Home, Project: e.Dir, OS: e.OS, Getenv: e.Getenv, State: e.Paths.State,
			Machine: e.Paths.Enterprise,
		}),
	}
}

// CompleteSkills completes the available skills with their descriptions, and after an @ also the exact names of
// shadowed ones.
func (a *App) CompleteSkills(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c := a.CompletionCatalog(cmd)
	if c == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range c.Skills() {
		names = append(names, cobra.CompletionWithDesc(k.Name, Brief(k.Description)))
	}
	if strings.Contains(prefix, "@") {
		for _, e := range c.All() {
			if e.Pack != "" && e.Refusal() == nil && (e.State == catalog.Available || e.State == catalog.Shadowed) {
				names = append(names, cobra.CompletionWithDesc(e.Exact(), Brief(e.Description)))
			}
		}
	}
	return Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// CompletionHost opens the runtime for the command's flags; nil after an error, because completion does not report
// errors.
func (a *App) CompletionHost(cmd *cobra.Command) *runtime.Host {
	text := func(name string) string {
		if f := cmd.Flag(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	h, err := a.Host(cmd.Context(), &RuntimeFlags{
		Profile: text("profile"), Session: text("session"), agent: text("agent-type"), tenant: text("tenant"),
		environment: text("environment"),
		noSkills:    text("no-skills") == "true",
	})
	if err != nil {
		return nil
	}
	return h
}

// CompletionCatalog returns the catalog for completion, or nil.
func (a *App) CompletionCatalog(cmd *cobra.Command) *catalog.Catalog {
	h := a.CompletionHost(cmd)
	if h == nil {
		return nil
	}
	c, err := h.Catalog(cmd.Context())
	if err != nil {
		return nil
	}
	return c
}

// CompleteProfiles completes profile ids, including custom ones.
func (a *App) CompleteProfiles(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	ids := profile.IDs()
	if e, err := a.Env(); err == nil {
		ids = append(ids, profile.UserIDs(runtime.Profiles(e.Paths))...)
	}
	return Matching(ids, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeHosts completes the ids of profiles for agents.
func (a *App) completeHosts(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	ids, directive := a.CompleteProfiles(cmd, args, prefix)
	ids = append(ids, Matching(agent.IDs(), prefix)...)
	return slices.DeleteFunc(ids, func(id string) bool {
		p, err := profile.Lookup(id)
		return err == nil && p.Preset
	}), directive
}

// CompleteSessions completes the ids of stored sessions.
func (a *App) CompleteSessions(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	e, err := a.Env()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	sessions, _ := session.List(e.Paths.State) // completion ignores errors
	for _, k := range sessions {
		if k.ID != "" {
			ids = append(ids, cobra.CompletionWithDesc(k.ID, strings.Join(k.Active, ", ")))
		}
	}
	return Matching(ids, prefix), cobra.ShellCompDirectiveNoFileComp
}

// Brief returns the start of a description, for a menu.
func Brief(s string) string {
	return textx.TruncateRunes(Flat(s), 60)
}

// ForModel prints a text for a model.
func (a *App) ForModel(text string) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	fmt.Fprint(a.Content(a.Stdout), text)
}

// Answer prints a result in the profile's format: the model's text or, with --json, the agent's structured data.
func (a *App) Answer(h *runtime.Host, r prompt.Result) error {
	if !a.JSON {
		if r.Kind == prompt.Spawned {
			r.Ask = "run `skillpm task wait " + r.TaskID + "`"
		}
		a.ForModel(prompt.Text(h.Profile(), r))
		return nil
	}
	data, err := prompt.JSON(h.Profile(), r)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s\n", escaped(strings.TrimSuffix(string(data), "\n")))
	return nil
}

// Refused reports an error about a skill and, with --json, prints it in the profile's format.
func (a *App) Refused(cmd *cobra.Command, h *runtime.Host, name string, err error) error {
	if !a.JSON {
		return err
	}
	a.JSON = false // standard error is for users
	a.Report(cmd, err)
	a.JSON = true
	if err := a.Answer(h, h.Failed(name, err)); err != nil {
		return err
	}
	return Reported{Exit: diag.CodeOf(err)}
}

// Loading returns the function that reports that a skill is loaded, once it may be.
func (a *App) Loading(h *runtime.Host) func(*catalog.Skill) {
	if a.Quiet {
		return nil
	}
	return func(k *catalog.Skill) {
		a.Remark(prompt.Notice(h.Profile(), prompt.Result{Kind: prompt.Activated, Name: k.Name}))
	}
}

// Warnings prints warnings for users.
func (a *App) Warnings(texts []string) {
	for i, w := range texts {
		if !slices.Contains(texts[:i], w) {
			a.Warn("%s", w)
		}
	}
}

// Remark prints a line on standard error, even with --json.
func (a *App) Remark(text string) {
	if text != "" {
		a.printLine(remark(text))
	}
}

func remark(text string) string { return "skillpm: " + Flat(text) }

// Confiner returns the command that confines scripts: this program, whose main calls sandbox.Enter.
func Confiner() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self}
}

// taskRunner returns the command that runs a task: this program, even if PATH has another one.
func taskRunner() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return append([]string{self}, task.RunOne()...)
}
