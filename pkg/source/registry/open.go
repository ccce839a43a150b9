package registry

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/internal/credential"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// GitTrees opens the files of a git place at the revision that it names, which may be HEAD, the default branch, and
// says which commit that is.
type GitTrees interface {
	Tree(ctx context.Context, ref pack.Ref) (files fs.FS, commit string, err error)
}

// Deps are what registries work with.
type Deps struct {
	OCI *oci.Client // for OCI places and layouts
	Git GitTrees    // for indexes in git; nil where there are none
	// for indexes on HTTPS, whose requests are repeated and watched over; nil for one with this package's defaults
	HTTP     *http.Client
	Embedded fs.FS   // the index inside the binary; nil for none
	Base     string  // the directory that relative ones are relative to
	Cache    string  // where answers of HTTPS indexes are kept; "" for nowhere
	Recent   *Recent // what HTTPS indexes answered a moment ago; nil to ask each once for each [Registry]
	Offline  bool    // use what is kept, ask nobody

	Getenv    func(string) string // where SKILLPM_TOKEN_<HOST> is looked up for private indexes; nil for no environment
	Logins    *credential.Store   // the logins for private indexes; nil for none
	Authorize Authorize           // asked before a place of packs is; nil where all may be
}

// Authorize says whether a place of packs may be asked, and returns the context to ask it in.
type Authorize func(ctx context.Context, ref pack.Ref) (context.Context, error)

// Open returns the registry at a URL, which is one of
//
//	embedded                the index in the binary
//	local                   what the user published without naming a registry
//	https://host/path       an index on a web server; http:// for one of this machine
//	git+https://host/repo   an index in a git repository, as are the other forms of a git place
//	index+oci://host/repo   an index as an OCI artifact; :tag may follow, latest if none does
//	oci://host/prefix       OCI repositories below a prefix
//	oci-layout:DIR          an OCI layout
//	DIR                     an index in a directory, or an OCI layout
//
// Name is what messages call it; "" stands for the URL. Nothing is asked before the registry is.
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
		return nil, diag.Errorf(diag.Usage, "registry %s: an index is read over HTTPS only", url)
	case strings.HasPrefix(url, ociIndexScheme):
		return openOCIIndex(name, url, deps)
	case strings.HasPrefix(url, "oci://"):
		return openPrefix(name, url, deps)
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
		return nil, diag.Errorf(diag.NotFound, "there is no embedded registry")
	}
	return newIndexRegistry(name, dirFiles{name, deps.Embedded}, pack.Ref{Kind: pack.KindEmbedded}), nil
}

func openLayout(name string, ref pack.Ref, deps Deps) (Registry, error) {
	if deps.OCI == nil {
		return nil, diag.Errorf(diag.Internal, "registry %s: OCI places cannot be read here", name)
	}
	if ref.Kind == pack.KindLayout && ref.URL == "" {
		return nil, diag.Errorf(diag.Usage, "oci-layout: needs a directory").WithHint("write oci-layout:DIR")
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
		return nil, diag.Errorf(diag.Internal, "registry %s: OCI places cannot be read here", name)
	}
	prefix, err := cleanPrefix(url)
	if err != nil {
		return nil, err
	}
	return newRemoteRegistry(name, deps, func(id pack.ID) pack.Ref {
		return pack.Ref{Kind: pack.KindOCI, URL: Repository(prefix, id)}
	}), nil
}

// cleanPrefix returns a prefix in its canonical form. A pack below it must be a place that can be parsed.
func cleanPrefix(url string) (string, error) {
	const probe = "/a/b"
	ref, err := pack.Parse(strings.TrimRight(url, "/") + probe)
	if err != nil || ref.Rev != "" || ref.Digest != "" {
		return "", diag.Errorf(diag.Usage, "%q is not the prefix of OCI repositories", url).
			WithHint("write oci://host/namespace")
	}
	return strings.TrimSuffix(ref.URL, probe), nil
}

// openParsed opens what is written as a place: git, or a directory.
func openParsed(name, url string, deps Deps) (Registry, error) {
	ref, err := pack.Parse(url)
	if err != nil || ref.Kind == pack.KindName {
		ref = pack.Ref{Kind: pack.KindPath, URL: url} // a directory may be written without ./ here
	}
	switch ref.Kind {
	case pack.KindGit:
		if deps.Git == nil {
			return nil, diag.Errorf(diag.Internal, "registry %s: git cannot be read here", name)
		}
		if ref.Rev == "" {
			ref.Rev = "HEAD" // an index has a newest state and no releases
		}
		return newIndexRegistry(name,
			&gitFiles{ref: ref, trees: deps.Git, cache: cache{dir: deps.Cache}, offline: deps.Offline}, ref), nil
	case pack.KindPath:
		return openDir(name, ref, deps)
	default:
		return nil, diag.Errorf(diag.Usage, "%q is not a registry", url).
			WithHint("a registry is an index (a directory, https://…, git+https://… or index+oci://…), " +
				"oci://host/prefix or oci-layout:DIR")
	}
}

func openDir(name string, ref pack.Ref, deps Deps) (Registry, error) {
	dir := filepath.FromSlash(ref.URL)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(deps.Base, dir)
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, diag.Errorf(diag.NotFound, "registry %s: there is no directory %s", name, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err == nil {
		return openLayout(name, pack.Ref{Kind: pack.KindLayout, URL: ref.URL}, deps)
	}
	return newIndexRegistry(name, dirFiles{name, safefile.Dir(dir)}, pack.Ref{Kind: pack.KindPath, URL: ref.URL}), nil
}

// KindOf says what sort of registry is at a URL: "index", which lists packs and says where each is, or "packs", a place
// that has them.
func KindOf(url string) string {
	if url == Local || strings.HasPrefix(url, "oci://") || strings.HasPrefix(url, "oci-layout:") {
		return "packs"
	}
	return "index"
}
