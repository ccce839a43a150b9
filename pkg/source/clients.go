package source

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/internal/file"
	"github.com/skillpm/skillpm/pkg/source/internal/website"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// Client reads packs from sources of one kind.
type Client interface {
	// Versions lists the releases that a source offers, newest first.
	Versions(ctx context.Context, ref pack.Ref) ([]string, error)
	// Open pins a source to one commit or digest and describes the pack there.
	Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error)
	// Fetch streams the files of a pack's skills, all of them if none are named.
	Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error
}

// Options configure [Clients].
type Options struct {
	environ.Environment
	Config *pack.Config // the user's settings: the git program, mirrors, certificates
	// AdminConfig returns the administrator's settings, whose token servers apply besides the user's; nil for none.
	AdminConfig func() (*pack.Config, error)
	Keyless     sign.OpenKeyless // verifies signatures of identities; nil refuses them
}

// Clients creates one client of each kind on first use, with the user's credentials and settings, and shares it in the
// whole process.
type Clients struct {
	options Options
	named   httpx.Named
	mu      sync.Mutex
	git     *git.Client
	oci     *oci.Client
	website *website.Client
	hub     *registry.Hub
}

// NewClients returns clients. It does not access the disk or the network.
func NewClients(o Options) *Clients { return &Clients{options: o} }

// Of returns the client for sources of a kind. Directories are relative to root.
func (c *Clients) Of(kind pack.Kind, root string) (Client, error) {
	switch kind {
	case pack.KindGit:
		return c.Git(), nil
	case pack.KindOCI, pack.KindLayout, pack.KindLocal, pack.KindEmbedded:
		return c.OCI(), nil
	case pack.KindPath:
		return c.File(root), nil
	case pack.KindWebsite:
		return c.Website(), nil
	case pack.KindClawHub, pack.KindAPM:
		return c.Hub(), nil
	default:
		return nil, diag.Errorf(diag.Usage, "unsupported source type %s", kind)
	}
}

// Git returns the client for git repositories.
func (c *Clients) Git() *git.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.git == nil {
		c.git = git.New(git.Options{
			Cache: c.options.Paths.GitCache(), Home: c.options.Paths.Home, Getenv: c.options.Getenv,
			Program: c.options.Config.Git, Transport: c.gitTransport(), Named: &c.named,
			Secrets: c.options.Secrets,
		})
	}
	return c.git
}

// OCI returns the client for OCI registries and layouts.
func (c *Clients) OCI() *oci.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.oci == nil {
		o, transport := c.options, c.transport()
		authHosts, err := c.authHosts()
		if err != nil {
			transport = failingTransport{err}
		}
		c.oci = oci.New(oci.Options{
			Base: o.Dir, Local: o.Paths.Local(), Embedded: registryindex.Layout(), Getenv: o.Getenv, Home: o.Paths.Home,
			UserAgent: "skillpm/" + o.Version, Limits: bundle.DefaultLimits(), Temp: o.Paths.Cache,
			Transport: transport, Mirrors: o.Config.Mirrors, PlainHTTP: o.Config.PlainHTTP,
			AuthHosts: authHosts, Secrets: o.Secrets,
		})
	}
	return c.oci
}

// authHosts returns the token servers that the user and the administrator allow, by the registry's host.
func (c *Clients) authHosts() (map[string][]string, error) {
	merged := maps.Clone(c.options.Config.AuthHosts)
	if c.options.AdminConfig == nil {
		return merged, nil
	}
	admin, err := c.options.AdminConfig()
	if err != nil || len(admin.AuthHosts) == 0 {
		return merged, err
	}
	if merged == nil {
		merged = make(map[string][]string)
	}
	for registry, hosts := range admin.AuthHosts {
		merged[registry] = slices.Concat(merged[registry], hosts)
	}
	return merged, nil
}

// Hub returns the client for registries with an HTTP API of their own.
func (c *Clients) Hub() *registry.Hub {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hub == nil {
		o := c.options
		c.hub = registry.NewHub(registry.HubOptions{
			Transport: c.transport(), UserAgent: "skillpm/" + o.Version, Getenv: o.Getenv,
			Logins: c.Logins(), Limits: bundle.DefaultLimits(),
		})
	}
	return c.hub
}

// Website returns the client for websites that publish skills.
func (c *Clients) Website() *website.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.website == nil {
		c.website = website.New(website.Options{
			Transport: c.transport(), UserAgent: "skillpm/" + c.options.Version, Limits: bundle.DefaultLimits(),
		})
	}
	return c.website
}

// File returns the client for directories. Relative ones are relative to root.
func (c *Clients) File(root string) *file.Client { return Directories(root, c.options.OS) }

