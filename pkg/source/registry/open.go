package registry

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// GitTrees opens the files of a git source at the revision that it names, and returns the commit. The revision may be
// HEAD, the default branch.
type GitTrees interface {
	Tree(ctx context.Context, ref pack.Ref) (files fs.FS, commit string, err error)
}

// Deps are the dependencies of registries.
type Deps struct {
	OCI *oci.Client // for OCI sources and layouts
	Git GitTrees    // for indexes in git; nil: not supported
	Hub *Hub        // for registries with an HTTP API of their own; nil: not supported
	// for indexes on HTTPS, with retries and stall limits; nil: this package's defaults
	HTTP     *http.Client
	Embedded fs.FS   // the embedded index; nil: none
	Base     string  // base of relative directories
	Cache    string  // directory for cached answers of indexes; "": no cache
	Recent   *Recent // recent answers of HTTPS indexes, shared by registries; nil: each [Registry] requests its own
	Offline  bool    // use only caches, no network

	Getenv    func(string) string // for SKILLPM_TOKEN_<HOST> of private indexes; nil: no environment
	Logins    *credential.Store   // the logins for private indexes; nil: none
	Named     *httpx.Named        // records the servers that indexes name; nil: none
	Authorize Authorize           // called before a source of packs is contacted; nil: all are allowed
}

// Authorize reports whether a source of packs may be contacted, and returns the context for its requests.
type Authorize func(ctx context.Context, ref pack.Ref) (context.Context, error)

// Open returns the registry at a URL, which is one of
//
//	embedded                the index in the binary
//	local                   packs published without a registry
//	https://host/path       an index on a web server; http:// only for loopback addresses
//	git+https://host/repo   an index in a git repository, or another form of a git source
//	index+oci://host/repo   an index as an OCI artifact; :tag may follow (default latest)
//	oci://host/prefix       OCI repositories below a prefix
//	oci-layout:DIR          an OCI layout
//	clawhub+https://host    a registry with the API of ClawHub
//	apm+https://host        a registry with the API of apm
//	DIR                     an index in a directory, or an OCI layout
//
// Messages call the registry by name; "" means by its URL. Open does not send any request.
func Open(_ context.Context, name, url string, deps Deps) (Registry, error) {
	if name == "" {
		name = url
	}
	switch {
	case url == Embedded:
		return openEmbedded(name, deps)
	case url == Local:
		return openLayout(name, pack.Ref{Kind: pack.KindLocal}, deps)
	case strings.HasPrefix(url, "http://") && !onLoopback(url):
		return nil, diag.Errorf(diag.Usage, "registry %s: an index requires HTTPS", url)
	case strings.HasPrefix(url, ociIndexScheme):
		return openOCIIndex(name, url, deps)
	case strings.HasPrefix(url, "oci://"):
		return openPrefix(name, url, deps)
	case isHubAddress(url):
		return openHub(name, url, deps)
	case strings.HasPrefix(url, "oci-layout:"):
		return openLayout(name, pack.Ref{Kind: pack.KindLayout, URL: strings.TrimPrefix(url, "oci-layout:")}, deps)
	case strings.HasPrefix(url, "http://"), strings.HasPrefix(url, "https://") &&
		!strings.HasSuffix(strings.TrimRight(url, "/"), ".git"):
		return openHTTPS(name, url, deps)
	}
	return openParsed(name, url, deps)
}

func openEmbedded(name string, deps Deps) (Registry, error) {
	if deps.Embedded == nil {
		return nil, diag.Errorf(diag.NotFound, "this build does not contain an embedded registry")
	}
	return newIndexRegistry(name, dirFiles{name, deps.Embedded}, pack.Ref{Kind: pack.KindEmbedded}), nil
}

func openLayout(name string, ref pack.Ref, deps Deps) (Registry, error) {
	if deps.OCI == nil {
		return nil, diag.Errorf(diag.Internal, "registry %s: this build does not support OCI sources", name)
	}
	if ref.Kind == pack.KindLayout && ref.URL == "" {
		return nil, diag.Errorf(diag.Usage, "oci-layout: requires a directory").WithHint("use oci-layout:DIR")
	}
	local := newOCIRegistry(name, deps.OCI, func(id pack.ID) pack.Ref {
		base := ref
		base.ID = id
		return base
	})
	return &layoutRegistry{ociRegistry: local, client: deps.OCI, ref: ref}, nil
}

func openPrefix(name, url string, deps Deps) (Registry, error) {
	if deps.OCI == nil {
		return nil, diag.Errorf(diag.Internal, "registry %s: this build does not support OCI sources", name)
	}
	prefix, err := cleanPrefix(url)
	if err != nil {
		return nil, err
	}
	return newRemoteRegistry(name, deps, func(id pack.ID) pack.Ref {
		return pack.Ref{Kind: pack.KindOCI, URL: Repository(prefix, id)}
	}), nil
}

// cleanPrefix returns a prefix in its canonical form. The repositories below it must be valid sources.
func cleanPrefix(url string) (string, error) {
	const probe = "/a/b"
	ref, err := pack.Parse(strings.TrimRight(url, "/") + probe)
	if err != nil || ref.Rev != "" || ref.Digest != "" {
		return "", diag.Errorf(diag.Usage, "invalid OCI prefix %q", url).
			WithHint("use oci://REGISTRY/NAMESPACE")
	}
	return strings.TrimSuffix(ref.URL, probe), nil
}

// openParsed opens a registry that is written as a source: git, or a directory.
func openParsed(name, url string, deps Deps) (Registry, error) {
	ref, err := pack.Parse(url)
	if err != nil || ref.Kind == pack.KindName {
		ref = pack.Ref{Kind: pack.KindPath, URL: url} // a directory does not need a leading ./ here
	}
	switch ref.Kind {
	case pack.KindGit:
		if deps.Git == nil {
			return nil, diag.Errorf(diag.Internal, "registry %s: this build does not support git", name)
		}
		if ref.Rev == "" {
			ref.Rev = pack.DefaultBranch // an index does not have releases: use its newest state
		}
		return newIndexRegistry(name,
			&gitFiles{ref: ref, trees: deps.Git, cache: cache{dir: deps.Cache}, offline: deps.Offline}, ref).
			on(ref.URL, deps.Named), nil
	case pack.KindPath:
		return openDir(name, ref, deps)
	default:
		return nil, diag.Errorf(diag.Usage, "invalid registry %q", url).
			WithHint("use an index (a directory, https://…, git+https://…, or index+oci://…), " +
				"oci://REGISTRY/PREFIX, or oci-layout:DIR")
	}
}

func openDir(name string, ref pack.Ref, deps Deps) (Registry, error) {
	dir := filepath.FromSlash(ref.URL)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(deps.Base, dir)
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, diag.Errorf(diag.NotFound, "registry %s: directory %s does not exist", name, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err == nil {
		return openLayout(name, pack.Ref{Kind: pack.KindLayout, URL: ref.URL}, deps)
	}
	return newIndexRegistry(name, dirFiles{name, safefile.Dir(dir)}, pack.Ref{Kind: pack.KindPath, URL: ref.URL}), nil
}

// KindOf returns the kind of registry at a URL: "index", which lists packs and their sources, or "packs", which holds
// the packs themselves.
func KindOf(url string) string {
	if url == Local || strings.HasPrefix(url, "oci://") || strings.HasPrefix(url, "oci-layout:") || isHubAddress(url) {
		return "packs"
	}
	return "index"
}
