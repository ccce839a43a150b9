package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// defaultRecommended is how many skills may be available without a warning if the settings do not say.
const defaultRecommended = 200

// Options configure a [Catalog].
type Options struct {
	Profile *profile.Profile
	Paths   scope.Paths
	Project string // root of the project, see [Project]; "" for none
	Cache   string // directory of the index, which need not exist; "" for no index

	// Agent, Tenant and Environment select skills. A skill whose `scope` names agents, tenants, or environments is
	// excluded unless it names this one. An enterprise skill is also included if this one is not known.
	Agent, Tenant, Environment string

	// Toolsets are those that the agent has. A skill that needs another one is excluded. nil excludes none.
	Toolsets []string

	Off bool // make an empty catalog
	// Allowed are the only skills to include besides enterprise skills, as name or name@owner/name; empty for all.
	Allowed []string
	// MachineAllowed is the same list of the machine's administrator. It includes enterprise skills.
	MachineAllowed []string
	HideUnmet      bool // exclude skills whose declared programs, variables, or operating system are missing
	Recommended    int  // how many skills may be available without a warning; 0 for the default, -1 for no limit

	// RequireTrust excludes the skills of a project whose directory is trusted neither by the user's [TrustedFolders]
	// nor by Trusted, which may be nil. A profile can require the same with TrustedProjects.
	RequireTrust bool
	Trusted      func(dir string) bool

	// Deny returns why a skill must not be used, nil if it may. A nil Deny denies nothing.
	Deny func(*Skill) error
	// Unapproved returns why a skill still needs an approval, nil if it does not. It is called for skills that nothing
	// else excludes. A nil Unapproved requires no approvals.
	Unapproved func(*Skill) error
	// DenyNames returns why the installer leaves out a skill of a pack with these names, nil if it does not. A nil
	// DenyNames denies nothing.
	DenyNames func(names []string, pack string) error

	// Getenv returns environment variables, which can move a profile's directories, and which skills can require; nil
	// for none.
	Getenv func(string) string

	OS  string           // as runtime.GOOS; "" for that
	Now func() time.Time // clock; nil disables the index
}

// Catalog is an immutable list of the skills of one profile. [Catalog.Watch] makes a new one after each change.
type Catalog struct {
	options  Options
	sources  rootFinder
	roots    []*root
	trees    []*tree  // one for each root
	changed  []bool   // whether the index must be updated, for each root
	entries  []Entry  // by name, the highest precedence first
	skills   []*Skill // available skills, by name
	findings []diag.Finding
	absent   []absentSkill
	copies   map[string]*Skill // skills of packs by the directories of their copies
}

// absentSkill is a skill of a pack that is locked but not installed. If denial is not nil, a policy denies the skill.
type absentSkill struct {
	base, name, pack, version string
	denial                    error
}

// Open reads all layers. Problems of single skills or directories become findings; the only error is that of the
// context.
func Open(ctx context.Context, o Options) (*Catalog, error) { return open(ctx, o, nil) }

// open is [Open]. A previous catalog, if not nil, replaces the index.
func open(ctx context.Context, o Options, before *Catalog) (*Catalog, error) {
	c := &Catalog{options: o}
	if o.Off {
		return c, ctx.Err()
	}
	c.sources = o.roots()
	c.roots = c.sources.roots
	var now int64
	if o.Now != nil {
		now = o.Now().UnixNano()
	} else {
		c.options.Cache = ""
	}
	for _, r := range c.roots {
		t, changed, err := c.tree(ctx, r, before, now)
		if err != nil {
			return nil, err
		}
		c.trees, c.changed = append(c.trees, t), append(c.changed, changed)
	}
	c.build(ctx, now)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.updateIndex()
	return c, nil
}

// updateIndex updates the index.
func (c *Catalog) updateIndex() {
	for i, t := range c.trees {
		if c.changed[i] && c.options.Cache != "" {
			writeIndex(c.options.Cache, c.roots[i], t)
		}
	}
}

// tree returns the contents of a root, using valid parts of the index. The second result reports whether the index must
// be updated.
func (c *Catalog) tree(ctx context.Context, r *root, before *Catalog, now int64) (*tree, bool, error) {
	cache := c.options.Cache
	var known *tree
	switch {
	case before != nil:
		known = before.treeOf(r)
	case cache != "":
		known = readIndex(cache, r)
	}
	return scan(ctx, r, known, c.inPacks, now)
}

// treeOf returns the tree of a root, nil if there is none.
func (c *Catalog) treeOf(r *root) *tree {
	for _, t := range c.trees {
		if t.real == r.real {
			return t
		}
	}
	return nil
}

// inPacks reports whether a real path is the directory of an installed skill or of its copy under an alias.
func (c *Catalog) inPacks(real string) bool {
	return slices.ContainsFunc(c.sources.installDirs, func(dir string) bool {
		return pathx.ContainsStrict(dir, real)
	}) ||
		slices.ContainsFunc(c.roots, func(r *root) bool { return r.packs && pathx.ContainsStrict(r.real, real) })
}

// Off reports whether skills are switched off; the catalog is empty then.
func (c *Catalog) Off() bool { return c.options.Off }

// Skills returns the available skills, sorted by name. Callers must not change them.
func (c *Catalog) Skills() []*Skill { return c.skills }

// All returns every skill that was found, sorted by name; for each name the one with the highest precedence is first.
func (c *Catalog) All() []Entry { return c.entries }

// Findings returns findings sorted by path, such as skipped skills, names that several packs use, and unreadable
// directories.
func (c *Catalog) Findings() []diag.Finding { return c.findings }

// UserInvocable returns the available skills that a user may start, sorted by name.
func (c *Catalog) UserInvocable() []*Skill {
	var list []*Skill
	for _, s := range c.skills {
		if s.UserInvocable {
			list = append(list, s)
		}
	}
	return list
}

// Tags returns the sorted tags of the available skills.
func (c *Catalog) Tags() []string {
	var tags []string
	for _, s := range c.skills {
		tags = append(tags, s.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Absent returns the packs that are locked and not installed, or not completely, each once.
func (c *Catalog) Absent() []string {
	var packs []string
	for _, a := range c.absent {
		if a.denial == nil && !slices.Contains(packs, a.pack) {
			packs = append(packs, a.pack)
		}
	}
	return packs
}
