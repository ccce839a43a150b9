package prompt

import (
	_ "embed"
	"strings"
)

//go:embed navigation.md
var navigation string

//go:embed toolcalling.md
var toolCalling string

// Navigation returns what any model needs to know to find its way in a skill: about 500 tokens for a system prompt.
func Navigation() string { return strings.TrimSuffix(navigation, "\n") }

// ToolCalling returns what any model needs to know to call tools: about 900 tokens for a system prompt.
func ToolCalling() string { return strings.TrimSuffix(toolCalling, "\n") }
