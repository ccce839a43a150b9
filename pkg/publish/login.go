package publish

import (
	"context"

	"github.com/skillpm/skillpm/pkg/source"
)

// LoginReport says whose login is kept.
type LoginReport struct {
	Host    string `json:"host"`
	User    string `json:"user"`
	Checked bool   `json:"checked"` // the registry asked for it, and took it
	Where   string `json:"where"`   // Docker's configuration, which names the helper that keeps it where there is one
}

// Login keeps a login for a registry where Docker keeps its own, once the registry has taken it.
func (c *Client) Login(ctx context.Context, host, user, secret string) (*LoginReport, error) {
	from, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	checked, err := from.OCI().CheckLogin(ctx, host, user, secret)
	if err != nil {
		return nil, err
	}
	logins := source.Logins(c.Getenv, c.Paths.Home)
	if err := logins.Put(ctx, host, user, secret); err != nil {
		return nil, err
	}
	return &LoginReport{Host: host, User: user, Checked: checked, Where: logins.Path()}, nil
}

// Logout forgets the login for a registry. That there is none is an error with the code [diag.NotFound].
func (c *Client) Logout(ctx context.Context, host string) error {
	return source.Logins(c.Getenv, c.Paths.Home).Delete(ctx, host)
}

// LoginHosts returns the registries that there are logins for.
func (c *Client) LoginHosts(ctx context.Context) ([]string, error) {
	return source.Logins(c.Getenv, c.Paths.Home).Hosts(ctx)
}
