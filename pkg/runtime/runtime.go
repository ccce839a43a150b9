package runtime

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Options say for whom skills are served, and where. What is empty is taken from the environment, then from the
// settings, then from the profile.
type Options struct {
	environ.Environment // where the agent works. Its clock and its paths are needed.

	Profile          string // an id; SKILLPM_PROFILE, `profile:` of the settings, profile.Runtime
	Session          string // an id; SKILLPM_SESSION
	NoSession        bool   // there is none, whatever the environment says
	Agent, Tenant    string // SKILLPM_AGENT, SKILLPM_TENANT, `skills:` of the settings
	SkillEnvironment string // SKILLPM_ENVIRONMENT, `skills:` of the settings
	NoSkills         bool   // skills are switched off
	Shell            bool   // commands in bodies are run where the profile has them
	FileLimit        int64  // how many bytes a file may have that is read whole; 0 for session.DefaultFileLimit

	// Settings are the user's. If they are nil they are read from the file of the environment, or if there is none from
	// the user's directory, if there are any.
	Settings *pack.Config

	// Layers are the layers of skills in place of the profile's; empty for those.
	Layers []profile.Layer

	Self []string // how the process that runs tasks is started, see [task.Options]; nil for skillpm, as PATH has it
	// Helper is the program, with its first arguments, that confines scripts: its main calls [EnterHelper]. Without one
	// scripts that are to be confined do not run.
	Helper []string
	User   string // who acts, for the audit log; "" for the user of this process

	// Trace is what the records of the audit log belong to; where it is none, what the environment variable TRACEPARENT
	// says.
	Trace audit.Trace
	// Host is the agent's program, as claude-code, for the audit log; "" where that is not known.
	Host string

	// ReadOnly are files that an agent's tools do not write to, besides what skillpm keeps.
	ReadOnly []string

	// Projects are further projects whose policies hold.
	Projects []string
	// As is what the policies are asked about in place of each skill, for copies of a skill that run somewhere else;
	// nil for the skill itself.
	As *enforce.Skill
	// Writable are files that exist, and that scripts may write to which are confined, besides what they may write
	// anyway.
	Writable []string

	// Deny returns why a skill must not be used besides what the policies say, nil where it may; nil allows all.
	Deny func(*catalog.Skill) error
}

// Host serves skills to one agent.
type Host struct {
	o       Options
	config  *pack.Config
	profile *profile.Profile
	project string
	guard   *enforce.Evaluator
	audit   *audit.Log
	session *session.Session
	tasks   *task.Store

	mu      sync.Mutex
	catalog *catalog.Catalog
}

// New returns a Host with the given options; [Open] is the same with the operating system's defaults. The error has
// code Usage for an unknown profile, and Invalid for settings that cannot be read.
func New(ctx context.Context, o Options) (*Host, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Now == nil {
		return nil, diag.Errorf(diag.Internal, "a host needs a clock")
	}
	var err error
	if o.Paths.Enterprise == "" { // whoever leaves the places out does not leave out the machine's policy
		o.Paths.Enterprise = scope.Enterprise(cmp.Or(o.OS, runtime.GOOS))
	}
	h := &Host{o: o}
	if h.config, err = o.settings(); err != nil {
		return nil, err
	}
	id := cmp.Or(o.Profile, o.Getenv("SKILLPM_PROFILE"), h.config.Profile, profile.Runtime)
	if h.profile, err = profile.Resolve(id, Profiles(o.Paths)); err != nil {
		return nil, err
	}
	if h.profile.Preset {
		return nil, diag.Errorf(diag.Usage,
			"%s is a stricter set of rules for skillpm validate, and no host that skills are served to", id).
			WithHint("skillpm profile list shows the hosts")
	}
	if len(o.Layers) > 0 {
		p := *h.profile
		p.Layers = o.Layers
		h.profile = &p
	}
	h.project = catalog.Project(o.Paths, o.Dir, h.profile)
	h.guard = h.openGuard()
	h.audit = h.openLog()
	h.tasks = task.Open(filepath.Join(o.Paths.State, "tasks"), task.Options{
		Runner: h.config.Runner, Self: o.Self, Env: o.Variables(), Now: o.Now, Audit: h.audit,
	})
	h.session, err = session.Open(session.Options{
		Environment: o.Environment, Profile: h.profile, Catalog: h.Catalog, Project: h.project,
		Audit: h.audit, Trace: o.trace(), Host: o.Host, Guard: policyGuard{h}, ReadOnly: h.readOnly(), Kept: h.protectedDirs(),
		MaxDepth: h.config.Skills.MaxDepth, ScriptLimit: h.config.Skills.ScriptLimit, FileLimit: o.FileLimit,
		Shell: o.Shell || h.config.Skills.DynamicShell, Helper: o.Helper, Submit: h.submit,
	}, o.sessionID())
	return h, err
}

// Profiles returns where a user's own profiles are.
func Profiles(paths scope.Paths) fs.FS { return safefile.Dir(filepath.Join(paths.Config, "profiles")) }

// maxSettings is the size in bytes of the settings that are read at most.
const maxSettings = 4 << 20

