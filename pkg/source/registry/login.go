package registry

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

// loginTransport adds credentials to requests to an index: the token in SKILLPM_TOKEN_<HOST> from the first request on,
// or, after a request was refused, the login from Docker's configuration. It adds them only to requests to the index's
// own scheme, host and port, also after redirects.
type loginTransport struct {
	next   http.RoundTripper
	host   *url.URL
	getenv func(string) string // nil for no environment
	logins *credential.Store   // nil for none

	mu     sync.Mutex
	header string
	looked bool
}

func newLoginTransport(next http.RoundTripper, host *url.URL, getenv func(string) string,
	logins *credential.Store,
) *loginTransport {
	l := &loginTransport{next: next, host: host, getenv: getenv, logins: logins}
	if getenv == nil {
		return l
	}
	for _, name := range git.TokenVariables(host) {
		if token := strings.TrimSpace(getenv(name)); token != "" {
			l.header = headerOf(token)
			break
		}
	}
	return l
}

// headerOf returns what a token is shown as: user:password, or a token alone.
func headerOf(token string) string {
	if strings.Contains(token, ":") {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(token))
	}
	return "Bearer " + token
}

// RoundTrip sends a request, and once more with a login if the server wants one.
func (l *loginTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != l.host.Scheme || req.URL.Host != l.host.Host {
		return l.next.RoundTrip(req)
	}
	l.mu.Lock()
	header := l.header
	l.mu.Unlock()
	resp, err := l.next.RoundTrip(withAuthorization(req, header))
	if err != nil || header != "" || resp.StatusCode != http.StatusUnauthorized &&
		resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	if header, err = l.login(req); err != nil || header == "" {
		if err != nil {
			_ = resp.Body.Close() // the error counts
			return nil, err
		}
		return resp, nil
	}
	_ = resp.Body.Close() // it only said no
	return l.next.RoundTrip(withAuthorization(req, header))
}

// login looks once whether there is a login for the server.
func (l *loginTransport) login(req *http.Request) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looked || l.logins == nil {
		return l.header, nil
	}
	login, err := l.logins.Get(req.Context(), l.host.Host)
	if err != nil {
		return "", err
	}
	l.looked = true
	switch {
	case login.Token != "":
		l.header = "Bearer " + login.Token
	case login.User != "" || login.Secret != "":
		l.header = headerOf(login.User + ":" + login.Secret)
	}
	return l.header, nil
}

// withAuthorization returns a request that has a header of its own.
func withAuthorization(req *http.Request, authorization string) *http.Request {
	if authorization == "" {
		return req
	}
	own := req.Clone(req.Context())
	own.Header.Set("Authorization", authorization)
	return own
}
