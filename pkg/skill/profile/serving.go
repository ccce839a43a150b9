package profile

import (
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/skill"
)

// Serving is how an agent hands skills to its model.
type Serving struct {
	// Extends is the profile that a user's own one starts from.
	Extends string `yaml:"extends"`

	// Layers are the places that the agent looks for skills in, the strongest first. Two that follow each other may
	// have one name.
	Layers []Layer `yaml:"layers"`

	// Moved are directories of the home directory that a variable of the environment moves elsewhere, with its name:
	// ~/.claude and CLAUDE_CONFIG_DIR.
	Moved map[string]string `yaml:"moved"`

	// Require are the fields without which the agent skips a skill.
	Require []string `yaml:"require"`

	// Qualify is how the skills of installed packs are called, with {pack} and {name}; "" for their own names.
	Qualify string `yaml:"qualify"`

	// TrustedProjects says that a project's skills count only where its folder is trusted.
	TrustedProjects bool `yaml:"trusted-projects"`

	// Reserved are the names that a user's /name never reaches a skill by.
	Reserved []string `yaml:"reserved"`

	// Scripts is "read" where a model may read a skill's scripts, "run-only" where it may only run them.
	Scripts string `yaml:"scripts"`

	// Substitution is what becomes of placeholders in a body.
	Substitution skill.ExpandRules `yaml:"substitution"`

	Trigger    Trigger    `yaml:"trigger"`
	Stage1     Stage1     `yaml:"stage1"`
	Activation Activation `yaml:"activation"`
}

// Layer is a kind of place and its directories, the strongest first. A directory starts with ~ for the user's home,
// with ./ for the project, with / or a drive for the machine, or with {enterprise} for what the machine's administrator
// installs; {plugins} stands for the installed packs.
type Layer struct {
	Name string   `yaml:"name" json:"name"`
	Dirs []string `yaml:"dirs" json:"dirs"`
	// other directories on one system, as runtime.GOOS names it
	OS map[string][]string `yaml:"os" json:"os,omitempty"`

	// Depth is how many levels below a directory skills are looked for, 0 for one. What installed packs are in has
	// levels of its own.
	Depth int `yaml:"depth" json:"depth,omitempty"`
}

// MaxDepth is the greatest depth of a layer.
const MaxDepth = 6

// On returns the layer's directories on a system, as runtime.GOOS names it.
func (l Layer) On(system string) []string {
	if dirs, ok := l.OS[system]; ok {
		return dirs
	}
	return l.Dirs
}

// Trigger is how a skill is asked for: the agent's tools by their names, and what a user's /name becomes.
type Trigger struct {
	Skill Tool `yaml:"skill"` // loads a skill
	File  Tool `yaml:"file"`  // reads a file of one; without a name where the agent has no such tool
	Find  Tool `yaml:"find"`  // searches the skills; likewise

	// Message is what is sent to the model when a user asks for a skill, a template as those of [Form]; "" for what an
	// activation returns.
	Message string `yaml:"message"`
}

// Tool is a tool of the agent's model.
type Tool struct {
	Name        string     `yaml:"name"`
	Description string     `yaml:"description"`
	Arguments   []Argument `yaml:"arguments"`

	// OmitEmpty says that there is no tool where there are no skills.
	OmitEmpty bool `yaml:"omit-empty"`
}

// Argument is one argument of a tool. All are texts.
type Argument struct {
	Name string `yaml:"name"`
	// "skill", "arguments", "path", "task" or a dispatch "line"; "" for what skillpm has no use for
	Takes       string `yaml:"takes"`
	Description string `yaml:"description"`
	Optional    bool   `yaml:"optional"`
	Enum        bool   `yaml:"enum"`  // its values are the names of the skills
	Value       string `yaml:"value"` // the only one
}

// Takes returns the name of the argument that takes something, as [Argument] has it, or "".
func (t Tool) Takes(what string) string {
	for _, a := range t.Arguments {
		if a.Takes == what {
			return a.Name
		}
	}
	return ""
}

// Stage1 is what a model is told about the skills there are.
type Stage1 struct {
	Place  string `yaml:"place"` // where the agent shows it: "system-prompt" or "tool-description"
	Budget Budget `yaml:"budget"`

	// Cap is how many characters of a description are shown, 0 for all of them.
	Cap int `yaml:"cap"`
	// When stands between a description and when to use the skill; "" where the latter is not shown.
	When string `yaml:"when"`
	// Sort is "name", or "layer" for the strongest layer first and names within it.
	Sort string `yaml:"sort"`

	Layout  `yaml:",inline"`
	Compact Layout            `yaml:"compact"` // in place of a listing, for any number of skills; its entries are tags
	Formats map[string]Layout `yaml:"formats"` // others than the agent's own, by name
}

// Budget limits a listing. A token is taken for four characters.
type Budget struct {
	Share    float64 `yaml:"share"`    // in percent of the context window; 0 where its size does not matter
	Fallback int     `yaml:"fallback"` // in characters, where the window is unknown; 0 for no limit
	Variable string  `yaml:"variable"` // of the environment, that says how many characters instead
	// Over says what is done beyond it: "drop" leaves skills out, the lowest layer first and then from the end of the
	// alphabet; "shorten" leaves descriptions out in that order, and no name.
	Over string `yaml:"over"`
}

// Layout is how several things are written one after the other. Its texts are templates: {name} stands for a value, and
// what is in [[ ]] is left out when a value in it is empty.
type Layout struct {
	Escape    string `yaml:"escape"` // how values are written: "none", "tags" for tags that could end a section, "xml"
	Heading   string `yaml:"heading"`
	Entry     string `yaml:"entry"`
	Separator string `yaml:"separator"` // between entries
	Closing   string `yaml:"closing"`
	Empty     string `yaml:"empty"` // instead of all, when there are none
	Most      int    `yaml:"most"`  // entries; 0 for all
	More      string `yaml:"more"`  // in place of those beyond, with {count}
}

// Activation is what asking for a skill returns.
type Activation struct {
	Notice    string `yaml:"notice"` // shown to people while the skill loads; "" for nothing
	Activated Form   `yaml:"activated"`
	Spawned   Form   `yaml:"spawned"` // a fork, given to a task
	Failed    Form   `yaml:"failed"`
	Unknown   Form   `yaml:"unknown"` // there is no such skill; as Failed where it is not given
	File      Form   `yaml:"file"`    // a file of the skill was asked for
}

// Form is one result: as text, and as the agent's structured data.
type Form struct {
	Escape string `yaml:"escape"` // of values but bodies, as a Layout's
	Text   string `yaml:"text"`
	Files  Layout `yaml:"files"` // how {files} is written in Text
	// a tree whose texts are templates; one that is a placeholder alone becomes its value
	JSON yaml.Node `yaml:"json"`
}
