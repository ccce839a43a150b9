package oci

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A registry names its token server in WWW-Authenticate, and may name any server. The client sends the registry's
// credentials there only if [mayReceiveCredentials] allows it. It asks any other server for an anonymous token.

// authExchange is the state of a request to a registry and of the requests that it causes, such as those for tokens.
type authExchange struct {
	registry *url.URL
	withheld bool   // the token server may not receive the registry's credentials
	bearer   string // the token that was sent last; "" for none
}

type authExchangeKey struct{}

func authExchangeOf(ctx context.Context) *authExchange {
	exchange, _ := ctx.Value(authExchangeKey{}).(*authExchange)
	return exchange
}

// authClient sends requests to registries, and adds credentials if a registry demands them.
type authClient struct{ *auth.Client }

// Do sends a request, and repeats it with credentials if the registry demands them.
func (a authClient) Do(req *http.Request) (*http.Response, error) {
	exchange := &authExchange{registry: req.URL}
	return a.Client.Do(req.WithContext(context.WithValue(req.Context(), authExchangeKey{}, exchange)))
}

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
	if !mayReceiveCredentials(exchange.registry, req.URL) {
		if req.Method == http.MethodPost && strings.HasPrefix(req.Header.Get("Content-Type"),
			"application/x-www-form-urlencoded") {
			return nil, diag.Errorf(diag.Denied,
				"skillpm does not send the credentials for %s to %s, the target of a redirect",
				exchange.registry.Host, req.URL.Host)
		}
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	g.client.secrets.LearnHeader(req.Header)
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		exchange.bearer = token
	}
	resp, err := g.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		g.recordChallenge(exchange, req.URL, resp.Header.Get("Www-Authenticate"))
	}
	return resp, err
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (g *credentialFilter) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// recordChallenge records whether the token server that a registry names may receive its credentials. A server with an
// invalid address may not.
func (g *credentialFilter) recordChallenge(exchange *authExchange, request *url.URL, challenge string) {
	if request.Host != exchange.registry.Host || len(challenge) < 6 || !strings.EqualFold(challenge[:6], "bearer") {
		return
	}
	r, err := url.Parse(realmOf(challenge))
	if err != nil {
		r = &url.URL{}
	}
	exchange.withheld = !mayReceiveCredentials(exchange.registry, r)
	g.client.recordRealm(exchange.registry.Host, realm{r.Host, !exchange.withheld})
}

// realmParam matches the realm parameter of a challenge, in the syntax of RFC 7235.
var realmParam = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)realm[ \t]*=[ \t]*(?:"([^"\\]*)"|([^",\s]*))`)
})

// realmOf returns the realm of a challenge, or "" if it is ambiguous.
func realmOf(challenge string) string {
	found := realmParam().FindAllStringSubmatch(challenge, 2)
	if len(found) != 1 {
		return ""
	}
	return found[0][1] + found[0][2]
}

// mayReceiveCredentials reports whether the credentials for a registry may go to a server: one of the same name, Docker
// Hub's token server for Docker Hub, and over HTTPS the domain of the registry's name and its other servers, such as
// gitlab.com for registry.gitlab.com. Credentials for HTTPS are never sent over plain HTTP.
func mayReceiveCredentials(registry, server *url.URL) bool {
	if server.Scheme != "https" && (server.Scheme != "http" || registry.Scheme != "http") {
		return false
	}
	registryHost, realmHost := strings.ToLower(registry.Hostname()), strings.ToLower(server.Hostname())
	switch {
	case registryHost == realmHost:
		return true
	case server.Scheme != "https" || net.ParseIP(registryHost) != nil || net.ParseIP(realmHost) != nil:
		return false
	case slices.Contains([]string{"docker.io", "index.docker.io", "registry-1.docker.io"}, registryHost) &&
		realmHost == "auth.docker.io":
		return true
	}
	_, domain, _ := strings.Cut(registryHost, ".")
	_, sibling, _ := strings.Cut(realmHost, ".")
	return (realmHost == domain || sibling == domain) && isPrivateDomain(domain)
}

// isPrivateDomain reports whether a domain is likely to have one owner: it has two parts, and is not a public suffix
// such as co.uk or com.au. This is an approximation of the public suffix list.
func isPrivateDomain(domain string) bool {
	parts := strings.Split(domain, ".")
	if len(parts) != 2 {
		return len(parts) > 2 && parts[0] != ""
	}
	return len(parts[0]) > 3 || parts[0] != "" && len(parts[1]) > 2
}

// realm is the token server of a registry.
type realm struct {
	host    string // "" if the address is invalid
	trusted bool   // may receive the registry's credentials
}

// recordRealm stores the token server of a registry, for messages.
func (c *Client) recordRealm(registry string, r realm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.realms[registry] = r
}

// realm returns the token server of a registry, if it is known.
func (c *Client) realm(registry string) (r realm, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known = c.realms[registry]
	return r, known
}
