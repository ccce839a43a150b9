package runtime

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Options configure a [Host]. A setting that is empty comes from the environment variable that its comment names, then
// from the user's settings, then from the profile. What the machine's settings set, nothing of these replaces.
type Options struct {
	environ.Environment // the agent's environment; its clock and its paths are required

	Profile   string // id of the profile; SKILLPM_PROFILE, `profile:` of the project or the settings
	Session   string // id of the session; SKILLPM_SESSION
	NoSession bool   // use no session, even if SKILLPM_SESSION is set
	// Parents are the sessions that this one begins with, see [session.Options]. That of the task in which this process
	// runs is always one of them.
	Parents          []string
	Agent, Tenant    string   // SKILLPM_AGENT_TYPE, SKILLPM_TENANT, `skills:` of the settings
	SkillEnvironment string   // SKILLPM_ENVIRONMENT, `skills:` of the settings
	Toolsets         []string // toolsets of the agent, which exclude skills that need others; nil for all
	NoSkills         bool     // skills are switched off
	Shell            bool     // run the commands in skill bodies if the profile supports them
	FileLimit        int64    // maximum size in bytes of a file that Read returns; 0 for session.DefaultFileLimit

	// Settings are the user's settings. If nil, New reads the file that the environment names, or else the one in the
	// user's configuration directory, which need not exist.
	Settings *pack.Config

	// Layers replace the profile's layers of skills; empty keeps those.
	Layers []profile.Layer

	// Runner runs tasks in this process; nil for the runners of the settings. Notify is called when one has ended; it may
	// be nil.
	Runner Runner
	Notify func(TaskEnd)

	Self []string // command that starts the process which runs tasks, see [task.Options]; nil for skillpm in PATH
	// Helper is the program, with its first arguments, that confines scripts: its main calls [EnterHelper]. Without
	// one, scripts that must be confined do not run.
	Helper []string
	User   string // user's name for the audit log; "" for the user of this process

	// Trace is the W3C trace that audit records belong to; the zero value means the one of TRACEPARENT.
	Trace audit.Trace
	// Host is the id of the agent for the audit log, such as claude-code; "" if unknown.
	Host string

	// ReadOnly are further files that an agent's tools must not write to, besides skillpm's own.
	ReadOnly []string

	// Projects are further projects whose policies apply.
	Projects []string
	// As replaces each skill in policy decisions, for copies of a skill that run in another directory; nil for the
	// skill itself.
	As *enforce.Skill
	// Writable are existing files that confined scripts may also write to.
	Writable []string
	// Confine confines scripts even if neither the skill nor a policy requires it, on a machine that can confine them.
	Confine bool

	// Deny returns why a skill must not be used, nil if it may. It is called before the policies; nil denies nothing.
	Deny func(*catalog.Skill) error
}

// Host serves skills to one agent.
type Host struct {
	o       Options
	config  *pack.Config
	machine *pack.Config // settings of the machine's administrator
	profile *profile.Profile
	project string

	named      bool   // see NamesProfile
	recognized string // see Recognized

	guard   *enforce.Evaluator
	audit   *audit.Log
	session *session.Session
	tasks   *task.Store

	mu      sync.Mutex
	catalog *catalog.Catalog
	running map[string]*running // tasks in this process, by id
}

// New returns a Host with the given options; [Open] does the same with the operating system's defaults. The error has
// code Usage for an unknown profile, and Invalid for settings that cannot be read.
func New(ctx context.Context, o Options) (*Host, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Now == nil {
		return nil, diag.Errorf(diag.Internal, "a runtime needs a clock")
	}
	var err error
	if o.Paths.Enterprise == "" { // a caller that leaves out this path must not escape the machine's policy
		o.Paths.Enterprise = scope.Enterprise(cmp.Or(o.OS, runtime.GOOS))
	}
	h := &Host{o: o}
	if h.config, err = o.settings(); err != nil {
		return nil, err
	}
	if h.machine, err = o.machineSettings(); err != nil {
		return nil, err
	}
	if err := o.checkSelection(h.machine); err != nil {
		return nil, err
	}
	chosen, err := o.chooseProfile(h.config.Profile)
	if err != nil {
		return nil, err
	}
	h.profile, h.named, h.recognized = chosen.Profile, chosen.named, chosen.recognized
	if h.profile.Preset {
		return nil, diag.Errorf(diag.Usage,
			"%s is a set of rules for skillpm validate, not an agent", h.profile.ID).
			WithHint("list agents with: skillpm agents")
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
		Runner: h.config.Runner, Self: o.Self, Env: o.Variables(), Now: o.Now,
		Audit: func(string) *audit.Log { return h.audit }, EndSession: h.endTask,
	})
	h.session, err = session.Open(session.Options{
		Environment: o.Environment, Profile: h.profile, Catalog: h.Catalog, Project: h.project,
		Audit: h.audit, Trace: o.trace(), Host: o.Host, Guard: policyGuard{h},
		ReadOnly: h.readOnly(), Protected: h.protectedDirs(),
		MaxDepth: h.config.Skills.MaxDepth, ScriptLimit: h.config.Skills.ScriptLimit, FileLimit: o.FileLimit,
		Shell: o.Shell || h.config.Skills.DynamicShell, Helper: o.Helper, Submit: h.submit,
		CheckRunner: h.checkRunner, Parents: o.parents(),
	}, o.sessionID())
	return h, err
}

