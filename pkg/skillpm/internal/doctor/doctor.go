// Package doctor diagnoses a project, the user's installation, and the machine.
//
// It changes nothing, and uses no network unless the options ask for it. Of secrets it checks only that they exist.
// Start reading at the table of [checks].
package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// Options select the checks.
type Options struct {
	Online    bool     // check that the registries answer
	Variables []string // the names of the environment's variables, without their values
	// the program that confines scripts, see [runtime.CheckConfinement]; nil to skip that check
	Helper []string
}

// Report is the result of all checks.
type Report struct {
	Scopes   []string    `json:"scopes"` // "project ROOT" and "user ROOT", if they exist
	Checks   int         `json:"checks"` // the number of checks
	Facts    []Fact      `json:"facts"`  // about the machine and the scopes
	Findings []Diagnosis `json:"findings"`
}

// Fact is a property of the machine or a scope.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Diagnosis is one problem.
type Diagnosis struct {
	Check    string        `json:"check"`            // stable id of the check, such as lock-drift
	Severity diag.Severity `json:"severity"`         // error: something does not work; warning: it may not; note
	Scope    string        `json:"scope,omitempty"`  // project or user, if it is about one
	Path     string        `json:"path,omitempty"`   // what it is about
	Message  string        `json:"message"`          // what is wrong
	Effect   string        `json:"effect,omitempty"` // the consequence
	Fix      string        `json:"fix,omitempty"`    // a command that fixes it, or what to do
}

// Trouble reports whether there is an error or a warning.
func (r *Report) Trouble() bool {
	return slices.ContainsFunc(r.Findings, func(d Diagnosis) bool { return d.Severity != diag.SeverityNote })
}

// Homeless is the report if the home directory is unknown, so that no check can run.
func Homeless(err error) *Report {
	return &Report{Scopes: []string{}, Checks: 1, Facts: []Fact{}, Findings: []Diagnosis{{
		Check: "home", Severity: diag.SeverityError, Message: err.Error(), Fix: diag.HintOf(err),
		Effect: "no command works, because skillpm does not have a directory for settings, store, and credentials",
	}}}
}

// check is one check.
type check struct {
	id    string // stable, part of the report
	scope bool   // it runs for each scope, before the checks of the machine
	run   func(*exam)
}

// checks returns all checks in their order.
func checks() []check {
	return []check{
		{"skillpm-version", true, checkVersion},
		{"interrupted", true, checkInterrupted},
		{"lock-drift", true, checkDrift},
		{"installed", true, checkInstalled},
		{"requirements", true, checkRequirements},
		{"names", true, checkNames},
		{"agent-directories", true, checkAgentDirs},
		{"manifest-agents", true, checkManifestAgents},
		{"foreign-links", true, checkForeignLinks},
		{"git-ignore", true, checkIgnored},
		{"vendored", true, checkVendored},

		{"settings", false, checkSettings},
		{"policies", false, checkPolicies},
		{"audit-log", false, checkAuditLog},
		{"trusted-keys", false, checkTrustedKeys},
		{"publishers", false, checkPublishers},
		{"clock", false, checkClock},
		{"store", false, checkStore},
		{"disk-space", false, checkSpace},
		{"machine-key", false, checkKey},
		{"file-system", false, checkFileSystem},
		{"git-program", false, checkGit},
		{"connections", false, checkAgentConnections},
		{"docker-config", false, checkDocker},
		{"netrc", false, checkNetrc},
		{"token-variables", false, checkTokens},
		{"registries", false, checkRegistries},
		{"sandbox", false, checkSandbox},
	}
}

// exam is the state of a run, which all checks share.
type exam struct {
	*base.Base
	ctx     context.Context //nolint:containedctx // the context of one call
	options Options
	unused  time.Duration // the age of unused trees that garbage collection removes
	config  *pack.Config  // of the user, as far as it can be read
	report  *Report
	id      string // of the running check

	// The scope of a check; nil in checks of the machine.
	ws     *workspace.Workspace
	layout *workspace.Layout
	linked []string // the warnings of AgentDirs
}

