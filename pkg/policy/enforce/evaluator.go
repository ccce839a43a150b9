package enforce

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Options say for whom an evaluator decides, and where.
type Options struct {
	Files

	// Projects are the projects whose policies hold, the one that is worked in first; empty for none.
	Projects []string

	// OnlyPolicy is a file that is the only policy, in place of all others: for trying one out, never for deciding. It
	// counts as a user's.
	OnlyPolicy string

	Now func() time.Time // the clock, by which approvals end

	// Lint returns those findings of the skill at the root of a file system that rules name: ids, families, beginnings.
	// A policy with lint.fail_on denies every skill where there is none to ask.
	Lint func(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error)
}

// Evaluator evaluates policies. It may be used by several goroutines at once. Nothing in it looks at the environment,
// at settings, or at flags: what the machine's policy says holds whatever these are.
type Evaluator struct {
	o Options

	mu   sync.Mutex
	snap snapshot
}

// Open reads the policies, and what was approved. It has no error: a policy that can't be read denies everything, see
// [Evaluator.Err]. Where there is no policy, this costs a look for each file.
func Open(o Options) *Evaluator {
	g := &Evaluator{o: o}
	g.Reload()
	return g
}

// Skill is what an evaluator knows of a skill besides its files.
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

// Policies returns the policies in force, the machine's first.
func (g *Evaluator) Policies() policy.Set { return g.current().set }

// Err returns why everything is denied: the error of the first policy that can't be read. It is nil where all can be.
func (g *Evaluator) Err() error { return g.Policies().Err() }

// Digest returns a digest of the policies in effect, for records; "" for none.
func (g *Evaluator) Digest() string { return Digest(g.Policies()) }

// CheckListed returns why a skill must not be listed, looked up or called by its name, nil where it may: it is denied,
// it came from a place that is, or a policy can't be read. It looks at no file of the skill, so that it can be asked of
// thousands.
func (g *Evaluator) CheckListed(s Skill) error { return g.current().checkListed(s) }

// CheckActive is Listed for a skill that is active. It looks first whether a policy has changed.
func (g *Evaluator) CheckActive(s Skill) error {
	g.Reload()
	st := g.current()
	if s.Source == "" { // it was activated by a skillpm that did not keep where it came from
		s.Source = sourceUnchecked
	}
	return st.checkListed(s)
}

// Grants reports whether a skill's list of allowed tools grants them, as it does in some hosts, and forbids no others.
func (g *Evaluator) Grants() bool { return g.Policies().Grants() }

// HooksOpen reports whether a call goes on that a host's hook is asked about in a way that it can't read.
func (g *Evaluator) HooksOpen() bool { return g.Policies().HooksOpen() }

// CheckDowngrade returns why something must not be replaced by what is older, or has fewer signatures; nil where it
// may. What describes it, as "acme/tools 1.2.0 by 1.1.0".
func (g *Evaluator) CheckDowngrade(what string) (notes []string, err error) {
	return g.Policies().CheckDowngrade(what)
}
