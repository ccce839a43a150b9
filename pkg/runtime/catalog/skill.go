package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The values of [Skill].Scope.
const (
	ScopeMachine = "machine" // installed by the machine's administrator
	ScopeUser    = "user"
	ScopeProject = "project"
)

// Skill has the catalog's facts about a skill, without its instructions.
type Skill struct {
	Name        string   `json:"name"`                // name under which it is available
	Declared    string   `json:"declared,omitempty"`  // name in its frontmatter, "" if it has none
	Description string   `json:"description"`         // on one line
	WhenToUse   string   `json:"whenToUse,omitempty"` // on one line
	Dir         string   `json:"dir"`                 // absolute path of its directory, with links
	Layer       string   `json:"layer"`               // name of the layer in the profile
	Scope       string   `json:"scope"`               // ScopeMachine, ScopeUser or ScopeProject
	Pack        string   `json:"pack,omitempty"`      // owner/name of its pack, "" for a local skill
	Version     string   `json:"version,omitempty"`   // version of its pack, "" if the lockfile has none
	PackSource  string   `json:"source,omitempty"`    // source of its pack, "" if the lockfile has none
	Rank        int      `json:"rank"`                // index of its layer in the profile; 0 has the highest precedence
	Tags        []string `json:"tags,omitempty"`
	Priority    float64  `json:"priority,omitempty"`

	UserInvocable  bool   `json:"userInvocable"`
	ModelInvocable bool   `json:"modelInvocable"`
	Fork           bool   `json:"fork"`
	Agent          string `json:"agent,omitempty"` // agent that runs it as a task, "" for the default
	Model          string `json:"model,omitempty"` // model that it asks for, "" for the agent's
	ArgumentHint   string `json:"argumentHint,omitempty"`

	AllowedTools []string `json:"allowedTools,omitzero"` // patterns of the tools that it allows; nil for all
	Toolsets     []string `json:"toolsets,omitempty"`    // toolsets that it needs

	// Agents, Tenants and Environments are those that the skill is for; empty for all.
	Agents       []string `json:"agents,omitempty"`
	Tenants      []string `json:"tenants,omitempty"`
	Environments []string `json:"environments,omitempty"`

	base  string // name of its directory
	alias string // alias in its pack's lockfile, "" for none
	real  string // path of its directory without links
	claim string // what the lockfile claims about its pack, "" if it is not there
	tree  string // digest that the lockfile has of its files, "" if it has none

	stamp  stamp // of its SKILL.md
	stable bool  // whether every later change of it changes the stamp
}

// Exact returns the name that identifies only this skill: name@owner/name if it is in a pack, else its name.
func (s *Skill) Exact() string {
	if s.Pack == "" {
		return s.Name
	}
	return s.base + "@" + s.Pack
}

// isEnterprise reports whether the skill belongs to the enterprise layer.
func (s *Skill) isEnterprise() bool { return s.Layer == profile.Enterprise }