// Run runs all checks. Trees of the store of the given age without use count as unused.
func Run(ctx context.Context, b *base.Base, o Options, unused time.Duration) (*Report, error) {
	r := &Report{Scopes: []string{}, Facts: []Fact{}, Findings: []Diagnosis{}}
	x := &exam{Base: b, ctx: ctx, options: o, unused: unused, report: r, config: &pack.Config{}}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		if err := x.scope(kind); err != nil {
			return nil, err
		}
	}
	x.ws, x.layout = nil, nil
	if err := x.run(false); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Findings, func(a, b Diagnosis) int { return cmp.Compare(a.Severity, b.Severity) })
	return r, nil
}

// run runs the checks of a scope, or of the machine.
func (x *exam) run(ofScope bool) error {
	for _, c := range checks() {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		if c.scope != ofScope {
			continue
		}
		x.id = c.id
		x.Progress(fetch.Event{Text: "checking " + strings.ReplaceAll(c.id, "-", " ")})
		c.run(x)
		x.report.Checks++
	}
	return nil
}

// scope runs the checks of one scope, if it exists.
func (x *exam) scope(kind string) error {
	x.id, x.ws = "files", nil
	if _, err := x.Machine.UserConfig(); err != nil {
		return nil //nolint:nilerr // the check of the settings reports it once
	}
	w, err := x.Machine.Open(kind, false)
	if _, noHome := errors.AsType[*scope.HomeError](err); noHome || diag.CodeOf(err) == diag.NotFound {
		return nil // there is no project here
	}
	if err != nil {
		x.report.Checks++
		x.add(diag.SeverityError, "", err.Error(), "no command works in this scope until you fix the problem",
			diag.HintOf(err))
		x.report.Findings[len(x.report.Findings)-1].Scope = kind
		return nil
	}
	if _, err := os.Lstat(w.Scope.Dir()); kind == scope.KindUser && errors.Is(err, fs.ErrNotExist) {
		return nil // there was never an installation
	}
	x.ws, x.config = w, w.Config
	x.report.Scopes = append(x.report.Scopes, kind+" "+w.Scope.Root)
	dirs, linked, err := w.AgentDirs(workspace.AgentChoice{})
	if err == nil {
		x.layout, err = w.NewLayout(w.Manifest, w.Lock, dirs)
	}
	x.linked = linked
	if err != nil {
		x.report.Checks++
		x.fail("", err, "skillpm cannot install packs in this scope until you fix the problem")
		return nil
	}
	return x.run(true)
}

// add adds a finding of the running check.
func (x *exam) add(s diag.Severity, path, message, effect, fix string) {
	d := Diagnosis{Check: x.id, Severity: s, Path: path, Message: message, Effect: effect, Fix: fix}
	if x.ws != nil {
		d.Scope = x.ws.Scope.Kind
	}
	x.report.Findings = append(x.report.Findings, d)
}

// fail adds an error.
func (x *exam) fail(path string, err error, effect string) {
	x.add(diag.SeverityError, path, err.Error(), effect, diag.HintOf(err))
}

func (x *exam) error(path, message, effect, fix string) {
	x.add(diag.SeverityError, path, message, effect, fix)
}

func (x *exam) warn(path, message, effect, fix string) {
	x.add(diag.SeverityWarning, path, message, effect, fix)
}

func (x *exam) advise(path, message, effect, fix string) {
	x.add(diag.SeverityNote, path, message, effect, fix)
}

func (x *exam) fact(name, value string) {
	x.report.Facts = append(x.report.Facts, Fact{Name: name, Value: value})
}

// project returns the project that the working directory is in, false if there is none.
func (x *exam) project() (scope.Scope, bool) {
	s, found, err := x.Paths.Project(x.Dir)
	return s, err == nil && found
}

// command returns the advice to run a command, for the current scope.
func (x *exam) command(text string) string {
	if x.ws.Scope.Kind == scope.KindUser {
		text += " --scope user"
	}
	return "run \"" + text + "\""
}

func isDir(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}
