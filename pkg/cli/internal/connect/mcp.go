package connect

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
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
	extraTools    bool
	budget        int
	contextWindow int
}

func newMCP(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var o mcpFlags
	var upstream *upstreamFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve skills over the Model Context Protocol",
		Long: `Any MCP client can use the server over standard input and output or, with --http, over
streamable HTTP. Agents start the server automatically; "skillpm connect" adds the server to
their configuration.

The model gets the tools skill, skill_file, skill_run, find_skills, and skill_end, and the
list of skills in the server's instructions. The list leaves out skills that the agent reads
itself, and is not longer than what the agent reads. With --profile, the model gets the
tools of an agent, such as use_skill of pegasus. Users get prompts for skills that they may
start. For an agent, these are only skills that restrict no tools.
Programs get resources (skill://...) and the extension io.modelcontextprotocol/skills. The
server updates its lists when files, settings, or policies change.

With --upstream, the server offers the tools of other MCP servers as NAME__TOOL. The server
checks each call against the tool restrictions of the active skills. Skills refer to such a
tool as mcp__NAME__TOOL.

Active skills belong to one connection; --session shares a session between connections. The
protocol version 2026-07-28 does not have connections. Over HTTP, clients of this
version pass the session in the argument session of each tool.

Over HTTP, the server only accepts requests from this machine: it rejects requests for other
host names and from pages of other hosts. Each request needs a bearer token. By default, the
server creates a token for this user, and on Linux rejects other users. To serve other users or
another address, set a token with --token-file or SKILLPM_MCP_TOKEN, and use a TLS proxy.`,
		Example: `  skillpm mcp
  skillpm mcp --profile pegasus --always-load
  skillpm mcp --http 127.0.0.1:8765
  skillpm mcp --upstream 'files=npx -y server-filesystem .'
  skillpm mcp --upstream-config servers.json
  skillpm mcp --http 127.0.0.1:8765 --token-file token.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON {
				return diag.Errorf(diag.Usage, "skillpm mcp does not support --json")
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
	flags.StringVar(&o.client, "agent", "",
		"serve `AGENT`: list only skills that it does not read itself, within its limits (default: by the client's name)")
	flags.StringVar(&o.http, "http", "", "serve streamable HTTP at `ADDRESS`, such as 127.0.0.1:8765, under /mcp")
	flags.StringVar(&o.tokenFile, "token-file", "",
		"require the bearer token in `FILE` for HTTP requests (default: a token that skillpm creates)")
	flags.StringArrayVar(&o.origins, "allow-origin", nil,
		"allow HTTP requests from pages of `ORIGIN`, such as https://tools.example")
	flags.BoolVar(&o.alwaysLoad, "always-load", false,
		"list the skills in the tool description, and ask the client to load the tool immediately")
	flags.BoolVar(&o.extraTools, "extra-tools", false,
		"also offer skillpm's tools if the profile's agent has only its own, such as kodelet")
	flags.IntVar(&o.budget, "budget", 0, "list skills in at most `N` characters (default: the profile's limit)")
	flags.IntVar(&o.contextWindow, "context-window", 0,
		"assume a context window of `TOKENS` tokens; some profiles then shorten the list of skills")
	flags.Lookup("session").Usage = "share the session `ID` between connections (default: one session per connection)"
	a.CompleteFlag(cmd, "agent", cobra.FixedCompletions(agentIDs(), cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"http", "allow-origin", "budget", "context-window"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

// serverArgs rejects arguments that "skillpm mcp" does not accept.
func (a *app) serverArgs(args []string) error {
	server := newMCP(a)
	if err := server.ParseFlags(args); err != nil {
		return diag.Errorf(diag.Usage, "invalid argument of skillpm mcp: %v", err).
			WithHint("list the flags with: skillpm mcp --help")
	}
	if rest := server.Flags().Args(); len(rest) > 0 {
		return diag.Errorf(diag.Usage, "unexpected argument %q: skillpm mcp takes no arguments", rest[0]).
			WithHint("list the flags with: skillpm mcp --help")
	}
	for _, name := range []string{"agent", "http", "help"} {
		if server.Flags().Changed(name) {
			return diag.Errorf(diag.Usage, "--%s cannot be used with an MCP server that an agent starts", name)
		}
	}
	files, err := server.Flags().GetStringArray("upstream-config")
	for _, name := range files {
		if _, err := os.Stat(a.Abs(name)); err != nil {
			a.Warn("--upstream-config %s does not exist; the MCP server cannot start without the file", name)
		}
	}
	return err
}

// agentIDs are the ids of the supported agents.
func agentIDs() (ids []string) {
	for _, h := range connect.Agents() {
		ids = append(ids, h.ID)
	}
	return ids
}

// serveMCP serves until the client or a signal ends it.
func (a *app) serveMCP(ctx context.Context, f *console.RuntimeFlags, o mcpFlags, g *mcpserver.Gateway) error {
	if o.budget < 0 || o.contextWindow < 0 {
		return diag.Errorf(diag.Usage, "--budget and --context-window must not be negative")
	}
	if o.http == "" && (o.tokenFile != "" || len(o.origins) > 0) {
		return diag.Errorf(diag.Usage, "--token-file and --allow-origin need --http").
			WithHint("add --http 127.0.0.1:8765")
	}
	var first atomic.Pointer[runtime.Host] // ready before the first request, which a client waits for
	open := func(ctx context.Context, r mcpserver.Request) (*runtime.Host, error) {
		if h := first.Swap(nil); h != nil && r == (mcpserver.Request{}) {
			return h, nil
		}
		options := *f
		options.Session, options.NoSession = r.Session, r.Session == ""
		options.Trace, options.Client = r.Trace, cmp.Or(agent.Canonical(o.client), r.Host)
		return a.Host(ctx, &options)
	}
	h, err := open(ctx, mcpserver.Request{})
	if err != nil { // report an invalid profile now, not for each request
		return err
	}
	first.Store(h)
	// The first request needs the catalog, and its reply reports errors.
	bug.Go(func() { _, _ = h.Catalog(ctx) }) // see above
	logger := slog.New(slog.DiscardHandler)
	if a.Verbose > 0 {
		logger = slog.New(slog.NewTextHandler(a.Stderr, nil))
	}
	options := mcpserver.Options{
		Open: open, Agent: o.client, HostNames: h.NamesProfile(), AlwaysLoad: o.alwaysLoad,
		ExtraTools: o.extraTools, Line: a.dispatchLine,
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
		a.Note("Waiting for an MCP client on standard input. Press Ctrl-C to stop.")
	}
	in, ok := a.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(a.Stdin)
	}
	err = s.Run(ctx, &mcp.IOTransport{Reader: in, Writer: nopCloser{console.Raw(a.Stdout)}})
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
	settings := mcpserver.HTTPOptions{Origins: o.origins}
	var err error
	if settings.Token, err = a.mcpToken(o.tokenFile); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.http)
	if err != nil {
		return diag.Errorf(diag.Usage, "cannot listen on %s: %w", o.http, err).
			WithHint("use an address such as 127.0.0.1:8765 with a free port, or port 0 for any free port")
	}
	defer l.Close() //nolint:errcheck // Serve has closed it
	var header string
	if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() && settings.Token == "" {
		settings.OwnUser = true
		if settings.Token, header, err = a.ownToken(); err != nil {
			return err
		}
	}
	if _, err := s.Handler(l.Addr(), settings); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "Serving http://%s%s\n", l.Addr(), mcpserver.Path)
	if header != "" {
		fmt.Fprintf(a.Stderr, "Clients need this header: Authorization: Bearer %s\n", header)
	}
	if err := s.ServeHTTP(ctx, l, settings); ctx.Err() == nil {
		return err
	}
	return nil
}

// maxTokenFile is the maximum size of a token file, in bytes.
const maxTokenFile = 4 << 10

// readSecret reads a file that other users of the machine can neither read nor change.
func readSecret(path string) ([]byte, error) {
	f, err := safefile.Open(path, maxTokenFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); goruntime.GOOS != "windows" && mode&0o006 != 0 {
		return nil, diag.Errorf(diag.Denied, "cannot use token file %s: every user of this machine can access it", path).
			WithHint("create a new token with: rm %[1]s; (umask 077; openssl rand -hex 32 >%[1]s)", path)
	}
	return io.ReadAll(io.LimitReader(f, maxTokenFile))
}

// mcpToken returns the token that the user has set for HTTP requests, or "".
func (a *app) mcpToken(path string) (string, error) {
	if path == "" {
		return strings.TrimSpace(a.Getenv("SKILLPM_MCP_TOKEN")), nil
	}
	token, err := readToken(a.Abs(path))
	if errors.Is(err, os.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "token file %s does not exist", path).
			WithHint("create a token with: (umask 077; openssl rand -hex 32 >%s)", path)
	}
	return token, err
}

// ownToken returns the user's token, and how to show it to the user. The first use creates the token, and shows it on a
// terminal; otherwise only its file is shown, because logs may be readable for others.
func (a *app) ownToken() (token, shown string, err error) {
	env, err := a.Env()
	if err != nil {
		return "", "", err
	}
	path := filepath.Join(env.Paths.State, "mcp-token")
	shown = `$(cat "` + path + `")`
	token, err = readToken(path)
	if !errors.Is(err, os.ErrNotExist) {
		return token, shown, err
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = createToken(path, rand.Text())
	}
	if err != nil {
		return "", "", diag.Errorf(diag.Internal, "cannot create a bearer token: %w", err).
			WithHint("set a token with --token-file FILE or SKILLPM_MCP_TOKEN")
	}
	if token, err = readToken(path); console.Terminal(a.Stderr) {
		shown = token
	}
	return token, shown, err
}

// createToken writes a token to a new file. Another process may have created the file first: its token counts.
func createToken(path, token string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".tmp-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover does not matter
	temp := filepath.Join(dir, "token")
	if err := os.WriteFile(temp, []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.Link(temp, path); err != nil && !errors.Is(err, os.ErrExist) {
		return os.Rename(temp, path) // the file system does not have hard links
	}
	return nil
}

// readToken returns the token in a file.
func readToken(path string) (string, error) {
	data, err := readSecret(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", diag.Errorf(diag.Invalid, "token file %s is empty", path)
	}
	return token, nil
}