// settings reads the user's settings. A file that was named must exist, the default one need not.
func (o Options) settings() (*pack.Config, error) {
	if o.Settings != nil {
		return o.Settings, nil
	}
	path := cmp.Or(o.Config, o.Paths.ConfigFile())
	data, err := readSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		if o.Config != "" {
			return nil, diag.Errorf(diag.NotFound, "settings file %s does not exist", path)
		}
		return &pack.Config{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	return pack.ParseConfig(path, data)
}

// readSettings refuses links, as every command does.
func readSettings(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := safefile.Check(path, info, maxSettings); err != nil {
		return nil, err
	}
	return safefile.ReadFile(path, maxSettings)
}

// Profile returns the profile that skills are served under.
func (h *Host) Profile() *profile.Profile { return h.profile }

// Config returns the user's settings.
func (h *Host) Config() *pack.Config { return h.config }

// Project returns the root of the project that the host works in, "" for none.
func (h *Host) Project() string { return h.project }

// trace returns what the records belong to.
func (o Options) trace() audit.Trace {
	if o.Trace != (audit.Trace{}) {
		return o.Trace
	}
	return audit.ParseTraceparent(o.Getenv("TRACEPARENT"))
}

// sessionID returns the id of the session, "" for none.
func (o Options) sessionID() string {
	if o.NoSession {
		return ""
	}
	return cmp.Or(o.Session, o.Getenv("SKILLPM_SESSION"))
}

// Session returns the session, which keeps nothing where it has no id.
func (h *Host) Session() *session.Session { return h.session }

// Audit returns the log of what is done with skills.
func (h *Host) Audit() *audit.Log { return h.audit }

// Tasks returns the tasks of this user.
func (h *Host) Tasks() *task.Store { return h.tasks }

// Paths returns where skillpm keeps things.
func (h *Host) Paths() scope.Paths { return h.o.Paths }

// Dir returns the working directory.
func (h *Host) Dir() string { return h.o.Dir }

// Catalog returns the skills in force. They are looked for at the first call, and when a policy has changed; see
// [Host.Reload].
func (h *Host) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if changed := h.guard.Reload(); h.catalog != nil && !changed {
		return h.catalog, nil
	}
	c, err := catalog.Open(ctx, h.CatalogOptions())
	if err != nil {
		return nil, err
	}
	h.catalog = c
	return c, nil
}

// Reload has the skills looked for anew at the next call, as a program does that runs for long.
func (h *Host) Reload() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.catalog = nil
}

// CatalogOptions returns what the catalog is opened with.
func (h *Host) CatalogOptions() catalog.Options {
	o, s := h.o, h.config.Skills
	return catalog.Options{
		Profile: h.profile, Paths: o.Paths, Project: h.project, Cache: filepath.Join(o.Paths.Cache, "catalog"),
		Agent:       cmp.Or(o.Agent, o.Getenv("SKILLPM_AGENT"), s.Agent),
		Tenant:      cmp.Or(o.Tenant, o.Getenv("SKILLPM_TENANT"), s.Tenant),
		Environment: cmp.Or(o.SkillEnvironment, o.Getenv("SKILLPM_ENVIRONMENT"), s.Environment),
		Off:         o.NoSkills || !s.On(), Allowed: s.Allowed, Recommended: s.Recommended,
		RequireTrust: s.TrustedProjects, Trusted: h.trusted, Deny: h.deny, Getenv: o.Getenv, Now: o.Now,
	}
}

// trusted reports whether a folder, or one that it is in, is among those that the settings trust. The catalog looks
// into what skillpm trust keeps.
func (h *Host) trusted(dir string) bool {
	real, err := pathx.ResolveExisting(dir)
	return err == nil && slices.ContainsFunc(h.config.TrustedFolders, func(folder string) bool {
		folder, err := pathx.ResolveExisting(folder)
		return err == nil && pathx.Contains(folder, real)
	})
}

// readOnly returns where packs are.
func (h *Host) readOnly() (dirs []string) {
	scopes := []scope.Scope{h.o.Paths.User()}
	if h.project != "" {
		scopes = append(scopes, scope.Scope{Kind: scope.KindProject, Root: h.project})
	}
	for _, s := range scopes {
		dirs = append(dirs, s.Plugins(), filepath.Join(s.Dir(), "links"))
	}
	return dirs
}

// protectedDirs returns what an administrator installed, and where settings, policies, approvals, sessions and the audit log
// are.
func (h *Host) protectedDirs() []string {
	dirs := []string{h.o.Paths.Enterprise, h.o.Paths.Config, h.o.Paths.State, h.o.Config, h.audit.Path()}
	dirs = append(append(dirs, h.guard.ProtectedFiles()...), h.o.ReadOnly...)
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// submit hands a skill to a runner.
func (h *Host) submit(ctx context.Context, f session.Fork) (string, error) {
	t, err := h.tasks.Submit(ctx, task.Request{
		Skill: f.Skill, Pack: f.Pack, Dir: f.Dir, Agent: f.Agent, Model: f.Model, Project: f.Project, Body: f.Body,
	})
	if err != nil {
		return "", err
	}
	return t.ID, nil
}
