package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The kinds of place that a skill is found in, as [Skill.Scope].
const (
	ScopeMachine = "machine" // kept by the machine's administrator
	ScopeUser    = "user"
	ScopeProject = "project"
)

// Skill is what stage 1 knows about a skill.
type Skill struct {
	Name        string   `json:"name"`                // under which it is in force
	Declared    string   `json:"declared,omitempty"`  // what its frontmatter says, "" for nothing
	Description string   `json:"description"`         // on one line
	WhenToUse   string   `json:"whenToUse,omitempty"` // on one line
	Dir         string   `json:"dir"`                 // its directory, absolute, as it was found
	Layer       string   `json:"layer"`               // as the profile calls it
	Scope       string   `json:"scope"`               // ScopeMachine, ScopeUser or ScopeProject
	Pack        string   `json:"pack,omitempty"`      // owner/name of an installed pack, "" for what is hand-written
	Version     string   `json:"version,omitempty"`   // of the pack, "" where the lock does not say
	From        string   `json:"source,omitempty"`    // where the pack is from, "" where the lock does not say
	Rank        int      `json:"rank"`                // of its entry among the profile's layers: 0 is the strongest
	Tags        []string `json:"tags,omitempty"`
	Priority    float64  `json:"priority,omitempty"`

	UserInvocable  bool   `json:"userInvocable"`
	ModelInvocable bool   `json:"modelInvocable"`
	Fork           bool   `json:"fork"`
	Agent          string `json:"agent,omitempty"` // that a fork is given to, "" for none
	ArgumentHint   string `json:"argumentHint,omitempty"`

	// Agents, Tenants and Environments are whom the skill is for; empty for everybody.
	Agents       []string `json:"agents,omitempty"`
	Tenants      []string `json:"tenants,omitempty"`
	Environments []string `json:"environments,omitempty"`

	base  string // the name of its directory
	alias string // under which its pack's lock has it, "" for its own name
	real  string // its directory without links
}

// Exact returns the name that always means this skill: name@owner/name for one of a pack, else its name.
func (s *Skill) Exact() string {
	if s.Pack == "" {
		return s.Name
	}
	return s.base + "@" + s.Pack
}

// Tagged reports whether the skill has a tag, in capitals or not.
func (s *Skill) Tagged(tag string) bool {
	return slices.ContainsFunc(s.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// Path returns the path of its SKILL.md.
func (s *Skill) Path() string { return filepath.Join(s.Dir, skill.File) }

// State is what became of a skill that was found.
type State string

// The states.
const (
	InForce  State = "in force"
	Shadowed State = "shadowed" // a stronger skill has its name
	Excluded State = "excluded" // a filter leaves it out
	Skipped  State = "skipped"  // it cannot be read, or lacks what the profile requires
)

// Entry is a skill that was found, and what became of it.
type Entry struct {
	*Skill
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is not in force, one sentence without a full stop
	By     *Skill `json:"-"`                // that shadows it, nil for none

	denied bool   // a rule forbids it: trust, or a policy
	fix    string // what to do about that, "" where nothing can be
}

// Denied reports whether a rule leaves the skill out, and that is the Reason: its project is not trusted, or a policy.
func (e Entry) Denied() bool { return e.denied }

// Claims are the skills that lay claim to one name, the strongest first.
type Claims struct {
	Name     string
	Winner   *Skill // nil where none is in force
	Shadowed []Entry
	Excluded []Entry
	Skipped  []Entry
}

// All returns all of them, the winner first.
func (c Claims) All() []Entry {
	var all []Entry
	if c.Winner != nil {
		all = append(all, Entry{Skill: c.Winner, State: InForce})
	}
	return slices.Concat(all, c.Shadowed, c.Excluded, c.Skipped)
}

// UnknownError says that no skill in force has a name, and which there are.
type UnknownError struct {
	Name      string
	Available []string // the names in force that a model may ask for, in order
	Near      string   // the one of them that was perhaps meant, "" for none
	Reason    string   // why a skill of that name is not in force, "" where there is none
	Off       bool     // skills are switched off
	Invalid   bool     // it is there and cannot be used, and that is the Reason
	Denied    bool     // a rule forbids it, and that is the Reason: the project is not trusted, or a policy
	Fix       string   // what to do about that, "" where nothing is known
	Found     *Skill   // that a rule forbids, nil where none does
}

// maxListed is how many names an error lists.
const maxListed = 40

// Error names the skill and lists what is available.
func (e *UnknownError) Error() string {
	switch {
	case e.Off:
		return fmt.Sprintf("skill %q is not available: skills are switched off", e.Name)
	case e.Reason != "":
		return fmt.Sprintf("skill %q is not available: %s", e.Name, e.Reason)
	case len(e.Available) == 0:
		return fmt.Sprintf("unknown skill %q: there are no skills", e.Name)
	}
	return fmt.Sprintf("unknown skill %q: available are %s", e.Name, textx.FirstAndMore(e.Available, maxListed))
}

// Code is NotFound, or Denied where a rule forbids the skill, or Invalid where it cannot be used.
func (e *UnknownError) Code() diag.Code {
	switch {
	case e.Denied:
		return diag.Denied
	case e.Invalid:
		return diag.Invalid
	}
	return diag.NotFound
}

// Hint says what was perhaps meant, or where to look.
func (e *UnknownError) Hint() string {
	switch {
	case e.Off:
		return "leave out --no-skills, or set skills.enabled: true in config.yaml"
	case e.Fix != "":
		return e.Fix
	case e.Near != "":
		return fmt.Sprintf("did you mean %s?", e.Near)
	}
	return "skillpm skills --all lists every skill that was found"
}
