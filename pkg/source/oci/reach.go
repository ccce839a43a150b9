package oci

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// nearestReach is the reach of a registry's address. The servers that it names should not be nearer.
type nearestReach struct{ reach *atomic.Int32 }

// newNearestReach returns the reach of a host. Until a connection shows its address, a name counts as one on the
// internet.
func newNearestReach(host string) nearestReach {
	n := nearestReach{new(atomic.Int32)}
	reach, known := httpx.HostReach(host)
	if !known {
		reach = httpx.ReachPublic
	}
	n.reach.Store(int32(reach))
	return n
}

// learn records the address of a connection to the registry.
func (n nearestReach) learn(info httptrace.GotConnInfo) {
	if addr := httpx.AddrOf(info.Conn.RemoteAddr()); addr.IsValid() {
		n.reach.Store(int32(httpx.ReachOf(addr)))
	}
}

// limitAddresses prepares a request so that it cannot reach servers that the registry could not reach itself, whatever
// their names resolve to. An allowed server, or the target of a registry's redirect, may be on a private network, but
// not on this machine. The settings may name any server.
func (g *credentialFilter) limitAddresses(req *http.Request, e *authExchange, allowed bool) (*http.Request, error) {
	if req.URL.Host == e.registry.Host {
		trace := &httptrace.ClientTrace{GotConn: e.nearest.learn}
		return req.WithContext(httptrace.WithClientTrace(req.Context(), trace)), nil
	}
	if g.client.isAuthHost(e.registry, req.URL) {
		return req, nil
	}
	host := req.URL.Hostname()
	// net/http would connect to a host with another spelling, which the check would not recognize
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, diag.Errorf(diag.Denied, "%s sends requests to the invalid host %q", e.registry.Host, host)
	}
	nearest := httpx.Reach(e.nearest.reach.Load())
	if allowed || firstRequest(req).URL.Host == e.registry.Host {
		nearest = min(nearest, httpx.ReachPrivate)
	}
	tooNear := func(reach httpx.Reach) error {
		if reach >= nearest {
			return nil
		}
		hint := authHostHint(e.registry.Host, httpx.Clean(withoutDefaultPort(req.URL)))
		if reach < httpx.ReachPrivate {
			hint = fmt.Sprintf("ask the operator of %s about this address", e.registry.Host)
		}
		return diag.Errorf(diag.Denied,
			"%s sends requests to %s, whose address is on a private network or this machine",
			e.registry.Host, httpx.Clean(req.URL.Host)).WithHint("%s", hint)
	}
	if reach, known := httpx.HostReach(host); known {
		if err := tooNear(reach); err != nil {
			return nil, err
		}
	}
	return req.WithContext(httpx.WithAddressCheck(req.Context(), host, func(addr netip.Addr) error {
		return tooNear(httpx.ReachOf(addr))
	})), nil
}
