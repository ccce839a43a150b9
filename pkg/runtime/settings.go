package runtime

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Profiles returns the directory with the user's own profiles.
func Profiles(paths scope.Paths) fs.FS { return safefile.Dir(filepath.Join(paths.Config, "profiles")) }

// maxSettings is the maximum size of the settings in bytes.
const maxSettings = 4 << 20

// settings reads the user's settings. A file that an option names must exist; the default file need not.
func (o Options) settings() (*pack.Config, error) {
	if o.Settings != nil {
		return o.Settings, nil
	}
	path := cmp.Or(o.Config, o.Paths.ConfigFile())
	data, err := readSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		if o.Config != "" {
			return nil, diag.Errorf(diag.NotFound, "settings file %s does not exist", path)
		}
		return &pack.Config{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	return pack.ParseConfig(path, data)
}

// readSettings reads the settings file and rejects links.
func readSettings(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := safefile.Check(path, info, maxSettings); err != nil {
		return nil, err
	}
	return safefile.ReadFile(path, maxSettings)
}

// machineSettings reads the settings of the machine's administrator, which need not exist. They count only if nobody
// else could have written them.
func (o Options) machineSettings() (*pack.Config, error) {
	path := filepath.Join(o.Paths.Enterprise, pack.ConfigName)
	data, err := readSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &pack.Config{Path: path}, nil
	}
	if err == nil {
		err = enforce.Files{OS: o.OS, Admin: o.Admin}.CheckAdmin(filepath.Dir(path), path)
	}
	if err != nil {
		return nil, err
	}
	return pack.ParseMachineConfig(path, data)
}

// checkSelection returns an error if the caller selects skills for something else than the machine's settings do.
func (o Options) checkSelection(machine *pack.Config) error {
	for _, s := range []struct{ key, fixed, want, variable string }{
		{"agent-type", machine.Skills.AgentType, o.Agent, "SKILLPM_AGENT_TYPE"},
		{"tenant", machine.Skills.Tenant, o.Tenant, "SKILLPM_TENANT"},
		{"environment", machine.Skills.Environment, o.SkillEnvironment, "SKILLPM_ENVIRONMENT"},
	} {
		if s.fixed == "" {
			continue
		}
		if want := cmp.Or(s.want, o.Getenv(s.variable)); want != "" && want != s.fixed {
			return diag.Errorf(diag.Denied, "cannot select skills for the %s %q: %s sets skills.%s to %q",
				s.key, want, machine.Path, s.key, s.fixed).
				WithHint("omit --%s, and unset %s", s.key, s.variable)
		}
	}
	return nil
}
