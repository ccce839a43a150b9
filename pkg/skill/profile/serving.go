package profile

import (
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/skill"
)

// Serving describes how an agent serves skills to its model.
type Serving struct {
	// Extends is the profile that a custom profile starts from.
	Extends string `yaml:"extends"`

	// Layers are the locations where the agent looks for skills, strongest first. Successive ones may have the same
	// name.
	Layers []Layer `yaml:"layers"`

	// Unordered means that which of several skills with one name the agent loads does not follow from the layers.
	Unordered bool `yaml:"-"`

	// Moved maps directories of the home directory to environment variables that replace them, for example ~/.claude
	// and CLAUDE_CONFIG_DIR.
	Moved map[string]string `yaml:"moved"`

	// Require are the fields without which the agent ignores a skill.
	Require []string `yaml:"require"`

	// Names is where a skill's name comes from: "" for its frontmatter, or "directory". skillpm finds a skill by both.
	Names string `yaml:"names"`

	// Qualify is the name format for skills of installed packs, with {pack} and {name}; "" for their own names.
	Qualify string `yaml:"qualify"`

	// TrustedProjects means that a project's skills count only if its folder is trusted.
	TrustedProjects bool `yaml:"trusted-projects"`

	// Reserved are names that a user's /name never activates.
	Reserved []string `yaml:"reserved"`

	// Scripts is "read" if a model may read a skill's scripts, "run-only" if it may only run them.
	Scripts string `yaml:"scripts"`

	// Substitution configures the placeholders of a body.
	Substitution skill.ExpandRules `yaml:"substitution"`

	Trigger    Trigger    `yaml:"trigger"`
	Stage1     Stage1     `yaml:"stage1"`
	Activation Activation `yaml:"activation"`

	// Limits are what versions of the agent read of an MCP server's texts, the oldest first.
	Limits []Limits `yaml:"limits"`
}

// Limits are the numbers of characters after which an agent cuts a text of an MCP server; 0 if it cuts none.
type Limits struct {
	From         string `yaml:"from"`         // first version that has the limits; "" for every version
	Instructions int    `yaml:"instructions"` // of the server
	Description  int    `yaml:"description"`  // of a tool
}

// LimitsOf returns the limits of a version of the agent. An unknown version has those of the oldest.
func (s *Serving) LimitsOf(version string) Limits {
	var found Limits
	at, err := semver.NewVersion(version)
	for i, l := range s.Limits {
		from, fromErr := semver.NewVersion(l.From)
		if i == 0 || err == nil && fromErr == nil && !at.LessThan(from) {
			found = l
		}
	}
	return found
}

// Layer is a named layer with its directories, strongest first. A directory starts with ~ for the home directory, with
// ./ for the project, with / or a drive for an absolute path, or with {enterprise} for the machine's enterprise layer.
// {plugins} stands for the installed packs.
type Layer struct {
	Name string   `yaml:"name" json:"name"`
	Dirs []string `yaml:"dirs" json:"dirs"`
	// other directories on a system, named as in runtime.GOOS
	OS map[string][]string `yaml:"os" json:"os,omitempty"`

	// Depth is the number of levels below a directory to search; 0 means 1. Installed packs have their own depth.
	Depth int `yaml:"depth" json:"depth,omitempty"`
}

// Enterprise is the name of the machine's layer.
const Enterprise = "enterprise"

// enterpriseDirs are the directories of the machine's layer.
var enterpriseDirs = []string{"{enterprise}/skills", "{enterprise}/plugins"}

// withEnterprise puts the machine's layer first, wherever a profile has it, so that no profile of a user bypasses the
// skills of the machine's administrator.
func withEnterprise(layers []Layer) []Layer {
	all := []Layer{{Name: Enterprise, Dirs: enterpriseDirs}}
	for _, l := range layers {
		l.Dirs, l.OS = slices.DeleteFunc(slices.Clone(l.Dirs), isEnterpriseDir), maps.Clone(l.OS)
		for system, dirs := range l.OS {
			l.OS[system] = slices.DeleteFunc(slices.Clone(dirs), isEnterpriseDir)
		}
		if len(l.Dirs)+len(l.OS) > 0 {
			all = append(all, l)
		}
	}
	return all
}

func isEnterpriseDir(dir string) bool { return slices.Contains(enterpriseDirs, dir) }

// MaxDepth is the maximum of Layer.Depth.
const MaxDepth = 6

// On returns the layer's directories on a system, named as in runtime.GOOS.
func (l Layer) On(system string) []string {
	if dirs, ok := l.OS[system]; ok {
		return dirs
	}
	return l.Dirs
}

