package catalog

import "github.com/skillpm/skillpm/pkg/skill"

// Loaded is a skill at stage 2: what its SKILL.md says now.
type Loaded struct {
	*Skill
	Front    Front
	Document *skill.Document
	Digest   string // "sha256:" and the digest of SKILL.md in hex
	Source   string // the whole file
	Body     string // what follows the frontmatter
}

// Front is what the frontmatter says about how a skill is used.
type Front struct {
	AllowedTools    []string // the entries as they are written; each may hold several, see package tool
	Restricts       bool     // there is a list of allowed tools, though it may be empty
	DisallowedTools []string
	Agent, Model    string
	Arguments       []string // names of positional arguments
	Pre, Post       string   // scripts that run before and after
	Command         string   // that is executed in place of the body (dispatch, type A)
	Shell           string   // that runs the commands in the body
	Files           []skill.FileRef
	Toolsets        []string
	Execution       Execution
}

// Execution is how a skill's scripts are to be run.
type Execution struct {
	Sandbox      string   // as it is written: "true", "false", the name of a sandbox, or "" for nothing
	AllowedPaths []string // directories besides the skill's own
	Network      []string // "true", "false", or hosts; empty for nothing
}

// Load reads SKILL.md now.
func (s *Skill) Load() (*Loaded, error) { return nil, nil }
