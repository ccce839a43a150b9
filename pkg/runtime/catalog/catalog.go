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

// defaultRecommended is how many skills may be in force without a warning where the settings do not say.
const defaultRecommended = 200

// Options say where to look, and for whom.
type Options struct {
	Profile *profile.Profile
	Paths   scope.Paths
	Project string // the project's root, as [Project] finds it; "" for none
	Cache   string // the directory of the index, which need not exist; "" for none

	// Agent, Tenant and Environment are whom skills are wanted for. A skill that is for some only is left out where
	// they are not among those, or not known.
	Agent, Tenant, Environment string

	Off         bool     // no skills at all
	Allowed     []string // the only skills, as name or name@owner/name; empty for all
	Recommended int      // how many may be in force without a warning; 0 is DefaultRecommended, -1 no limit

	// RequireTrust leaves out the skills of a project whose folder is not trusted, as a profile with TrustedProjects
	// does: it is neither among the user's [TrustedFolders] nor does Trusted, which may be nil, say that it is.
	RequireTrust bool
	Trusted      func(dir string) bool

	// Deny returns why a skill must not be used, nil where it may.
	Deny func(*Skill) error

	// Getenv returns variables of the environment, by which a profile's directories may be elsewhere; nil for none.
	Getenv func(string) string

	OS  string           // as runtime.GOOS, which it is where it is empty
	Now func() time.Time // the clock; without one the index is neither read nor written
}

// Catalog is the skills of one profile at one time. It does not change; [Catalog.Watch] makes new ones.
type Catalog struct {
	options  Options
	sources  rootFinder
	roots    []*root
	trees    []*tree  // of the roots
	changed  []bool   // which of them the index does not have so
	entries  []Entry  // by name, the strongest first
	skills   []*Skill // in force, by name
	findings []diag.Finding
	absent   []absent
}

// absent is a skill of a pack that is locked and not installed.
type absent struct{ base, name, pack, version string }

// Open looks into all layers. What is wrong with single skills or directories is in the findings; the error is the
// context's.
func Open(ctx context.Context, o Options) (*Catalog, error) { return open(ctx, o, nil) }

// open is [Open], where a catalog from before, if there is one, stands in for the index.
func open(ctx context.Context, o Options, before *Catalog) (*Catalog, error) {
	c := &Catalog{options: o}
	if o.Off {
		return c, ctx.Err()
	}
	c.sources = o.roots()
	c.roots = c.sources.found
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
	c.keep()
	return c, nil
}

// keep writes what is new to the index.
func (c *Catalog) keep() {
	for i, t := range c.trees {
		if c.changed[i] && c.options.Cache != "" {
			writeIndex(c.options.Cache, c.roots[i], t)
		}
	}
}

// tree returns what a root holds, from the index as far as that is right, and whether the index does not have it so.
func (c *Catalog) tree(ctx context.Context, r *root, before *Catalog, now int64) (*tree, bool, error) {
	cache := c.options.Cache
	var known *tree
	switch {
	case before != nil:
		known = before.known(r)
	case cache != "":
		known = readIndex(cache, r)
	}
	return scan(ctx, r, known, c.inPacks, now)
}

// known returns the tree of a root, nil if there is none.
func (c *Catalog) known(r *root) *tree {
	for _, t := range c.trees {
		if t.real == r.real {
			return t
		}
	}
	return nil
}

// inPacks reports whether a directory, without links, is one of an installed skill or of its copy under an alias.
func (c *Catalog) inPacks(real string) bool {
	return slices.ContainsFunc(c.sources.own, func(own string) bool { return pathx.ContainsStrict(own, real) }) ||
		slices.ContainsFunc(c.roots, func(r *root) bool { return r.packs && pathx.ContainsStrict(r.real, real) })
}

// Off reports whether skills are switched off, so that there are none.
func (c *Catalog) Off() bool { return c.options.Off }

