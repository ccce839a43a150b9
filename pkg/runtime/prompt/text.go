package prompt

import (
	_ "embed"
	"strings"
)

//go:embed navigation.md
var navigation string

//go:embed toolcalling.md
var toolCalling string

// Navigation returns general instructions for models on how to use the files of a skill: about 500 tokens for a system
// prompt.
func Navigation() string { return strings.TrimSuffix(navigation, "\n") }

// ToolCalling returns general instructions for models on how to call tools: about 900 tokens for a system prompt.
func ToolCalling() string { return strings.TrimSuffix(toolCalling, "\n") }
