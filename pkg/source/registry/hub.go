package registry

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// HubOptions configure a [Hub].
type HubOptions struct {
	Transport http.RoundTripper   // nil for one that honors the proxies and certificates of the environment
	UserAgent string              // of requests
	Getenv    func(string) string // for SKILLPM_TOKEN_<HOST>; nil: no environment
	Logins    *credential.Store   // nil: no logins
	Limits    bundle.Limits
}

// Hub reads packs from registries with an HTTP API of their own: that of ClawHub and that of apm. Several goroutines
// may use it at a time.
type Hub struct {
	options HubOptions

	mu       sync.Mutex
	servers  map[string]*http.Client  // by scheme and host
	archives map[pack.Ref]*hubArchive // those that were opened and not fetched yet
	kept     int                      // bytes of archives
}

// hubAPI is the API of one kind of registry.
type hubAPI interface {
	// list returns the versions of a pack, in any order.
	list(ctx context.Context, ref pack.Ref) ([]string, oci.Status, error)
	// download returns the archive of a version with its media type. Ref has the version as Rev.
	download(ctx context.Context, ref pack.Ref) (*hubDownload, error)
}

// hubDownload is the archive of one version as the server sent it.
type hubDownload struct {
	data     []byte
	zip      bool
	digest   string   // for the lockfile; "" if the server does not state any
	warnings []string // what the server reports about the pack
}

// The bounds of answers, in bytes.
const (
	maxHubAnswer   = 8 << 20
	maxHubArchive  = 128 << 20
	maxUnpackedTar = 192 << 20 // with the headers of entries
	maxKeptHub     = 256 << 20 // of archives that were opened and not fetched yet
	maxHubPages    = 100
	maxHubVersion  = 128 // bytes of a version
)

// NewHub returns a client. It does not access the network yet.
func NewHub(o HubOptions) *Hub {
	o.Limits = o.Limits.OrDefault()
	return &Hub{options: o, servers: map[string]*http.Client{}, archives: map[pack.Ref]*hubArchive{}}
}

func isHubAddress(url string) bool {
	for _, kind := range []pack.Kind{pack.KindClawHub, pack.KindAPM} {
		if strings.HasPrefix(url, string(kind)+"+https://") || strings.HasPrefix(url, string(kind)+"+http://") {
			return true
		}
	}
	return false
}

func openHub(name, url string, deps Deps) (Registry, error) {
	if deps.Hub == nil {
		return nil, diag.Errorf(diag.Internal, "registry %s: this build does not support such registries", name)
	}
	const probe = "//a/b"
	ref, err := pack.Parse(strings.TrimRight(url, "/") + probe)
	if err != nil || !pack.IsHub(ref.Kind) {
		return nil, diag.Errorf(diag.Usage, "invalid registry %q", redacted(url)).
			WithHint("use clawhub+https://HOST/PATH or apm+https://HOST/PATH")
	}
	return newHubRegistry(name, deps, func(id pack.ID) pack.Ref {
		return pack.Ref{Kind: ref.Kind, URL: ref.URL, ID: id}
	}), nil
}

func newHubRegistry(name string, deps Deps, refOf func(pack.ID) pack.Ref) *ociRegistry {
	if deps.Offline {
		return newOCIRegistry(name, authorizedArtifacts{offlineArtifacts{}, deps.Authorize}, refOf)
	}
	return newOCIRegistry(name, authorizedArtifacts{deps.Hub, deps.Authorize}, refOf)
}

// api returns the API of a registry.
func (h *Hub) api(ref pack.Ref) (hubAPI, error) {
	base, err := url.Parse(ref.URL)
	if err != nil || base.Host == "" || ref.ID.IsZero() {
		return nil, diag.Errorf(diag.Internal, "invalid registry %q", ref)
	}
	s := hubServer{hub: h, base: base, client: h.client(base)}
	switch ref.Kind {
	case pack.KindClawHub:
		return clawHub{s}, nil
	case pack.KindAPM:
		return apmRegistry{s}, nil
	default:
		return nil, diag.Errorf(diag.Internal, "invalid registry %q", ref)
	}
}

// client returns the client for a server, with the credentials of its host.
func (h *Hub) client(base *url.URL) *http.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := base.Scheme + "://" + base.Host
	if c := h.servers[key]; c != nil {
		return c
	}
	client := withRetries(&http.Client{Transport: h.options.Transport})
	client.Transport = newLoginTransport(client.Transport, base, h.options.Getenv, h.options.Logins)
	h.servers[key] = client
	return client
}

// Versions returns the versions of a pack, highest first.
func (h *Hub) Versions(ctx context.Context, ref pack.Ref) ([]string, error) {
	versions, _, err := h.Listing(ctx, ref)
	return versions, err
}

