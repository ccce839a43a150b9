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

// A registry says in WWW-Authenticate where it wants tokens to come from, and may name any server. What is stored for a
// registry goes to that server only where [trusts] says that the two belong together; any other server is asked for a
// token anonymously.

// conversation is what is known about a request to a registry and about the requests that follow from it.
type conversation struct {
	registry *url.URL
	withheld bool   // the registry wants tokens from a server that its credentials are not for
	bearer   string // the token that was sent last, "" for none
}

type conversationKey struct{}

func conversationOf(ctx context.Context) *conversation {
	talk, _ := ctx.Value(conversationKey{}).(*conversation)
	return talk
}

// asker sends requests to registries, and adds credentials where they are asked for.
type asker struct{ *auth.Client }

// Do sends a request, and sends it again with credentials if it has to.
func (a asker) Do(req *http.Request) (*http.Response, error) {
	talk := &conversation{registry: req.URL}
	return a.Client.Do(req.WithContext(context.WithValue(req.Context(), conversationKey{}, talk)))
}

// authGuard sees each request to registries and token servers, redirected ones too.
type authGuard struct {
	next   http.RoundTripper
	client *Client
}

// RoundTrip sends a request, without the credentials if they are not for where it goes.
func (g *authGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	talk := conversationOf(req.Context())
	if talk == nil {
		return g.next.RoundTrip(req)
	}
	if !trusts(talk.registry, req.URL) {
		if req.Method == http.MethodPost && strings.HasPrefix(req.Header.Get("Content-Type"),
			"application/x-www-form-urlencoded") {
			return nil, diag.Errorf(diag.Denied, "%s wants the credentials for it to be sent to %s", talk.registry.Host,
				req.URL.Host)
		}
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	g.client.secrets.LearnHeader(req.Header)
	if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		talk.bearer = token
	}
	resp, err := g.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		g.hear(talk, req.URL, resp.Header.Get("Www-Authenticate"))
	}
	return resp, err
}

// CloseIdleConnections closes what the transport below keeps open.
func (g *authGuard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// hear notes whether the realm that a registry names may have its credentials. One that cannot be read may not.
func (g *authGuard) hear(talk *conversation, request *url.URL, challenge string) {
	if request.Host != talk.registry.Host || len(challenge) < 6 || !strings.EqualFold(challenge[:6], "bearer") {
		return
	}
	r, err := url.Parse(realmOf(challenge))
	if err != nil {
		r = &url.URL{}
	}
	talk.withheld = !trusts(talk.registry, r)
	g.client.noteRealm(talk.registry.Host, realm{r.Host, !talk.withheld})
}

// realmParam is the realm in a challenge, as RFC 7235 writes parameters.
var realmParam = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)realm[ \t]*=[ \t]*(?:"([^"\\]*)"|([^",\s]*))`)
})

// realmOf returns the realm of a challenge, or "" if it is not clear which one it has.
func realmOf(challenge string) string {
	found := realmParam().FindAllStringSubmatch(challenge, 2)
	if len(found) != 1 {
		return ""
	}
	return found[0][1] + found[0][2]
}

// trusts reports whether the credentials for a registry may go to a server: one of the same name, Docker Hub's token
// server for Docker Hub, and over HTTPS the domain that the registry's name is in and its other servers, as gitlab.com
// for registry.gitlab.com. It is never plain HTTP where the registry is reached by HTTPS.
func trusts(registry, server *url.URL) bool {
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
	return (realmHost == domain || sibling == domain) && ownDomain(domain)
}

// ownDomain reports whether a domain is likely to be somebody's own: it has two parts, and is not one that a country
// registers names below, as co.uk or com.au.
func ownDomain(domain string) bool {
	parts := strings.Split(domain, ".")
	if len(parts) != 2 {
		return len(parts) > 2 && parts[0] != ""
	}
	return len(parts[0]) > 3 || parts[0] != "" && len(parts[1]) > 2
}

// realm is where a registry's tokens come from.
type realm struct {
	host    string // "" if that could not be read
	trusted bool   // with the registry's credentials
}

// noteRealm remembers where a registry's tokens come from, for messages.
func (c *Client) noteRealm(registry string, r realm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.realms[registry] = r
}

// realm returns where a registry's tokens come from, if it has said so.
func (c *Client) realm(registry string) (r realm, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known = c.realms[registry]
	return r, known
}
