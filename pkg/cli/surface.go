package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
)

// groups are the commands as the overview lists them.
var groups = []console.HelpGroup{
	{Title: "Packs", Names: []string{
		"install", "remove", "update", "outdated", "list", "info", "search", "diff", "why", "verify", "audit",
		"import",
	}},
	{Title: "Authoring", Names: []string{"init", "new", "validate", "test", "publish", "yank", "index"}},
	{Title: "Agents", Names: []string{"connect", "agents", "skills", "budget", "find"}},
	{Title: "Governance", Names: []string{"policy", "approve", "deny", "log"}},
	{Title: "Setup", Names: []string{"registry", "login", "config", "doctor"}},
}

// moreGroups are what "help --all" adds.
var moreGroups = []console.HelpGroup{
	{Title: "More", Names: []string{
		"trust", "tree", "try", "vendor", "link", "sign", "which", "explain", "key", "cache", "logout", "enterprise",
		"deploy", "disconnect", "completion", "version", "self-update",
	}},
	{Title: "Commands for agents and editors", Names: []string{
		"prompt", "load", "read", "run", "message", "deactivate", "dispatch", "session", "task", "hook", "mcp", "profile",
		"lsp", "schema",
	}},
}

// printOverview prints the commands of the first groups, or of all.
func printOverview(w io.Writer, root *cobra.Command, all bool) {
	fmt.Fprintf(w, "%s\n\nUsage: skillpm COMMAND [flags]\n", root.Short)
	console.PrintOverview(w, root, groups)
	if all {
		console.PrintOverview(w, root, moreGroups)
	}
	fmt.Fprint(w, `
Flags:
  -C, --directory DIR   run the command in DIR
      --config FILE     read the user's settings from FILE
      --json            print the result as JSON
  -q, --quiet           omit progress, notes, and summaries
  -v, --verbose         show fetches, sources, and times; -vv adds requests
      --color WHEN      color output: auto, always, or never
  -V, --version         print the version
`)
	if all {
		fmt.Fprint(w, "\nRun \"skillpm COMMAND --help\" for the details of a command.\n")
		return
	}
	fmt.Fprint(w, `
Run "skillpm COMMAND -h" to show the flags and examples of a command,
and "skillpm help --all" to list all commands.
`)
}

// noVariable are the flags that an environment variable cannot set: they lower a check, confirm, or grant something,
// select less to check or other content to use, open a port, or their variable has another meaning. An environment may
// come from a project, for example from a .env file that a shell loads.
var noVariable = map[string]bool{
	"accept": true, "accept-changed": true, "accept-signer": true, "after": true, "all": true, "allow-dirty": true,
	"allow-downgrade": true, "allow-origin": true, "allow-shell": true, "anyway": true, "baseline": true,
	"changed": true, "changed-since": true, "command": true, "config": true, "disable": true, "env": true,
	"expires": true, "fetch": true, "force": true, "from": true, "help": true, "http": true, "inline": true,
	"input": true, "key": true, "latest": true, "no-baseline": true, "no-check": true, "no-config": true,
	"no-hooks": true, "no-moving-tags": true, "no-password": true, "no-skills": true, "output": true, "parent": true,
	"policy-file": true, "prefer": true, "push": true, "reason": true, "registry": true, "rerank": true, "run": true,
	"script": true, "signing-key": true, "test-report": true, "text": true, "tls-cert": true, "tls-key": true,
	"token-file": true, "trigger": true, "undo": true, "update": true, "upgrade": true, "upstream": true,
	"upstream-config": true, "version": true,
	"write-baseline": true, "yes": true,
}

// evaluationFlags are the flags of "test" that start or change an evaluation with an agent, whose program runs, or that
// lower its threshold.
var evaluationFlags = []string{"agent", "agent-args", "compare", "continue", "fail-below", "html"}

// hasVariable reports whether an environment variable sets a flag of a command. The scope of an approval or a denial is
// what it grants, and the agent of a test is a program that runs.
func hasVariable(cmd *cobra.Command, flag string) bool {
	switch {
	case noVariable[flag]:
		return false
	case cmd.Name() == "test" && slices.Contains(evaluationFlags, flag):
		return false
	case flag == "scope":
		return cmd.Name() != "approve" && cmd.Name() != "deny"
	}
	return true
}

// setFromEnvironment sets the flags that are not on the command line from the variables SKILLPM_<FLAG>. A variable
// cannot switch a flag off, because that could override a setting such as strict.
func setFromEnvironment(a *console.App, cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || !hasVariable(cmd, f.Name) || failed != nil {
			return
		}
		name := variable(f.Name)
		value := a.Getenv(name)
		if value == "" {
			return
		}
		if on, err := strconv.ParseBool(value); f.Value.Type() == "bool" && err == nil && !on {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = diag.Errorf(diag.Usage, "%s %v", name, console.VariableError(err))
		}
	})
	return failed
}

// variable returns the name of the environment variable that sets a flag.
func variable(flag string) string {
	return "SKILLPM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// textCommands print text for users, in which paths below the home directory start with ~, and which is wrapped on a
// terminal. Other commands print files, diffs, documents, the output of programs, paths for scripts, or tables, which
// do both for their cells.
var textCommands = []string{
	"audit", "info", "search", "why", "verify", "doctor", "cache list", "cache gc", "cache verify", "find", "which",
	"policy check", "policy explain", "policy init", "approve", "deny", "trust", "log verify", "connect", "disconnect",
	"registry add", "registry bind", "registry remove", "key generate", "deploy", "enterprise sync", "link", "remove",
	"config list", "config set", "config sync", "import", "init", "try",
}

// printsText reports whether a command prints text for users.
func printsText(cmd *cobra.Command) bool {
	return slices.Contains(textCommands, strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
}
