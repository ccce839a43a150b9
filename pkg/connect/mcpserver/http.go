package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/diag"
)

// HTTPOptions say who is served over HTTP.
type HTTPOptions struct {
	// Token is what every request must bring, as `Authorization: Bearer TOKEN`; "" for none, which only an address of
	// this machine may do without.
	Token string
	// Origins are those of pages in browsers that may ask, as https://tools.example, besides those of this machine.
	Origins []string
}

// The limits of HTTP.
const (
	maxBody      = 4 << 20          // bytes of a request
	maxHeader    = 64 << 10         // bytes of its headers
	bodyTime     = 30 * time.Second // for a request to arrive
	headerTime   = 10 * time.Second
	idleTime     = 2 * time.Minute // for a connection without requests
	sessionTime  = time.Hour       // for a session without requests
	shutdownTime = 5 * time.Second // for requests to end when the server does
	maxSessions  = 256
	maxRequests  = 128 // that are answered at once, streams not counted
)

// Path is where the server is, below its address.
const Path = "/mcp"

// minToken is how many characters a token has at least.
const minToken = 16

// ServeHTTP serves connections over streamable HTTP at a listener until the context ends. Clients of the protocol since
// 2026-07-28 have no session but one that they name; those of older ones have one of each connection's own. The error
// has code Usage for an address that needs a token and has none.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	h, err := s.Handler(l.Addr(), o)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	s.jobs.stopAll()
	for ss := range s.sdk.Sessions() {
		go ss.Close() //nolint:errcheck // a stream that would never end
	}
	if err := server.Shutdown(limited); err != nil {
		_ = server.Close() // that there were requests is why
	}
	return ctx.Err()
}

// Handler returns what answers requests that come to an address.
func (s *Server) Handler(address net.Addr, o HTTPOptions) (http.Handler, error) {
	local := isLocal(address.String())
	switch {
	case o.Token == "" && !local:
		return nil, diag.Errorf(diag.Usage, "%s can be reached from other machines, and there is no token", address).
			WithHint("serve 127.0.0.1, or give a token: --token-file FILE or SKILLPM_MCP_TOKEN")
	case o.Token != "" && len(o.Token) < minToken:
		return nil, diag.Errorf(diag.Usage, "the token has %d characters, and needs at least %d", len(o.Token),
			minToken).
			WithHint("make one: openssl rand -hex 32")
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" ||
			u.RawQuery != "" || u.User != nil {
			return nil, diag.Errorf(diag.Usage, "%q is no origin", origin).WithHint("write it as https://tools.example")
		}
	}
	get := func(*http.Request) *mcp.Server { return s.sdk }
	d := &httpChecks{
		o: o, local: local, slots: make(chan struct{}, maxRequests), sessions: s.openSessions,
		old: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Logger: s.o.Logger, SessionTimeout: sessionTime, DisableLocalhostProtection: true,
			MaxRequestBodyBytes: maxBody,
		}),
		now: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Stateless: true, Logger: s.o.Logger, DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody,
			PropagateRequestCancellation: true,
		}),
	}
	// each call is held against what is active: there must be a session to ask
	if s.o.Attach != nil && s.o.Session == "" {
		d.now = nil
	}
	mux := http.NewServeMux()
	mux.Handle(Path, d)
	return mux, nil
}

// openSessions returns how many connections there are.
func (s *Server) openSessions() int {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// httpChecks is what every request over HTTP goes through.
type httpChecks struct {
	o        HTTPOptions
	local    bool // the address is one of this machine
	old, now http.Handler
	slots    chan struct{}
	sessions func() int
}

// ServeHTTP refuses requests of foreign hosts and origins, and those without the token, before anything of them is
// read.
func (d *httpChecks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case d.local && !isLocal(r.Host):
		http.Error(w, "Forbidden: this server answers requests to this machine, and not to "+clean(r.Host),
			http.StatusForbidden)
		return
	case !d.mayOrigin(r.Header.Values("Origin")):
		http.Error(w, "Forbidden: pages of this origin may not ask", http.StatusForbidden)
		return
	case !d.mayToken(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", `Bearer realm="skillpm"`)
		http.Error(w, "Unauthorized: a bearer token is needed", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		d.handler(r).ServeHTTP(w, r)
		return
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Too many requests at once", http.StatusServiceUnavailable)
		return
	}
	if err := d.receive(w, r); err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		} else if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			status = http.StatusRequestTimeout
		}
		w.Header().Set("Connection", "close")
		http.Error(w, http.StatusText(status), status)
		return
	}
	if r.Header.Get("Mcp-Session-Id") == "" && d.sessions() >= maxSessions {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many sessions", http.StatusServiceUnavailable)
		return
	}
	d.handler(r).ServeHTTP(w, r)
}

// handler returns what speaks the version of the protocol that a request has.
func (d *httpChecks) handler(r *http.Request) http.Handler {
	if d.now != nil && r.Header.Get("Mcp-Protocol-Version") >= stateless {
		return d.now
	}
	return d.old
}

// receive reads the body of a request, within bounds of size and time.
func (d *httpChecks) receive(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	end := time.Now().Add(bodyTime) //nolint:forbidigo // the kernel's clock, not that of records
	bounded := control.SetReadDeadline(end) == nil
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	if bounded {
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// mayOrigin reports whether a page of some origin may ask. Programs send none.
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

// mayToken reports whether a request brings the token. How long that takes says nothing of it.
func (d *httpChecks) mayToken(headers []string) bool {
	if d.o.Token == "" {
		return true
	}
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

// isLocal reports whether an address, with a port or without, is one of this machine alone.
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
