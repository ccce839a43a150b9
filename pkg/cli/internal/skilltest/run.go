package skilltest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Options configure [Run] and [RunSkill].
type Options struct {
	Profile string                 // profile of cases without one; "" for profile.Runtime
	Match   func(name string) bool // names of the cases to run; nil for all
	Update  bool                   // rewrite the expected texts
	// the other skills that trigger queries may lead to; those with the name of the tested skill are ignored
	Others []*catalog.Skill

	Config string // the user's settings directory, for custom profiles; "" for none
	// The policies of the machine, of the user (in Config), and of projects apply to the tests of a skill.
	Enterprise string   // the machine's policy directory; "" for none
	OS         string   // runtime.GOOS
	Admin      int      // user id of the machine's administrator
	Projects   []string // the user whose policies apply
	// the skill that policies check; nil for that of [LocalSkill]
	As *enforce.Skill
	// the command that confines scripts; nil: scripts that must be confined do not run
	Helper []string
	// confine scripts even if neither the skill nor a policy requires it, on a machine that can confine them
	Confine bool
	// receives warnings for users, such as what a policy in observe mode would deny; may be nil
	Warn func(string)

	Getenv func(string) string // environment without the user's own variables; nil for none
	Now    func() time.Time    // required
}

// Outcomes of a case.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
)

// Result is the result of a case.
type Result struct {
	File       string        `json:"file"` // relative to the skill
	Line       int           `json:"line"`
	Name       string        `json:"name"`
	Outcome    string        `json:"outcome"`
	Reason     string        `json:"reason,omitempty"` // why it was skipped
	Mismatches []Mismatch    `json:"mismatches,omitempty"`
	Took       time.Duration `json:"-"`
	TookMS     float64       `json:"durationMs"`

	Query         string   `json:"query,omitempty"`         // prompt of a trigger query
	ShouldTrigger *bool    `json:"shouldTrigger,omitempty"` // whether the query should lead to the skill
	Found         []string `json:"found,omitempty"`         // names of the skills that fit the query, best first

	Profile string   `json:"profile,omitempty"`
	Body    string   `json:"body,omitempty"`
	Calls   []Step   `json:"calls,omitempty"`
	Exit    *int     `json:"exit,omitempty"`
	Stdout  string   `json:"stdout,omitempty"`
	Stderr  string   `json:"stderr,omitempty"`
	Ran     []string `json:"ran,omitempty"`     // mocked commands that ran
	Updated []string `json:"updated,omitempty"` // rewritten files
}

// Mismatch is a difference from the expectation.
type Mismatch struct {
	Message string `json:"message"`
	Diff    string `json:"diff,omitempty"`
}

// Step is a call and its result.
type Step struct {
	Tool    string         `json:"tool"`
	Input   map[string]any `json:"input,omitempty"`
	Allowed bool           `json:"allowed"`
	Skill   string         `json:"skill,omitempty"` // the skill whose restrictions deny it
	Reason  string         `json:"reason,omitempty"`
	Reply   any            `json:"reply,omitempty"` // of an allowed call
}

func (r *Result) wrongf(format string, args ...any) {
	r.Mismatches = append(r.Mismatches, Mismatch{Message: fmt.Sprintf(format, args...)})
}

// Run runs the cases of a test file, one after the other. It returns an error if ctx ends, if the options are invalid,
// or, with the code Denied, if a policy denies the skill. Problems of a case are in its result.
func Run(ctx context.Context, dir string, f *File, o Options) ([]Result, error) {
	if o.Now == nil {
		return nil, diag.Errorf(diag.Internal, "tests need a clock")
	}
	if err := CheckPolicies(ctx, dir, o); err != nil {
		return nil, err
	}
	var out []Result
	for i := range f.Cases {
		c := &f.Cases[i]
		if o.Match != nil && !o.Match(c.Name) {
			continue
		}
		r := Result{File: f.Path, Line: c.line, Name: c.Name}
		began := o.Now()
		if c.Skip != "" {
			r.Outcome, r.Reason = Skipped, c.Skip
		} else if err := runCase(ctx, dir, f, c, o, &r); err != nil {
			return out, err
		}
		r.setTook(o.Now().Sub(began))
		out = append(out, r)
	}
	if o.Update {
		return out, f.update(dir, out)
	}
	return out, nil
}