// Skills returns the skills in force, in order of their names. They are shared and not to be changed.
func (c *Catalog) Skills() []*Skill { return c.skills }

// All returns every skill that was found, in order of names, the strongest first.
func (c *Catalog) All() []Entry { return c.entries }

// Findings returns what people should know: skills that were passed over, names that several packs have, directories
// that cannot be read. They are in order of their paths.
func (c *Catalog) Findings() []diag.Finding { return c.findings }

// UserInvocable returns the skills in force that a user may start, in order of their names: for a menu or completion.
func (c *Catalog) UserInvocable() []*Skill {
	var list []*Skill
	for _, s := range c.skills {
		if s.UserInvocable {
			list = append(list, s)
		}
	}
	return list
}

// Tags returns the tags of the skills in force, in order.
func (c *Catalog) Tags() []string {
	var tags []string
	for _, s := range c.skills {
		tags = append(tags, s.Tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Absent returns the packs that are locked and not installed, or not in whole, each once.
func (c *Catalog) Absent() []string {
	var packs []string
	for _, a := range c.absent {
		if !slices.Contains(packs, a.pack) {
			packs = append(packs, a.pack)
		}
	}
	return packs
}

// Lookup returns the skill that a name means: the one in force, or with name@owner/name exactly that one, also where it
// is shadowed. Where no skill in force has the name, it is that of the only pack's skill which has another name in
// force, but not in place of one that is locked and not installed. The error is an [*UnknownError].
func (c *Catalog) Lookup(name string) (*Skill, error) {
	if s := c.named(name); s != nil {
		return s, nil
	}
	unknown := &UnknownError{Name: name, Off: c.options.Off}
	claims := c.claims(name)
	several := len(c.otherwise(claims, name)) > 1
	switch reason := c.removedReason(name); {
	case reason != "":
		claims, unknown.Reason, unknown.Fix = nil, reason, "skillpm install installs it"
	case several:
		unknown.Reason, unknown.Fix = "several packs have it: "+strings.Join(c.otherwise(claims, name), ", "),
			"give one of these names"
	}
	for _, e := range claims {
		switch {
		case several && e.State == InForce:
		case e.State == InForce || e.State == Shadowed && strings.Contains(name, "@"):
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
	unknown.Near = c.near(name)
	return nil, unknown
}

// removedReason returns why the skill of a name is not there though a lock has it, "" where none does.
func (c *Catalog) removedReason(name string) string {
	base, pack, exact := strings.Cut(name, "@")
	for _, a := range c.absent {
		if exact && a.pack == pack && (a.base == base || a.name == base) || !exact && a.name == name {
			return strings.TrimSpace(a.pack+" "+a.version) + " is locked and not installed"
		}
	}
	return ""
}

// otherwise returns the names in force of the skills of packs that have a name in their pack only, where it is
// nobody's.
func (c *Catalog) otherwise(claims []Entry, name string) (names []string) {
	for _, e := range claims {
		if e.State == InForce && e.Name != name && e.alias != name && !strings.Contains(name, "@") {
			names = append(names, e.Name)
		}
	}
	return names
}

// named returns the skill in force that has a name, or nil.
func (c *Catalog) named(name string) *Skill {
	i, ok := slices.BinarySearchFunc(c.skills, name,
		func(s *Skill, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return c.skills[i]
}

// near returns the name in force that was perhaps meant.
func (c *Catalog) near(name string) string {
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

// claims returns the entries that lay claim to a name, the strongest first: those that have it, then those of packs
// that have it in their pack and another one in force. With name@owner/name it is that pack's alone.
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

// Which returns all skills that lay claim to a name, or to the name that name@owner/name holds.
func (c *Catalog) Which(name string) Claims {
	claims := Claims{Name: name}
	winner, _ := c.Lookup(name)
	for _, e := range c.claims(name) {
		switch e.State {
		case InForce:
			if e.Skill == winner {
				claims.Winner = e.Skill
				continue
			}
			e.Reason = "it is in force as " + e.Name
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
