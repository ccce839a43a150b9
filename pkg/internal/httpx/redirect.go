package httpx

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

const maxRedirects = 10

// CheckRedirect is a redirect policy for [net/http.Client]. It keeps redirects on HTTPS and away from this machine. The
// client that adds credentials must not send them to other hosts.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	previous := via[0].URL
	switch {
	case len(via) >= maxRedirects:
		return diag.Errorf(diag.Remote, "%s redirects more than %d times", previous.Host, maxRedirects)
	case previous.Scheme == "https" && req.URL.Scheme != "https":
		return diag.Errorf(diag.Denied, "%s redirects from https to %s", previous.Host, req.URL.Scheme)
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return diag.Errorf(diag.Denied, "%s redirects to the unsupported scheme %s", previous.Host, req.URL.Scheme)
	case reachOf(req.URL) < min(reachOf(previous), ReachPrivate):
		return diag.Errorf(diag.Denied, "%s redirects to %s, which is on this machine or its link-local network",
			previous.Host, req.URL.Host)
	}
	return RedirectAllowed(req.Context(), req.URL)
}

// IsLoopback reports whether host is a name or address of this machine.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
