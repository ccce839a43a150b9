package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// layoutRegistry is an OCI layout on this machine, whose packs can be listed.
type layoutRegistry struct {
	*ociRegistry
	client *oci.Client
	ref    pack.Ref
}

// Catalog returns the packs of the layout. The tag is the digest of its content.
func (s *layoutRegistry) Catalog(ctx context.Context) (iter.Seq2[index.CatalogEntry, error], string, error) {
	packs, err := s.client.Packs(ctx, s.ref)
	if err != nil {
		return nil, "", err
	}
	entries := make([]index.CatalogEntry, len(packs))
	group, inner := bug.WithContext(ctx)
	group.SetLimit(4)
	for i, p := range packs {
		group.Go(func() (err error) {
			entries[i], err = s.catalogEntry(inner, p.ID)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, "", diag.Errorf(diag.CodeOf(err), "%s: %w", s.name, err)
	}
	var buf bytes.Buffer
	err = index.WriteCatalog(&buf, func(yield func(index.CatalogEntry) bool) {
		for _, e := range entries {
			if e.Name != "" && !yield(e) {
				return
			}
		}
	})
	if err != nil {
		return nil, "", err
	}
	return index.ReadCatalog(io.Reader(&buf)), textx.SHA256(buf.Bytes()), nil
}

// catalogEntry describes the highest release of a pack, or nothing if all versions are yanked.
func (s *layoutRegistry) catalogEntry(ctx context.Context, id pack.ID) (index.CatalogEntry, error) {
	versions, err := s.Versions(ctx, id)
	if err != nil {
		return index.CatalogEntry{}, err
	}
	best := -1
	for i, v := range versions {
		if v.Yanked {
			continue
		}
		if release := !strings.Contains(v.Version, "-"); release || best < 0 {
			best = i
			if release {
				break
			}
		}
	}
	if best < 0 {
		return index.CatalogEntry{}, nil
	}
	p, err := s.Pack(ctx, id, versions[best].Version)
	if err != nil {
		return index.CatalogEntry{}, err
	}
	e := index.CatalogEntry{
		Name: id.String(), Version: p.Version, Description: p.Description, License: p.License, Tags: p.Tags,
		Published: p.Published, Deprecated: versions[best].Deprecated, Skills: make([]index.CatalogSkill,
			len(p.Skills)),
	}
	for i, sk := range p.Skills {
		e.Skills[i] = index.CatalogSkill{Name: sk.Name, Description: sk.Description}
	}
	return e, nil
}

// UnlistedError reports that a registry does not list its packs, such as an OCI registry.
type UnlistedError struct{ Registry string }

func (e *UnlistedError) Error() string {
	return fmt.Sprintf("cannot search %s: the registry does not list its packs", e.Registry)
}

// Code is NotFound.
func (e *UnlistedError) Code() diag.Code { return diag.NotFound }

// Hint shows other ways to find packs.
func (e *UnlistedError) Hint() string {
	return "install packs by name, or add an index that lists them: skillpm registry add NAME URL"
}

// List returns the registry as a [Lister], or an [UnlistedError].
func List(r Registry) (Lister, error) {
	if l, ok := r.(Lister); ok {
		return l, nil
	}
	return nil, &UnlistedError{Registry: r.Name()}
}
