package run

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that a script gets from those who run it: who and where they are, and how they write. None
// of them holds a secret by its purpose.
func passed() []string {
	return []string{
		"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ",
		"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		// Windows programs do not start without them.
		"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
		"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE", "SYSTEMROOT",
		"TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
		markName,
	}
}

// Environment returns the clean environment that a skill's commands get: PATH with its absolute directories only, the
// variables of the list in docs/scripts.md, TERM=dumb and NO_COLOR=1 because nobody looks, PYTHONDONTWRITEBYTECODE=1
// because a skill's directory is not to change, and extra, which wins. It is sorted.
func Environment(getenv func(string) string, extra map[string]string) []string {
	env := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
	for _, name := range passed() {
		if v := getenv(name); v != "" {
			env[name] = v
		}
	}
	if path := absolute(getenv("PATH")); path != "" {
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

// absolute returns a PATH without the directories that depend on where a command runs.
func absolute(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Variables are what every command of a skill finds in its environment about that skill.
func Variables(name, dir string) map[string]string {
	return map[string]string{"SKILL_NAME": name, "SKILL_DIR": dir, "CLAUDE_SKILL_DIR": dir}
}
