package oci

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// A registry names its token server in WWW-Authenticate, and may name any server. The client sends the registry's
// credentials there only if [Client.mayReceiveCredentials] allows it. It asks any other server for an anonymous token,
// unless that server is on a nearer network than the registry: its answer, such as the keys of a cloud's metadata
// server, would go to the registry as a token.

// credentialFilter removes credentials from requests to servers that must not receive them, also after redirects.
type credentialFilter struct {
	next   http.RoundTripper
	client *Client
}

// RoundTrip sends a request, without credentials if its server must not receive them.
func (g *credentialFilter) RoundTrip(req *http.Request) (*http.Response, error) {
	exchange := authExchangeOf(req.Context())
	if exchange == nil {
		return g.next.RoundTrip(req)
	}
	allowed := g.client.mayReceiveCredentials(exchange.registry, req.URL)
	if redirected := leftOrigin(req); redirected || !allowed {
		if redirected && req.Header.Get("Content-Type") == formType { // the body holds an identity token
			return nil, diag.Errorf(diag.Denied,
				"skillpm does not send the credentials for %s to %s, the target of a redirect",
				exchange.registry.Host, req.URL.Host)
		}
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	req, err := g.limitAddresses(req, exchange, allowed)
	if err != nil {
		return nil, err
	}
	g.client.secrets.LearnAuthorization(req.Header.Get("Authorization"))
	return g.next.RoundTrip(req)
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (g *credentialFilter) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// leftOrigin reports whether redirects led a request to another server or port than its first one, even if they led
// back.
func leftOrigin(req *http.Request) bool {
	first := firstRequest(req)
	for ; req != first; req = req.Response.Request {
		if !sameOrigin(req.URL, first.URL) {
			return true
		}
	}
	return false
}

// firstRequest returns the request whose redirects led to a request.
func firstRequest(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && withoutDefaultPort(a) == withoutDefaultPort(b)
}

// mayReceiveCredentials reports whether the credentials for a registry may go to a server: one of the same name or the
// same owner, or one that the settings name. Credentials for HTTPS are never sent over plain HTTP.
func (c *Client) mayReceiveCredentials(registry, server *url.URL) bool {
	return keepsScheme(registry, server) && (sameOwner(registry.Hostname(), server.Hostname()) ||
		c.isAuthHost(registry, server))
}

// keepsScheme reports whether requests to a server are encrypted if those to the registry are.
func keepsScheme(registry, server *url.URL) bool {
	return server.Scheme == "https" || server.Scheme == "http" && registry.Scheme == "http"
}

// isAuthHost reports whether the settings name a server as a token server of a registry.
func (c *Client) isAuthHost(registry, server *url.URL) bool {
	host := withoutDefaultPort(server)
	for configured, hosts := range c.opts.AuthHosts {
		if strings.EqualFold(configured, registry.Host) && slices.Contains(hosts, host) {
			return true
		}
	}
	return false
}

// withoutDefaultPort returns the host of a URL in lower case, with its port unless that is the scheme's default.
func withoutDefaultPort(u *url.URL) string {
	host := strings.ToLower(u.Host)
	return strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
}

// sameOwner reports whether a registry and a server have the same name, or are in one domain that someone registered
// below a public suffix, such as registry.gitlab.com and gitlab.com. Below the public suffixes co.uk and github.io,
// anyone can register a name.
func sameOwner(registry, server string) bool {
	registry, server = strings.ToLower(registry), strings.ToLower(server)
	if registry == server {
		return true
	}
	own, known := registeredDomain(registry)
	other, alsoKnown := registeredDomain(server)
	return known && alsoKnown && own == other
}

// registeredDomain returns the domain directly below the public suffix of a host name. Addresses and names that the
// list of public suffixes cannot contain, such as those with a character outside ASCII, have none.
func registeredDomain(host string) (domain string, ok bool) {
	if _, known := httpx.HostReach(host); known || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return "", false
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	return domain, err == nil
}

// realm is the token server of a registry.
type realm struct {
	host    string // "" if the address is invalid
	trusted bool   // may receive the registry's credentials
	private bool   // keeps requests as private as the registry does: over HTTPS if the registry uses it
}

// recordRealm records the token server of a registry, and whether it may receive the registry's credentials.
func (c *Client) recordRealm(exchange *authExchange, demand challenge) {
	server, err := url.Parse(demand.realm)
	if err != nil {
		server = &url.URL{}
	}
	exchange.withheld = !c.mayReceiveCredentials(exchange.registry, server)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.realms[exchange.registry.Host] = realm{
		host: server.Host, trusted: !exchange.withheld, private: keepsScheme(exchange.registry, server),
	}
}

// realm returns the token server of a registry, if it is known.
func (c *Client) realm(registry string) (r realm, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known = c.realms[registry]
	return r, known
}
