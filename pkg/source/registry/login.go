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

// loginTransport adds credentials to requests to an index. It sends the token in SKILLPM_TOKEN_<HOST> with the first
// request, and the login from Docker's configuration after the server refused a request. It adds them only to requests
// to the index's own scheme, host, and port, also after redirects.
type loginTransport struct {
	next   http.RoundTripper
	host   *url.URL
	getenv func(string) string // nil: no environment
	logins *credential.Store   // nil: no logins

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

// headerOf returns the Authorization header for a token, which is user:password or a bearer token.
func headerOf(token string) string {
	if strings.Contains(token, ":") {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(token))
	}
	return "Bearer " + token
}

// RoundTrip sends a request, and repeats it once with a login if the server requires one.
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
			_ = resp.Body.Close() // the login's error matters more
			return nil, err
		}
		return resp, nil
	}
	_ = resp.Body.Close() // the body only reports the refusal
	return l.next.RoundTrip(withAuthorization(req, header))
}

// login looks up once whether a login for the server exists.
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

// withAuthorization returns a copy of a request with an Authorization header.
func withAuthorization(req *http.Request, authorization string) *http.Request {
	if authorization == "" {
		return req
	}
	own := req.Clone(req.Context())
	own.Header.Set("Authorization", authorization)
	return own
}
