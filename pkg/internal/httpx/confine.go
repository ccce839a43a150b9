package httpx

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A server that names another one, such as the target of a redirect or the source of a pack, could make this machine
// send requests to servers that it cannot reach itself. The rules:
//
//   - A server may name servers on the internet and on private networks. Only a server on this machine may name others
//     there, and no server may name the metadata server of a cloud or another address of the link-local network.
//   - A server that receives the response, such as a registry its tokens, may only name servers on a network that is
//     not nearer than its own ([Referral].Strict).
//
// The address of the connection counts, whatever the host's name is. Behind a proxy, which resolves names
// itself, only addresses and names of this machine are recognized.

// Referral is the server that named the server of a request.
type Referral struct {
	Origin *url.URL
	Strict bool   // the other server must not be nearer than this one
	Hint   string // for a server on a private network; "" for the default
}

type referralKey struct{}

// WithReferral returns a context for requests to servers that another one named. Without it, only redirects are
// referrals. A nil referral means that the user named the server.
func WithReferral(ctx context.Context, c *Referral) context.Context {
	return context.WithValue(ctx, referralKey{}, c)
}

// referralOf returns why a request is sent; nil if the user named its server.
func referralOf(req *http.Request) *Referral {
	if c, ok := req.Context().Value(referralKey{}).(*Referral); ok {
		return c
	}
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	return &Referral{Origin: first.URL}
}

// Named are servers that registries and packs named, with the nearest network that each may be on. The zero value is
// empty. All clients of a process share one.
type Named struct {
	mu    sync.Mutex
	floor map[string]Reach // by host and port
	names map[string]string
}

