package git

import (
	"cmp"
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
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// remote is a repository on a server, with its session and references.
type remote struct {
	client *Client
	url    *url.URL

	mu               sync.Mutex // serializes requests
	secret           secret
	triedCredentials bool // credentials were looked up
	session          transport.UploadPackSession
	adv              *packp.AdvRefs // of the session
	refs             *refs
	ssh              *sshSettings // for the git program; nil until it is needed
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
		return nil, diag.Errorf(diag.Usage, "invalid repository URL %q", ref.URL)
	}
	p := &remote{client: c, url: u}
	c.remotes[ref.URL] = p
	return p, nil
}

// isRemoteURL reports whether a URL has a supported scheme and no part that a program could parse as an option.
func isRemoteURL(u *url.URL) bool {
	supported := u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "ssh"
	option := strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path,
		"/-")
	return supported && u.Host != "" && !option
}

// refs returns the branches and tags of a repository. It requests them once from a server.
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
	return p.refs, nil
}

// connectWithRetry reads the references unless they are known. If the server requires credentials, it looks them up and
// connects again.
func (p *remote) connectWithRetry(ctx context.Context) error {
	if p.refs != nil {
		return nil
	}
	err := p.retry(ctx, p.connect)
	if p.url.Scheme != "ssh" && !p.triedCredentials && wantsCredentials(err) {
		p.triedCredentials = true
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

// retry calls do until it succeeds, fails permanently, or has failed too often.
func (p *remote) retry(ctx context.Context, do func(context.Context) error) error {
	for attempt := 0; ; attempt++ {
		err := do(ctx)
		if err == nil || attempt == retries || ctx.Err() != nil || !isTransient(err) {
			return err
		}
		httpx.ReportRetry(ctx, p.url.Host, nil, backoff(attempt))
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
	defer p.wait(ctx).End()
	if p.program() == "" && p.url.Scheme == "ssh" {
		if err := p.client.options.Named.Check(ctx, p.url); err != nil {
			return err
		}
	}
	if p.program() != "" {
		var err error
		p.refs, err = p.listWithProgram(ctx)
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
	watched, watchdog := p.client.watch(ctx)
	adv, err := session.AdvertisedReferencesContext(watched)
	if watchdog.stop(); err != nil {
		_ = session.Close() // the first error matters
		return watchdog.explain(err)
	}
	refs := newRefs(adv)
	if err := refs.check(); err != nil {
		_ = session.Close() // the first error matters
		return err
	}
	p.session, p.adv, p.refs = session, adv, refs
	return nil
}

// wait reports a wait for the server, unless the HTTP client reports each request.
func (p *remote) wait(ctx context.Context) *activity.Wait {
	if p.url.Scheme != "ssh" && p.program() == "" {
		return nil
	}
	return activity.Begin(ctx, &activity.Wait{Source: p.url.Host, Request: "git " + p.url.Redacted()})
}

// takeSession returns a session for one transfer. An SSH session serves only one, an HTTP session any number.
func (p *remote) takeSession(ctx context.Context) (transport.UploadPackSession, error) {
	if p.session == nil {
		p.refs = nil
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

// supportsFilter reports whether the server can send parts of a commit: it leaves out blobs on request, and sends
// single objects. Over HTTP, requests are stateless, so git servers send any object that is reachable from a branch.
func (p *remote) supportsFilter(ctx context.Context) (bool, error) {
	if err := p.connectWithRetry(ctx); err != nil {
		return false, err
	}
	if p.program() != "" {
		return true, nil
	}
	allowed := p.url.Scheme != "ssh" || p.offers(capability.AllowReachableSHA1InWant) || p.offers(allowAny)
	return allowed && p.offers(capability.Filter), nil
}

// allowAny is a capability that go-git does not define.
const allowAny capability.Capability = "allow-any-sha1-in-want"

// transfer requests objects and returns the pack that the server sends. If the server refuses a commit that no
// reference points to, transfer requests all references with their history.
func (p *remote) transfer(ctx context.Context, w want) (io.ReadCloser, error) {
	if p.program() != "" {
		return p.transferWithProgram(ctx, w)
	}
	stream, err := p.requestPack(ctx, w)
	if err == nil || !w.shallow || !isRefusal(err) {
		return stream, err
	}
	if listed := p.connectWithRetry(ctx); listed != nil || p.refs.contains(w.ids[0].String()) {
		return nil, cmp.Or(listed, err)
	}
	p.disconnect()
	return p.requestPack(ctx, want{ids: p.refs.tips(), progress: w.progress})
}

// requestPack requests objects and returns the pack.
func (p *remote) requestPack(ctx context.Context, w want) (io.ReadCloser, error) {
	session, err := p.takeSession(ctx)
	if err != nil {
		return nil, err
	}
	req := p.request()
	req.Wants = w.ids
	if w.shallow && p.offers(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
		_ = req.Capabilities.Set(capability.Shallow) // cannot fail without arguments
	}
	if !w.have.IsZero() {
		req.Haves = []plumbing.Hash{w.have}
	}
	if w.trees {
		req.Filter = packp.FilterBlobNone()
		_ = req.Capabilities.Set(capability.Filter) // as above
	}
	defer p.wait(ctx).End()
	watched, watchdog := p.client.watch(ctx)
	response, err := session.UploadPack(watched, req)
	if err != nil {
		watchdog.stop()
		return nil, watchdog.explain(err)
	}
	watchdog.reading.Store(false)
	body := &watchedStream{response, response, watchdog}
	return &packStream{demultiplex(req, body), body}, nil
}

// request returns a request with the capabilities that both sides have.
func (p *remote) request() *packp.UploadPackRequest {
	req := packp.NewUploadPackRequestFromCapabilities(p.adv.Capabilities)
	if p.offers(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress) // cannot fail without arguments
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

// disconnect closes an SSH session after an error.
func (p *remote) disconnect() {
	if p.session != nil && p.url.Scheme == "ssh" {
		_ = p.session.Close() // it is broken already
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
