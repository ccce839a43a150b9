package session

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Terms says in one line which tools are allowed while the skill is active, and how that ends, "" if the active skills
// restrict nothing or nothing is stored. The end is a clause such as "it ends when you call skill_end".
func (a *Activation) Terms(end string) string {
	if a.TaskID != "" || a.Session == "" {
		return ""
	}
	return terms(a.Skill.Name, a.Tools, end)
}

func terms(name string, tools tool.Set, end string) string {
	if !tools.Restricts() {
		return ""
	}
	var allowed, denied []string
	for _, entry := range tools.Entries() {
		if pattern, isDenied := strings.CutPrefix(entry, "-"); isDenied {
			denied = append(denied, pattern)
		} else {
			allowed = append(allowed, entry)
		}
	}
	text := "all tools are allowed"
	switch {
	case tools.Lists() && len(allowed) > 0:
		text = "only these tools are allowed: " + strings.Join(allowed, ", ")
	case tools.Lists():
		text = "only the tools of skills are allowed"
	}
	if len(denied) > 0 {
		text += ", but not " + strings.Join(denied, ", ")
	}
	return fmt.Sprintf("While skill %s is active, %s; %s.", name, text, end)
}
