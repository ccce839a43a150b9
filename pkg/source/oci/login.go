package oci

import (
	"context"
	"errors"
	"io"
	"net/http"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

// CheckLogin checks a login for a registry or another server, and sends it to no other server. The login is a user and
// a password, or, for the user [credential.TokenUser], an identity token. The result is false if the server does not
// require a login, because then the login is untested. A refused login has the code [diag.Denied].
func (c *Client) CheckLogin(ctx context.Context, host, user, secret string) (verified bool, err error) {
	login := credential.Login{User: user, Secret: secret}
	if user == credential.TokenUser {
		login = credential.Login{Identity: secret}
	}
	login.Teach(c.secrets)
	verified, err = c.checkLogin(ctx, host, login)
	return verified, c.secrets.RedactError(err)
}

func (c *Client) checkLogin(ctx context.Context, host string, login credential.Login) (verified bool, err error) {
	r, err := remote.NewRegistry(host)
	if err != nil {
		return false, diag.Errorf(diag.Usage, "invalid host %q", host).
			WithHint("use host or host:port, such as registry.example:5000")
	}
	scheme := "https"
	if useHTTP, err := c.plainHTTP(ctx, r.Reference.Host()); err != nil {
		return false, err
	} else if useHTTP {
		scheme = "http"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+r.Reference.Host()+"/v2/", nil)
	if err != nil {
		return false, diag.Errorf(diag.Internal, "%w", err)
	}
	withheld := false
	showing := &authenticator{client: c, tokens: &tokenCache{}}
	showing.login = func(_ context.Context, exchange *authExchange) (credential.Login, error) {
		verified = true
		if withheld = exchange.withheld; withheld {
			return credential.Login{}, nil
		}
		return login, nil
	}
	resp, err := showing.Do(req)
	if withheld {
		realm, _ := c.realm(r.Reference.Host())
		return true, diag.Errorf(diag.Denied,
			"%s verifies logins at %s, which may belong to someone else: skillpm did not verify or store the login",
			host, httpx.Clean(realm.host)).
			WithHint("%s", c.withheldHint(host, realm))
	}
	if refused, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return verified, c.loginError(host, refused.StatusCode)
	}
	if err != nil {
		return verified, c.remoteError(host, err)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxManifest)
	_ = resp.Body.Close()
	return verified, c.loginError(host, resp.StatusCode)
}

// loginError maps a registry's response to an error.
func (c *Client) loginError(host string, status int) error {
	switch status {
	case http.StatusOK, http.StatusNotFound: // an index server without a registry does not have /v2/
		return nil
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusBadRequest: // some token servers send 400
		return diag.Errorf(diag.Denied, "%s rejected the user name or password", host).
			WithHint("check the user name and the password; if you use two-factor authentication, enter a token as the password")
	}
	return diag.Errorf(diag.Remote, "%s responded with status %d", host, status).
		WithHint("wait and try again; if the problem continues, ask the operator of %s", host)
}

// storedLogin returns the login for a registry, or none if its token server must not receive it.
func (c *Client) storedLogin(ctx context.Context, exchange *authExchange) (credential.Login, error) {
	if exchange.withheld {
		return credential.Login{}, nil
	}
	login, err := c.logins.Get(ctx, exchange.registry.Host)
	if err != nil {
		return credential.Login{}, err
	}
	return login, nil
}

// loginStore returns the logins of Docker's configuration.
func (o Options) loginStore() *credential.Store {
	return credential.Open(credential.Options{Getenv: o.Getenv, Home: o.Home, Secrets: o.Secrets})
}
