package run

import (
	"net/url"
	"strings"
)

// ChainName is the environment variable with the chain of skills that a process was started for. It stops a hook that
// loads its own skill, or a task that starts itself, from recursing without end.
const ChainName = "SKILLPM_CHAIN"

// Link is one skill in a chain.
type Link struct {
	Kind  string // Hook, Text, Scripted or Tasked
	Skill string // exact name of the skill, "" for a task without one
}

// The values of [Link].Kind: what was started for the skill.
const (
	Hook     = "hook"
	Text     = "text" // a command in the skill's body
	Scripted = "script"
	Tasked   = "task"
)

// maxChain is the maximum length of a chain in bytes. Of a longer one only the end, with the innermost skills, counts.
const maxChain = 8 << 10

// Chain parses the value of the variable, the outermost skill first. A link that it cannot parse has no name.
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

// Extend returns the variable's value for a process that is started for l.
func Extend(value string, l Link) string {
	text := l.Kind + ":" + url.QueryEscape(l.Skill)
	if value != "" {
		text = value + "," + text
	}
	return text[max(0, len(text)-maxChain):]
}
