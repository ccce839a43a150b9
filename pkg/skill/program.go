package skill

import "strings"

// Program returns the command of a frontmatter as far as a shell is to run it. Some hosts name the slash command there
// that starts the skill, as /hub:run: it is no program.
func Program(command string) string {
	name, slash := strings.CutPrefix(strings.TrimSpace(command), "/")
	if slash && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && r != ':' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		return ""
	}
	return command
}
