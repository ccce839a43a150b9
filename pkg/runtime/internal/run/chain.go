package run

import (
	"net/url"
	"strings"
)

// ChainName is the variable in which a command finds the skills that it was started for, one inside the other. Without
// it a hook that loads its own skill, or a task that starts itself, would go on for ever.
const ChainName = "SKILLPM_CHAIN"

// Link is one skill that something was started for.
type Link struct {
	Kind  string // Hook, Text, Scripted or Tasked
	Skill string // its exact name, "" for a task without a skill
}

// What is started for a skill.
const (
	Hook     = "hook"
	Text     = "text" // a command in its text
	Scripted = "script"
	Tasked   = "task"
)

// maxChain is how many bytes of a chain are read and written. Its end counts, which says what is nearest.
const maxChain = 8 << 10

// Chain reads the value of the variable, the outermost skill first. What it cannot read is a link without a name.
func Chain(value string) []Link {
	if len(value) > maxChain {
		value = value[len(value)-maxChain:]
	}
	var links []Link
	for text := range strings.SplitSeq(value, ",") {
		if text == "" {
			continue
		}
		kind, skill, _ := strings.Cut(text, ":")
		skill, err := url.QueryUnescape(skill)
		if err != nil {
			skill = ""
		}
		links = append(links, Link{kind, skill})
	}
	return links
}

// Extend returns the value of the variable for what is started for a skill.
func Extend(value string, l Link) string {
	text := l.Kind + ":" + url.QueryEscape(l.Skill)
	if value != "" {
		text = value + "," + text
	}
	return text[max(0, len(text)-maxChain):]
}