// Tagged reports whether the skill has a tag, in any letter case.
func (s *Skill) Tagged(tag string) bool {
	return slices.ContainsFunc(s.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// Path returns the path of its SKILL.md.
func (s *Skill) Path() string { return filepath.Join(s.Dir, skill.File) }

// State is whether a skill that was found is available, or why not.
type State string

// The states of a skill.
const (
	Available  State = "available"
	Shadowed   State = "shadowed"       // a skill with higher precedence has the name
	Unapproved State = "needs approval" // a policy requires an approval that is missing
	Excluded   State = "excluded"       // a filter excludes it
	Skipped    State = "skipped"        // it is unreadable, or lacks what the profile requires
)

// Entry is a skill that was found, with its state.
type Entry struct {
	*Skill
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is not available: a sentence without a full stop
	By     *Skill `json:"-"`                // skill that shadows it, nil for none

	denied    bool   // trust or a policy forbids it
	byPolicy  bool   // a policy forbids it
	keepsName bool   // an enterprise skill that is excluded or skipped, and still shadows the others of its name
	fix       string // how to change that, "" if nothing can
}

// Denied reports whether the skill is excluded because its project is not trusted or a policy denies it. Reason has the
// details.
func (e Entry) Denied() bool { return e.denied }

// DeniedByPolicy reports whether a policy denies the skill.
func (e Entry) DeniedByPolicy() bool { return e.byPolicy }

// overridden reports whether an enterprise skill shadows the skill, so that no name activates it.
func (e Entry) overridden() bool {
	return e.State == Shadowed && e.By.isEnterprise() && !e.isEnterprise()
}

// Refusal returns why this skill is denied, unusable, or overridden by an enterprise skill, whatever other skill has
// its name: an [*UnknownError], or nil if it is none of these.
func (e Entry) Refusal() error {
	if !e.denied && e.State != Skipped && !e.overridden() {
		return nil
	}
	u := &UnknownError{Name: e.Name}
	u.explain(e)
	return u
}

// Claims are the skills that claim one name, the highest precedence first.
type Claims struct {
	Name     string
	Winner   *Skill // nil if no skill is available under the name
	Shadowed []Entry
	Excluded []Entry
	Skipped  []Entry
}

// All returns all of them, the winner first.
func (c Claims) All() []Entry {
	var all []Entry
	if c.Winner != nil {
		all = append(all, Entry{Skill: c.Winner, State: Available})
	}
	return slices.Concat(all, c.Shadowed, c.Excluded, c.Skipped)
}

// UnknownError reports that no available skill has a name.
type UnknownError struct {
	Name      string
	Available []string // sorted names of the available skills that a model may start
	Near      string   // most similar of them, "" for none
	Reason    string   // why the skill of that name is not available, "" if there is none
	Off       bool     // skills are switched off
	Invalid   bool     // the skill exists and is unusable for Reason
	Ambiguous bool     // the name does not say which of several skills it means
	Denied    bool     // the project is not trusted, or a policy denies the skill; see Reason
	Fix       string   // how to change that, "" if unknown
	Found     *Skill   // the denied skill, nil if none is denied

	override string // enterprise skill that overrides it, "" for none
}

// explain sets why a skill that was found is not available.
func (e *UnknownError) explain(found Entry) {
	e.Reason, e.Invalid, e.Denied, e.Fix = found.Reason, found.State == Skipped, found.denied, found.fix
	if found.overridden() {
		e.Reason, e.Denied = "the enterprise skill "+found.By.Name+" overrides it", true
		e.Fix, e.override = "use the enterprise skill "+found.By.Name, found.By.Name
	}
	if e.Denied {
		e.Found = found.Skill
	}
}

// maxListed is the maximum number of names that an error lists.
const maxListed = 40

// Error names the skill and lists what is available.
func (e *UnknownError) Error() string {
	switch {
	case e.Off:
		return fmt.Sprintf("skill %q is not available: skills are disabled", e.Name)
	case e.Reason != "":
		return fmt.Sprintf("skill %q is not available: %s", e.Name, e.Reason)
	case len(e.Available) == 0:
		return fmt.Sprintf("unknown skill %q: no skills are installed", e.Name)
	}
	return fmt.Sprintf("unknown skill %q: available skills are %s", e.Name, textx.FirstAndMore(e.Available, maxListed))
}

// Code is Denied if a rule forbids the skill, Invalid if it is unusable, and else NotFound.
func (e *UnknownError) Code() diag.Code {
	switch {
	case e.Denied:
		return diag.Denied
	case e.Invalid:
		return diag.Invalid
	}
	return diag.NotFound
}

// ModelHint is that of a model, which must not enable what is disabled or denied.
func (e *UnknownError) ModelHint() (string, bool) {
	switch {
	case e.Off:
		return "continue without skills, or ask the user", true
	case e.override != "":
		return e.Fix, true
	}
	return "", false
}

// Hint names the most similar skill, or the command that lists skills.
func (e *UnknownError) Hint() string {
	switch {
	case e.Off:
		return "omit --no-skills, or set skills.enabled: true in config.yaml"
	case e.Fix != "":
		return e.Fix
	case e.Near != "":
		return fmt.Sprintf("did you mean %s?", e.Near)
	}
	return "list all skills with: skillpm skills --all"
}

// Locked returns what the lockfile claims about the pack of the skill, see [pack.LockedPack.Claim], and the digest that
// it has of the skill's files. Both are "" for a local skill.
func (s *Skill) Locked() (claim, tree string) { return s.claim, s.tree }
