package skillpm

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/source"
)

// A lock never names a directory of one machine. A pack that was found by name in a layout there (with --registry) is
// locked without its place, which this machine's state remembers.

func newTarget(m *project.Manifest) *target {
	return &target{manifest: m, packs: map[source.ID]*source.Pack{}, places: map[string]string{}}
}

// placeless reports whether a locked source leaves its directory out.
func placeless(lockedSource string) bool { return lockedSource == string(source.KindLayout) }

// remember keeps the directory of a pack that the lock and the manifest will not have.
func (t *target) remember(p *source.Pack) {
	d, _ := t.manifest.Dependency(p.ID)
	if d.Ref != nil || !placeless(p.Ref.Source()) {
		return
	}
	t.places[p.ID.String()] = p.Ref.URL
	t.warnings = append(t.warnings, fmt.Sprintf(
		"%s comes from %s, a directory of this machine: skillpm.lock can't say where, so other machines need --registry", p.ID, p.Ref.URL))
}

// placesAfter returns the directories that the state should remember once the target is reached.
func (w *workspace) placesAfter(t *target) map[string]string {
	places := maps.Clone(w.state.Places)
	if places == nil {
		places = map[string]string{}
	}
	maps.Copy(places, t.places)
	maps.DeleteFunc(places, func(name, _ string) bool {
		return !slices.ContainsFunc(t.lock.IDs(), func(id source.ID) bool {
			return id.String() == name && placeless(t.lock.Packs[id].Source)
		})
	})
	return places
}

// lockedAt returns the registry that has a pack which is locked without its place: the one that this machine remembers,
// or the one of this call.
func (w *world) lockedAt(ctx context.Context, id source.ID) (registry.Registry, error) {
	if dir, ok := w.places[id.String()]; ok && w.override == "" {
		return registry.Open(ctx, "", "oci-layout:"+dir, w.deps)
	}
	if w.override != "" {
		return w.registries.Find(ctx, id, "")
	}
	return nil, diag.Errorf(diag.NotFound, "%s is locked from an OCI layout, and skillpm.lock never says which directory that is", id).
		WithHint("name it: skillpm install --registry oci-layout:DIR")
}

// strayed warns of a pack that is locked to another place than the one that its owner is bound to by now.
func (w *world) strayed(id source.ID, at string, p *project.LockedPack) []string {
	bound, ok := w.bindings[id.Owner]
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
