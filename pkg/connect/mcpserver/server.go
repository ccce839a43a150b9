package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// serverName is the name of the server. Agents use it in the names of its tools, such as mcp__skillpm__skill.
const serverName = "skillpm"

// Request identifies the client of a request.
type Request struct {
	Session string      // the id of the session, "" for none
	Trace   audit.Trace // the caller's trace ids
	Host    string      // the client's name for itself, or ""
}

// Options configure a server.
type Options struct {
	// Open returns the host that serves one request. It is required, and called for each request.
	Open func(context.Context, Request) (*runtime.Host, error)

	// HostNames gives the tools the names of the profile's agent instead of skillpm's.
	HostNames bool
	// ExtraTools also offers skillpm's tools under profiles whose agents have only their own.
	ExtraTools bool
	// Line executes lines of text under profiles whose agents load skills by lines; nil offers skillpm's tool instead.
	Line Line
	// AlwaysLoad lists the skills in the description of the tool that loads them instead of the instructions, and asks
	// clients to load that description at once.
	AlwaysLoad bool
	// Agent is the id of the agent that the clients are; "" to identify each by its name for itself. The server does
	// not offer an agent the skills that it reads itself a second time, and writes no more than it reads.
	Agent string
	// ContextWindow is the size of the model's context in tokens, which determines the budget of a listing; 0 if it is
	// unknown.
	ContextWindow int

	// Budget is the maximum size of a listing in characters; 0 for the profile's.
	Budget int

	// Session is the id of a session that all connections share; "" for one session per connection.
	Session string

	// Attach adds the tools of other servers, and calls check before each call; the returned function removes them. It
	// may be nil. The context of a call is that of its request.
	Attach func(server *mcp.Server, check func(context.Context, tool.Call) error) (detach func())

	Now     func() time.Time // the clock; required
	Version string           // of skillpm
	Logger  *slog.Logger     // gets protocol errors; nil discards them
}

// Server serves any number of connections.
type Server struct {
	o          Options
	sdk        *mcp.Server
	native     *forms
	life       context.Context // ends with the server
	stop       context.CancelFunc
	background bug.WaitGroup // goroutines besides those of requests
	jobs       *jobs
	watch      sync.Once
	detach     func()

	peers sync.Map // the known agents by id

	patience, beat time.Duration // the constants of these names; tests shorten them

	mu       sync.Mutex
	sessions map[*mcp.ServerSession]string // the session ids of connections
}

// New returns a server. Close ends it.
func New(o Options) (*Server, error) {
	if o.Open == nil || o.Now == nil {
		return nil, diag.Errorf(diag.Internal, "a server needs a clock and a runtime")
	}
	native, err := nativeForms()
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, native: native, detach: func() {}, sessions: map[*mcp.ServerSession]string{},
		patience: patience, beat: beat,
	}
	s.life, s.stop = context.WithCancel(context.Background())
	if s.o.Logger == nil {
		s.o.Logger = slog.New(slog.DiscardHandler)
	}
	s.jobs = newJobs(s.life, o.Now)
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: serverName, Title: "skillpm", Version: o.Version},
		&mcp.ServerOptions{
			Capabilities: capabilities(), Logger: s.o.Logger, PageSize: pageSize, SetCacheable: setCacheable,
			CompletionHandler:  s.complete,
			SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
			UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		})
	s.mark()
	s.sdk.AddReceivingMiddleware(s.serve)
	if err := s.extend(); err != nil {
		return nil, err
	}
	if o.Attach != nil {
		s.detach = o.Attach(s.sdk, s.check)
	}
	return s, nil
}

// Run serves one connection until its client or the context ends it. Skills that are active in the connection's own
// session end with it.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	var known atomic.Pointer[mcp.ServerSession]
	if streams, ok := t.(*mcp.IOTransport); ok {
		t = lenient(streams, func() bool { return speaksBatches(known.Load()) })
	}
	ss, err := s.sdk.Connect(ctx, &draining{Transport: t}, nil)
	if err != nil {
		return err
	}
	known.Store(ss)
	over := make(chan error, 1)
	bug.Go(func() { over <- ss.Wait() })
	select {
	case err = <-over:
	case <-ctx.Done():
		s.stopJobs(ss)
		_ = ss.Close() // its error only means that it was open
		<-over         //nolint:errcheck // likewise
		err = ctx.Err()
	}
	s.disconnected(ss)
	return err
}

// speaksBatches reports whether a client's version of the protocol has batches of messages.
func speaksBatches(ss *mcp.ServerSession) bool {
	if ss == nil || ss.InitializeParams() == nil { // the first message is not a batch
		return false
	}
	version := ss.InitializeParams().ProtocolVersion
	return version == "2024-11-05" || version == "2025-03-26"
}

// Close ends the scripts and the watching of the server. Connections end with their contexts.
func (s *Server) Close() {
	s.detach()
	s.stop()
	s.jobs.running.Wait()
	s.background.Wait()
}
