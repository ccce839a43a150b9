package runtime

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Native returns the catalog of the skills that an agent with a profile reads itself. Skills of packs are only in it as
// links or copies in a directory of the agent.
func (h *Host) Native(ctx context.Context, a agent.Agent, of *profile.Profile) (*catalog.Catalog, error) {
	o, p := h.CatalogOptions(), *of
	p.Layers, p.Qualify, p.Unordered = h.nativeLayers(a, of), "", false
	o.Profile = &p
	return catalog.Open(ctx, o)
}

// nativeLayers returns the layers of skills that an agent reads itself.
func (h *Host) nativeLayers(a agent.Agent, of *profile.Profile) (own []profile.Layer) {
	if a.Profile != "" || a.Order != "" {
		foreign := func(dir string) bool { return strings.HasPrefix(dir, "{") }
		for _, l := range of.Layers {
			if l.Dirs = slices.DeleteFunc(slices.Clone(l.Dirs), foreign); len(l.Dirs) > 0 {
				own = append(own, l)
			}
		}
		return own
	}
	a = agent.Relocate([]agent.Agent{a}, h.o.Paths.Home, h.o.Getenv)[0]
	own = append(own, profile.Layer{Name: catalog.ScopeProject, Dirs: []string{"./" + a.Project}})
	if a.User != "" {
		own = append(own, profile.Layer{Name: catalog.ScopeUser, Dirs: []string{inHome(a.User)}})
	}
	return own
}

// inHome returns the layer directory of a slash-separated directory, which is absolute or below the home directory.
func inHome(dir string) string {
	if filepath.IsAbs(filepath.FromSlash(dir)) {
		return dir
	}
	return "~/" + dir
}
