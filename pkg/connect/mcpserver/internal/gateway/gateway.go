package gateway

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Check returns why a tool must not be called now, as an error for the model, or nil if it may be called.
type Check func(context.Context, tool.Call) error

// DefaultWait is the default of Options.Wait.
const DefaultWait = 10 * time.Second

// Options describe the servers, and how to reach them.
type Options struct {
	Upstreams []Upstream
	Dir       string        // the working directory of programs; an upstream's relative Dir is resolved in it
	Environ   []string      // the environment of programs, as KEY=value
	Stderr    io.Writer     // gets the standard error of programs, and problems of servers; nil discards them
	Version   string        // of skillpm, sent to servers
	Helper    []string      // the program whose main calls run.Enter; on Linux it ends all processes of programs
	Wait      time.Duration // how long the list of tools waits for starting servers; 0 for DefaultWait
}

// Gateway is connected to other MCP servers.
type Gateway struct {
	options Options
	servers []*server
	first   chan struct{} // closed after the first attempt to connect to each server
	cancel  context.CancelFunc
	running bug.WaitGroup

	relist, again time.Duration // the pauses; tests shorten them

	mu       sync.Mutex
	attached map[*attachment]bool
}

// attachment is one of our own servers that offers the tools.
type attachment struct {
	server *mcp.Server
	check  Check
	listed map[*server]map[string]bool // the names of the added tools of each server
}

// Open returns a gateway that is not connected yet. The error has code Usage for an invalid upstream.
func Open(o Options) (*Gateway, error) {
	if len(o.Upstreams) > maxUpstreams {
		return nil, diag.Errorf(diag.Usage, "%d upstreams are configured; the limit is %d", len(o.Upstreams),
			maxUpstreams)
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	g := &Gateway{
		options: o, first: make(chan struct{}), cancel: func() {}, relist: relistPause, again: againPause,
		attached: map[*attachment]bool{},
	}
	names := map[string]bool{}
	for _, u := range o.Upstreams {
		if err := u.check(diag.Usage); err != nil {
			return nil, err
		}
		if names[u.Name] {
			return nil, diag.Errorf(diag.Usage, "two upstreams have the name %s", u.Name).
				WithHint("give each upstream a different name")
		}
		names[u.Name] = true
		g.servers = append(g.servers, newServer(g, u))
	}
	return g, nil
}

// Start connects to all servers in the background. The connections end with the context.
func (g *Gateway) Start(ctx context.Context) {
	ctx, g.cancel = context.WithCancel(ctx)
	var tried bug.WaitGroup
	for _, s := range g.servers {
		s.life = ctx
		tried.Add(1)
		g.running.Go(func() {
			_, err := s.connected(ctx)
			if err != nil && ctx.Err() == nil {
				g.warn(err)
			}
			tried.Done()
			// without tools no call would connect it
			for wait := g.again; err != nil && ctx.Err() == nil; wait = min(2*wait, maxPause) {
				pause(ctx, wait)
				_, err = s.connected(ctx)
			}
		})
	}
	g.running.Go(func() {
		tried.Wait()
		close(g.first)
	})
}

// Close ends the connections and the started programs, within closeLimit.
func (g *Gateway) Close() {
	g.cancel()
	var all bug.WaitGroup
	for _, s := range g.servers {
		all.Go(s.close)
	}
	all.Wait()
	ended := make(chan struct{})
	bug.Go(func() {
		defer close(ended)
		g.running.Wait()
	})
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
	}
}

// Attach adds the tools of all servers to one of our own servers, now and when they change, and calls check before each
// call. The returned function removes them.
func (g *Gateway) Attach(target *mcp.Server, check Check) (detach func()) {
	a := &attachment{server: target, check: check, listed: map[*server]map[string]bool{}}
	target.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, isCall := req.(*mcp.CallToolRequest)
			if method == "tools/list" || isCall && g.isUpstreamTool(call.Params.Name) {
				g.await(ctx)
			}
			return next(ctx, method, req)
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.attached[a] = true
	for _, s := range g.servers {
		a.show(s, s.knownTools())
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.attached, a)
		for _, s := range g.servers {
			a.show(s, nil)
		}
	}
}

// isUpstreamTool reports whether a tool's name belongs to an upstream, even if it is not connected yet.
func (g *Gateway) isUpstreamTool(name string) bool {
	return slices.ContainsFunc(g.servers, func(s *server) bool { return strings.HasPrefix(name, s.Name+"__") })
}

// await waits until the first attempt to connect to each server is over, at most for Options.Wait.
func (g *Gateway) await(ctx context.Context) {
	timer := time.NewTimer(g.options.Wait)
	defer timer.Stop()
	select {
	case <-g.first:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// changed adds the current tools of a server to all attachments.
func (g *Gateway) changed(s *server, tools []*mcp.Tool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for a := range g.attached {
		a.show(s, tools)
	}
}

// show replaces the tools of a server in an attachment.
func (a *attachment) show(s *server, tools []*mcp.Tool) {
	before, now := a.listed[s], map[string]bool{}
	for _, t := range tools {
		if t.Name == "" {
			s.gateway.warn(diag.Errorf(diag.Invalid, "skipped a tool of upstream %s: the tool does not have a name",
				s.Name))
			continue
		}
		tool := *t
		tool.Name = exposed(s.Name, t.Name)
		if now[tool.Name] {
			continue
		}
		if err := add(a.server, &tool, s.handler(t.Name, a.check)); err != nil {
			s.gateway.warn(diag.Errorf(diag.Invalid, "upstream %s: %w", s.Name, err))
			continue
		}
		now[tool.Name] = true
	}
	for name := range before {
		if !now[name] {
			a.server.RemoveTools(name)
		}
	}
	a.listed[s] = now
}

// add adds a server's tool. The SDK panics if the definition is invalid.
func add(target *mcp.Server, t *mcp.Tool, h mcp.ToolHandler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = diag.Errorf(diag.Invalid, "skipped the tool %q: %v", t.Name, r)
		}
	}()
	target.AddTool(t, h)
	return nil
}
