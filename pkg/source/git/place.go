package git

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// place is a repository on a server, and what was learned from it.
type place struct {
	client *Client
	url    *url.URL

	mu      sync.Mutex // one conversation at a time
	secret  secret
	asked   bool // for credentials
	session transport.UploadPackSession
	adv     *packp.AdvRefs
}

// place returns the repository of a reference.
func (c *Client) place(ref source.Ref) (*place, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.places[ref.URL]; ok {
		return p, nil
	}
	u, err := url.Parse(ref.URL)
	if err != nil || u.Host == "" {
		return nil, diag.Errorf(diag.Usage, "%q is not the URL of a repository", ref.URL)
	}
	p := &place{client: c, url: u}
	c.places[ref.URL] = p
	return p, nil
}

// refs returns the branches and tags of a repository, which are asked for once.
func (c *Client) refs(ctx context.Context, ref source.Ref) (*refs, error) {
	if isLocal(ref) {
		return localRefs(ref)
	}
	p, err := c.place(ref)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.greet(ctx); err != nil {
		return nil, err
	}
	return advertised(p.adv), nil
}

// greet connects and reads the references, unless that was done. If the server wants to know who is there, it asks once
// for credentials.
func (p *place) greet(ctx context.Context) error {
	if p.adv != nil {
		return nil
	}
	err := p.connect(ctx)
	if p.url.Scheme != "ssh" && !p.asked && wantsCredentials(err) {
		p.asked = true
		var cerr error
		if p.secret, cerr = p.client.secret(ctx, p.url); cerr != nil {
			return cerr
		}
		if p.secret.pass != "" {
			err = p.connect(ctx)
		}
	}
	return p.explain(ctx, err)
}

func wantsCredentials(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

// connect opens a session and reads the references.
func (p *place) connect(ctx context.Context) error {
	endpoint, err := transport.NewEndpoint(p.url.String())
	if err != nil {
		return err
	}
	var auth transport.AuthMethod
	via := p.client.ssh
	if p.url.Scheme == "ssh" {
		auth = &sshAuth{user: p.url.User.Username(), home: p.client.options.Home}
	} else {
		via, endpoint.Path = p.client.http, p.url.EscapedPath()
		if p.secret.pass != "" {
			auth = &githttp.BasicAuth{Username: p.secret.user, Password: p.secret.pass}
		}
	}
	session, err := via.NewUploadPackSession(endpoint, auth)
	if err != nil {
		return err
	}
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		_ = session.Close() // the first error matters
		return err
	}
	p.session, p.adv = session, adv
	return nil
}

// take returns a session for one transfer. Over HTTP a session lasts; over SSH a transfer uses it up.
func (p *place) take(ctx context.Context) (transport.UploadPackSession, error) {
	if p.session == nil {
		p.adv = nil
	}
	if err := p.greet(ctx); err != nil {
		return nil, err
	}
	session := p.session
	if p.url.Scheme == "ssh" {
		p.session = nil
	}
	return session, nil
}

func (p *place) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return nil
	}
	err := p.session.Close()
	p.session = nil
	if p.url.Scheme == "ssh" && err != nil && strings.Contains(err.Error(), "EOF") {
		return nil // the server hung up first
	}
	return err
}