// Listing returns the versions of a pack, highest first. It leaves out those that are not strict semantic versions.
func (h *Hub) Listing(ctx context.Context, ref pack.Ref) (_ []string, _ oci.Status, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	api, err := h.api(ref)
	if err != nil {
		return nil, oci.Status{}, err
	}
	list, status, err := api.list(ctx, ref)
	if err != nil {
		return nil, oci.Status{}, err
	}
	list = slices.DeleteFunc(list, func(text string) bool {
		v, err := semver.StrictNewVersion(text)
		return err != nil || v.Metadata() != ""
	})
	slices.SortFunc(list, func(a, b string) int {
		return semver.MustParse(b).Compare(semver.MustParse(a))
	})
	return slices.Compact(list), status, nil
}

// Open downloads one version of a pack, and describes it. Without a version it opens the highest release.
func (h *Hub) Open(ctx context.Context, ref pack.Ref) (_ *pack.Pack, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	if ref.Rev == "" {
		if ref.Rev, err = h.highest(ctx, ref); err != nil {
			return nil, err
		}
	}
	a, err := h.archive(ctx, ref)
	if err != nil {
		return nil, err
	}
	return a.pack(), nil
}

// highest returns the highest version that is not a pre-release, or else the highest.
func (h *Hub) highest(ctx context.Context, ref pack.Ref) (string, error) {
	list, _, err := h.Listing(ctx, ref)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", diag.Errorf(diag.NotFound, "%s does not have any versions", ref.Source())
	}
	i := slices.IndexFunc(list, func(v string) bool { return semver.MustParse(v).Prerelease() == "" })
	return list[max(i, 0)], nil
}

// Fetch streams the files of the named skills of a pinned pack, or of all its skills if there are no names.
func (h *Hub) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) (err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	a, err := h.archive(ctx, p.Ref)
	if err != nil {
		return err
	}
	defer h.forget(p.Ref) // a pack is rarely fetched twice
	return a.content.Stream(ctx, a.files, skills, sink)
}

// archive downloads and describes a version, unless that was done. If the reference is pinned, other content is an
// error of code [diag.Integrity].
func (h *Hub) archive(ctx context.Context, ref pack.Ref) (*hubArchive, error) {
	key := ref
	key.Digest = ""
	h.mu.Lock()
	a := h.archives[key]
	h.mu.Unlock()
	if a == nil {
		api, err := h.api(ref)
		if err != nil {
			return nil, err
		}
		d, err := api.download(ctx, ref)
		if err != nil {
			return nil, err
		}
		if a, err = describeArchive(ctx, key, d, h.options.Limits); err != nil {
			return nil, err
		}
		h.keep(a)
	}
	if ref.Digest != "" && ref.Digest != a.ref.Digest {
		return nil, &bundle.MismatchError{What: key.String(), Want: ref.Digest, Got: a.ref.Digest}
	}
	return a, nil
}

// keep keeps an archive until its pack is fetched, or until there are too many: the solver may open many versions and
// choose others.
func (h *Hub) keep(a *hubArchive) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if int64(h.kept+a.size) > min(maxKeptHub, h.options.Limits.TotalBytes) {
		clear(h.archives)
		h.kept = 0
	}
	key := a.ref
	key.Digest = ""
	h.archives[key], h.kept = a, h.kept+a.size
}

func (h *Hub) forget(ref pack.Ref) {
	ref.Digest = ""
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.archives[ref]; a != nil {
		delete(h.archives, ref)
		h.kept -= a.size
	}
}

// hubServer sends requests to one registry.
type hubServer struct {
	hub    *Hub
	base   *url.URL
	client *http.Client
}

// getJSON reads an answer into v.
func (s hubServer) getJSON(ctx context.Context, at *url.URL, v any) error {
	data, _, err := s.get(ctx, at, "application/json", maxHubAnswer)
	if err != nil {
		return err
	}
	if err := jsonx.Decode(data, v, jsonx.Options{ExactKeys: true}); err != nil {
		return diag.Errorf(diag.Remote, "%s responded with unexpected data: %w", at, err)
	}
	return nil
}

// get requests a document of at most limit bytes and returns it with the header of the response. The error has the code
// NotFound if the server does not have it.
func (s hubServer) get(ctx context.Context, at *url.URL, accept string, limit int64) ([]byte, http.Header, error) {
	header := http.Header{"User-Agent": {s.hub.options.UserAgent}, "Accept": {accept}}
	resp, data, err := httpx.Get(ctx, s.client, at, header, limit)
	switch {
	case err != nil:
		return nil, nil, httpx.RequestError(at.Host, err)
	case resp.StatusCode != http.StatusOK:
		return nil, nil, httpx.StatusError(at, resp, hubReason(resp, data), loginHint(s.base))
	case int64(len(data)) > limit:
		return nil, nil, diag.Errorf(diag.Invalid, "%s is larger than %d bytes", at, limit)
	}
	return data, resp.Header, nil
}