// Profile returns the profile that governs how skills are served.
func (h *Host) Profile() *profile.Profile { return h.profile }

// Config returns the user's settings.
func (h *Host) Config() *pack.Config { return h.config }

// Project returns the root of the project, "" if there is none.
func (h *Host) Project() string { return h.project }

func (o Options) trace() audit.Trace {
	if o.Trace != (audit.Trace{}) {
		return o.Trace
	}
	return audit.ParseTraceparent(o.Getenv("TRACEPARENT"))
}

// parents returns the sessions that the session begins with.
func (o Options) parents() []string {
	if id := o.Getenv("SKILLPM_SESSION"); session.IsTask(id) && id != o.sessionID() {
		return append(slices.Clone(o.Parents), id)
	}
	return o.Parents
}

func (o Options) sessionID() string {
	if o.NoSession {
		return ""
	}
	return cmp.Or(o.Session, o.Getenv("SKILLPM_SESSION"))
}

// Session returns the session. Without an id it keeps no state.
func (h *Host) Session() *session.Session { return h.session }

// Audit returns the audit log.
func (h *Host) Audit() *audit.Log { return h.audit }

// Tasks returns the tasks of this user.
func (h *Host) Tasks() *task.Store { return h.tasks }

// Paths returns the directories that skillpm uses.
func (h *Host) Paths() scope.Paths { return h.o.Paths }

// Dir returns the working directory.
func (h *Host) Dir() string { return h.o.Dir }

// Catalog returns the catalog of skills. It reads them at the first call, and again after a policy changed or
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
	h.guard.SaveFacts()
	h.catalog = c
	return c, nil
}

// Reload makes the next call read the catalog again. Long-running programs call it when skills may have changed.
func (h *Host) Reload() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.catalog = nil
}

// CatalogOptions returns the options of the host's catalog.
func (h *Host) CatalogOptions() catalog.Options {
	o, s, m := h.o, h.config.Skills, h.machine.Skills
	return catalog.Options{
		Profile: h.profile, Paths: o.Paths, Project: h.project, Cache: filepath.Join(o.Paths.Cache, "catalog"),
		Agent:       cmp.Or(m.AgentType, o.Agent, o.Getenv("SKILLPM_AGENT_TYPE"), s.AgentType),
		Tenant:      cmp.Or(m.Tenant, o.Tenant, o.Getenv("SKILLPM_TENANT"), s.Tenant),
		Environment: cmp.Or(m.Environment, o.SkillEnvironment, o.Getenv("SKILLPM_ENVIRONMENT"), s.Environment),
		Toolsets:    o.Toolsets,
		Off:         o.NoSkills || !s.On(), Allowed: s.Allowed, MachineAllowed: m.Allowed,
		Recommended: s.Recommended, HideUnmet: s.HideUnmet,
		RequireTrust: s.TrustedProjects, Trusted: h.trusted, Deny: h.deny, DenyNames: h.denyNames,
		Unapproved: h.unapproved(),
		Getenv:     o.Getenv, Now: o.Now,
	}
}

// trusted reports whether the settings trust a directory or one above it. The catalog checks what `skillpm trust`
// stores.
func (h *Host) trusted(dir string) bool {
	real, err := pathx.ResolveExisting(dir)
	return err == nil && slices.ContainsFunc(h.config.TrustedFolders, func(folder string) bool {
		folder, err := pathx.ResolveExisting(folder)
		return err == nil && pathx.Contains(folder, real)
	})
}

// scopes returns the scopes of the user and of the project, if there is one.
func (h *Host) scopes() []scope.Scope {
	scopes := []scope.Scope{h.o.Paths.User()}
	if h.project != "" {
		scopes = append(scopes, scope.Scope{Kind: scope.KindProject, Root: h.project})
	}
	return scopes
}

// readOnly returns the directories in which packs are installed or linked.
func (h *Host) readOnly() (dirs []string) {
	for _, s := range h.scopes() {
		dirs = append(dirs, s.Plugins(), s.Links())
	}
	return dirs
}

// protectedDirs returns the paths with an administrator's installations, settings, policies, approvals, sessions, the
// audit log, lockfiles, and the state of installations; and the store and packs of this machine, whose files installed
// skills may share.
func (h *Host) protectedDirs() []string {
	paths := h.o.Paths
	dirs := []string{paths.Enterprise, paths.Config, paths.State, paths.Cache, paths.Data, h.o.Config, h.audit.Path()}
	dirs = append(append(dirs, h.guard.ProtectedFiles()...), h.o.ReadOnly...)
	for _, s := range h.scopes() {
		dirs = append(dirs, s.Lock(), s.State(), s.Journal(), s.LockFile(), s.Backup())
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}