// Trigger describes how skills are activated: the agent's tools, and the message for a user's /name.
type Trigger struct {
	Skill Tool `yaml:"skill"` // loads a skill
	File  Tool `yaml:"file"`  // reads a file of a skill; has no name if the agent does not have the tool
	// Only means that the agent's model has no other tools for skills than these.
	Only bool `yaml:"only"`
	Find Tool `yaml:"find"` // searches skills; has no name if the agent does not have the tool

	// Message is the message to the model when a user activates a skill, a template like those of [Form]; "" means the
	// result of the activation.
	Message string `yaml:"message"`
}

// Tool is a tool of the agent's model.
type Tool struct {
	Name        string     `yaml:"name"`
	Description string     `yaml:"description"`
	Arguments   []Argument `yaml:"arguments"`

	// OmitEmpty omits the tool if there are no skills.
	OmitEmpty bool `yaml:"omit-empty"`
}

// Argument is a text argument of a tool.
type Argument struct {
	Name string `yaml:"name"`
	// "skill", "arguments", "path", "task", or a dispatch "line"; "" if skillpm does not use it
	Takes       string `yaml:"takes"`
	Description string `yaml:"description"`
	Optional    bool   `yaml:"optional"`
	Enum        bool   `yaml:"enum"`  // its values are the skills' names
	Value       string `yaml:"value"` // it is the only required one
}

// Takes returns the name of the argument with a purpose, as in [Argument], or "".
func (t Tool) Takes(what string) string {
	for _, a := range t.Arguments {
		if a.Takes == what {
			return a.Name
		}
	}
	return ""
}

// Stage1 describes the listing of skills for a model.
type Stage1 struct {
	Place  string `yaml:"place"` // where the agent puts it: "system-prompt" or "tool-description"
	Budget Budget `yaml:"budget"`

	// Cap is the maximum number of characters of a description; 0 means unlimited.
	Cap int `yaml:"cap"`
	// When separates a description and its when-to-use text; "" omits that text.
	When string `yaml:"when"`
	// Sort is "name", "layer" for the strongest layer first and then by name, or "use" for the skills that were used
	// the most first, then those of the project, and then by name.
	Sort string `yaml:"sort"`

	Layout  `yaml:",inline"`
	Compact Layout            `yaml:"compact"` // replaces the listing; its entries are tags
	Formats map[string]Layout `yaml:"formats"` // alternatives to the agent's own, by name
}

// Budget limits a listing. It counts four characters as a token.
type Budget struct {
	Share    float64 `yaml:"share"`    // percentage of the context window; 0 if it does not depend on the window
	Fallback int     `yaml:"fallback"` // characters, if the window is unknown; 0 means unlimited
	Bytes    int     `yaml:"bytes"`    // bytes, which replace the characters; 0 means that characters count
	Variable string  `yaml:"variable"` // environment variable that overrides the characters
	// Over is what happens beyond the limit: "drop" leaves out skills, the lowest layer first and in reverse
	// alphabetical order; "cut" shortens all descriptions before it leaves out names, those that Sort "use" puts last;
	// "omit" leaves out whole descriptions, those that Sort "use" puts last, and names only if the agent's [Limits]
	// demand that; "keep" is "cut" for a budget that a caller sets, and otherwise has no limit.
	Over string `yaml:"over"`
}

// Layout formats a list. Its texts are templates: {name} stands for a value, and [[ ]] encloses text that is omitted if
// one of its values is empty.
type Layout struct {
	Escape    string `yaml:"escape"` // escaping of values: "none", "tags" for tags that could end a section, "xml"
	Heading   string `yaml:"heading"`
	Entry     string `yaml:"entry"`
	Separator string `yaml:"separator"` // between entries
	Closing   string `yaml:"closing"`
	Cut       string `yaml:"cut"`   // between the entries and the closing if the list is not complete
	Empty     string `yaml:"empty"` // replaces everything if the list is empty
	Most      int    `yaml:"most"`  // maximum number of entries; 0 means unlimited
	More      string `yaml:"more"`  // replaces the remaining entries, with {count}
}

// Activation are the results of an activation.
type Activation struct {
	Notice    string `yaml:"notice"` // shown to users while the skill loads; "" for nothing
	Activated Form   `yaml:"activated"`
	Spawned   Form   `yaml:"spawned"` // a fork, which becomes a task
	Failed    Form   `yaml:"failed"`
	Unknown   Form   `yaml:"unknown"` // the skill does not exist; the default is Failed
	File      Form   `yaml:"file"`    // a file of the skill
}

// Form is a result: as text, and as the agent's structured data.
type Form struct {
	Escape string `yaml:"escape"` // of values except bodies, as in Layout
	Text   string `yaml:"text"`
	Files  Layout `yaml:"files"` // the format of {files} in Text
	// a tree whose texts are templates; a template that is only a placeholder becomes its value
	JSON yaml.Node `yaml:"json"`
}
