package connect

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// upstreamFlags select the other MCP servers behind the gateway.
type upstreamFlags struct{ servers, files []string }

// maxUpstreamFile is the maximum size of a file that lists servers, in bytes.
const maxUpstreamFile = 1 << 20

func newUpstreamFlags(cmd *cobra.Command) *upstreamFlags {
	f := &upstreamFlags{}
	cmd.Flags().StringArrayVar(&f.servers, "upstream", nil,
		"offer the tools of the MCP server `NAME=COMMAND` or NAME=URL (repeatable)")
	cmd.Flags().StringArrayVar(&f.files, "upstream-config", nil,
		"offer the tools of the servers in `FILE`, such as .mcp.json (repeatable)")
	_ = cmd.MarkFlagFilename("upstream-config", "json") // cannot fail: the flag exists
	return f
}

// gateway returns the gateway to them, or nil if there are none. It does not pass on this server's token.
func (a *app) gateway(f *upstreamFlags) (*mcpserver.Gateway, error) {
	var list []mcpserver.Upstream
	for _, text := range f.servers {
		u, err := mcpserver.ParseUpstream(text)
		if err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	for _, name := range f.files {
		path := a.Abs(name)
		data, err := safefile.ReadFile(path, maxUpstreamFile)
		if os.IsNotExist(err) {
			return nil, diag.Errorf(diag.NotFound, "--upstream-config %s does not exist", name).
				WithHint("specify a file in the format of .mcp.json")
		} else if err != nil {
			return nil, err
		}
		more, err := mcpserver.ParseUpstreams(name, data, a.Getenv)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	environ := slices.DeleteFunc(a.Variables(),
		func(v string) bool { return strings.HasPrefix(v, "SKILLPM_MCP_TOKEN=") })
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	return mcpserver.OpenGateway(mcpserver.GatewayOptions{
		Upstreams: list, Dir: dir, Environ: environ,
		Stderr: a.Stderr, Version: console.BuildVersion(a.Version), Helper: console.Confiner(),
	})
}
