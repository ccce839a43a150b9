package git

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// remote is a repository on a server, and what was learned from it.
type remote struct {
	client *Client
	url    *url.URL

	mu        sync.Mutex // one conversation at a time
	secret    secret
	requested bool // for credentials
	session   transport.UploadPackSession
	adv       *packp.AdvRefs // of the session
	found     *refs
	noFilter  bool // the server turned out not to leave things out
}

// remote returns the repository of a reference.
func (c *Client) remote(ref pack.Ref) (*remote, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.remotes[ref.URL]; ok {
		return p, nil
	}
	u, err := url.Parse(ref.URL)
	if err != nil || !isRemoteURL(u) {
		return nil, diag.Errorf(diag.Usage, "%q is not the URL of a repository", ref.URL)
	}
	p := &remote{client: c, url: u}
	c.remotes[ref.URL] = p
	return p, nil
}

// isRemoteURL reports whether a URL is one that the client has a transport for, and that no program could take for an
// option.
func isRemoteURL(u *url.URL) bool {
	supported := u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "ssh"
	option := strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path,
		"/-")
	return supported && u.Host != "" && !option
}

// refs returns the branches and tags of a repository, which are asked for once.
func (c *Client) refs(ctx context.Context, ref pack.Ref) (*refs, error) {
	if isLocal(ref) {
		return localRefs(ref)
	}
	p, err := c.remote(ref)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.connectWithRetry(ctx); err != nil {
		return nil, err
	}
	return p.found, nil
}

// connectWithRetry connects and reads the references, unless that was done. If the server demands credentials, it looks
// them up and connects once more.
func (p *remote) connectWithRetry(ctx context.Context) error {
	if p.found != nil {
		return nil
	}
	err := p.retry(ctx, p.connect)
	if p.url.Scheme != "ssh" && !p.requested && wantsCredentials(err) {
		p.requested = true
		var cerr error
		if p.secret, cerr = p.client.secret(ctx, p.url); cerr != nil {
			return cerr
		}
		if p.secret.pass != "" {
			err = p.retry(ctx, p.connect)
		}
	}
	return p.explain(ctx, err)
}

// retry does something until it works, or fails in a way that more attempts won't change, or failed often enough.
func (p *remote) retry(ctx context.Context, do func(context.Context) error) error {
	for attempt := 0; ; attempt++ {
		err := do(ctx)
		if err == nil || attempt == retries || ctx.Err() != nil || !isTransient(err) {
			return err
		}
		if err := p.client.clock.sleep(ctx, backoff(attempt)); err != nil {
			return err
		}
	}
}

func wantsCredentials(err error) bool {
	return errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed)
}

// connect opens a session and reads the references.
func (p *remote) connect(ctx context.Context) error {
	if p.client.options.Program != "" {
		var err error
		p.found, err = p.listWithProgram(ctx)
		return err
	}
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
	watched, patience := p.client.watch(ctx)
	adv, err := session.AdvertisedReferencesContext(watched)
	if patience.end(); err != nil {
		_ = session.Close() // the first error matters
		return patience.explain(err)
	}
	p.session, p.adv, p.found = session, adv, advertised(adv)
	return nil
}

// take returns a session for one transfer. Over HTTP a session lasts; over SSH a transfer uses it up.
func (p *remote) take(ctx context.Context) (transport.UploadPackSession, error) {
	if p.session == nil {
		p.found = nil
	}
	if err := p.connectWithRetry(ctx); err != nil {
		return nil, err
	}
	session := p.session
	if p.url.Scheme == "ssh" {
		p.session = nil
	}
	return session, nil
}

func (p *remote) offers(c capability.Capability) bool {
	return p.adv != nil && p.adv.Capabilities.Supports(c)
}

// filters reports whether the server can send a part of a commit: whether it leaves out what it is told to leave out,
// and gives single objects. Over HTTP a server cannot know what it has offered, so git's own gives any object that is
// part of a branch.
func (p *remote) filters(ctx context.Context) (bool, error) {
	if err := p.connectWithRetry(ctx); err != nil {
		return false, err
	}
	if p.client.options.Program != "" {
		return !p.noFilter, nil
	}
	allowed := p.url.Scheme != "ssh" || p.offers(capability.AllowReachableSHA1InWant) || p.offers(allowAny)
	return allowed && p.offers(capability.Filter) && !p.noFilter, nil
}

// allowAny is a capability that go-git has no name for.
const allowAny capability.Capability = "allow-any-sha1-in-want"

// transfer asks for objects and returns the pack that the server sends.
func (p *remote) transfer(ctx context.Context, w want) (io.ReadCloser, error) {
	if p.client.options.Program != "" {
		return p.transferWithProgram(ctx, w)
	}
	stream, err := p.requestPack(ctx, w)
	if err == nil || !w.shallow || !isRefusal(err) || p.found.has(w.ids[0].String()) {
		return stream, err
	}
	p.disconnect()
	return p.requestPack(ctx, want{ids: p.found.tips(), progress: w.progress})
}

// requestPack asks for objects. A commit that the server gives only to those who name a branch or tag is looked for in
// all of them, with their history.
func (p *remote) requestPack(ctx context.Context, w want) (io.ReadCloser, error) {
	session, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	req := p.request()
	req.Wants = w.ids
	if w.shallow && p.offers(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
		_ = req.Capabilities.Set(capability.Shallow) // has no arguments that could be wrong
	}
	if !w.have.IsZero() {
		req.Haves = []plumbing.Hash{w.have}
	}
	if w.trees {
		req.Filter = packp.FilterBlobNone()
		_ = req.Capabilities.Set(capability.Filter) // as above
	}
	watched, patience := p.client.watch(ctx)
	response, err := session.UploadPack(watched, req)
	if err != nil {
		patience.end()
		return nil, patience.explain(err)
	}
	patience.waiting.Store(false)
	answer := &watchedStream{response, response, patience}
	return &packStream{demultiplex(req, answer), answer}, nil
}

// request returns a request with what both sides can do.
func (p *remote) request() *packp.UploadPackRequest {
	req := packp.NewUploadPackRequestFromCapabilities(p.adv.Capabilities)
	if p.offers(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress) // has no arguments that could be wrong
	}
	return req
}

// demultiplex returns the pack in a response.
func demultiplex(req *packp.UploadPackRequest, r io.Reader) io.Reader {
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	case req.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// disconnect ends a connection that is of no more use.
func (p *remote) disconnect() {
	if p.session != nil && p.url.Scheme == "ssh" {
		_ = p.session.Close() // whatever it says
		p.session = nil
	}
}

func (p *remote) close() error {
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