// Add records that a server, or a pack from it, named another server; both are URLs, and one without a host is not a
// server. It returns an error if the other one is an address that is too near. A nil receiver checks nothing.
func (n *Named) Add(by, name string) error {
	origin, err := url.Parse(by)
	server, parsed := url.Parse(name)
	if n == nil || err != nil || parsed != nil || origin.Host == "" || server.Host == "" || sameServer(origin, server) {
		return nil
	}
	floor := min(reachOf(origin), ReachPrivate)
	if reach, known := HostReach(server.Hostname()); known && reach < floor {
		return tooNear(&Referral{Origin: origin}, server, reach)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.floor == nil {
		n.floor, n.names = map[string]Reach{}, map[string]string{}
	}
	key := hostPort(server)
	if floor > n.floor[key] {
		n.floor[key], n.names[key] = floor, origin.Host
	}
	return nil
}

// of returns the nearest network that a server may be on, and the referral; nil if no server named it.
func (n *Named) of(server *url.URL) (Reach, *Referral) {
	if n == nil {
		return ReachLink, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.names[hostPort(server)]
	if !ok {
		return ReachLink, nil
	}
	return n.floor[hostPort(server)], &Referral{Origin: &url.URL{Host: name}}
}

// Check resolves the host of a server for a program that connects to it, such as ssh, and returns an error if one of
// its addresses is too near. The program may get another answer. A name that cannot be resolved may be an alias.
func (n *Named) Check(ctx context.Context, server *url.URL) error {
	floor, cause := n.of(server)
	if cause == nil {
		return nil
	}
	host := server.Hostname()
	reach, known := HostReach(host)
	if known && reach < floor {
		return tooNear(cause, server, reach)
	}
	addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, addr := range addresses {
		if reach := ReachOf(addr); reach < floor {
			return tooNear(cause, server, reach)
		}
	}
	return nil
}

// reachOf returns the reach of a server's host. A name counts as one on the internet.
func reachOf(server *url.URL) Reach {
	if reach, known := HostReach(server.Hostname()); known {
		return reach
	}
	return ReachPublic
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "ssh": "22"}[u.Scheme]
	}
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

func sameServer(a, b *url.URL) bool { return hostPort(a) == hostPort(b) }

// tooNear returns the error that a server named one on a nearer network.
func tooNear(c *Referral, server *url.URL, reach Reach) error {
	hint := c.Hint
	if hint == "" || reach < ReachPrivate {
		hint = fmt.Sprintf("ask the operator of %s about this address", c.Origin.Host)
	}
	return diag.Errorf(diag.Denied, "%s sends requests to %s, whose address is on a private network or this machine",
		c.Origin.Host, Clean(server.Host)).WithHint("%s", hint)
}

// Confine returns a transport that refuses connections that servers may not cause. Its own connections are made by a
// transport of [NewTransport]. A transport that is confined already stays as it is.
func Confine(base http.RoundTripper, named *Named) http.RoundTripper {
	if _, ok := base.(*confined); ok {
		return base
	}
	c := &confined{base: base, named: named}
	if t, ok := base.(*http.Transport); ok {
		c.proxy = t.Proxy
		for i := range c.limited {
			c.limited[i] = t.Clone() // an idle connection of another one may lead to a nearer address
		}
	}
	return c
}

type confined struct {
	base    http.RoundTripper
	limited [ReachPublic]http.RoundTripper // for servers that are at least that far; nil if base is not net/http's
	proxy   func(*http.Request) (*url.URL, error)
	named   *Named
	reached sync.Map // the reach of servers that were connected to, by host and port
}

// RoundTrip sends a request if its server is not too near.
func (c *confined) RoundTrip(req *http.Request) (*http.Response, error) {
	floor, cause := c.named.of(req.URL)
	if by := referralOf(req); by != nil && !sameServer(by.Origin, req.URL) {
		nearest := c.reach(by.Origin)
		if !by.Strict {
			nearest = min(nearest, ReachPrivate)
		}
		if nearest >= floor {
			floor, cause = nearest, by
		}
	}
	proxied := false
	if c.proxy != nil {
		if via, err := c.proxy(req); err == nil && via != nil {
			proxied = true
		}
	}
	if floor == ReachLink {
		if !proxied {
			trace := &httptrace.ClientTrace{GotConn: c.learn(req.URL)}
			req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
		}
		return c.base.RoundTrip(req)
	}
	if reach, known := HostReach(req.URL.Hostname()); known && reach < floor {
		return nil, tooNear(cause, req.URL, reach)
	}
	next := c.base
	if !proxied {
		req = req.WithContext(context.WithValue(req.Context(), floorKey{}, floorCheck{floor, cause, req.URL}))
		if limited := c.limited[floor-1]; limited != nil {
			next = limited
		}
	}
	return next.RoundTrip(req)
}

// learn returns a function that records the reach of a server's connection.
func (c *confined) learn(server *url.URL) func(httptrace.GotConnInfo) {
	return func(info httptrace.GotConnInfo) {
		if addr := AddrOf(info.Conn.RemoteAddr()); addr.IsValid() {
			c.reached.Store(hostPort(server), ReachOf(addr))
		}
	}
}

// reach returns the reach of a server: that of its connection, or else of its host.
func (c *confined) reach(server *url.URL) Reach {
	if reach, ok := c.reached.Load(hostPort(server)); ok {
		return reach.(Reach)
	}
	return reachOf(server)
}

// CloseIdleConnections closes the idle connections.
func (c *confined) CloseIdleConnections() {
	for _, t := range append(c.limited[:], c.base) {
		if t, ok := t.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

type floorKey struct{}

type floorCheck struct {
	floor  Reach
	cause  *Referral
	server *url.URL
}

// dialChecked connects to an address unless it is nearer than the context allows.
func dialChecked(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		limit, ok := ctx.Value(floorKey{}).(floorCheck)
		if !ok {
			return dialer.DialContext(ctx, network, address)
		}
		limited := *dialer
		limited.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if reach := ReachOf(target.Addr()); reach < limit.floor {
				return tooNear(limit.cause, limit.server, reach)
			}
			return nil
		}
		return limited.DialContext(ctx, network, address)
	}
}