// LocalSkill returns the skill that policies check for a directory that is not an available skill.
func LocalSkill(dir string) *enforce.Skill {
	as := &enforce.Skill{Name: filepath.Base(dir), Dir: dir}
	if data, err := safefile.ReadFile(filepath.Join(dir, skill.File), skill.MaxFile); err == nil {
		doc, _ := skill.Parse(data)
		as.Declared = doc.Name()
	}
	return as
}

// CheckPolicies checks a skill against the policies, which also apply to its tests. The error has the code Denied.
func CheckPolicies(ctx context.Context, dir string, o Options) error {
	if o.As == nil {
		o.As = LocalSkill(dir)
	}
	g := enforce.Open(enforce.Options{
		Files: enforce.Files{
			Paths: scope.Paths{Config: o.Config, Enterprise: o.Enterprise}, OS: o.OS,
			Admin: o.Admin,
		},
		Projects: o.Projects, Now: o.Now, Lint: lint.ProjectRules(safefile.Dirs(o.Projects)),
	})
	if len(g.Policies()) == 0 {
		return nil
	}
	if err := g.CheckListed(*o.As); err != nil {
		return err
	}
	d, err := g.Evaluate(ctx, *o.As, os.DirFS(dir))
	for _, note := range d.Notes {
		o.warn(note)
	}
	return err
}

func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// runCase runs one case.
func runCase(ctx context.Context, dir string, f *File, c *Case, o Options, r *Result) error {
	w, err := newFixture(ctx, dir, f, c, o)
	if err == nil {
		defer w.close()
		r.Profile = w.host.Profile().ID
		var name string
		if name, err = w.name(ctx); err == nil && c.runs() {
			err = w.script(ctx, name, c, r)
		} else if err == nil {
			err = w.activate(ctx, name, c, r)
		}
		r.Ran = w.mockedRuns()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.Mismatches = append(r.Mismatches, Mismatch{Message: stableError(w, err)})
	} else {
		w.compare(dir, c, r, o.Update)
	}
	if r.Outcome = Passed; len(r.Mismatches) > 0 {
		r.Outcome = Failed
	}
	return nil
}

func stableError(w *fixture, err error) string {
	if w == nil {
		return diag.TextOf(err)
	}
	return w.stable(diag.TextOf(err))
}

// activate activates the skill and makes the calls. It returns an unexpected error of the activation.
func (w *fixture) activate(ctx context.Context, name string, c *Case, r *Result) error {
	a, err := w.host.Load(ctx, name, session.Activate{
		Arguments: w.expandPlaceholders(c.Arguments), Trigger: session.Trigger(c.Trigger), Inline: true, Shell: c.Shell,
	})
	switch {
	case err != nil && c.Error == "":
		return err
	case err != nil:
		if text := w.stable(err.Error()); !strings.Contains(text, c.Error) {
			r.wrongf("the error is %q and does not contain %q", text, c.Error)
		}
		return nil
	case c.Error != "":
		r.wrongf("the skill was activated, but the case expects an error with %q", c.Error)
		return nil
	}
	r.Body = w.stable(a.Body)
	for i, call := range c.Calls {
		if err := w.call(ctx, i+1, call, r); err != nil {
			return err
		}
	}
	_, err = w.host.Session().Deactivate(ctx, "", session.User)
	return err
}

// call checks whether a call is allowed.
func (w *fixture) call(ctx context.Context, number int, call Call, r *Result) error {
	input, _ := w.expandPlaceholdersIn(call.Input).(map[string]any)
	v, err := w.host.Session().Allow(ctx, tool.Call{Tool: call.Tool, Input: input})
	if err != nil {
		return err
	}
	step := Step{Tool: call.Tool, Input: call.Input, Allowed: v.Allowed, Skill: v.Skill, Reason: w.stable(v.Reason)}
	if v.Allowed {
		step.Reply = call.Reply
	}
	r.Calls = append(r.Calls, step)
	switch {
	case v.Allowed && call.Want == refused:
		r.wrongf("call %d (%s) is allowed, but the case expects a denial", number, call.Tool)
	case !v.Allowed && call.Want != refused:
		r.wrongf("call %d (%s) is denied, but the case expects that it is allowed: %s", number, call.Tool, step.Reason)
	case !v.Allowed && call.Reply != nil:
		r.wrongf("call %d (%s) has a reply, but a denied call does not get a reply", number, call.Tool)
	case !v.Allowed && !strings.Contains(step.Reason, call.Because):
		r.wrongf("call %d (%s) is denied with the reason %q, which does not contain %q", number,
			call.Tool, step.Reason, call.Because)
	}
	return nil
}

