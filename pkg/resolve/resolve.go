package resolve

import (
	"context"
	"slices"

	"github.com/skillpm/skillpm/pkg/source"
)

// Requirement is what the root or a version of a pack requires.
type Requirement struct {
	Pack       source.ID
	Constraint string // a range of versions; "", "*" and "latest" mean any
	Source     string // "" for a pack that is found by its name, else the place it must come from
}

// Version is one version of a pack on offer.
type Version struct {
	Version   string // strict semver
	Yanked    bool
	Published string // RFC 3339, or ""
	// Withheld says why the version is not taken, as the end of a sentence ("is younger than …"), or is "". The preferred
	// version is taken all the same.
	Withheld string
}

// World is what the resolver asks. A source is the one of a requirement, "" for a pack found by its name. Both methods
// may be called more than once with the same arguments, never at the same time.
type World interface {
	// Versions returns the versions of a pack in any order. Those that are not strict semver are passed over.
	Versions(ctx context.Context, pack source.ID, src string) ([]Version, error)
	// Requirements returns what one version of a pack requires.
	Requirements(ctx context.Context, pack source.ID, src, version string) ([]Requirement, error)
}

// Options say which of several good choices is taken.
type Options struct {
	Prefer map[source.ID]string // the versions in the lock
}

// Chosen is the version that was chosen of one pack.
type Chosen struct {
	Version string
	Source  string      // that of the requirements
	By      []source.ID // the packs that require it, in order; the zero ID stands for the root
}

// Resolve chooses versions for everything that the root requires. The error is a [*ConflictError] when there is no
// choice, or one of the world's, with the requirements that led to it and its own code and hint.
func Resolve(ctx context.Context, root []Requirement, w World, o Options) (map[source.ID]Chosen, error) {
	c := newCatalogue(w, o.Prefer)
	root = sortedRequirements(root)
	s, err := solve(ctx, c, root)
	if err != nil {
		return nil, err
	}
	if s.failure == nil {
		return s.chosen(root), nil
	}
	conflict, err := explain(ctx, c, root, s.failure)
	if err != nil {
		return nil, err
	}
	conflict.suggest(ctx, c, root)
	return nil, conflict
}

// sortedRequirements returns the requirements in order, each once.
func sortedRequirements(list []Requirement) []Requirement {
	list = slices.Clone(list)
	slices.SortFunc(list, compareRequirements)
	return slices.Compact(list)
}

// chosen collects the decisions, with who requires each.
func (s *solver) chosen(root []Requirement) map[source.ID]Chosen {
	out := make(map[source.ID]Chosen, len(s.decided))
	by := make(map[source.ID][]source.ID)
	for _, r := range root {
		by[r.Pack] = append(by[r.Pack], source.ID{})
	}
	for p, v := range s.decided {
		if p == rootPack {
			continue
		}
		for _, r := range s.cat.packs[p].versions[v].requires {
			by[r.Pack] = append(by[r.Pack], s.cat.packs[p].id)
		}
	}
	for p, v := range s.decided {
		if p == rootPack {
			continue
		}
		pack := s.cat.packs[p]
		who := by[pack.id]
		slices.SortFunc(who, source.ID.Compare)
		out[pack.id] = Chosen{
			Version: pack.versions[v].version, Source: pack.versions[v].source, By: slices.Compact(who),
		}
	}
	return out
}
