package provider

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/sign/keyless"
	"github.com/skillpm/skillpm/pkg/source/file"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// fetcher is a kind of place that packs come from.
type fetcher interface {
	// Versions lists the releases that a place offers, newest first.
	Versions(ctx context.Context, ref pack.Ref) ([]string, error)
	// Open pins a place to one commit or digest and describes the pack there.
	Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error)
	// Fetch streams the files of a pack's skills, all of them if none are named.
	Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error
}

// SourceOptions say what places packs are fetched from, and as whom.
type SourceOptions struct {
	environ.Environment
	GitProgram string // the git program that is preferred to what is built in, "" for none

	Mirrors   map[string]string // where OCI registries are asked first, see [project.Config]
	PlainHTTP []string          // hosts that are spoken to without encryption
	CAFile    string            // certificates that are trusted besides the system's, "" for none

	Keyless keyless.Open // what checks signatures of identities, nil for nothing
}

// Sources makes what fetches packs when it is first needed, and shares it between all that is done in one process.
type Sources struct {
	options SourceOptions
	recent  *registry.Recent
	mu      sync.Mutex
	gits    *git.Client
	ocis    *oci.Client
}

// NewSources returns sources that have touched neither disk nor network.
func NewSources(o SourceOptions) *Sources {
	return &Sources{options: o, recent: registry.NewRecent(o.Now)}
}

// of returns what fetches from places of a kind; directories are relative to root.
func (s *Sources) of(kind pack.Kind, root string) (fetcher, error) {
	switch kind {
	case pack.KindGit:
		return s.Git(), nil
	case pack.KindOCI, pack.KindLayout, pack.KindLocal, pack.KindEmbedded:
		return s.OCI(), nil
	case pack.KindPath:
		return s.File(root), nil
	default:
		return nil, diag.Errorf(diag.Usage, "a %s is not a place that packs are fetched from", kind)
	}
}

// Git returns what fetches from git repositories.
func (s *Sources) Git() *git.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gits == nil {
		s.gits = git.New(git.Options{
			Cache: s.options.Paths.GitCache(), Home: s.options.Paths.Home, Getenv: s.options.Getenv,
			Program: s.options.GitProgram, Transport: s.carrier(),
		})
	}
	return s.gits
}

// OCI returns what fetches from OCI registries and layouts, and publishes there.
func (s *Sources) OCI() *oci.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ocis == nil {
		s.ocis = oci.New(oci.Options{
			Base: s.options.Dir, Local: s.options.Paths.Local(), Embedded: registryindex.Layout(), Getenv: s.options.Getenv,
			Home: s.options.Paths.Home, UserAgent: "skillpm/" + s.options.Version, Limits: bundle.DefaultLimits(),
			Temp: s.options.Paths.Cache, Transport: s.carrier(), Mirrors: s.options.Mirrors, PlainHTTP: s.options.PlainHTTP,
		})
	}
	return s.ocis
}

// Keeper returns what finds and checks signatures.
func (s *Sources) Keeper(offline bool) *trust.Keeper {
	return trust.New(trust.Options{
		OCI: s.OCI(), Git: s.Git(), Dir: filepath.Join(s.options.Paths.Cache, "signatures"),
		State: filepath.Join(s.options.Paths.State, "fetched"), Offline: offline,
		Keyless: s.options.Keyless, TrustedRoot: s.trustedRoot,
	})
}

// trustedRoot reads the roots of trust of those who certify identities: the administrator's, or else the user's. Where
// the administrator has a policy, only the administrator says whom it trusts.
func (s *Sources) trustedRoot() ([]byte, error) {
	const name, most = "trusted_root.json", 1 << 20
	dirs := []string{s.options.Paths.Enterprise, s.options.Paths.Config}
	if _, err := os.Lstat(filepath.Join(dirs[0], "policy.yaml")); !errors.Is(err, fs.ErrNotExist) {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		data, err := safefile.ReadFile(filepath.Join(dir, name), most)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	return nil, diag.Errorf(diag.Denied, "a signature was made with a certificate, and no roots are trusted that could have certified it").
		WithHint("put Sigstore's %s into %s (cosign trusted-root create, or the tuf client, writes it)", name, dirs[len(dirs)-1])
}

// File returns what reads packs from directories, relative ones being relative to root.
func (s *Sources) File(root string) *file.Client {
	return file.New(file.Options{Base: root, OS: s.options.OS})
}

// Close frees what the fetchers hold.
func (s *Sources) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gits != nil {
		_ = s.gits.Close() // temporary files only
	}
	if s.ocis != nil {
		s.ocis.Close()
	}
}
