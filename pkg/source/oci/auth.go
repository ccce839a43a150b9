package oci

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

// authenticator sends requests to registries, and adds credentials if a registry demands them: a password, or a token
// of its token server (distribution.github.io/distribution/spec/auth). oras-go's client does the same, but refuses all
// token servers on private networks; [credentialFilter] knows which may be there.
type authenticator struct {
	client *Client
	login  func(ctx context.Context, exchange *authExchange) (credential.Login, error)
	tokens *tokenCache
}

// authExchange is the state of a request to a registry and of the requests that it causes, such as those for tokens.
type authExchange struct {
	registry *url.URL
	withheld bool // the token server may not receive the registry's credentials
}

type authExchangeKey struct{}

func authExchangeOf(ctx context.Context) *authExchange {
	exchange, _ := ctx.Value(authExchangeKey{}).(*authExchange)
	return exchange
}

// Do sends a request, and repeats it with credentials if the registry demands them.
func (a *authenticator) Do(req *http.Request) (*http.Response, error) {
	exchange := &authExchange{registry: req.URL}
	ctx := context.WithValue(req.Context(), authExchangeKey{}, exchange)
	scopes := auth.GetAllScopesForHost(ctx, req.URL.Host)
	known := a.tokens.find(req.URL.Host, strings.Join(scopes, " "))
	resp, err := a.send(req.Clone(ctx), known)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !sameOrigin(resp.Request.URL, req.URL) {
		return resp, err
	}
	demand, ok := parseChallenges(resp.Header.Values("Www-Authenticate"))
	if !ok {
		return resp, nil
	}
	_ = resp.Body.Close() // its content does not matter
	authorization, err := a.authorize(ctx, exchange, demand, scopes, known)
	if err != nil {
		return nil, err
	}
	again := req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil, diag.Errorf(diag.Internal, "%s: cannot send the content again", req.URL.Host)
		}
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return a.send(again, authorization)
}

func (a *authenticator) send(req *http.Request, authorization string) (*http.Response, error) {
	req.Header.Set("User-Agent", a.client.userAgent)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return a.client.http.Do(req)
}

// authorize returns the value of the Authorization header that a registry demands: one that another request has got
// since this one was sent, or else a new one.
func (a *authenticator) authorize(ctx context.Context, exchange *authExchange, demand challenge, scopes []string,
	rejected string,
) (string, error) {
	host, own := exchange.registry.Host, strings.Join(scopes, " ")
	key := basicKey
	if demand.bearer {
		scopes = auth.CleanScopes(append(scopes, strings.Fields(demand.scope)...))
		key = strings.Join(scopes, " ")
		a.client.recordRealm(exchange, demand)
	}
	end, err := a.client.turns.Take(ctx, "token "+host+" "+key)
	if err != nil {
		return "", err
	}
	defer end()
	if token := a.tokens.find(host, key); token != "" && token != rejected {
		return token, nil
	}
	var token string
	if demand.bearer {
		token, err = a.fetchToken(ctx, exchange, demand, scopes)
	} else {
		token, err = a.basic(ctx, exchange)
	}
	if err != nil {
		return "", err
	}
	a.tokens.store(host, key, token)
	if demand.bearer {
		a.tokens.store(host, own, token)
	}
	return token, nil
}

// basic returns the user name and password for a registry.
func (a *authenticator) basic(ctx context.Context, exchange *authExchange) (string, error) {
	login, err := a.login(ctx, exchange)
	if err != nil {
		return "", err
	}
	if login.User == "" || login.Secret == "" {
		return "", errNoLogin
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(login.User+":"+login.Secret)), nil
}

// errNoLogin reports that a registry demands credentials and none are stored.
var errNoLogin = errors.New("no credentials")

// maxTokenAnswer bounds the answer of a token server.
const maxTokenAnswer = 128 << 10

// fetchToken returns a token of a token server. Without credentials, it is an anonymous one.
func (a *authenticator) fetchToken(ctx context.Context, exchange *authExchange, demand challenge, scopes []string,
) (string, error) {
	if server, err := url.Parse(demand.realm); err != nil || !keepsScheme(exchange.registry, server) {
		return "", diag.Errorf(diag.Denied, "%s names a token server with an invalid address, or without TLS",
			exchange.registry.Host).WithHint("%s", a.client.withheldHint(exchange.registry.Host, realm{}))
	}
	login, err := a.login(ctx, exchange)
	if err != nil {
		return "", err
	}
	if login.Token != "" {
		return "Bearer " + login.Token, nil
	}
	req, err := tokenRequest(ctx, demand, scopes, login)
	if err != nil {
		return "", diag.Errorf(diag.Remote, "%s: %s", exchange.registry.Host, httpx.Cause(err))
	}
	resp, err := a.send(req, req.Header.Get("Authorization"))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", parseErrorResponse(resp)
	}
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxTokenAnswer)).Decode(&answer)
	if answer.AccessToken != "" { // preferred, because OAuth2 has only this one
		answer.Token = answer.AccessToken
	}
	if err != nil || answer.Token == "" {
		return "", diag.Errorf(diag.Remote, "the token server %s of %s did not respond with a token", req.URL.Host,
			exchange.registry.Host)
	}
	a.client.secrets.Learn(answer.Token)
	return "Bearer " + answer.Token, nil
}

// tokenRequest returns the request for a token: with a password, an identity token, or neither.
func tokenRequest(ctx context.Context, demand challenge, scopes []string, login credential.Login,
) (*http.Request, error) {
	if login.Identity == "" {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, demand.realm, nil)
		if err != nil {
			return nil, err
		}
		if login.User != "" || login.Secret != "" {
			req.SetBasicAuth(login.User, login.Secret)
		}
		q := req.URL.Query()
		if demand.service != "" {
			q.Set("service", demand.service)
		}
		for _, scope := range scopes {
			q.Add("scope", scope)
		}
		req.URL.RawQuery = q.Encode()
		return req, nil
	}
	form := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {login.Identity}, "service": {demand.service},
		"client_id": {"skillpm"},
	}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, demand.realm, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", formType)
	return req, nil
}

const formType = "application/x-www-form-urlencoded"

// tokenCache holds the values of Authorization headers that a registry accepted or that were fetched for it.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[[2]string]string // by host, and scopes or basicKey
}

// basicKey is the key of a password, which does not depend on scopes.
const basicKey = "Basic"

// find returns the token for scopes, or the password, or "".
func (c *tokenCache) find(host, scopes string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token := c.tokens[[2]string{host, scopes}]; token != "" {
		return token
	}
	return c.tokens[[2]string{host, basicKey}]
}

func (c *tokenCache) store(host, key, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil {
		c.tokens = make(map[[2]string]string)
	}
	c.tokens[[2]string{host, key}] = token
}