// script runs a script of the skill, or its command.
func (w *fixture) script(ctx context.Context, name string, c *Case, r *Result) error {
	o := session.RunOptions{
		Warn: w.warn, Script: c.Script, Stdin: strings.NewReader(w.expandPlaceholders(c.Stdin)),
		Env: map[string]string{},
	}
	for _, a := range c.Args {
		o.Args = append(o.Args, w.expandPlaceholders(a))
	}
	for k, v := range c.Env {
		o.Env[k] = w.expandPlaceholders(v)
	}
	if c.Limit != "" {
		o.Limit, _ = time.ParseDuration(c.Limit) // validated by Parse
	}
	res, err := w.host.Run(ctx, name, o)
	switch {
	case err != nil && c.Error != "":
		if text := w.stable(err.Error()); !strings.Contains(text, c.Error) {
			r.wrongf("the error is %q and does not contain %q", text, c.Error)
		}
		return nil
	case err != nil:
		return err
	case c.Error != "":
		r.wrongf("the script ran, but the case expects an error with %q", c.Error)
	}
	r.Exit, r.Stdout, r.Stderr = &res.ExitCode, w.stable(string(res.Stdout)), w.stable(string(res.Stderr))
	want := 0
	if c.Exit != nil {
		want = *c.Exit
	}
	switch {
	case res.TimedOut:
		r.wrongf("the script did not end within its time limit")
	case res.ExitCode != want && c.Stderr == nil && r.Stderr != "":
		const format = "the script exited with %d instead of %d; its standard error:"
		r.Mismatches = append(r.Mismatches,
			Mismatch{fmt.Sprintf(format, res.ExitCode, want), indent(lastLines(r.Stderr))})
	case res.ExitCode != want:
		r.wrongf("the script exited with %d instead of %d", res.ExitCode, want)
	}
	return nil
}

// lastLines returns the last lines of a text.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n") + "\n"
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ") + "\n"
}

// compare compares the results of a case with its expectations. Leading and trailing line ends do not count.
func (w *fixture) compare(dir string, c *Case, r *Result, update bool) {
	text, what := r.Body, "the text"
	if c.runs() {
		text, what = r.Stdout, "standard output"
	}
	if c.Error != "" {
		return
	}
	if !update {
		r.golden(dir, c)
	}
	if c.Stderr != nil {
		r.same("standard error", "stderr", *c.Stderr, r.Stderr)
	}
	for _, part := range c.Contains {
		if !strings.Contains(text, part) {
			r.wrongf("%s does not contain %q", what, part)
		}
	}
	for _, part := range c.Lacks {
		if strings.Contains(text, part) {
			r.wrongf("%s contains %q", what, part)
		}
	}
	if c.Ran != nil && !slices.Equal(c.Ran, r.Ran) {
		r.same("the list of replaced programs that ran", "ran", strings.Join(c.Ran, "\n"), strings.Join(r.Ran, "\n"))
	}
}

// equalTrimmed compares two texts without leading and trailing line ends.
func equalTrimmed(a, b string) bool { return strings.Trim(a, "\n") == strings.Trim(b, "\n") }

// same compares two texts.
func (r *Result) same(what, name, want, got string) {
	if !equalTrimmed(want, got) {
		lines := func(s string) []byte { return []byte(strings.Trim(s, "\n") + "\n") }
		r.Mismatches = append(r.Mismatches,
			Mismatch{what + " differs", textdiff.Unified("wanted/"+name, "got/"+name, lines(want), lines(got))})
	}
}
