package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// mcpFlags are the flags of the mcp command.
type mcpFlags struct {
	client        string
	http          string
	tokenFile     string
	origins       []string
	alwaysLoad    bool
	budget        int
	contextWindow int
	verbose       bool
}

func newMCP(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var o mcpFlags
	var upstream *upstreamFlags
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve skills over the Model Context Protocol",
		GroupID: "serve",
		Long: `Serve skills to any client of the Model Context Protocol over standard input and
output, or with --http over streamable HTTP. Clients start it themselves: skillpm mcp
install writes it into their configuration.

The model gets the tools skill, skill_file, skill_run, find_skills and skill_end, and
the list of skills in the server's instructions; with --profile a host's own tools, as
use_skill of pegasus. Users get a prompt for each skill that they may start, programs
the resources skill://… and the extension io.modelcontextprotocol/skills. Lists follow
the files, settings and policies as they change.

With --upstream the tools of other MCP servers pass through, as NAME__TOOL, and each call
is held to the skills that are active, which know it as mcp__NAME__TOOL.

What is active is kept for each connection, and ends with it; --session shares one.
Over HTTP a client of the protocol 2026-07-28, which knows no connections, names its
session itself: by the argument session of each tool.

HTTP serves this machine only: requests of foreign hosts, and of pages of foreign
origins, are refused. Another address needs a bearer token: --token-file, or
SKILLPM_MCP_TOKEN. It is sent as it is, so put TLS before it.`,
		Example: `  skillpm mcp
  skillpm mcp --profile pegasus --always-load
  skillpm mcp --upstream 'files=npx -y @modelcontextprotocol/server-filesystem .'
  skillpm mcp --upstream-config servers.json
  skillpm mcp --http 127.0.0.1:8765
  skillpm mcp --http 127.0.0.1:8765 --token-file token.txt --allow-origin https://tools.example`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON {
				return diag.Errorf(diag.Usage, "skillpm mcp has no --json: what it prints is the protocol's")
			}
			g, err := a.gateway(upstream)
			if err != nil {
				return err
			}
			return a.serveMCP(cmd.Context(), f, o, g)
		},
	}
	f, upstream = a.RuntimeFlags(cmd), newUpstreamFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.client, "host", "",
		"who starts it, as `HOST` claude-code, for the audit log; else what the client calls itself")
	flags.StringVar(&o.http, "http", "", "serve streamable HTTP at `ADDRESS`, as 127.0.0.1:8765, below /mcp")
	flags.StringVar(&o.tokenFile, "token-file", "",
		"ask HTTP requests for the bearer token in `FILE` (SKILLPM_MCP_TOKEN)")
	flags.StringArrayVar(&o.origins, "allow-origin", nil,
		"let pages of `ORIGIN`, as https://tools.example, ask over HTTP")
	flags.BoolVar(&o.alwaysLoad, "always-load", false,
		"list the skills in the tool's description, too, and ask the client to show it at once")
	flags.IntVar(&o.budget, "budget", 0, "list skills in at most `N` characters; default what the profile allows")
	flags.IntVar(&o.contextWindow, "context-window", 0,
		"the model's context window in `TOKENS`, by which some lists are cut")
	flags.BoolVar(&o.verbose, "verbose", false, "say on standard error what is wrong with the protocol")
	flags.Lookup("session").Usage = "share the session `ID` between connections (SKILLPM_SESSION); " +
		"without one each has a session of its own"
	a.CompleteFlag(cmd, "host", cobra.FixedCompletions(agentIDs(), cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"http", "allow-origin", "budget", "context-window"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
	cmd.AddCommand(newMCPInstall(a), newMCPRemove(a), newMCPStatus(a))
	return cmd
}

// agentIDs are the ids of the supported agents.
func agentIDs() (ids []string) {
	for _, h := range connect.Agents() {
		ids = append(ids, h.HookID())
	}
	return ids
}

// serveMCP serves until the client or a signal ends it.
func (a *app) serveMCP(ctx context.Context, f *console.RuntimeFlags, o mcpFlags, g *mcpserver.Gateway) error {
	if o.budget < 0 || o.contextWindow < 0 {
		return diag.Errorf(diag.Usage, "--budget and --context-window take numbers above 0")
	}
	if o.http == "" && (o.tokenFile != "" || len(o.origins) > 0) {
		return diag.Errorf(diag.Usage, "--token-file and --allow-origin are about HTTP").
			WithHint("add --http 127.0.0.1:8765")
	}
	var first atomic.Pointer[runtime.Host] // ready before the first request, which a client waits for
	open := func(ctx context.Context, r mcpserver.Request) (*runtime.Host, error) {
		if h := first.Swap(nil); h != nil && r == (mcpserver.Request{}) {
			return h, nil
		}
		options := *f
		options.Session, options.NoSession = r.Session, r.Session == ""
		options.Trace, options.Client = r.Trace, cmp.Or(agent.HookID(o.client), r.Host)
		return a.Host(ctx, &options)
	}
	h, err := open(ctx, mcpserver.Request{})
	if err != nil { // report an invalid profile now, not for each request
		return err
	}
	first.Store(h)
	// The first request needs the catalog, and its reply reports errors.
	go h.Catalog(ctx) //nolint:errcheck // see above
	logger := slog.New(slog.DiscardHandler)
	if o.verbose {
		logger = slog.New(slog.NewTextHandler(a.Stderr, nil))
	}
	options := mcpserver.Options{
		Open: open, HostNames: cmp.Or(f.Profile, a.Getenv("SKILLPM_PROFILE")) != "", AlwaysLoad: o.alwaysLoad,
		Budget: o.budget, ContextWindow: o.contextWindow, Session: cmp.Or(f.Session, a.Getenv("SKILLPM_SESSION")),
		Now: a.Now, Version: console.BuildVersion(a.Version), Logger: logger,
	}
	if g != nil {
		g.Start(ctx)
		defer g.Close()
		options.Attach = func(server *mcp.Server, check func(context.Context, tool.Call) error) func() {
			return g.Attach(server, check)
		}
	}
	s, err := mcpserver.New(options)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.http != "" {
		return a.serveMCPOverHTTP(ctx, s, o)
	}
	if console.Terminal(a.Stdin) {
		a.Note("this talks to an MCP client, which starts it itself; Ctrl-C ends it")
	}
	in, ok := a.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(a.Stdin)
	}
	err = s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: nopCloser{a.Stdout}})
	if ctx.Err() != nil { // an interrupt is the normal end
		return nil
	}
	return err
}

