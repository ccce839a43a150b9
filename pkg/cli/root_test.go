package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// TestSingleCommand creates each command alone, which skillpm does if a command line begins with its name: its help is
// the same as among all commands. An unknown name creates all commands.
func TestSingleCommand(t *testing.T) {
	help := func(needed []console.Command, name string) string {
		var out bytes.Buffer
		root := newRoot(&console.App{}, needed)
		root.SetOut(&out)
		root.SetArgs([]string{name, "--help"})
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return out.String()
	}
	for _, c := range commands() {
		if made := c.New(&console.App{}); made.Name() != c.Name {
			t.Errorf("the command of %q is called %q", c.Name, made.Name())
		}
		alone := commandPath([]string{c.Name, "install", "--x"})
		if len(alone) != 1 || alone[0].Name != c.Name {
			t.Errorf("%d commands are made for %s", len(alone), c.Name)
		}
		if got, want := help(alone, c.Name), help(commands(), c.Name); got != want {
			t.Errorf("%s alone says\n%s\nand not\n%s", c.Name, got, want)
		}
	}
	for _, args := range [][]string{{"-C", "load", "list"}, {"--json", "--config=load", "--config", "load", "-q", "list", "load"}, {"--directory=x", "--color=never", "-v", "--color", "always", "--quiet", "list"}} {
		if got := commandPath(args); len(got) != 1 || got[0].Name != "list" {
			t.Errorf("%d commands are made for %q", len(got), args)
		}
	}
	for _, args := range [][]string{nil, {"help", "load"}, {"__complete", "load", ""}, {"-C"}, {"-C", "load"}, {"--json", "help"}, {"-x", "list"}, {"--version"}, {"laod"}, {""}} {
		if got := len(commandPath(args)); got != len(commands()) {
			t.Errorf("%d commands are made for %q", got, args)
		}
	}
}

func TestUnknownCommandIsNear(t *testing.T) {
	var out, errs bytes.Buffer
	code := Execute(t.Context(), environ.Environment{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}, []string{"laod"})
	if code != diag.Usage || !bytes.Contains(errs.Bytes(), []byte("did you mean load")) {
		t.Errorf("exit %d, %s", code, errs.String())
	}
}

func BenchmarkStart(b *testing.B) {
	for name, args := range map[string][]string{"one": {"version"}, "all": {"--version"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newRoot(&console.App{}, commandPath(args))
			}
		})
	}
}

// TestUsageErrorIsJSON proves that a usage error is a document if a flag or a variable requests JSON, but not if the
// flag is an argument of another program.
func TestUsageErrorIsJSON(t *testing.T) {
	for _, test := range []struct {
		variable string
		args     []string
		want     bool
	}{
		{"", []string{"info"}, false},
		{"", []string{"info", "--json"}, true},
		{"", []string{"info", "--json", "--bogus"}, true},
		{"1", []string{"info"}, true},
		{"1", []string{"info", "--bogus"}, true},
		{"0", []string{"info"}, false},
		{"", []string{"connect", "--scope", "bogus", "--", "--json"}, false},
	} {
		var out, errs bytes.Buffer
		env := environ.Environment{Stdout: &out, Stderr: &errs, Dir: t.TempDir(), Getenv: func(name string) string {
			if name == "SKILLPM_JSON" {
				return test.variable
			}
			return ""
		}}
		if code := Execute(t.Context(), env, test.args); code != diag.Usage {
			t.Errorf("%s %q: exit %d: %s", test.variable, test.args, code, errs.String())
		}
		if got := strings.Contains(out.String(), `"code": "usage"`); got != test.want {
			t.Errorf("%s %q: JSON is %v:\n%s", test.variable, test.args, got, out.String())
		}
	}
}

// TestTextCommands proves that the list of commands with wrapped output has no other names.
func TestTextCommands(t *testing.T) {
	wrapped := 0
	each(newRoot(&console.App{}, commands()), func(cmd *cobra.Command) {
		if printsText(cmd) {
			wrapped++
		}
	})
	if wrapped != len(textCommands) {
		t.Errorf("%d of %d names are commands", wrapped, len(textCommands))
	}
}