// Directories returns a client for directories, without a user's settings. Relative directories are relative to root.
func Directories(root, goos string) *file.Client { return file.New(file.Options{Base: root, OS: goos}) }

// Logins returns the logins for registries, in Docker's configuration.
func (c *Clients) Logins() *credential.Store {
	return credential.Open(credential.Options{
		Getenv: c.options.Getenv, Home: c.options.Paths.Home, Secrets: c.options.Secrets,
	})
}

// Logins is [Clients.Logins] for a client that only manages them.
func Logins(getenv func(string) string, home string) *credential.Store {
	return credential.Open(credential.Options{Getenv: getenv, Home: home})
}

// LoginHost returns the host that the login for a registry is stored under.
func LoginHost(registry string) string { return credential.Host(registry) }

// Named are the servers that registries and packs name in this process. All clients keep its limits.
func (c *Clients) Named() *httpx.Named { return &c.named }

// HTTP returns the client for indexes on web servers.
func (c *Clients) HTTP() *http.Client { return &http.Client{Transport: c.transport()} }

// TLS returns the settings with the configured certificates; nil for none.
func (c *Clients) TLS() *tls.Config {
	if t, err := c.trusting(); err == nil {
		return t.TLSClientConfig
	}
	return nil
}

// transport returns the transport for HTTP requests. If the configured certificates cannot be read, every request
// fails.
func (c *Clients) transport() http.RoundTripper {
	t, err := c.trusting()
	if err != nil {
		return failingTransport{err}
	}
	return httpx.Confine(t, &c.named)
}

// gitTransport is transport for git, whose client has its own default; nil means the default.
func (c *Clients) gitTransport() http.RoundTripper {
	if c.options.Config.CAFile == "" {
		return nil
	}
	return c.transport()
}

// trusting returns a transport that trusts the configured certificates.
func (c *Clients) trusting() (*http.Transport, error) {
	t := httpx.NewTransport()
	if authorities := c.options.Config.File(c.options.Config.CAFile); authorities != "" {
		return t, httpx.TrustFile(t, authorities)
	}
	return t, nil
}

type failingTransport struct{ err error }

// RoundTrip returns the error.
func (t failingTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, t.err }

// Verifier returns the verifier of signatures.
func (c *Clients) Verifier(offline bool) *trust.Verifier {
	return trust.New(trust.Options{
		OCI: c.OCI(), Git: c.Git(), Dir: filepath.Join(c.options.Paths.Cache, "signatures"),
		State: filepath.Join(c.options.Paths.State, "fetched"), Offline: offline,
		Keyless: c.options.Keyless, TrustedRoot: c.requireTrustedRoot,
	})
}

// TrustedRoot returns the trusted_root.json with the authorities that may certify identities: the administrator's, or
// else the user's. If the administrator has a policy, the user's authorities do not count. It returns nil if there is
// no file.
func (c *Clients) TrustedRoot() ([]byte, error) { return readFirst(c.rootDirs(), trustedRoot) }

const trustedRoot = "trusted_root.json"

// rootDirs returns the directories of trusted_root.json.
func (c *Clients) rootDirs() []string {
	dirs := []string{c.options.Paths.Enterprise, c.options.Paths.Config}
	if _, err := os.Lstat(filepath.Join(dirs[0], "policy.yaml")); !errors.Is(err, fs.ErrNotExist) {
		dirs = dirs[:1]
	}
	return dirs
}

// requireTrustedRoot is [Clients.TrustedRoot] for a signature that must be verified.
func (c *Clients) requireTrustedRoot() ([]byte, error) {
	data, err := c.TrustedRoot()
	if err != nil || data != nil {
		return data, err
	}
	dirs := c.rootDirs()
	return nil, diag.Errorf(diag.Denied,
		"cannot verify a signature that has a certificate: %s does not exist", trustedRoot).
		WithHint("put Sigstore's %s into %s; create the file with \"cosign trusted-root create\" or the TUF client",
			trustedRoot, dirs[len(dirs)-1])
}

// SigningConfig returns the signing_config.json of the administrator, or else the user's: the Sigstore servers that
// sign without a key. It returns nil if neither exists. A project's file does not count, because these servers receive
// identity tokens.
func (c *Clients) SigningConfig() ([]byte, error) {
	return readFirst([]string{c.options.Paths.Enterprise, c.options.Paths.Config}, "signing_config.json")
}

// readFirst reads the first file with a name in directories; nil if there is none.
func readFirst(dirs []string, name string) ([]byte, error) {
	const most = 1 << 20
	for _, dir := range dirs {
		data, err := safefile.ReadFile(filepath.Join(dir, name), most)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, nil
}

// Close removes temporary files and closes connections.
func (c *Clients) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.git != nil {
		_ = c.git.Close() // temporary files only
	}
	if c.oci != nil {
		c.oci.Close()
	}
}