// nopCloser is a writer that stays open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// serveMCPOverHTTP serves over HTTP.
func (a *app) serveMCPOverHTTP(ctx context.Context, s *mcpserver.Server, o mcpFlags) error {
	token, err := a.mcpToken(o.tokenFile)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.http)
	if err != nil {
		return diag.Errorf(diag.Usage, "%s cannot be served: %w", o.http, err).
			WithHint("write it as 127.0.0.1:8765, with a port that is free, or 0 for any")
	}
	defer l.Close() //nolint:errcheck // Serve has closed it
	settings := mcpserver.HTTPOptions{Token: token, Origins: o.origins}
	if _, err := s.Handler(l.Addr(), settings); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "skillpm: serving http://%s%s\n", l.Addr(), mcpserver.Path)
	if err := s.ServeHTTP(ctx, l, settings); ctx.Err() == nil {
		return err
	}
	return nil
}

// maxTokenFile is the maximum size of a token file, in bytes.
const maxTokenFile = 4 << 10

// mcpToken returns the token that HTTP requests must have, or "".
func (a *app) mcpToken(path string) (string, error) {
	if path == "" {
		return strings.TrimSpace(a.Getenv("SKILLPM_MCP_TOKEN")), nil
	}
	data, err := safefile.ReadFile(a.Abs(path), maxTokenFile)
	if errors.Is(err, os.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "%s does not exist", path).
			WithHint("make one: openssl rand -hex 32 >%s", path)
	}
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", diag.Errorf(diag.Invalid, "%s is empty", path)
	}
	return token, nil
}
