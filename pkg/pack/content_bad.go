package pack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// BadSkillsError reports skills that cannot be part of a pack: they contain links, submodules, Git LFS pointers, or
// names that skillpm does not accept, or their SKILL.md is too large or does not have frontmatter. Which skills these
// are depends only on the content of the source. Its code is Invalid.
type BadSkillsError struct {
	Pack   ID
	Skills []BadSkill // sorted by name
}

// BadSkill is a skill that cannot be part of a pack, and why.
type BadSkill struct {
	Name string
	Err  error
}

// Warning returns a sentence about a skill that was left out of a version of a pack.
func (s BadSkill) Warning(id ID, version string) string {
	return fmt.Sprintf("left out the skill %s of %s %s: %v", s.Name, id, version, s.Err)
}

// LeaveOut removes bad skills from the pack, with warnings. It is false if none remain.
func (p *Pack) LeaveOut(bad []BadSkill) bool {
	p.Skills = slices.Clone(p.Skills)
	for _, s := range bad {
		p.Skills = slices.DeleteFunc(p.Skills, func(have Skill) bool { return have.Name == s.Name })
		p.Warnings = append(slices.Clip(p.Warnings), s.Warning(p.ID, p.Version))
	}
	return len(p.Skills) > 0
}

// Error returns the name of each skill with its reason.
func (e *BadSkillsError) Error() string {
	const limit = 5
	texts := make([]string, 0, limit+1)
	for _, s := range e.Skills[:min(limit, len(e.Skills))] {
		texts = append(texts, fmt.Sprintf("cannot read skill %s of %s: %v", s.Name, e.Pack, s.Err))
	}
	if more := len(e.Skills) - limit; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more skills of %s cannot be read", more, e.Pack))
	}
	return strings.Join(texts, "; ")
}

// Code returns diag.Invalid.
func (e *BadSkillsError) Code() diag.Code { return diag.Invalid }

// Unwrap returns the reasons.
func (e *BadSkillsError) Unwrap() []error {
	reasons := make([]error, len(e.Skills))
	for i, s := range e.Skills {
		reasons[i] = s.Err
	}
	return reasons
}

// sinkError is an error of the sink of [Content.Stream], such as a full disk. It is never the fault of one skill.
type sinkError struct{ error }

// Unwrap returns the error of the sink.
func (e *sinkError) Unwrap() error { return e.error }

// isBadSkill reports whether an error is the fault of a skill's content, and not of its source or of the sink.
func isBadSkill(err error) bool {
	if _, ok := errors.AsType[*sinkError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*bundle.EntryError](err); ok {
		return true
	}
	_, ok := errors.AsType[*fileError](err)
	return ok
}

// fileError is a problem of a skill's SKILL.md that excludes the skill from a pack.
type fileError struct{ error }

// Unwrap returns the problem.
func (e *fileError) Unwrap() error { return e.error }

// errNoFrontmatter is the reason for a skill of which agents would know neither the name nor what it is for.
var errNoFrontmatter = errors.New("its " + skill.File + " does not have frontmatter")
