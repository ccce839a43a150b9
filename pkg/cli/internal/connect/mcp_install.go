package connect

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
)

// newMCPInstall returns the command that writes the MCP server into agents' configuration.
func newMCPInstall(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.MCP, "install [-- ARGUMENT…]",
		"Write skillpm's MCP server into a host's configuration")
	cmd.Long = `Write into a host's configuration that it starts skillpm mcp. What is in the file
stays as it is, other servers and comments included, and a second time changes nothing.

In the scope project, which a repository shares, the program is written as skillpm;
in the others as this program's path.

What follows -- are further arguments of skillpm mcp. They stay when it is installed
again without; -- with nothing after it takes them out.`
	cmd.Example = `  skillpm mcp install --host claude-code
  skillpm mcp install --host codex --scope user
  skillpm mcp install --host claude-code -- --upstream-config servers.json
  skillpm mcp install --all --dry-run`
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.ArgsLenAtDash() >= 0 {
			if err := a.serverArgs(args); err != nil {
				return err
			}
			o.args = append([]string{}, args...) // not nil, even if empty
		}
		return a.attachChange(cmd, o, true)
	}
	o.changeFlags(cmd)
	o.programFlag(cmd, writesProgram)
	cmd.Flags().BoolVar(&o.force, "force", false, "replace a server of the name skillpm that is another program")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			args = args[:dash]
		}
		return console.UsageArgs(nil)(cmd, args)
	}
	return cmd
}

// serverArgs rejects arguments that "skillpm mcp" does not accept.
func (a *app) serverArgs(args []string) error {
	server := newMCP(a)
	if err := server.ParseFlags(args); err != nil {
		return diag.Errorf(diag.Usage, "skillpm mcp: %v", err).WithHint("skillpm mcp --help")
	}
	if rest := server.Flags().Args(); len(rest) > 0 {
		return diag.Errorf(diag.Usage, "skillpm mcp takes no %q", rest[0]).WithHint("skillpm mcp --help")
	}
	for _, name := range []string{"host", "http", "help"} {
		if server.Flags().Changed(name) {
			return diag.Errorf(diag.Usage, "a server that a host starts takes no --%s", name)
		}
	}
	return nil
}

// newMCPRemove returns the command that takes it out.
func newMCPRemove(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.MCP, "remove", "Take skillpm's MCP server out of a host's configuration")
	cmd.Long = `Take out of a host's configuration what skillpm mcp install wrote, and nothing else.
A file that is still as install left it becomes again what it was, to the byte.`
	cmd.Example = `  skillpm mcp remove --host claude-code
  skillpm mcp remove --host codex --scope user`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.attachChange(cmd, o, false) }
	o.changeFlags(cmd)
	return attachArgs(cmd)
}

// newMCPStatus returns the command that says whether it is there.
func newMCPStatus(a *app) *cobra.Command {
	cmd, o := a.attachCommand(connect.MCP, "status", "Say which hosts have skillpm's MCP server")
	cmd.Long = `Say for each host, and each file that it reads, whether skillpm's MCP server is there:
installed, not installed, stale (another program's path), foreign (another program of
that name), or broken. Without --host it is about the hosts of which there is a sign
here.`
	cmd.Example = `  skillpm mcp status
  skillpm mcp status --host codex --exit-code`
	cmd.RunE = func(*cobra.Command, []string) error { return a.attachStatus(o) }
	o.programFlag(cmd, looksProgram)
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false,
		"exit with 5 if a host does not have it, or another than it should")
	return attachArgs(cmd)
}
