package oci

import (
	"context"
	"errors"
	"io"
	"net/http"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
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
	c.secrets.LearnLogin(login)
	verified, err = c.checkLogin(ctx, host, login)
	return verified, c.secrets.Discreet(err)
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
	showing := &auth.Client{
		Client: c.auth.Client, Header: c.auth.Header, ClientID: c.auth.ClientID,
		Credential: func(ctx context.Context, _ string) (auth.Credential, error) {
			verified = true
			if exchange := authExchangeOf(ctx); exchange != nil && exchange.withheld {
				withheld = true
				return auth.EmptyCredential, nil
			}
			return auth.Credential{
				Username: login.User, Password: login.Secret, RefreshToken: login.Identity,
				AccessToken: login.Token,
			}, nil
		},
	}
	resp, err := authClient{showing}.Do(req)
	if withheld {
		realm, _ := c.realm(r.Reference.Host())
		return true, diag.Errorf(diag.Denied,
			"%s verifies logins at %s, which may belong to someone else: skillpm did not verify or store the login",
			host, httpx.Clean(realm.host)).
			WithHint("ask the operator of %s whether %s is the correct server for logins", host,
				httpx.Clean(realm.host))
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
			WithHint("check the user name and the password; if you use two-factor authentication, " +
				"enter a token as the password")
	}
	return diag.Errorf(diag.Remote, "%s responded with status %d", host, status).WithHint("try again later")
}

// credential returns the credentials for one host, and nothing for other hosts or for servers that must not receive
// them.
func (c *Client) credential(ctx context.Context, hostport string) (auth.Credential, error) {
	if exchange := authExchangeOf(ctx); exchange != nil && exchange.withheld {
		return auth.EmptyCredential, nil
	}
	login, err := c.logins.Get(ctx, hostport)
	if err != nil {
		return auth.EmptyCredential, err
	}
	c.secrets.LearnLogin(login)
	return auth.Credential{
		Username: login.User, Password: login.Secret, RefreshToken: login.Identity,
		AccessToken: login.Token,
	}, nil
}

// loginStore returns the logins of Docker's configuration.
func (o Options) loginStore() *credential.Store {
	return credential.Open(credential.Options{Getenv: o.Getenv, Home: o.Home})
}
