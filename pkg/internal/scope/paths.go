package scope

import (
	"context"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// Env is the relevant environment of the process.
type Env struct {
	Home   string              // the home directory; "" means $HOME, or %USERPROFILE% on Windows
	Dir    string              // the working directory, the base of relative directories
	Getenv func(string) string // for example os.Getenv; nil means an empty environment
	OS     string              // runtime.GOOS
}

// Paths are the directories outside of projects. All are absolute, and all except Home belong to skillpm.
type Paths struct {
	Home       string // the user's home directory
	Config     string // the user's settings
	Data       string // the user's locally published packs
	Cache      string // caches that can be fetched again: store, git, and HTTP
	State      string // sessions and audit logs
	Enterprise string // the administrator's installation, constant for each operating system

	// Exact makes a new project in the working directory, which the user named, instead of its repository's root.
	Exact bool

	dir string
}

// New returns the directories for an environment. On Linux and macOS they follow the XDG base directories, with macOS's
// own cache directory as the default; on Windows they are below %AppData% and %LocalAppData%.
func New(env Env) (Paths, error) {
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	home, err := homeDir(env)
	if err != nil {
		return Paths{}, err
	}
	p := Paths{Home: home, dir: env.Dir}
	switch env.OS {
	case "windows":
		roaming := env.base("APPDATA", filepath.Join(home, "AppData", "Roaming"))
		local := env.base("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
		p.Config = filepath.Join(roaming, "skillpm")
		p.Data = filepath.Join(local, "skillpm", "data")
		p.Cache = filepath.Join(local, "skillpm", "cache")
		p.State = filepath.Join(local, "skillpm", "state")
	case "darwin":
		p.xdg(env, filepath.Join(home, "Library", "Caches"))
	default:
		p.xdg(env, filepath.Join(home, ".cache"))
	}
	p.Enterprise = Enterprise(env.OS)
	return p, nil
}

// Enterprise returns the directory of the machine's enterprise layer, for an operating system as in runtime.GOOS.
func Enterprise(os string) string {
	switch os {
	case "windows":
		return `C:\ProgramData\skillpm`
	case "darwin":
		return "/Library/Application Support/skillpm"
	}
	return unixEnterprise
}

// homeDir returns the home directory in its clean form.
func homeDir(env Env) (string, error) {
	home := env.Home
	if home == "" && env.OS == "windows" {
		home = env.Getenv("USERPROFILE")
	} else if home == "" {
		home = env.Getenv("HOME")
	}
	if home == "" {
		return "", diag.Errorf(diag.Internal, "the home directory is unknown").
			WithHint("set HOME to an absolute path")
	}
	if !filepath.IsAbs(home) {
		return "", diag.Errorf(diag.Internal, "the home directory %q is not an absolute path", home).
			WithHint("set HOME to an absolute path")
	}
	return filepath.Clean(home), nil
}

func (p *Paths) xdg(env Env, cache string) {
	p.Config = filepath.Join(env.base("XDG_CONFIG_HOME", filepath.Join(p.Home, ".config")), "skillpm")
	p.Data = filepath.Join(env.base("XDG_DATA_HOME", filepath.Join(p.Home, ".local", "share")), "skillpm")
	p.Cache = filepath.Join(env.base("XDG_CACHE_HOME", cache), "skillpm")
	p.State = filepath.Join(env.base("XDG_STATE_HOME", filepath.Join(p.Home, ".local", "state")), "skillpm")
}

// ForMachine returns the directories for operations that affect all users of the machine. They do not depend on a user
// or on environment variables.
func (p Paths) ForMachine() Paths {
	cache, state := filepath.Join(p.Enterprise, "cache"), filepath.Join(p.Enterprise, "lib")
	if p.Enterprise == unixEnterprise {
		cache, state = "/var/cache/skillpm", "/var/lib/skillpm"
	}
	p.Config, p.Data, p.Cache, p.State = filepath.Join(state, "config"), filepath.Join(state, "data"), cache, state
	return p
}

// unixEnterprise is the directory of the enterprise layer on Linux.
const unixEnterprise = "/etc/skillpm"

// base returns the directory in a variable if it is absolute, otherwise the default.
func (e Env) base(variable, otherwise string) string {
	if dir := e.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return otherwise
}

// ConfigFile is the user's configuration file.
func (p Paths) ConfigFile() string { return filepath.Join(p.Config, "config.yaml") }

// LockSettings locks the user's settings against other processes that change them.
func (p Paths) LockSettings(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return nil, err
	}
	return txn.Lock(ctx, filepath.Join(p.State, "settings.lock"))
}

// Local is the default OCI layout of publish, in which install also looks.
func (p Paths) Local() string { return filepath.Join(p.Data, "layout") }

// Store is the content-addressed store of skill trees.
func (p Paths) Store() string { return filepath.Join(p.Cache, "store") }

// GitCache is the cache of git repositories.
func (p Paths) GitCache() string { return filepath.Join(p.Cache, "git") }

// Trials is the directory of packs from "skillpm try".
func (p Paths) Trials() string { return filepath.Join(p.Cache, "try") }

// HTTPCache is the cache of index files with their ETags.
func (p Paths) HTTPCache() string { return filepath.Join(p.Cache, "http") }
