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
	Local    = "local"    // packs that the user published without a registry
	Embedded = "embedded" // the index in the binary
)

// Registry resolves names to versions and sources of packs. It is safe for concurrent use, and concurrent calls for the
// same pack share one request.
type Registry interface {
	// Name returns the name for messages: the configured name or the URL.
	Name() string
	// Versions returns a pack's versions, highest first. It fails with [diag.NotFound] if the registry does not have
	// the pack.
	Versions(ctx context.Context, id pack.ID) ([]Version, error)
	// Pack returns one version, pinned and described. It fails with [diag.NotFound] if the version does not exist.
	Pack(ctx context.Context, id pack.ID, version string) (*pack.Pack, error)
}

// Version is an available version of a pack.
type Version struct {
	Version   string
	Yanked    bool   // only lockfiles that have it may use it
	Reason    string // why the version was yanked, if known
	Published string // RFC 3339; "" if unknown
	Digest    string // resolved digest for the lockfile; "" if only the artifact knows it
	Source    string // source for the lockfile

	Deprecated string // why new users should not use the pack; "" if it is not deprecated
}

// Lister is a registry that can list its packs. Other registries answer for one pack at a time.
type Lister interface {
	Registry
	// Catalog returns the packs in order of their names, and a tag that changes when they do. The sequence ends with
	// its first error.
	Catalog(ctx context.Context) (packs iter.Seq2[index.CatalogEntry, error], tag string, err error)
}

// NotFoundError reports that a registry does not have a pack.
type NotFoundError struct {
	Pack     pack.ID
	Registry string
}

// Error names the registry and the pack.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s does not contain the pack %s", e.Registry, e.Pack)
}

// Code returns [diag.NotFound].
func (e *NotFoundError) Code() diag.Code { return diag.NotFound }

// noVersion reports that a registry has the pack but not the version.
func noVersion(name string, id pack.ID, version string, have []Version) error {
	err := diag.Errorf(diag.NotFound, "%s does not contain version %s of %s", name, version, id)
	if len(have) == 0 {
		return err
	}
	return err.WithHint("use the highest available version, %s", have[0].Version)
}

// asOCIRegistry returns the OCI source of a registry, if the registry is not an index.
func asOCIRegistry(r Registry) (*ociRegistry, bool) {
	switch r := r.(type) {
	case *ociRegistry:
		return r, true
	case *layoutRegistry:
		return r.ociRegistry, true
	}
	return nil, false
}
