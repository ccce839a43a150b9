// Package foreign reads the files in which other tools write down which skills are installed or offered, and says what
// they would be as dependencies in a skillpm.yaml:
//
//	skills-lock.json     the lock of a project of npm's skills (version 1 of its format)
//	.skill-lock.json     the lock of a user of npm's skills (version 3)
//	apm.yml              the manifest of microsoft/apm (OpenAPM 0.1 to 0.3)
//	apm.lock.yaml        its lock (versions 1 and 2)
//	marketplace.json     a marketplace of Claude Code, and those of other hosts that look like it
//
// Its rules: nothing is read but the bytes given. Everything in a file becomes a dependency or is listed with the
// reason why it cannot be one; nothing is dropped in silence. Places are read by [source.Parse] and by nothing else, so
// that what it refuses cannot get in. What a file records to check the files that were installed is of no use to a
// dependency and is left; a commit becomes a pin. Files are hostile until checked: size, depth and number of entries
// are bounded, types are strict, and a format newer than those above is an error that says so. Keys that are not known
// are passed over, as the other tools do.
package foreign

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// The tools whose files are read, as an [Import] names them.
const (
	ToolSkills      = "npm skills"
	ToolAPM         = "apm"
	ToolMarketplace = "plugin marketplace"
)

// Import is what a file of another tool says.
type Import struct {
	Tool         string
	Dependencies []Item    // in the order of the file, at most one of each ID
	Skipped      []Skipped // in the order of the file
}

// Item is one dependency, and what the file says of it that a dependency does not.
type Item struct {
	Dependency pack.Dependency
	Names      []string // what the other tool calls it, or its skills, made printable
	Alias      string   // the other name that it is wanted under, legal for a skill; "" for none
	Dev        bool     // only for working on the project
	Line       int      // of the first that it is made of
}

// Skipped is what cannot be a dependency.
type Skipped struct {
	What string // made printable, without credentials
	Why  string // a sentence without a full stop
	Line int
}

// The bounds of a file.
const (
	maxSize    = 4 << 20 // bytes
	maxNesting = 64      // lists and mappings in each other
	maxEntries = 10_000  // dependencies, and reasons why something is none
)

// Parse reads a file of another tool. The name is the file's path with slashes, relative to the directory of the
// skillpm.yaml that is to have the dependencies: what the file says is beside it becomes a path from there. The file's
// name says what it is, or its content where that is no name of another tool. Errors have code [diag.Invalid] and start
// with the name and, where there is one, the line.
func Parse(name string, data []byte) (*Import, error) {
	f := file{name: name}
	if len(data) > maxSize {
		return nil, f.errorf(nil, "has more than %d bytes", maxSize)
	}
	root, err := f.decode(data)
	if err != nil {
		return nil, err
	}
	format := f.reader(root)
	if format.read == nil {
		return nil, f.errorf(nil, "is no file that skillpm can import").
			WithHint("it reads skills-lock.json, .skill-lock.json, apm.yml, apm.lock.yaml and " +
				".claude-plugin/marketplace.json")
	}
	c := &collector{file: f, out: &Import{Tool: format.tool}, positions: make(map[pack.ID]int)}
	if err := format.read(c, root); err != nil {
		return nil, err
	}
	c.finish()
	return c.out, nil
}

// format is a kind of file and how it is read.
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

// file is what errors are about.
type file struct{ name string }

// errorf returns an error about a place in the file, or about the file as a whole.
func (f file) errorf(at *value, format string, args ...any) *diag.Error {
	if at == nil || at.line == 0 {
		return diag.Errorf(diag.Invalid, "%s "+format, append([]any{printable(f.name)}, args...)...)
	}
	return diag.Errorf(diag.Invalid, "%s:%d: "+format, append([]any{printable(f.name), at.line}, args...)...)
}
