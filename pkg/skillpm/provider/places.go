package provider

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// remember keeps the directory of a pack that the lock and the manifest will not have.
func (s *Solution) remember(m *pack.Manifest, p *pack.Pack) {
	d, _ := m.Dependency(p.ID)
	if d.Ref != nil || !workspace.Placeless(p.Ref.Source()) {
		return
	}
	s.Places[p.ID.String()] = p.Ref.URL
	s.Warnings = append(s.Warnings, fmt.Sprintf(
		"%s comes from %s, a directory of this machine: skillpm.lock can't say where, so other machines need --registry", p.ID, p.Ref.URL))
}

// lockedAt returns the registry that has a pack which is locked without its place: the one that this machine remembers,
// or the one of this call.
func (pr *Provider) lockedAt(ctx context.Context, id pack.ID) (registry.Registry, error) {
	if dir, ok := pr.places[id.String()]; ok && pr.options.Registry == "" {
		return registry.Open(ctx, "", "oci-layout:"+dir, pr.deps)
	}
	if pr.options.Registry != "" {
		return pr.registries.Find(ctx, id, "")
	}
	return nil, diag.Errorf(diag.NotFound, "%s is locked from an OCI layout, and skillpm.lock never says which directory that is", id).
		WithHint("name it: skillpm install --registry oci-layout:DIR")
}

// strayed warns of a pack that is locked to another place than the one that its owner is bound to by now.
func (pr *Provider) strayed(id pack.ID, at string, p *pack.LockedPack) []string {
	bound, ok := pr.bindings[id.Owner]
	if !ok || at != "" || !strings.HasPrefix(bound, "oci://") || registry.Repository(bound, id) == p.Source {
		return nil
	}
	return []string{fmt.Sprintf("%s stays locked to %s although %s is bound to %s: remove and install it to move it", id, p.Source, id.Owner, bound)}
}

// checkRegistry refuses a registry of this call that can't be one, before it is asked.
func checkRegistry(ctx context.Context, url string, deps registry.Deps) error {
	if url == "" {
		return nil
	}
	if _, err := registry.Open(ctx, "", url, deps); err != nil {
		return err
	}
	dir := strings.TrimPrefix(url, "oci-layout:")
	if strings.Contains(dir, "://") || strings.Contains(dir, "@") || dir == registry.Local || dir == registry.Embedded {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(deps.Base, dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return diag.Errorf(diag.NotFound, "--registry %s: there is no directory %s", url, dir).
			WithHint("give a directory, an https:// index, or an OCI prefix as oci://HOST/NAMESPACE")
	}
	return nil
}
