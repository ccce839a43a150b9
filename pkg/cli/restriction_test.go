package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// underRestriction are the commands that an agent's shell can run (true) or not (false) while a skill restricts tools
// and allows the shell. A group that is denied as a whole has one entry.
var underRestriction = map[string]bool{
	"agents": true, "approve": false, "audit": true, "budget": true,
	"cache gc": true, "cache list": true, "cache path": true, "cache verify": true,
	"completion bash": true, "completion fish": true, "completion powershell": true, "completion zsh": true,
	"config get": true, "config list": true, "config merge-driver": false, "config path": true, "config set": false, "config sync": false,
	"connect": false, "deactivate": false, "deny": true, "deploy": false, "diff": true, "disconnect": false,
	"dispatch": true, "doctor": true, "enterprise publish": false, "enterprise sync": false, "explain": true,
	"find": true, "help": true, "hook": false, "import": true,
	"index add": true, "index advisory add": false, "index advisory check": false, "index advisory publish": false,
	"index build": true, "index check": true, "index init": true, "index publish": true,
	"index serve": false, "index site": true,
	"info": true, "init": true, "install": true, "key generate": false, "link": false, "list": true, "load": true,
	"log": true, "log export": true, "log stats": true, "log verify": true, "login": false, "logout": false,
	"lsp": false, "mcp": false, "message": false, "new": true, "outdated": true,
	"policy check": true, "policy explain": true, "policy init": false,
	"profile check": true, "profile list": true, "profile path": true, "profile show": true,
	"prompt": true, "publish": true, "read": true,
	"registry add": false, "registry bind": false, "registry list": false, "registry remove": false,
	"remove": true, "run": true, "schema": true, "search": true, "self-update": false,
	"session allow": true, "session end": false, "session list": true, "session show": true,
	"sign": false, "skills": true,
	"task cancel": true, "task run-one": false, "task list": true, "task show": true, "task submit": false, "task wait": true,
	"test": true, "tree": true, "trust": false, "try": false, "update": true, "validate": true, "vendor": true,
	"verify": true, "version": true, "which": true, "why": true, "yank": false,
}

// TestRestrictedCommands proves for every command, and its aliases, whether an agent's shell can run it while a skill
// restricts tools. A command that the table lacks fails.
func TestRestrictedCommands(t *testing.T) {
	patterns, err := tool.ParseList([]string{"Read, Bash(skillpm:*)"})
	if err != nil {
		t.Fatal(err)
	}
	set := tool.Set{}.And("acme", patterns)
	allows := func(line string) bool {
		return set.Allow(tool.Call{Tool: "Bash", Input: map[string]any{"command": line}}).Allowed
	}
	missing := maps.Clone(underRestriction)
	root := newRoot(&console.App{}, commands())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var visit func(cmd *cobra.Command, paths []string)
	visit = func(cmd *cobra.Command, paths []string) {
		name := paths[0]
		want, listed := underRestriction[name]
		delete(missing, name)
		if !listed && (cmd.Runnable() && !cmd.HasSubCommands()) {
			t.Errorf("the table lacks %q", name)
		}
		for _, path := range paths {
			if listed && allows("skillpm "+path+" x") != want {
				t.Errorf("skillpm %s x: allowed is %v", path, !want)
			}
			if listed && allows("skillpm -C dir --json "+path) != want {
				t.Errorf("skillpm -C dir --json %s: allowed is %v", path, !want)
			}
		}
		for _, c := range cmd.Commands() {
			var below []string
			for _, n := range append([]string{c.Name()}, c.Aliases...) {
				for _, path := range paths {
					below = append(below, path+" "+n)
				}
			}
			visit(c, below)
		}
	}
	for _, c := range root.Commands() {
		visit(c, append([]string{c.Name()}, c.Aliases...))
	}
	for name := range missing {
		t.Errorf("the table has %q, which does not exist", name)
	}
}

// TestRestrictedFlags proves that an agent's shell cannot use a flag that no environment variable can set, unless the
// flag grants nothing.
func TestRestrictedFlags(t *testing.T) {
	harmless := []string{
		"help", "version", "output", // checked by command
		"after", "baseline", "disable", "no-baseline", "no-config", "policy-file", "reason", // change only a report
		"compare", "continue", "fail-below", // of an evaluation, whose agent no flag may name
		"all", "changed", "changed-since", "from", "inline", "input", "latest", "parent", "run", "script", "text", "update",
		"upgrade",                                   // select what a command that is allowed works on
		"no-check", "no-moving-tags", "no-password", // of publish, and of commands that are denied
		"scope", // of a denial
	}
	patterns, err := tool.ParseList([]string{"Bash(skillpm:*)"})
	if err != nil {
		t.Fatal(err)
	}
	set := tool.Set{}.And("acme", patterns)
	each(newRoot(&console.App{}, commands()), func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "skillpm ")
		if !underRestriction[path] {
			return
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if hasVariable(c, f.Name) || slices.Contains(harmless, f.Name) {
				return
			}
			call := tool.Call{Tool: "Bash", Input: map[string]any{"command": "skillpm " + path + " x --" + f.Name + "=y"}}
			if set.Allow(call).Allowed {
				t.Errorf("skillpm %s --%s is allowed", path, f.Name)
			}
		})
	})
}
