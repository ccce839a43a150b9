package enforce

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Options say for whom a guard decides, and where.
type Options struct {
	Files

	// Projects are the projects whose policies hold, the one that is worked in first; empty for none.
	Projects []string

	// Alone is a file that is the only policy, in place of all others: for trying one out, never for deciding. It counts as
	// a user's.
	Alone string

	Now func() time.Time // the clock, by which approvals end

	// Lint returns those findings of the skill at the root of a file system that rules name: ids, families, beginnings. A
	// policy with lint.fail_on denies every skill where there is none to ask.
	Lint func(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error)
}

// Guard is the one door. It may be used by several goroutines at once. Nothing in it looks at the environment, at settings,
// or at flags: what the machine's policy says holds whatever these are.
type Guard struct {
	o Options

	mu sync.Mutex
	st state
}

// Open reads the policies, and what was approved. It has no error: a policy that can't be read denies everything, see
// [Guard.Err]. Where there is no policy, this costs a look for each file.
func Open(o Options) *Guard {
	g := &Guard{o: o}
	g.Reload()
	return g
}

// Skill is what a guard is told of a skill.
type Skill struct {
	Name   string // of its directory, in its pack or where it was written by hand
	As     string // under which it is in force, "" for Name
	Other  string // what its frontmatter calls it, "" for nothing else
	Also   string // any further name, as of its directory, "" for none
	Pack   string // owner/name of the pack that it came with, "" for what was written by hand
	Source string // where its pack came from, as the lock has it; "" where that is not known
	Dir    string // its directory; "" where it is not on disk yet

	Machine bool // it is in the layer that the machine's administrator keeps: only the machine's policy binds it
}

// Exact returns the name that always means this skill: name@owner/name for one of a pack, else its name.
func (s Skill) Exact() string {
	if s.Pack == "" {
		return s.Name
	}
	return s.Name + "@" + s.Pack
}

// Reload looks whether a file has changed since it was read, and reads those that have, as a program does that runs for long
// before each decision. It reports whether there was one.
func (g *Guard) Reload() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reload()
}

// Policies returns the policies in force, the machine's first.
func (g *Guard) Policies() policy.Set { return g.state().set }

// Err returns why everything is denied: the error of the first policy that can't be read. It is nil where all can be.
func (g *Guard) Err() error { return g.Policies().Err() }

// Listed returns why a skill must not be listed, looked up or called by its name, nil where it may: it is denied, it came
// from a place that is, or a policy can't be read. It looks at no file of the skill, so that it can be asked of thousands.
func (g *Guard) Listed(s Skill) error { return g.state().listed(s) }

// Standing is Listed for a skill that is active. It looks first whether a policy has changed.
func (g *Guard) Standing(s Skill) error {
	g.Reload()
	st := g.state()
	if s.Source == "" { // it was activated by a skillpm that did not keep where it came from
		s.Source = unasked
	}
	return st.listed(s)
}

// Use returns why a skill must not be installed, activated, read from, or have its scripts run; nil where it may. What its
// files are is in a file system with SKILL.md at its root. Notes are what policies that only observe would have refused.
//
// The digest is that of the tree that was decided about, "" where no rule asked for it: with what is then read of the files
// it can be compared, see [Decision.Check].
func (g *Guard) Use(ctx context.Context, s Skill, files fs.FS) (Decision, error) {
	return g.state().use(ctx, s, files)
}

// Grants reports whether a skill's list of allowed tools grants them, as it does in some hosts, and forbids no others.
func (g *Guard) Grants() bool { return g.Policies().Grants() }

// HooksOpen reports whether a call goes on that a host's hook is asked about in a way that it can't read.
func (g *Guard) HooksOpen() bool { return g.Policies().HooksOpen() }

// Downgrade returns why something must not be replaced by what is older, or has fewer signatures; nil where it may. What
// describes it, as "acme/tools 1.2.0 by 1.1.0".
func (g *Guard) Downgrade(what string) (notes []string, err error) { return g.Policies().Older(what) }
