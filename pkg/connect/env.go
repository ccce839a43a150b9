package connect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// Env is the environment of an invocation.
type Env struct {
	Home    string // the user's home directory
	Project string // the directory of the project
	OS      string // as runtime.GOOS
	Getenv  func(string) string
	State   string // the directory of skillpm's lock and records
	Machine string // replaces /etc, the directory of the machine's configuration; "" for the system's own
}

// file returns the path of a configuration file: the first that exists, otherwise the first.
func (e Env) file(p configFile) string {
	if p.base == inMachine {
		return e.machine(p.files[0])
	}
	first := ""
	for _, name := range p.files {
		path := filepath.Join(e.root(p), filepath.FromSlash(name))
		if dir := e.movedDir(p); dir != "" {
			if _, rest, below := strings.Cut(name, "/"); below && p.base != inOtherHome {
				name = rest
			}
			path = filepath.Join(dir, filepath.FromSlash(name))
		}
		if first == "" {
			first = path
		}
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return first
}

// movedDir returns the directory that an environment variable sets, or "".
func (e Env) movedDir(p configFile) string {
	if p.env == "" {
		return ""
	}
	if dir := e.Getenv(p.env); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

func (e Env) root(p configFile) string {
	switch p.base {
	case inProject:
		return e.Project
	case inConfig:
		if dir := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(e.Home, ".config")
	case inAppData:
		return e.appData()
	default:
		return e.Home
	}
}

func (e Env) appData() string {
	switch e.OS {
	case "windows":
		if dir := e.Getenv("APPDATA"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(e.Home, "AppData", "Roaming")
	case "darwin":
		return filepath.Join(e.Home, "Library", "Application Support")
	default:
		if dir := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(e.Home, ".config")
	}
}

// elsewhere maps the machine's files on Linux to those on other systems.
var elsewhere = map[string]map[string]string{
	"darwin": {
		"claude-code/managed-settings.json": "/Library/Application Support/ClaudeCode/managed-settings.json",
		"codex/hooks.json":                  "/etc/codex/hooks.json",
		"gemini-cli/settings.json":          "/Library/Application Support/GeminiCli/settings.json",
	},
	"windows": {
		"claude-code/managed-settings.json": `C:\Program Files\ClaudeCode\managed-settings.json`,
		"gemini-cli/settings.json":          `C:\ProgramData\gemini-cli\settings.json`,
	},
}

// machine returns the file that the machine's administrator writes, "" if none is known.
func (e Env) machine(name string) string {
	switch {
	case e.Machine != "" && e.Machine != scope.Enterprise(e.OS):
		return filepath.Join(e.Machine, filepath.FromSlash(name))
	case e.OS == "darwin" || e.OS == "windows":
		return elsewhere[e.OS][name]
	default:
		return "/etc/" + name
	}
}

// maxFile is the maximum size of a configuration file, in bytes.
const maxFile = 32 << 20

// fileState is the current state of a file.
type fileState struct {
	path   string // as configured
	real   string // after links
	data   []byte
	mode   fs.FileMode
	exists bool
	absent bool // neither a file nor a link exists
}

// read reads a configuration file. It follows a link within the home directory or, for a project's file, within the
// project.
func (e Env) read(p configFile) (fileState, error) {
	c := fileState{path: e.file(p)}
	c.real = c.path
	if c.path == "" || !filepath.IsAbs(c.path) {
		return c, diag.Errorf(diag.Usage, "cannot use the scope %s outside of a project", p.scope)
	}
	info, err := os.Stat(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(c.path); err == nil {
			return c, diag.Errorf(diag.Conflict, "%s is a broken link", c.path).
				WithHint("remove the link, or create its target")
		}
		c.absent = true
		return c, e.confine(&c, p)
	}
	switch {
	case err != nil:
		return c, err
	case !info.Mode().IsRegular():
		return c, diag.Errorf(diag.Invalid, "%s is not a regular file", c.path)
	case info.Size() > maxFile:
		return c, diag.Errorf(diag.Invalid, "%s has %d bytes; the limit is %d", c.path, info.Size(), maxFile)
	}
	if err := e.confine(&c, p); err != nil {
		return c, err
	}
	c.exists, c.mode = true, info.Mode().Perm()
	c.data, err = os.ReadFile(c.real)
	return c, err
}

// confine resolves the links of a file's path, and refuses one that leads out of the allowed directory.
func (e Env) confine(c *fileState, p configFile) error {
	real, err := pathx.Resolve(c.path)
	if err != nil {
		return err
	}
	root, bound := e.Home, "your home directory"
	switch {
	case p.base == inProject:
		root, bound = e.Project, "the project"
	case p.base == inMachine || e.movedDir(p) != "":
		c.real = real
		return nil
	}
	top, err := pathx.Resolve(root)
	if err != nil {
		return err
	}
	own, err := pathx.Resolve(filepath.Dir(c.path))
	if err != nil {
		return err
	}
	unmoved := p.base != inProject && own == filepath.Dir(c.path) && filepath.Join(own, filepath.Base(c.path)) == real
	if !unmoved && !pathx.ContainsStrict(top, real) {
		return diag.Errorf(diag.Conflict, "%s is a link to %s, which is outside %s", c.path, real, bound).
			WithHint("edit the target of the link yourself, or replace the link with a regular file")
	}
	c.real = real
	return nil
}
