package enforce

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Options configure an [Evaluator].
type Options struct {
	Files

	// Projects are the projects whose policies apply, the current one first; may be empty.
	Projects []string

	// OnlyPolicy is the path of a policy that replaces all others and counts as the user's. It is for testing a policy,
	// never for enforcement.
	OnlyPolicy string

	Now func() time.Time // clock for the expiry of approvals

	// Lint returns the findings of the skill at the root of fsys that rules select: rule ids, families, or prefixes. If
	// nil, a policy with lint.fail_on denies every skill.
	Lint func(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error)
}

// Evaluator evaluates policies. Concurrent use is safe. No environment variable, setting, or flag changes its
// decisions.
type Evaluator struct {
	o Options

	mu   sync.Mutex
	snap snapshot

	facts factsCache
}

// Open reads the policies and approvals. It returns no error, because a policy that cannot be read denies everything,
// see [Evaluator.Err]. Without policies it costs one stat call for each possible file.
func Open(o Options) *Evaluator {
	g := &Evaluator{o: o}
	g.Reload()
	return g
}

// Skill identifies a skill for the rules that need none of its files.
type Skill struct {
	Name      string // name of its directory in its pack, or of a local skill's
	Alias     string // name under which it is available, "" for Name
	Declared  string // name in its frontmatter, "" for none
	OtherName string // further name, such as that of its directory, "" for none
	Pack      string // owner/name of its pack, "" for a local skill
	Version   string // of its pack, "" if unknown
	Source    string // source of its pack as the lockfile writes it; "" if unknown
	Dir       string // path of its directory; "" if it is not on disk yet

	Claim   string // what the lockfile claims about its pack, see [pack.LockedPack.Claim]; "" if it is not there
	Tree    string // digest that the lockfile has of its files; "" if it has none
	Trusted bool   // the caller has verified its source and its files
	Named   bool   // the settings allow only the skills that they name

	Machine bool // the machine's administrator installed it, so that only the machine's policy applies
}

// Exact returns the name that identifies only this skill: name@owner/name if it is in a pack, else its name.
func (s Skill) Exact() string {
	if s.Pack == "" {
		return s.Name
	}
	return s.Name + "@" + s.Pack
}

// directory returns the files of the skill, nil if it is not on disk.
func (s Skill) directory() fs.FS {
	if s.Dir == "" {
		return nil
	}
	return safefile.Dir(s.Dir)
}

// Policies returns the policies in effect, the machine's first.
func (g *Evaluator) Policies() policy.Set { return g.current().set }

// Err returns the error of the first policy that cannot be read, because of which everything is denied; nil if all can
// be read.
func (g *Evaluator) Err() error { return g.Policies().Err() }

// Digest returns a digest of the policies in effect, for audit records; "" for none.
func (g *Evaluator) Digest() string { return Digest(g.Policies()) }

// CheckListed returns why a skill must not be listed, looked up, or called; nil if it may. A policy may deny its name
// or its source, or cannot be read. CheckListed reads no files of the skill and is fast enough for thousands of skills.
func (g *Evaluator) CheckListed(s Skill) error { return g.current().checkListed(s) }

// CheckActive is [Evaluator.CheckListed] for an active skill. It first reloads changed policies.
func (g *Evaluator) CheckActive(s Skill) error {
	g.Reload()
	st := g.current()
	if s.Trusted = true; s.Source == "" { // an older session state has no source
		s.Source = sourceUnchecked
	}
	if err := st.checkListed(s); err != nil {
		return err
	}
	return g.o.checkBlocked(context.Background(), s, s.directory())
}

// Grants reports whether `allowed-tools` grants tools, as in some agents, instead of restricting them.
func (g *Evaluator) Grants() bool { return g.Policies().Grants() }

// HooksOpen reports whether a tool call is allowed if the event of an agent's hook cannot be read.
func (g *Evaluator) HooksOpen() bool { return g.Policies().HooksOpen() }

// CheckDowngrade returns why a pack must not be replaced by an older version or one with fewer signatures; nil if it
// may. What describes the replacement, such as "acme/tools 1.2.0 by 1.1.0".
func (g *Evaluator) CheckDowngrade(what string) (notes []string, err error) {
	return g.Policies().CheckDowngrade(what)
}
