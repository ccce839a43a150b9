package skill

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Requirements are what a skill, or the skills of a pack, need on the machine where an agent uses them. All values
// are declared by authors and therefore limited to plain names; see [CheckRequirement].
type Requirements struct {
	Bins    []string `json:"bins,omitempty"` // programs, all of which are needed
	AnyBins []string `json:"-"`              // programs, of which one is needed
	Env     []string `json:"env,omitempty"`  // environment variables
	MCP     []string `json:"mcp,omitempty"`  // MCP servers of the agent
	OS      []string `json:"os,omitempty"`   // operating systems as runtime.GOOS has them; empty means any
	// Install are suggestions by the author how to get programs. They are only shown.
	Install []InstallHint `json:"-"`
}

// InstallHint is a command that an author suggests for installing programs.
type InstallHint struct {
	Bins    []string // the programs that it installs; empty means all required ones
	OS      []string // the operating systems that it is for; empty means any
	Command string
}

// Kinds of requirements.
const (
	RequiresBin = "bin"
	RequiresEnv = "env"
	RequiresMCP = "mcp"
	RequiresOS  = "os"
)

// maxRequirements limits the entries of each list of requirements. Real skills have fewer than ten.
const maxRequirements = 32

var (
	programName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$`)
	})
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) })
	systemName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`) })
	// packageName matches what a package manager installs. It has no character that a shell treats specially, because
	// users copy the command.
	packageName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9@._/:+-]{0,199}$`)
	})
)

// CheckRequirement reports whether a value is valid as a requirement of a kind: the file name of a program, the name of
// a variable or an MCP server, or an operating system. The result is the name in use, such as darwin for macos.
func CheckRequirement(kind, value string) (name string, ok bool) {
	switch kind {
	case RequiresEnv:
		return value, variableName().MatchString(value)
	case RequiresOS:
		value = systemOf(value)
		return value, systemName().MatchString(value)
	}
	return value, programName().MatchString(value)
}

// systemOf returns the name that Go has for an operating system.
func systemOf(name string) string {
	switch name = strings.ToLower(name); name {
	case "macos", "osx":
		return "darwin"
	case "win32":
		return "windows"
	}
	return name
}

// requirementKinds are the kinds of requirements that packs declare. Each is the name of a list in their files.
var requirementKinds = [...]string{"bins", "env", "mcp", "os"}

// list returns the list of a pack's requirements with a name, and the kind of its values.
func (r *Requirements) list(name string) (list *[]string, kind string) {
	switch name {
	case "bins":
		return &r.Bins, RequiresBin
	case "env":
		return &r.Env, RequiresEnv
	case "mcp":
		return &r.MCP, RequiresMCP
	}
	return &r.OS, RequiresOS
}

// Table returns the requirements of a pack by the names of the lists, with spaces between values; nil if there are
// none. [ParseRequirements] is the inverse.
func (r Requirements) Table() map[string]string {
	var table map[string]string
	for _, name := range requirementKinds {
		if list, _ := r.list(name); len(*list) > 0 {
			if table == nil {
				table = map[string]string{}
			}
			table[name] = strings.Join(*list, " ")
		}
	}
	return table
}

// ParseRequirements returns the requirements that [Requirements.Table] returned. The text may come from others, so it
// ignores unknown lists, invalid values, and values beyond the limit.
func ParseRequirements(table map[string]string) (r Requirements) {
	for _, name := range requirementKinds {
		list, kind := r.list(name)
		for value := range strings.FieldsSeq(table[name]) {
			value, ok := CheckRequirement(kind, value)
			if ok && !slices.Contains(*list, value) && len(*list) < maxRequirements {
				*list = append(*list, value)
			}
		}
	}
	return r
}

// requirementWords are the keys of metadata that [Document.Requirements] reads.
var requirementWords = [...]string{"mcp-server", "openclaw", "clawdbot", "clawdis"}

// MayRequire reports whether the text of a SKILL.md can have requirements, without parsing it.
func MayRequire(data []byte) bool {
	return slices.ContainsFunc(requirementWords[:], func(s string) bool { return bytes.Contains(data, []byte(s)) })
}

// Requirements returns what the metadata of the frontmatter requires. Invalid values are ignored, because other tools
// define the fields:
//
//   - OpenClaw and ClawHub: os, always, install, and the lists bins, anyBins, and env of requires, below
//     metadata.openclaw or one of its older names. requires.config is about the settings of OpenClaw itself.
//   - Claude: metadata.mcp-server, the name of an MCP server or a list of names.
func (d *Document) Requirements() (r Requirements) {
	_, v := d.Lookup("metadata")
	meta := target(v)
	if meta == nil || meta.Kind != yaml.MappingNode {
		return r
	}
	r.MCP = requiredNames(yamlx.Lookup(meta, requirementWords[0]), RequiresMCP)
	for _, key := range requirementWords[1:] {
		claw := target(yamlx.Lookup(meta, key))
		if claw == nil || claw.Kind != yaml.MappingNode {
			continue
		}
		r.OS = requiredNames(yamlx.Lookup(claw, "os"), RequiresOS)
		if ScalarText(yamlx.Lookup(claw, "always")) == "true" {
			return r // OpenClaw then skips the other checks
		}
		if needs := target(yamlx.Lookup(claw, "requires")); needs != nil {
			r.Bins = requiredNames(yamlx.Lookup(needs, "bins"), RequiresBin)
			r.AnyBins = requiredNames(yamlx.Lookup(needs, "anyBins"), RequiresBin)
			r.Env = requiredNames(yamlx.Lookup(needs, "env"), RequiresEnv)
		}
		r.Install = installHints(target(yamlx.Lookup(claw, "install")))
		return r
	}
	return r
}

// requiredNames returns the valid names of a list, or of a single text.
func requiredNames(n *yaml.Node, kind string) (names []string) {
	n = target(n)
	if n == nil {
		return nil
	}
	items := n.Content
	if n.Kind == yaml.ScalarNode {
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range items {
		name, ok := CheckRequirement(kind, ScalarText(item))
		if ok && !slices.Contains(names, name) && len(names) < maxRequirements {
			names = append(names, name)
		}
	}
	return names
}

// installHints returns the install specifications whose kind is known, as commands.
func installHints(n *yaml.Node) (hints []InstallHint) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range n.Content[:min(len(n.Content), maxRequirements)] {
		if item = target(item); item.Kind != yaml.MappingNode {
			continue
		}
		if command := installCommand(item); command != "" {
			hints = append(hints, InstallHint{
				Bins:    requiredNames(yamlx.Lookup(item, "bins"), RequiresBin),
				OS:      requiredNames(yamlx.Lookup(item, "os"), RequiresOS),
				Command: command,
			})
		}
	}
	return hints
}

// installCommand returns the command of an install specification, "" if its kind or package is not known.
func installCommand(spec *yaml.Node) string {
	var command, field string
	switch ScalarText(yamlx.Lookup(spec, "kind")) {
	case "brew":
		command, field = "brew install ", "formula"
	case "node":
		command, field = "npm install --global ", "package"
	case "go":
		command, field = "go install ", "module"
	case "uv":
		command, field = "uv tool install ", "package"
	default:
		return ""
	}
	name := ScalarText(yamlx.Lookup(spec, field))
	if !packageName().MatchString(name) {
		return ""
	}
	return command + name
}

// Missing is a requirement that a machine does not meet.
type Missing struct {
	Kind string `json:"kind"` // bin, env, mcp, or os
	Name string `json:"name"`
	Hint string `json:"hint"` // how to get it
}

// Machine answers what a machine has.
type Machine struct {
	OS       string                 // as runtime.GOOS
	Program  func(name string) bool // whether a program is installed
	Variable func(name string) bool // whether an environment variable is set
	Server   func(name string) bool // whether an agent is known to have an MCP server; nil if that is not known
}

// Missing returns the requirements that a machine does not meet, in the order of the fields. It includes MCP servers
// that skillpm does not find, although agents may have them from elsewhere.
func (r *Requirements) Missing(m Machine) []Missing {
	missing := r.Unmet(m)
	for _, name := range r.MCP {
		if m.Server == nil || !m.Server(name) {
			missing = append(missing, Missing{RequiresMCP, name, "check that your agent has the MCP server " + name})
		}
	}
	return missing
}

// Unmet returns what [Requirements.Missing] returns without MCP servers.
func (r *Requirements) Unmet(m Machine) (missing []Missing) {
	for _, name := range r.Bins {
		if !m.Program(name) {
			missing = append(missing, Missing{RequiresBin, name, r.installHint(m.OS, name)})
		}
	}
	if len(r.AnyBins) > 0 && !slices.ContainsFunc(r.AnyBins, m.Program) {
		missing = append(missing,
			Missing{RequiresBin, strings.Join(r.AnyBins, " or "), r.installHint(m.OS, r.AnyBins...)})
	}
	for _, name := range r.Env {
		if !m.Variable(name) {
			missing = append(missing, Missing{RequiresEnv, name, "set the environment variable " + name})
		}
	}
	if len(r.OS) > 0 && !slices.Contains(r.OS, m.OS) {
		systems := strings.Join(r.OS, " or ")
		missing = append(missing, Missing{RequiresOS, systems, "use a machine with " + systems})
	}
	return missing
}

// installHint returns how to get one of some programs. It attributes the command to the skill, whose author may be
// anyone.
func (r *Requirements) installHint(system string, names ...string) string {
	hint := "install " + strings.Join(names, " or ") + ", and make sure that it is in PATH"
	for _, h := range r.Install {
		provides := func(name string) bool { return slices.Contains(h.Bins, name) }
		if (len(h.Bins) == 0 || slices.ContainsFunc(names, provides)) && (len(h.OS) == 0 || slices.Contains(h.OS, system)) {
			return hint + "; the skill suggests: " + h.Command
		}
	}
	return hint
}

// DescribeMissing returns the names of missing requirements for a sentence, and all their hints.
func DescribeMissing(missing []Missing) (names, hints string) {
	var n, h []string
	for _, m := range missing {
		name := m.Name
		if m.Kind == RequiresMCP {
			name = "the MCP server " + name
		}
		n, h = append(n, name), append(h, m.Hint)
	}
	return textx.And(n), strings.Join(h, "; ")
}
