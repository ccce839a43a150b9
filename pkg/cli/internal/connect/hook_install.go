package connect

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
)

// newHookInstall returns the command that writes hooks into agents' configuration.
func newHookInstall(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.Hook, "install", "Write skillpm's hooks into a host's configuration")
	cmd.Long = `Write into a host's configuration that it calls skillpm hook around its tool calls,
so that what the active skills allow is enforced there. What is in the file stays as
it is, other hooks and comments included, and a second time changes nothing.

In the scope project, which a repository shares, the program is written as skillpm;
in the others as this program's path.

Hosts go ahead with a call if the program of a hook is not there or fails. With
--fail-closed they deny it; then nobody can work there without skillpm. In the scope
enterprise that is so unless --fail-closed=false.`
	cmd.Example = `  skillpm hook install --host claude-code
  skillpm hook install --host codex --scope user
  skillpm hook install --host claude-code --fail-closed
  skillpm hook install --all --dry-run`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.attachChange(cmd, o, true) }
	o.changeFlags(cmd)
	o.programFlag(cmd, writesProgram)
	closed := cmd.Flags().Bool("fail-closed", false,
		"have the host deny calls if skillpm is not there or fails (default as it is; in the scope enterprise true)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("fail-closed") {
			return nil
		}
		if o.failClosed = closed; *closed && a.OS == "windows" {
			return diag.Errorf(diag.Usage,
				"--fail-closed needs a POSIX shell, and hosts on Windows start hooks by others as well")
		}
		return nil
	}
	return attachArgs(cmd)
}

// newHookRemove returns the command that takes them out.
func newHookRemove(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.Hook, "remove", "Take skillpm's hooks out of a host's configuration")
	cmd.Long = `Take out of a host's configuration what skillpm hook install wrote, and nothing else.
A file that is still as install left it becomes again what it was, to the byte.`
	cmd.Example = `  skillpm hook remove --host claude-code
  skillpm hook remove --host codex --scope user`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.attachChange(cmd, o, false) }
	o.changeFlags(cmd)
	return attachArgs(cmd)
}

// newHookStatus returns the command that says whether they are there.
func newHookStatus(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.Hook, "status", "Say which hosts have skillpm's hooks")
	cmd.Long = `Say for each host, and each place that it reads, whether skillpm's hooks are there:
installed, not installed, stale (for another program, or with other events), or
broken. Without --host it is about the hosts of which there is a sign here.`
	cmd.Example = `  skillpm hook status
  skillpm hook status --host claude-code --exit-code`
	cmd.RunE = func(*cobra.Command, []string) error { return a.attachStatus(o) }
	o.programFlag(cmd, looksProgram)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 5 if a host has none, or others than it should")
	return attachArgs(cmd)
}

func attachArgs(cmd *cobra.Command) *cobra.Command {
	cmd.Args = console.UsageArgs(nil)
	return cmd
}
