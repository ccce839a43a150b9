package skill

import "strings"

// Program returns the command of a frontmatter if it is a shell command. Some agents store there the slash command that
// starts the skill, such as /hub:run.
func Program(command string) string {
	name, slash := strings.CutPrefix(strings.TrimSpace(command), "/")
	if slash && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && r != ':' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		return ""
	}
	return command
}
