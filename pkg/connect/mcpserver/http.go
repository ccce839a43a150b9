package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// HTTPOptions restrict the clients of the HTTP server.
type HTTPOptions struct {
	// Token is required in every request, as `Authorization: Bearer TOKEN`.
	Token string
	// OwnUser also refuses connections of this machine's other users, if the system reports the user of a connection.
	OwnUser bool
	// Origins are the allowed origins of browser pages, such as https://tools.example, besides those of this machine.
	Origins []string
}

// The limits of HTTP.
const (
	maxBody      = 4 << 20          // bytes of a request
	maxHeader    = 64 << 10         // bytes of its headers
	bodyTime     = 30 * time.Second // for a request to arrive
	headerTime   = 10 * time.Second
	idleTime     = 2 * time.Minute  // for a connection without requests
	sessionTime  = time.Hour        // for a session without requests
	shutdownTime = 5 * time.Second  // for requests to end when the server does
	writeTime    = 30 * time.Second // for a client to read a part of an answer
	slotTime     = 10 * time.Second // for a request to wait until fewer than maxRequests are answered
	maxSessions  = 256
	maxRequests  = 128      // in parallel, without streams
	maxBatch     = 100      // messages of a request
	maxBodies    = 64 << 20 // bytes of all requests in parallel
	maxWaiting   = 128      // connections whose request has not arrived
	maxConns     = 1024     // connections
)

// Path is the path of the endpoint.
const Path = "/mcp"

// minToken is the minimum length of a token, in characters.
const minToken = 16

// ServeHTTP serves connections over streamable HTTP at a listener until the context ends. Since version 2026-07-28 of
// the protocol, clients have only sessions that they name; with earlier versions each connection has its own. The error
// has code Usage if there is no token.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	h, err := s.Handler(l.Addr(), o)
	if err != nil {
		return err
	}
	conns := &connections{waiting: map[net.Conn]uint64{}, open: map[net.Conn]bool{}}
	server := &http.Server{
		Handler: h, ReadTimeout: bodyTime, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ConnState: conns.changed, ConnContext: conns.context,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	bug.Go(func() { failed <- server.Serve(l) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	s.jobs.stopAll()
	for ss := range s.sdk.Sessions() {
		bug.Go(func() { _ = ss.Close() }) // streams never end by themselves
	}
	if err := server.Shutdown(limited); err != nil {
		_ = server.Close() // its error only means that there were requests
	}
	return ctx.Err()
}

// Handler returns the HTTP handler for an address.
func (s *Server) Handler(address net.Addr, o HTTPOptions) (http.Handler, error) {
	local := isLocal(address.String())
	switch {
	case o.Token == "":
		return nil, diag.Errorf(diag.Usage, "%s is reachable from other machines, but no token is set", address).
			WithHint("use --http 127.0.0.1:PORT, or set a token with --token-file FILE or SKILLPM_MCP_TOKEN")
	case len(o.Token) < minToken:
		return nil, diag.Errorf(diag.Usage, "the token has %d characters; the minimum is %d", len(o.Token),
			minToken).
			WithHint("create a token with: openssl rand -hex 32")
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" ||
			u.RawQuery != "" || u.User != nil {
			return nil, diag.Errorf(diag.Usage, "invalid origin %q", origin).WithHint("use the form https://tools.example")
		}
	}
	get := func(*http.Request) *mcp.Server { return s.sdk }
	d := &httpChecks{
		o: o, local: local, slots: make(chan struct{}, maxRequests),
		sessions: &httpSessions{open: s.sdk.Sessions, used: map[string]uint64{}},
		calls:    httpCalls{open: map[callKey]*silencer{}},
		old: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Logger: s.o.Logger, SessionTimeout: sessionTime, DisableLocalhostProtection: true,
			MaxRequestBodyBytes: maxBody,
		}),
		now: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Stateless: true, Logger: s.o.Logger, DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody,
			PropagateRequestCancellation: true,
		}),
	}
	// the check of a call needs a session
	if s.o.Attach != nil && s.o.Session == "" {
		d.now = nil
	}
	mux := http.NewServeMux()
	mux.Handle(Path, d)
	return mux, nil
}

