// Package outputschema generates the JSON Schemas of what commands print with --json, from the Go types of their
// documents. The comments of the fields become the descriptions.
package outputschema

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/author"
	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/govern"
	"github.com/skillpm/skillpm/pkg/cli/internal/install"
	"github.com/skillpm/skillpm/pkg/cli/internal/selfupdate"
	"github.com/skillpm/skillpm/pkg/cli/internal/serve"
	"github.com/skillpm/skillpm/pkg/cli/internal/validate"
)

// Documents returns what each command prints with --json.
func Documents() []console.Document {
	return slices.Concat(install.Documents(), serve.Documents(), connect.Documents(), govern.Documents(),
		validate.Documents(), author.Documents(), selfupdate.Documents(), []console.Document{
			{Command: "version", Types: []any{console.VersionDocument{}}},
		})
}

// Foreign are the commands whose --json has a format that an agent or a protocol fixes.
func Foreign() []string { return []string{"load", "read", "dispatch"} }

// Without are the commands that do not print a document: servers, filters of agents, and generators of text.
func Without() []string {
	return []string{
		"completion bash", "completion fish", "completion powershell", "completion zsh", "hook", "index serve", "lsp",
		"mcp",
	}
}

// Name returns the name of a command's schema without its directory: log-verify for "log verify".
func Name(command string) string { return strings.ReplaceAll(command, " ", "-") }

// Find returns the name of the schema of a command, or "" if it has none.
func Find(command string) string {
	for _, d := range Documents() {
		if d.Command == command || slices.Contains(d.Others, command) {
			return Name(d.Command)
		}
	}
	return ""
}
