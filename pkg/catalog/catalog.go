package catalog

import (
	"context"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/profile"
	"github.com/skillpm/skillpm/pkg/scope"
)

// DefaultRecommended is how many skills may be in force without a warning where the settings do not say.
const DefaultRecommended = 200

// Options say where to look, and for whom.
type Options struct {
	Profile *profile.Profile
	Paths   scope.Paths
	Project string // the project's root, as [Project] finds it; "" for none
	Cache   string // the directory of the index, which need not exist; "" for none

	// Agent, Tenant and Environment are whom skills are wanted for. A skill that is for some only is left out where they
	// are not among those, or not known.
	Agent, Tenant, Environment string

	Off         bool     // no skills at all
	Allowed     []string // the only skills, as name or name@owner/name; empty for all
	Recommended int      // how many may be in force without a warning; 0 is DefaultRecommended, -1 no limit

	// RequireTrust leaves out the skills of a project whose folder is not trusted, as a profile with TrustedProjects does.
	// Trusted is then asked for the folder; nil trusts none.
	RequireTrust bool
	Trusted      func(dir string) bool

	// Deny returns why a skill must not be used, nil where it may.
	Deny func(*Skill) error

	OS  string           // as runtime.GOOS, which it is where it is empty
	Now func() time.Time // the clock; without one, nothing in the index that changed lately is relied on
}

// Catalog is the skills of one profile at one time. It does not change; [Catalog.Watch] makes new ones.
type Catalog struct {
	options  Options
	entries  []Entry
	skills   []*Skill
	findings []diag.Finding
}

// Open looks into all layers. What is wrong with single skills or directories is in the findings; the error is the
// context's.
func Open(ctx context.Context, o Options) (*Catalog, error) {
	return &Catalog{options: o}, ctx.Err()
}

// Skills returns the skills in force, in order of their names. They are shared and not to be changed.
func (c *Catalog) Skills() []*Skill { return c.skills }

// Lookup returns the skill that a name means: the one in force, or with name@owner/name exactly that one, also where it is
// shadowed. The error is an [*UnknownError].
func (c *Catalog) Lookup(name string) (*Skill, error) { return nil, &UnknownError{Name: name} }

// Which returns all skills that lay claim to a name, or to the name that name@owner/name holds.
func (c *Catalog) Which(name string) Claims { return Claims{Name: name} }

// All returns every skill that was found, in order of names, the strongest first.
func (c *Catalog) All() []Entry { return c.entries }

// Findings returns what people should know: skills that were passed over, names that several packs have, directories that
// cannot be read. They are in order of their paths.
func (c *Catalog) Findings() []diag.Finding { return c.findings }

// UserInvocable returns the skills in force that a user may start, in order of their names: for a menu or completion.
func (c *Catalog) UserInvocable() []*Skill { return nil }

// Watch calls changed with a new catalog whenever stage 1 of any skill changes, one call at a time, until the context ends.
func (c *Catalog) Watch(ctx context.Context, changed func(*Catalog)) error { return nil }

// ParseFile reads stage 1 of one SKILL.md, by the rules of a profile.
func ParseFile(path string, p *profile.Profile) (*Skill, error) { return nil, nil }

// Project returns the root of the project that a directory is in, "" where it is in none.
func Project(paths scope.Paths, dir string, p *profile.Profile) string { return "" }
