package registry

import (
	"context"
	"fmt"
	"iter"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// The registries that need no configuration.
const (
	Local    = "local"    // what the user published without naming a registry
	Embedded = "embedded" // what the binary brings along
)

// Registry answers for the packs that it has. It is safe for concurrent use: what several goroutines ask at once is
// asked of its server once.
type Registry interface {
	// Name returns what messages call the registry: its configured name or its URL.
	Name() string
	// Versions returns a pack's versions, highest first. A pack that the registry does not have is an error with the
	// code [diag.NotFound].
	Versions(ctx context.Context, id pack.ID) ([]Version, error)
	// Pack returns one version, pinned and described. It is an error with the code [diag.NotFound] if there is none.
	Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error)
}

// Version is a version on offer.
type Version struct {
	Version   string
	Yanked    bool   // withdrawn: kept for those who locked it
	Reason    string // why it was withdrawn, where the registry says so
	Published string // RFC 3339, "" where the registry does not say
	Digest    string // what a lock records as resolved, "" where only the artifact can tell
	Source    string // where it is, as a lock records it

	Deprecated string // why nobody should start to use the pack, "" where that is not said
}

// Lister is a registry that can say which packs it has. Those that cannot are asked for one pack at a time.
type Lister interface {
	Registry
	// Catalog returns the packs in order of their names, and a tag that changes when they do. The sequence ends with
	// its first error.
	Catalog(ctx context.Context) (packs iter.Seq2[index.CatalogEntry, error], tag string, err error)
}

// NotFoundError says that a registry does not have a pack.
type NotFoundError struct {
	Pack     pack.ID
	Registry string
}

// Error names the registry and the pack.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s has no pack %s", e.Registry, e.Pack) }

// Code returns [diag.NotFound].
func (e *NotFoundError) Code() diag.Code { return diag.NotFound }

// noVersion says that a registry has the pack and not the version.
func noVersion(name string, id pack.ID, version string, have []Version) error {
	err := diag.Errorf(diag.NotFound, "%s has no version %s of %s", name, version, id)
	if len(have) == 0 {
		return err
	}
	return err.WithHint("the highest version there is %s", have[0].Version)
}

// asOCIRegistry returns the place that a registry is, where it is no index.
func asOCIRegistry(r Registry) (*ociRegistry, bool) {
	switch r := r.(type) {
	case *ociRegistry:
		return r, true
	case *layoutRegistry:
		return r.ociRegistry, true
	}
	return nil, false
}
