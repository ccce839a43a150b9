package lint

import (
	"path"
	"strings"
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
	"${CLAUDE_SKILL_DIR}/", "$CLAUDE_SKILL_DIR/", "${CLAUDE_PLUGIN_ROOT}/", "$CLAUDE_PLUGIN_ROOT/", "{baseDir}/", "${SKILL_DIR}/", "$SKILL_DIR/",
	"{base_path}/", "{skill_dir}/",
}

// withoutVariable removes ./ or a variable for the skill's directory from the front of a path.
func withoutVariable(p string) string {
	for _, v := range skillVariables {
		if rest, ok := strings.CutPrefix(p, v); ok {
			return rest
		}
	}
	return strings.TrimPrefix(p, "./")
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func isInterpreter(program string) bool {
	switch program {
	case "python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "bun", "tsx", "ts-node", "php", "pwsh", "Rscript", "lua":
		return true
	}
	return false
}

// isPrefix reports whether a word stands before the command that is really run: a prompt, an assignment, or a command that
// runs another.
func isPrefix(word string) bool {
	switch word {
	case "sudo", "exec", "time", "nohup", "command", "env", "$", ">", "!":
		return true
	}
	return isAssignment(word)
}

func scriptExtension(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".r":
		return true
	}
	return false
}

func shellExtension(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh":
		return true
	}
	return false
}

var separators = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n", "$(", "\n", "`", "\n")

// programs returns the first word of every command in a piece of shell, as a path: without ./ or a variable before it.
func programs(code string) []string {
	if !strings.Contains(code, "/") {
		return nil
	}
	var out []string
	for line := range strings.Lines(separators.Replace(code)) {
		if !strings.Contains(line, "/") {
			continue
		}
		words := shellWords(line)
		for len(words) > 0 && isPrefix(words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && strings.Contains(words[0], "/") {
			out = append(out, path.Clean(withoutVariable(words[0])))
		}
	}
	return out
}
