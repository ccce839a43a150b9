package skillpm

import (
	"context"
	"sync"

	registryindex "github.com/skillpm/skillpm/registry-index"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/file"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// fetcher is a kind of place that packs come from.
type fetcher interface {
	// Versions lists the releases that a place offers, newest first.
	Versions(ctx context.Context, ref source.Ref) ([]string, error)
	// Open pins a place to one commit or digest and describes the pack there.
	Open(ctx context.Context, ref source.Ref) (*source.Pack, error)
	// Fetch streams the files of a pack's skills, all of them if none are named.
	Fetch(ctx context.Context, p *source.Pack, skills []string, sink bundle.Sink) error
}

// sources makes the fetchers when they are first needed.
type sources struct {
	options Options
	mu      sync.Mutex
	gits    *git.Client
	ocis    *oci.Client
}

// of returns what fetches from places of a kind; directories are relative to root.
func (s *sources) of(kind source.Kind, root string) (fetcher, error) {
	switch kind {
	case source.KindGit:
		return s.git(), nil
	case source.KindOCI, source.KindLayout, source.KindLocal, source.KindEmbedded:
		return s.oci(), nil
	case source.KindPath:
		return s.file(root), nil
	default:
		return nil, diag.Errorf(diag.Usage, "a %s is not a place that packs are fetched from", kind)
	}
}

func (s *sources) git() *git.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gits == nil {
		s.gits = git.New(git.Options{
			Cache: s.options.Paths.GitCache(), Home: s.options.Paths.Home, Getenv: s.options.Getenv,
		})
	}
	return s.gits
}

func (s *sources) oci() *oci.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ocis == nil {
		s.ocis = oci.New(oci.Options{
			Base: s.options.Dir, Local: s.options.Paths.Local(), Embedded: registryindex.Layout(), Getenv: s.options.Getenv,
			Home: s.options.Paths.Home, UserAgent: "skillpm/" + s.options.Version, Limits: bundle.DefaultLimits(),
		})
	}
	return s.ocis
}

func (s *sources) file(root string) *file.Client {
	return file.New(file.Options{Base: root, OS: s.options.OS})
}

// close frees what the fetchers hold.
func (s *sources) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gits != nil {
		_ = s.gits.Close() // temporary files only
	}
	if s.ocis != nil {
		s.ocis.Close()
	}
}