// TestSuggestions proves that unknown commands and flags suggest what users of other tools look for, or what was
// mistyped, and that each suggested command exists.
func TestSuggestions(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"instal", "did you mean install?"},
		{"isntall", "did you mean install?"},
		{"serach x", "did you mean search?"},
		{"uninstal", "remove a pack with: skillpm remove PACK"},
		{"ci", "install exactly what skillpm.lock records with: skillpm install --frozen"},
		{"uninstall", "remove a pack with: skillpm remove PACK"},
		{"un", "remove a pack with: skillpm remove PACK"},
		{"rollback", "restore the previous versions with: git checkout skillpm.lock && skillpm install"},
		{"view", "show details of a pack with: skillpm info PACK"},
		{"lock", "update skillpm.lock with: skillpm install"},
		{"use", "run a script of a skill with: skillpm run SKILL"},
		{"exec", "run a script of a skill with: skillpm run SKILL"},
		{"x", "run a script of a skill with: skillpm run SKILL"},
		{"sync", "install packs with \"skillpm install\", or sync skills with \"skillpm enterprise sync\""},
		{"upgrade", "update packs with: skillpm update"},
		{"unlink", "remove a link with: skillpm link PACK --undo"},
		{"rules", "list validation rules with: skillpm explain"},
		{"graph", "show dependencies with: skillpm tree"},
		{"pack", "write a pack to a file with: skillpm publish --output FILE"},
		{"keygen", "generate a signing key with: skillpm key generate"},
		{"signatures", "show the signatures of a pack with: skillpm info PACK --signatures"},
		{"unyank", "undo a yank with: skillpm yank PACK@VERSION --undo"},
		{"deprecate", "deprecate a pack with: skillpm yank PACK --deprecate MESSAGE"},
		{"approvals", "list approvals with: skillpm approve --list"},
		{"undeploy", "delete the directory that \"skillpm which SKILL\" prints"},
		{"freeze", "update skillpm.lock with: skillpm install"},
		{"ls-remote", "show the versions of a pack with: skillpm info PACK"},
		{"publish-dir", "publish a pack with: skillpm publish"},
		{"unbind", "remove a binding with: skillpm registry bind OWNER --undo"},
		{"zzz", "list the commands with: skillpm help"},
		{"reg", "did you mean registry?"},
		{"registry ad", "did you mean add?"},
		{"registry login", "log in to a registry with: skillpm login REGISTRY"},
		{"registry zzz", "use one of the commands add, bind, list, or remove"},
		{"cache clear", "remove all cached files with: skillpm cache gc --all"},
		{"cache zzz", "use one of the commands gc, list, path, or verify"},
		{"mcp add", "connect an agent with: skillpm connect AGENT"},
		{"config unset", "remove a setting with: skillpm config set KEY --undo"},
		{"key gen", "did you mean generate?"},
		{"policy list", "show the policies in effect with: skillpm policy explain"},
		{"install --global x", "select the packs of the user with: --scope user"},
		{"install -g x", "select the packs of the user with: --scope user"},
		{"install --dev x", "add development dependencies to dev-dependencies in skillpm.yaml"},
		{"install --frozen-lockfile", "install exactly what skillpm.lock records with: --frozen"},
		{"install --dryrun", "preview the changes with: --dry-run"},
		{"install --froze", "did you mean --frozen?"},
		{"install --host x", "select an agent with: --agent ID"},
		{"load x --host y", "select a profile with: --profile ID"},
		{"install --yes", "remove the flag: skillpm only asks if arguments are missing"},
		{"list --no-color", "disable colors with: --color never"},
		{"list --zzz", `run "skillpm list --help"`},
	} {
		var out, errs bytes.Buffer
		env := environ.Environment{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
		code := Execute(t.Context(), env, strings.Fields(test.line))
		if code != diag.Usage || !strings.HasSuffix(errs.String(), "\nhint: "+test.want+"\n") || out.Len() > 0 {
			t.Errorf("%s: exit %d: %s%s", test.line, code, errs.String(), out.String())
		}
		for _, m := range regexp.MustCompile(`skillpm ([a-z]+)`).FindAllStringSubmatch(test.want, -1) {
			if m[1] != "only" && m[1] != "help" && len(commandPath([]string{m[1]})) != 1 {
				t.Errorf("%s: there is no skillpm %s", test.line, m[1])
			}
		}
	}
}

// TestGroupsPrintHelp proves that a group of commands without a subcommand prints its short help.
func TestGroupsPrintHelp(t *testing.T) {
	root := newRoot(&console.App{}, commands())
	for _, c := range root.Commands() {
		if !c.HasAvailableSubCommands() || c.Name() == "log" {
			continue
		}
		run := func(args ...string) string {
			var out bytes.Buffer
			env := environ.Environment{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
			if code := Execute(t.Context(), env, args); code != diag.OK {
				t.Errorf("%q: exit %d", args, code)
			}
			return out.String()
		}
		if alone, short := run(c.Name()), run(c.Name(), "-h"); alone != short {
			t.Errorf("skillpm %s prints\n%s\nand not\n%s", c.Name(), alone, short)
		}
	}
}
