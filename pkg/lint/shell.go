package lint

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// shellWords splits a command line at spaces that are not in quotes. It is no shell: nothing is expanded.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	started := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if started || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
		}
	}
	if started || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// skillVariables are written for the skill's own directory.
var skillVariables = []string{
	"${CLAUDE_SKILL_DIR}/", "$CLAUDE_SKILL_DIR/", "{baseDir}/", "${SKILL_DIR}/", "$SKILL_DIR/",
	"{base_path}/", "{skill_dir}/",
}

// pluginVariables are written for the directory that a plugin's skills are in, of which a skill alone knows nothing.
var pluginVariables = []string{"${CLAUDE_PLUGIN_ROOT}/", "$CLAUDE_PLUGIN_ROOT/"}

// withoutVariable removes ./ or a variable for the skill's directory from the front of a path.
func withoutVariable(p string) string {
	for _, list := range [...][]string{skillVariables, pluginVariables} {
		for _, v := range list {
			if rest, ok := strings.CutPrefix(p, v); ok {
				return rest
			}
		}
	}
	return strings.TrimPrefix(p, "./")
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func isInterpreter(program string) bool {
	switch program {
	case "python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "bun", "tsx", "ts-node", "php", "pwsh",
		"Rscript", "lua":
		return true
	}
	return false
}

// isPrefix reports whether a word stands before the command that is really run: a prompt, an assignment, or a command
// that runs another.
func isPrefix(word string) bool {
	switch word {
	case "sudo", "exec", "time", "nohup", "command", "env", "$", ">", "!":
		return true
	}
	return isAssignment(word)
}

func scriptExtension(name string) bool { return scan.ScriptName(name) }

func shellExtension(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh":
		return true
	}
	return false
}

var separators = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n", "$(", "\n", "`", "\n")

// programs returns the programs that a piece of shell runs by a path, and the scripts that it gives to an interpreter:
// as paths without ./ or a variable before them.
func programs(code string) (direct, given []string) {
	if !strings.Contains(code, "/") {
		return nil, nil
	}
	for line := range strings.Lines(separators.Replace(code)) {
		if !strings.Contains(line, "/") {
			continue
		}
		words := shellWords(line)
		for len(words) > 0 && isPrefix(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) == 0:
		case isInterpreter(path.Base(words[0])) || words[0] == "uv" || words[0] == "npx" || words[0] == "deno":
			for _, word := range words[1:] {
				if strings.Contains(word, "/") && scriptExtension(word) {
					given = append(given, path.Clean(withoutVariable(word)))
					break
				}
			}
		case strings.Contains(words[0], "/"):
			direct = append(direct, path.Clean(withoutVariable(words[0])))
		}
	}
	return direct, given
}
