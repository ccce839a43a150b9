package oci

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
)

// Options configure a [Client]. The zero value accesses registries anonymously and has no local layouts.
type Options struct {
	Base      string              // base of relative layout directories
	Local     string              // directory of the user's own layout, for source.KindLocal
	Embedded  fs.FS               // the embedded layout, for source.KindEmbedded
	Getenv    func(string) string // for DOCKER_CONFIG; nil: no environment
	Home      string              // directory of .docker/config.json; "": no credentials
	Transport http.RoundTripper   // nil: one made with [wire.NewTransport]
	UserAgent string              // the User-Agent header
	Limits    bundle.Limits       // limits for unpacking; zero: bundle.DefaultLimits
	Temp      string              // directory for layers that must be read twice; "": the system's
	Mirrors   map[string]string   // host[/prefix] -> host[/prefix] of its mirror
	// hosts to contact without TLS, besides loopback addresses that do not support it
	PlainHTTP []string
	// AuthHosts are token servers, host or host:port, that may receive a registry's credentials, by the registry's
	// host; those in its domain need no entry
	AuthHosts map[string][]string
	Secrets   *secret.Set // learns the credentials that are sent; nil: a set of the client
	// how often to retry a request after a transient failure; 0: 3 times, negative: never
	Retries int
}

// Client publishes and fetches packs. It is safe for concurrent use.
type Client struct {
	opts      Options
	userAgent string
	http      *http.Client
	auth      *authenticator
	logins    *credential.Store
	secrets   *secret.Set
	turns     httpx.Turns
	spool     spool

	mu          sync.Mutex
	realms      map[string]realm     // by the registry's host
	unreachable map[string]error     // errors of unreachable mirrors and origins, by host
	plainHosts  map[string]bool      // known answers to whether a host uses plain HTTP
	artifacts   map[string]*artifact // by source and digest
	cached      int                  // bytes of their manifests
	foreign     map[string][]root    // skills in layers of other tools, by the layer's digest
}

// New returns a client. It reads files and sends requests only when a method needs them.
func New(opts Options) *Client {
	opts.Limits = cmp.Or(opts.Limits, bundle.DefaultLimits())
	if opts.Getenv == nil {
		opts.Getenv = func(string) string { return "" }
	}
	opts.Secrets = cmp.Or(opts.Secrets, &secret.Set{})
	c := &Client{
		opts:        opts,
		secrets:     opts.Secrets,
		logins:      opts.loginStore(),
		realms:      make(map[string]realm),
		unreachable: make(map[string]error),
		plainHosts:  make(map[string]bool),
		artifacts:   make(map[string]*artifact),
		foreign:     make(map[string][]root),
	}
	c.spool.dir = opts.Temp
	c.userAgent, c.http = cmp.Or(opts.UserAgent, "skillpm"), c.newHTTPClient()
	c.auth = &authenticator{client: c, login: c.storedLogin, tokens: &tokenCache{}}
	return c
}

// Close releases idle connections and removes temporary files.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.spool.close()
}

// reader reads one pack of a registry or layout.
type reader interface {
	// tags returns every tag, in no particular order.
	tags(ctx context.Context) ([]string, error)
	// document returns the manifest or index that a tag or digest names. Its bytes are verified.
	document(ctx context.Context, ref string) (document, error)
	// blob opens a blob of a manifest. The caller verifies it.
	blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error)
	// referrers lists manifests with a subject. The caller checks their types.
	referrers(ctx context.Context, subject, artifactType string) ([]ocispec.Descriptor, error)
}

// readWriter is a repository or layout that accepts pushes.
type readWriter interface {
	reader
	// begin locks a layout until end is called. A registry has no lock.
	begin(ctx context.Context) (end func(), err error)
	// pushBlob stores a blob if it is missing.
	pushBlob(ctx context.Context, d ocispec.Descriptor, content io.ReadSeeker) error
	// pushDocument stores a manifest, and sets a tag unless it is "".
	pushDocument(ctx context.Context, doc document, tag string) error
	// attach stores a manifest with a subject, so that referrers lists it.
	attach(ctx context.Context, doc document, m *ocispec.Manifest) error
}

// open returns a reader of the pack that ref names; for a registry with a mirror, it reads from both.
func (c *Client) open(ctx context.Context, ref pack.Ref) (reader, error) {
	if ref.Kind == pack.KindOCI {
		if mirror := c.MirrorOf(ref.URL); mirror != "" {
			return &mirrored{client: c, origin: ref.URL, mirror: mirror}, nil
		}
	}
	return c.openWritable(ctx, ref)
}

// openWritable returns the repository or layout that ref names, without a mirror.
func (c *Client) openWritable(ctx context.Context, ref pack.Ref) (readWriter, error) {
	switch ref.Kind {
	case pack.KindOCI:
		return c.openRemote(ctx, ref.URL)
	case pack.KindLayout:
		dir, err := c.layoutDir(ref)
		if err != nil {
			return nil, err
		}
		l := newLayoutDir(dir, ref.ID)
		l.named = true
		return l, nil
	case pack.KindLocal:
		if c.opts.Local == "" {
			return nil, diag.Errorf(diag.NotFound, "no directory is configured for locally published packs")
		}
		return newLayoutDir(c.opts.Local, ref.ID), nil
	case pack.KindEmbedded:
		if c.opts.Embedded == nil {
			return nil, diag.Errorf(diag.NotFound, "this build does not contain embedded packs")
		}
		return &layout{fsys: c.opts.Embedded, title: "the embedded registry", id: ref.ID}, nil
	default:
		return nil, diag.Errorf(diag.Internal, "%s is not an OCI source", ref)
	}
}

func (c *Client) layoutDir(ref pack.Ref) (string, error) {
	dir := filepath.FromSlash(ref.URL)
	switch {
	case ref.URL == "":
		return "", diag.Errorf(diag.NotFound, "the directory of the OCI layout with %s is unknown", ref.ID).
			WithHint("set the directory in skillpm.yaml, such as oci: \"oci-layout:DIR\"")
	case filepath.IsAbs(dir):
		return dir, nil
	}
	return filepath.Join(c.opts.Base, dir), nil
}

// read returns the artifact with a digest or tag. It caches artifacts by digest, so that opening and fetching a pack
// reads its manifest once.
func (c *Client) read(ctx context.Context, p reader, ref pack.Ref, name string) (*artifact, error) {
	key := ref.Source() + " " + ref.URL + " " + ref.ID.String() + " "
	if a, ok := c.cachedArtifact(key + name); ok {
		return a, nil
	}
	doc, err := p.document(ctx, name)
	if err != nil {
		return nil, err
	}
	a, err := parseArtifact(doc)
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "%s: %w", trimVersion(ref), err).WithHint("%s", diag.HintOf(err))
	}
	c.cacheArtifact(key+string(doc.desc.Digest), a)
	return a, nil
}

// Limits of the artifacts that a client caches.
const (
	maxCached      = 512
	maxCachedBytes = 16 << 20 // of their manifests
)

func (c *Client) cachedArtifact(key string) (*artifact, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.artifacts[key]
	return a, ok
}

func (c *Client) cacheArtifact(key string, a *artifact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cached += len(a.raw); len(c.artifacts) >= maxCached || c.cached > maxCachedBytes {
		clear(c.artifacts)
		c.cached = len(a.raw)
	}
	c.artifacts[key] = a
}

// trimVersion writes ref without tag and digest, for messages.
func trimVersion(ref pack.Ref) string {
	ref.Rev, ref.Digest = "", ""
	return strings.TrimPrefix(ref.String(), "oci://")
}
