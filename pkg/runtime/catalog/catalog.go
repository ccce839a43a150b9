package catalog

import (
	"context"
	"slices"
	"strings"
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
	// excluded unless it names this one.
	Agent, Tenant, Environment string

	// Toolsets are those that the agent has. A skill that needs another one is excluded. nil excludes none.
	Toolsets []string

	Off         bool     // make an empty catalog
	Allowed     []string // the only skills to include, as name or name@owner/name; empty for all
	HideUnmet   bool     // exclude skills whose declared programs, variables, or operating system are missing
	Recommended int      // how many skills may be available without a warning; 0 for the default, -1 for no limit

	// RequireTrust excludes the skills of a project whose directory is trusted neither by the user's [TrustedFolders]
	// nor by Trusted, which may be nil. A profile can require the same with TrustedProjects.
	RequireTrust bool
	Trusted      func(dir string) bool

	// Deny returns why a skill must not be used, nil if it may. A nil Deny denies nothing.
	Deny func(*Skill) error
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

// Lookup returns the skill with a name. name@owner/name selects exactly that pack's skill, even if it is shadowed.
//
// If no available skill has the bare name, Lookup returns the one pack's skill that has this name in its pack and is
// available under an alias. It does not do so if a skill of that name is locked but not installed.
//
// The error is an [*UnknownError].
func (c *Catalog) Lookup(name string) (*Skill, error) {
	if s := c.availableSkill(name); s != nil {
		return s, nil
	}
	unknown := &UnknownError{Name: name, Off: c.options.Off}
	claims := c.claims(name)
	subject := "packs contain a skill with"
	if len(claims) == 0 {
		claims, subject = c.declared(name), "skills have"
	}
	several := len(c.aliasesOf(claims, name)) > 1
	switch a := c.absentSkill(name); {
	case a != nil && a.denial != nil:
		claims, unknown.Reason, unknown.Fix, unknown.Denied = nil, a.denial.Error(), diag.HintOf(a.denial), true
	case a != nil:
		claims, unknown.Fix = nil, `run "skillpm install"`
		unknown.Reason = strings.TrimSpace(a.pack+" "+a.version) + " is locked but not installed"
	case several:
		unknown.Reason, unknown.Fix = "several "+subject+" this name: "+strings.Join(c.aliasesOf(claims, name), ", "),
			"use the full name of one of these skills"
	}
	for _, e := range claims {
		switch {
		case several && e.State == Available:
		case e.State == Available || e.State == Shadowed && strings.Contains(name, "@"):
			return e.Skill, nil
		case unknown.Reason == "":
			unknown.Reason, unknown.Invalid, unknown.Denied, unknown.Fix = e.Reason, e.State == Skipped, e.denied, e.fix
			if e.denied {
				unknown.Found = e.Skill
			}
		}
	}
	for _, s := range c.skills {
		if s.ModelInvocable {
			unknown.Available = append(unknown.Available, s.Name)
		}
	}
	unknown.Near = c.nearestName(name)
	return nil, unknown
}

// absentSkill returns the locked skill with a name that is not installed, or nil.
func (c *Catalog) absentSkill(name string) *absentSkill {
	base, pack, exact := strings.Cut(name, "@")
	for i, a := range c.absent {
		if exact && a.pack == pack && (a.base == base || a.name == base) || !exact && a.name == name {
			return &c.absent[i]
		}
	}
	return nil
}

// aliasesOf returns the aliases of the packs' skills whose own name is this one, if no available skill has the name.
func (c *Catalog) aliasesOf(claims []Entry, name string) (names []string) {
	for _, e := range claims {
		if e.State == Available && e.Name != name && e.alias != name && !strings.Contains(name, "@") {
			names = append(names, e.Name)
		}
	}
	return names
}

// availableSkill returns the available skill with a name, or nil.
func (c *Catalog) availableSkill(name string) *Skill {
	i, ok := slices.BinarySearchFunc(c.skills, name,
		func(s *Skill, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return c.skills[i]
}

// nearestName returns the most similar available name.
func (c *Catalog) nearestName(name string) string {
	if len(name) > 2*maxShort {
		return ""
	}
	base, _, exact := strings.Cut(name, "@")
	base = base[strings.LastIndexByte(base, ':')+1:]
	names := make([]string, 0, len(c.skills))
	if exact {
		for _, s := range c.skills {
			if s.Pack != "" && s.ModelInvocable {
				names = append(names, s.Exact())
			}
		}
		if near := diag.Nearest(name, names); near != "" {
			return near
		}
		names = names[:0]
	}
	for _, s := range c.skills {
		if !s.ModelInvocable {
			continue
		}
		if strings.EqualFold(s.Name, base) {
			return s.Name
		}
		names = append(names, s.Name)
	}
	return diag.Nearest(base, names)
}

// claims returns the entries with a name, the highest precedence first: those named so, then those of packs that are
// named so in their pack and available under an alias. name@owner/name selects that pack's skills.
func (c *Catalog) claims(name string) []Entry {
	base, pack, exact := strings.Cut(name, "@")
	var first, rest []Entry
	for _, e := range c.entries {
		switch {
		case exact && e.Pack == pack && pack != "" && (e.base == base || e.Name == base || e.Declared == base):
			first = append(first, e)
		case !exact && (e.Name == name || e.alias == name):
			first = append(first, e)
		case !exact && e.Pack != "" && e.base == name:
			rest = append(rest, e)
		}
	}
	return append(first, rest...)
}

// Which returns all skills that claim a name, or the bare name in name@owner/name.
func (c *Catalog) Which(name string) Claims {
	claims := Claims{Name: name}
	winner, _ := c.Lookup(name)
	for _, e := range c.claims(name) {
		switch e.State {
		case Available:
			if e.Skill == winner {
				claims.Winner = e.Skill
				continue
			}
			e.Reason = "available as " + e.Name
			claims.Shadowed = append(claims.Shadowed, e)
		case Shadowed:
			claims.Shadowed = append(claims.Shadowed, e)
		case Excluded:
			claims.Excluded = append(claims.Excluded, e)
		case Skipped:
			claims.Skipped = append(claims.Skipped, e)
		}
	}
	return claims
}
