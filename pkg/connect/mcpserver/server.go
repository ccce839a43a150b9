package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// serverName is the name of the server, by which hosts name its tools, as in mcp__skillpm__skill.
const serverName = "skillpm"

// Request says for whom a request is answered.
type Request struct {
	Session string      // the id of the session, "" where nothing is kept
	Trace   audit.Trace // what the caller traces the request as
	Host    string      // what the client calls itself, "" for nothing
}

// Options say what is served, and how.
type Options struct {
	// Open returns what serves one request. It is needed, and called for each.
	Open func(context.Context, Request) (*runtime.Host, error)

	// HostNames has the tools called as the profile's host calls them, and not as skillpm does.
	HostNames bool
	// AlwaysLoad has the skills listed in the description of the tool that loads them, too, and asks clients not to put
	// that off.
	AlwaysLoad bool
	// ContextWindow is the size of the model's context in tokens, on which the budget of a listing depends; 0 where it
	// is not known.
	ContextWindow int

	// Budget is how many characters a listing has at most; 0 for what the profile allows.
	Budget int

	// Session is the id of the one session that all connections share; "" for one of each connection's own.
	Session string

	// Attach shows tools of somebody else on a server, and asks check before each call of one; what it returns takes
	// them away. It may be nil. The context of a call is that of its request.
	Attach func(server *mcp.Server, check func(context.Context, tool.Call) error) (detach func())

	Now     func() time.Time // the clock; it is needed
	Version string           // of skillpm
	Logger  *slog.Logger     // gets what is wrong with the protocol; nil for nobody
}

// Server serves any number of connections.
type Server struct {
	o          Options
	sdk        *mcp.Server
	native     *forms
	life       context.Context // ends with the server
	stop       context.CancelFunc
	background sync.WaitGroup // what goes on besides the requests
	jobs       *jobs
	watch      sync.Once
	detach     func()

	patience, beat time.Duration // the constants of these names, but for tests

	mu       sync.Mutex
	sessions map[*mcp.ServerSession]string // the ids of connections' own sessions
}

// New returns a server. Close ends it.
func New(o Options) (*Server, error) {
	if o.Open == nil || o.Now == nil {
		return nil, diag.Errorf(diag.Internal, "a server needs a clock, and somebody who serves skills")
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

// Run serves one connection until its client or the context ends it. The skills that are active in a session of its own
// end with it.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	var known atomic.Pointer[mcp.ServerSession]
	if streams, ok := t.(*mcp.IOTransport); ok {
		t = lenient(streams, func() bool { return speaksBatches(known.Load()) })
	}
	ss, err := s.sdk.Connect(ctx, &patient{Transport: t}, nil)
	if err != nil {
		return err
	}
	known.Store(ss)
	over := make(chan error, 1)
	go func() { over <- ss.Wait() }()
	select {
	case err = <-over:
	case <-ctx.Done():
		s.stopJobs(ss)
		_ = ss.Close() // that it was open is why
		<-over         //nolint:errcheck // likewise
		err = ctx.Err()
	}
	s.disconnected(ss)
	return err
}

// speaksBatches reports whether a client speaks a version of the protocol that has batches of messages.
func speaksBatches(ss *mcp.ServerSession) bool {
	if ss == nil || ss.InitializeParams() == nil { // a batch does not come first
		return false
	}
	version := ss.InitializeParams().ProtocolVersion
	return version == "2024-11-05" || version == "2025-03-26"
}

// Close ends what the server has begun: scripts that run, and watching. Connections are ended by their contexts.
func (s *Server) Close() {
	s.detach()
	s.stop()
	s.jobs.running.Wait()
	s.background.Wait()
}