// httpChecks checks every HTTP request.
type httpChecks struct {
	o        HTTPOptions
	local    bool // the address is a loopback address
	old, now http.Handler
	slots    chan struct{}
	bodies   atomic.Int64 // bytes of all requests in parallel
	sessions *httpSessions
	calls    httpCalls
}

// ServeHTTP refuses requests of foreign hosts, origins, and users, and those without the token, before it reads a body.
func (d *httpChecks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limited := &limitedWriter{ResponseWriter: w, control: http.NewResponseController(w), most: writeTime}
	limited.extend()
	defer limited.extend() // for what the server writes afterwards
	w = limited
	from, _ := r.Context().Value(connectionKey{}).(connection)
	switch {
	case d.o.OwnUser && d.local && from.otherUser != nil && from.otherUser():
		refuse(w, http.StatusForbidden, "Forbidden: this server only answers processes of the user who started it")
		return
	case d.local && !isLocal(r.Host):
		refuse(w, http.StatusForbidden,
			"Forbidden: this server only answers requests to this machine, not to "+clean(r.Host))
		return
	case !d.mayOrigin(r.Header.Values("Origin")):
		refuse(w, http.StatusForbidden, "Forbidden: this origin is not allowed")
		return
	case !d.mayToken(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", `Bearer realm="skillpm"`)
		refuse(w, http.StatusUnauthorized, "Unauthorized: a bearer token is required")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	body := &countedReader{all: &d.bodies}
	defer body.release()
	data, err := d.receive(w, r, body)
	if err != nil {
		status := statusOf(err)
		refuse(w, status, http.StatusText(status))
		return
	}
	if from.arrived != nil {
		from.arrived()
	}
	d.sessions.use(r.Header.Get("Mcp-Session-Id"))
	if r.Method != http.MethodPost {
		d.handler(r).ServeHTTP(w, r)
		return
	}
	wait := time.NewTimer(slotTime)
	defer wait.Stop()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-r.Context().Done():
		return
	case <-wait.C:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Too many concurrent requests", http.StatusServiceUnavailable)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		d.sessions.makeRoom()
	}
	w, end := d.calls.begin(w, id, data)
	defer end()
	d.handler(r).ServeHTTP(w, r)
	d.sessions.use(w.Header().Get("Mcp-Session-Id"))
}

// refuse answers a request whose body may not have arrived, and closes the connection.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	http.Error(w, text, status)
}

// handler returns the handler for a request's version of the protocol.
func (d *httpChecks) handler(r *http.Request) http.Handler {
	if d.now != nil && r.Header.Get("Mcp-Protocol-Version") >= stateless {
		return d.now
	}
	return d.old
}

// receive reads the body of a request, up to maxBody and within bodyTime. Only POST has a body.
func (d *httpChecks) receive(w http.ResponseWriter, r *http.Request, body *countedReader) ([]byte, error) {
	limit := int64(0)
	if r.Method == http.MethodPost {
		limit = maxBody
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	control := http.NewResponseController(w)
	end := time.Now().Add(bodyTime) //nolint:forbidigo // a deadline of the kernel, not a time in records
	bounded := control.SetReadDeadline(end) == nil
	body.from = http.MaxBytesReader(w, r.Body, limit)
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if bounded {
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			return nil, err
		}
	}
	var batch []json.RawMessage
	if json.Unmarshal(data, &batch) == nil && len(batch) > maxBatch {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return data, nil
}

// statusOf returns the status for a request that did not arrive.
func statusOf(err error) int {
	if errors.Is(err, errBusy) {
		return http.StatusServiceUnavailable
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return http.StatusRequestEntityTooLarge
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// mayOrigin reports whether an origin is allowed. Programs send none.
func (d *httpChecks) mayOrigin(origins []string) bool {
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if slices.Contains(d.o.Origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && d.local && u.Host != "" && isLocal(u.Host)
}

// mayToken reports whether a request has the token, in constant time.
func (d *httpChecks) mayToken(headers []string) bool {
	if len(headers) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(d.o.Token))
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
}

// isLocal reports whether an address, with or without a port, is a loopback address.
func isLocal(address string) bool {
	name := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}
