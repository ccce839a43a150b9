// Package foreign reads the files in which other tools record which skills they install or offer, and converts them to
// dependencies of a skillpm.yaml:
//
//	skills-lock.json     the lockfile of a project of npm's skills (version 1 of its format)
//	.skill-lock.json     the lockfile of a user of npm's skills (version 3)
//	apm.yml              the manifest of microsoft/apm (OpenAPM 0.1 to 0.3)
//	apm.lock.yaml        its lockfile (versions 1 and 2)
//	agents.toml          the manifest of dotagents (version 1)
//	agents.lock          its lockfile (version 1)
//	toolhive.lock.yaml   the lockfile of a project of ToolHive (version 1)
//	marketplace.json     a plugin marketplace of Claude Code, and of agents with the same format
//
// Start reading at [Parse]. The rules that the package keeps:
//
//   - It performs no I/O.
//   - Everything in a file becomes a dependency, or is listed with the reason why it can't be one.
//   - Only [pack.Parse] reads references, so that what it refuses can't get in.
//   - A commit becomes a pin. Checksums of installed files are of no use to a dependency.
//   - Files are not trusted: size, depth and number of entries are limited, types are strict, and a newer format is an
//     error. Unknown keys are ignored, as the other tools do.
package foreign

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// The tools whose files are read: values of [Import.Tool].
const (
	ToolSkills      = "npm skills"
	ToolAPM         = "apm"
	ToolMarketplace = "plugin marketplace"
	ToolDotagents   = "dotagents"
	ToolToolHive    = "ToolHive"
	ToolNone        = "local skills" // without a file
)

// Import is the content of a file of another tool.
type Import struct {
	Tool         string
	Dependencies []Item    // in the order of the file, at most one of each ID
	Skipped      []Skipped // in the order of the file
}

// Item is one dependency, with what the file states about it beyond that.
type Item struct {
	Dependency pack.Dependency
	Names      []string // the names that the other tool has for it or its skills, printable
	Alias      string   // the alias of its skill, "" for none
	Dev        bool     // only for development of the project
	Line       int      // of the first entry for it
}

// Skipped is something that can't be a dependency.
type Skipped struct {
	What string `json:"what"` // printable, without credentials
	Why  string `json:"why"`  // a sentence without a full stop
	Line int    `json:"line,omitempty"`
}

// The bounds of a file.
const (
	maxSize    = 4 << 20 // bytes
	maxNesting = 64      // depth of lists and mappings
	maxEntries = 10_000  // dependencies and skipped entries
)

// Parse reads a file of another tool. The name is the file's path with slashes, relative to the directory of the
// skillpm.yaml that gets the dependencies, so that directories of the file become relative to it. The format follows
// from the file's name, or else from its content. Errors have code [diag.Invalid] and start with the name and the line.
func Parse(name string, data []byte) (*Import, error) {
	f := file{name: name}
	if len(data) > maxSize {
		return nil, f.errorf(nil, "is larger than %d bytes", maxSize)
	}
	root, err := f.decode(data)
	if err != nil {
		return nil, err
	}
	format := f.reader(root)
	if format.read == nil {
		return nil, f.errorf(nil, "is not a file that skillpm can import").
			WithHint("use skills-lock.json, .skill-lock.json, apm.yml, apm.lock.yaml, agents.toml, " +
				"agents.lock, toolhive.lock.yaml, or .claude-plugin/marketplace.json")
	}
	c := &collector{file: f, out: &Import{Tool: format.tool}, positions: make(map[pack.ID]int)}
	if err := format.read(c, root); err != nil {
		return nil, err
	}
	c.finish()
	return c.out, nil
}

// format is a kind of file.
type format struct {
	tool string
	read func(*collector, *value) error
}

var (
	skillsLock  = format{ToolSkills, (*collector).projectLock}
	skillsUser  = format{ToolSkills, (*collector).userLock}
	apmManifest = format{ToolAPM, (*collector).apmManifest}
	apmLock     = format{ToolAPM, (*collector).apmLock}
	marketplace = format{ToolMarketplace, (*collector).marketplace}

	dotagentsManifest = format{ToolDotagents, (*collector).dotagentsManifest}
	dotagentsLock     = format{ToolDotagents, (*collector).dotagentsLock}
	toolhiveLock      = format{ToolToolHive, (*collector).toolhiveLock}
)

// reader returns the format of the file, by its name or else by its content.
func (f file) reader(root *value) format {
	switch strings.ToLower(path.Base(f.name)) {
	case "skills-lock.json":
		return skillsLock
	case ".skill-lock.json", "skill-lock.json":
		return skillsUser
	case "apm.yml", "apm.yaml":
		return apmManifest
	case "apm.lock.yaml", "apm.lock.yml", "apm.lock":
		return apmLock
	case "marketplace.json":
		return marketplace
	case "agents.toml":
		return dotagentsManifest
	case "agents.lock":
		return dotagentsLock
	case "toolhive.lock.yaml", "toolhive.lock.yml":
		return toolhiveLock
	}
	switch {
	case root.field("lockfile_version") != nil:
		return apmLock
	case root.field("plugins") != nil:
		return marketplace
	case root.field("dependencies").field("apm") != nil:
		return apmManifest
	case root.field("version") == nil || root.field("skills") == nil:
		return format{}
	case root.field("version").text == userLockVersion:
		return skillsUser
	default:
		return skillsLock
	}
}

// isJSON reports whether a text is JSON rather than YAML.
func isJSON(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// file is the file that errors name.
type file struct{ name string }

// errorf returns an error about a value of the file, or about the whole file if the value is nil.
func (f file) errorf(at *value, format string, args ...any) *diag.Error {
	if at == nil || at.line == 0 {
		return diag.Errorf(diag.Invalid, "%s "+format, append([]any{printable(f.name)}, args...)...)
	}
	return diag.Errorf(diag.Invalid, "%s:%d: "+format, append([]any{printable(f.name), at.line}, args...)...)
}
