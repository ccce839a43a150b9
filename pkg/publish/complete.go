package publish

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// RegistryNames returns the configured registries that a pack can be published to, by name or by address, and
// optionally the indexes. It does not use the network.
func (c *Client) RegistryNames(indexes bool) []string {
	names := []string{registry.Local}
	bound := map[string]bool{}
	for _, read := range []func() (*pack.Config, error){c.Machine.UserConfig, c.Machine.AdminConfig} {
		config, err := read()
		if err != nil {
			continue // completion does not report errors
		}
		for _, r := range config.Registries {
			if indexes || strings.HasPrefix(r.URL, "oci://") || strings.HasPrefix(r.URL, "oci-layout:") {
				names = append(names, cmp.Or(r.Name, r.URL))
			}
		}
		for _, registry := range config.Namespaces {
			bound[registry] = strings.HasPrefix(registry, "oci://")
		}
	}
	for _, registry := range slices.Sorted(maps.Keys(bound)) {
		if bound[registry] {
			names = append(names, registry)
		}
	}
	return names
}

// PublishedNames returns the packs that were published on this machine, and the pack in the client's directory. If
// prefix is a pack's name and "@", it returns the pack's versions.
func (c *Client) PublishedNames(ctx context.Context, prefix string) []string {
	var names []string
	if m, err := c.readManifest(filepath.Join(c.Dir, pack.ManifestName)); err == nil && !m.Name.IsZero() {
		names = append(names, m.Name.String())
	}
	sources, err := c.UserSources()
	if err != nil {
		return names
	}
	registry := pack.Ref{Kind: pack.KindLocal}
	name, _, hasVersion := strings.Cut(prefix, "@")
	if !hasVersion {
		packs, _ := sources.OCI().Packs(ctx, registry) // completion does not report errors
		for _, p := range packs {
			names = append(names, p.ID.String())
		}
		return names
	}
	if registry.ID, err = pack.ParseID(name); err != nil {
		return nil
	}
	versions, _ := sources.OCI().Versions(ctx, registry)
	for i, v := range versions {
		versions[i] = name + "@" + v
	}
	return versions
}
