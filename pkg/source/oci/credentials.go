package oci

import (
	"context"
	"path/filepath"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/skillpm/skillpm/pkg/diag"
)

// openCredentials reads Docker's configuration, in which `docker login`, `oras login` and credential helpers keep
// what they know.
func (c *Client) openCredentials() (credentials.Store, error) {
	dir := c.opts.Getenv("DOCKER_CONFIG")
	if dir == "" {
		if c.opts.Home == "" {
			return nil, nil
		}
		dir = filepath.Join(c.opts.Home, ".docker")
	}
	path := filepath.Join(dir, "config.json")
	store, err := credentials.NewStore(path, credentials.StoreOptions{})
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", path, err).WithHint("mend the file, or log in again with docker login")
	}
	return store, nil
}

// credential returns what the configuration holds for one host, and nothing for any other, nor where it would be sent to
// a server that it is not for.
func (c *Client) credential(ctx context.Context, hostport string) (auth.Credential, error) {
	if talk := conversationOf(ctx); talk != nil && talk.withheld {
		return auth.EmptyCredential, nil
	}
	store, err := c.store()
	if err != nil || store == nil {
		return auth.EmptyCredential, err
	}
	cred, err := credentials.Credential(store)(ctx, hostport)
	if err != nil {
		return auth.EmptyCredential, diag.Errorf(diag.Denied, "credentials for %s: %w", hostport, err).
			WithHint("check the credential helper that Docker's config.json names, or run docker login %s", hostport)
	}
	c.secrets.learnCredential(cred)
	return cred, nil
}
