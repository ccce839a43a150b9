package oci

import (
	"context"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

// credential returns what there is for one host, and nothing for any other, nor where it would be sent to a server that
// it is not for.
func (c *Client) credential(ctx context.Context, hostport string) (auth.Credential, error) {
	if talk := conversationOf(ctx); talk != nil && talk.withheld {
		return auth.EmptyCredential, nil
	}
	login, err := c.logins.Get(ctx, hostport)
	if err != nil {
		return auth.EmptyCredential, err
	}
	c.secrets.LearnLogin(login)
	return auth.Credential{Username: login.User, Password: login.Secret, RefreshToken: login.Identity, AccessToken: login.Token}, nil
}

// loginStore returns the logins of Docker's configuration.
func (o Options) loginStore() *credential.Store {
	return credential.Open(credential.Options{Getenv: o.Getenv, Home: o.Home})
}
