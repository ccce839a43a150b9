package run

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// inheritedNames returns the names of the variables that a script inherits: identity, directories, locale. None is
// meant to hold a secret.
func inheritedNames() []string {
	return []string{
		"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ",
		"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		// Windows programs do not start without these.
		"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
		"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE", "SYSTEMROOT",
		"TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
		markName,
	}
}

// Environment returns the clean, sorted environment of a skill's commands: the absolute directories of PATH, the
// inherited variables, TERM=dumb and NO_COLOR=1 because no terminal shows the output,
// PYTHONDONTWRITEBYTECODE=1 to keep the skill's directory unchanged, and extra, which overrides all of these.
func Environment(getenv func(string) string, extra map[string]string) []string {
	env := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
	for _, name := range inheritedNames() {
		if v := getenv(name); v != "" {
			env[name] = v
		}
	}
	if path := absolutePath(getenv("PATH")); path != "" {
		env["PATH"] = path
	}
	maps.Copy(env, extra)
	lines := make([]string, 0, len(env))
	for name, value := range env {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00") {
			lines = append(lines, name+"="+value)
		}
	}
	slices.Sort(lines)
	return lines
}

// absolutePath returns a PATH without its relative directories, whose meaning depends on the working directory.
func absolutePath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Variables returns the environment variables that describe a skill to its commands.
func Variables(name, dir string) map[string]string {
	return map[string]string{"SKILL_NAME": name, "SKILL_DIR": dir, "CLAUDE_SKILL_DIR": dir}
}
