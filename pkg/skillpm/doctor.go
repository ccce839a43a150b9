package skillpm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// DoctorOptions say what is looked at.
type DoctorOptions struct {
	Online    bool     // ask the registries whether they answer
	Variables []string // the names of the environment's variables, without their values
	Helper    []string // the program that confines scripts: see [run.Command]; nil where it is not to be tried
}

// DoctorReport is what [Client.Doctor] found.
type DoctorReport struct {
	Scopes   []string    `json:"scopes"` // what was looked at: "project ROOT" and "user ROOT", those that there are
	Checks   int         `json:"checks"` // that were made
	Facts    []Fact      `json:"facts"`  // what is good to know, and neither right nor wrong
	Findings []Diagnosis `json:"findings"`
}

// Fact is something about this machine.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Diagnosis is one thing that is wrong, or could be better.
type Diagnosis struct {
	Check    string        `json:"check"`           // stable id of the check, as lock-drift
	Severity diag.Severity `json:"severity"`        // error: something does not work; warning: it may not; advice
	Scope    string        `json:"scope,omitempty"` // project or user, where it is about one
	Path     string        `json:"path,omitempty"`  // what it is about
	Message  string        `json:"message"`         // what is wrong
	Means    string        `json:"means,omitempty"` // what that leads to
	Fix      string        `json:"fix,omitempty"`   // a command that mends it, or what to do
}

// Trouble reports whether anything was found that is more than advice.
func (r *DoctorReport) Trouble() bool {
	return slices.ContainsFunc(r.Findings, func(d Diagnosis) bool { return d.Severity != diag.SeverityAdvice })
}

// examination is what a check looks at.
type examination struct {
	ctx     context.Context //nolint:containedctx // it is the context of one call, for the checks that wait
	client  *Client
	options DoctorOptions
	config  *pack.Config // of the user, as far as it can be read
	report  *DoctorReport
	id      string // of the check that is being made

	// What a check of a scope looks at; nil in those of the machine.
	work   *workspace.Workspace
	layout *workspace.Layout
	linked []string // what AgentDirs warned of
}

// find adds a finding of the check that is being made.
func (x *examination) find(d Diagnosis) {
	d.Check = x.id
	if x.work != nil {
		d.Scope = x.work.Scope.Kind
	}
	x.report.Findings = append(x.report.Findings, d)
}

func (x *examination) fact(name, value string) {
	x.report.Facts = append(x.report.Facts, Fact{Name: name, Value: value})
}

// check is one thing that is looked at.
type check struct {
	id  string
	run func(*examination)
}

// The checks in the order in which they are made. What a check is called is part of the report.
func machineChecks() []check {
	return []check{
		{"settings", checkSettings},
		{"policies", checkPolicies},
		{"audit-log", checkAuditLog},
		{"trusted-keys", checkTrustedKeys},
		{"clock", checkClock},
		{"store", checkStore},
		{"disk-space", checkSpace},
		{"machine-key", checkKey},
		{"file-system", checkFileSystem},
		{"git-program", checkGit},
		{"hosts", checkHosts},
		{"docker-config", checkDocker},
		{"netrc", checkNetrc},
		{"token-variables", checkTokens},
		{"registries", checkRegistries},
		{"sandbox", checkSandbox},
	}
}

func scopeChecks() []check {
	return []check{
		{"skillpm-version", checkVersion},
		{"interrupted", checkInterrupted},
		{"lock-drift", checkDrift},
		{"installed", checkInstalled},
		{"names", checkNames},
		{"agent-directories", checkAgentDirs},
		{"agents-asked", checkAgentsAsked},
		{"foreign-links", checkForeignLinks},
		{"git-ignore", checkIgnored},
		{"vendored", checkVendored},
	}
}

// Doctor looks at the project, at what is installed for the user, and at the machine, and says what is wrong and how to
// mend it. It changes nothing, and uses no network unless it is told to.
func (c *Client) Doctor(ctx context.Context, o DoctorOptions) (*DoctorReport, error) {
	defer c.Progress(Event{Done: true})
	r := &DoctorReport{Scopes: []string{}, Facts: []Fact{}, Findings: []Diagnosis{}}
	x := &examination{ctx: ctx, client: c, options: o, report: r, config: &pack.Config{}}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		if err := x.scope(kind); err != nil {
			return nil, err
		}
	}
	x.work, x.layout = nil, nil
	if err := x.run(machineChecks()); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Findings, func(a, b Diagnosis) int { return cmp.Compare(a.Severity, b.Severity) })
	return r, nil
}

func (x *examination) run(checks []check) error {
	for _, c := range checks {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		x.id = c.id
		x.client.Progress(Event{Text: "looking at " + strings.ReplaceAll(c.id, "-", " ")})
		c.run(x)
		x.report.Checks++
	}
	return nil
}

// scope makes the checks of one scope, if there is one.
func (x *examination) scope(kind string) error {
	x.id, x.work = "files", nil
	if _, err := x.client.machine.UserConfig(); err != nil {
		return nil //nolint:nilerr // the check of the settings says so, once
	}
	w, err := x.client.machine.Open(kind, false)
	code := diag.CodeOf(err)
	home := (*scope.HomeError)(nil)
	switch {
	case code == diag.NotFound, errors.As(err, &home):
		return nil // there is no project here
	case err != nil:
		x.report.Checks++
		x.find(Diagnosis{
			Severity: diag.SeverityError, Scope: kind, Message: err.Error(),
			Means: "no command can work on this scope before it is mended", Fix: diag.HintOf(err),
		})
		return nil
	}
	if _, err := os.Lstat(w.Scope.Dir()); kind == scope.KindUser && errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever installed
	}
	x.work, x.config = w, w.Config
	x.report.Scopes = append(x.report.Scopes, kind+" "+w.Scope.Root)
	dirs, linked, err := w.AgentDirs(nil)
	if err == nil {
		x.layout, err = w.NewLayout(w.Manifest, w.Lock, dirs)
	}
	x.linked = linked
	if err != nil {
		x.report.Checks++
		x.find(Diagnosis{
			Severity: diag.SeverityError, Message: err.Error(),
			Means: "nothing can be installed here before it is mended", Fix: diag.HintOf(err),
		})
		return nil
	}
	return x.run(scopeChecks())
}

// counted returns a number of things in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Homeless is the report where not even the home directory is known, so that nothing else can be looked at.
func Homeless(err error) *DoctorReport {
	return &DoctorReport{Scopes: []string{}, Checks: 1, Facts: []Fact{}, Findings: []Diagnosis{{
		Check: "home", Severity: diag.SeverityError, Message: err.Error(),
		Means: "skillpm has no place for its settings, its store and its secrets: no command works", Fix: diag.HintOf(err),
	}}}
}
