package oci

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// limitAddresses prepares a request so that it cannot reach servers that the registry could not reach itself, whatever
// their names resolve to. An allowed server, or the target of a registry's redirect, may be on a private network, but
// not on this machine. The settings may name any server.
func (g *credentialFilter) limitAddresses(req *http.Request, e *authExchange, allowed bool) (*http.Request, error) {
	if req.URL.Host == e.registry.Host {
		return req, nil
	}
	if g.client.isAuthHost(e.registry, req.URL) {
		return req.WithContext(httpx.WithReferral(req.Context(), nil)), nil
	}
	// net/http would connect to a host with another spelling, to which the rules for credentials do not apply
	if host := req.URL.Hostname(); strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, diag.Errorf(diag.Denied, "%s sends requests to the invalid host %q", e.registry.Host, host)
	}
	return req.WithContext(httpx.WithReferral(req.Context(), &httpx.Referral{
		Origin: e.registry, Strict: !allowed && firstRequest(req).URL.Host != e.registry.Host,
		Hint: authHostHint(e.registry.Host, httpx.Clean(withoutDefaultPort(req.URL))),
	})), nil
}
