package resolve

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Requirement is what the root or a version of a pack requires.
type Requirement struct {
	Pack       pack.ID
	Constraint string // a range of versions; "", "*" and "latest" mean any
	Source     string // "" for a pack that is found by its name, otherwise the source that it must come from
}

// String writes the requirement as an explanation shows it.
func (r Requirement) String() string {
	s := r.Pack.String()
	if r.Constraint != "" && r.Constraint != "*" && r.Constraint != "latest" {
		s += " " + r.Constraint
	}
	if r.Source != "" {
		s += " from " + r.Source
	}
	return s
}

// Version is a version that a source has.
type Version struct {
	Version     string // strict semver
	Yanked      bool
	Reason      string // why it was yanked, "" if unknown
	Unavailable string // why it may not be selected, as the end of a sentence; "" if it may
	Published   string // RFC 3339, or ""
}

// Provider answers what the solver asks about packs. A source is that of a requirement, "" for a pack that is found by
// its name. The solver may call both methods more than once with the same arguments, never at the same time.
type Provider interface {
	// Versions returns the versions of a pack in any order. The solver ignores versions that are not strict semver.
	Versions(ctx context.Context, pk pack.ID, src string) ([]Version, error)
	// Requirements returns what one version of a pack requires.
	Requirements(ctx context.Context, pk pack.ID, src, version string) ([]Requirement, error)
}

// Options configure a search.
type Options struct {
	Prefer map[pack.ID]string // the versions in the lock
	Stats  *Stats             // if not nil, set to what the search took
	Effort int                // how many incompatibilities to check before giving up; 0: as many as take some seconds
}

// Stats are what a search took. They are the same for the same requirements and the same answers of the provider.
type Stats struct {
	Packs     int // packages found
	Decisions int
	Conflicts int
	Learned   int // incompatibilities that conflict resolution added
	Effort    int // incompatibilities checked
}

// Selection is the version of a pack that was selected.
type Selection struct {
	Version string
	Source  string    // that of the requirements
	By      []pack.ID // the packs that require it, in order; the zero ID stands for the root
}

// Resolve selects versions for everything that the root requires. The error is a [*ConflictError] if there is no
// solution, an error of the provider with the requirements that led to it, or an error with the code Conflict if the
// search gave up.
func Resolve(ctx context.Context, root []Requirement, p Provider, o Options) (map[pack.ID]Selection, error) {
	cache := newProviderCache(p, o.Prefer)
	limit := cmp.Or(o.Effort, maxEffort)
	effort := limit
	s, err := solve(ctx, cache, root, nil, &effort)
	if o.Stats != nil {
		s.stats.Packs, s.stats.Effort = len(cache.packs)-1, limit-effort
		*o.Stats = s.stats
	}
	switch {
	case errors.Is(err, errEffort):
		return nil, diag.Errorf(diag.Conflict,
			"cannot select versions: the search stopped after %d version conflicts", s.stats.Conflicts).
			WithHint("use narrower version ranges in skillpm.yaml, or require fewer packs")
	case err != nil:
		return nil, err
	}
	if s.failure == nil {
		return s.selections(), nil
	}
	conflict, err := explain(ctx, cache, root, s.failure)
	if err != nil {
		return nil, err
	}
	conflict.advise(ctx, cache, root)
	return nil, conflict
}

// selections returns the solution, with the packs that require each pack.
func (s *solver) selections() map[pack.ID]Selection {
	by := make(map[*packNode][]pack.ID)
	for p, version := range s.versions() {
		for _, d := range p.versions[version].requires {
			by[d.target] = append(by[d.target], p.id)
		}
	}
	selections := make(map[pack.ID]Selection)
	for p, version := range s.versions() {
		if p.packNode != s.cache.root {
			v := p.versions[version]
			slices.SortFunc(by[p.packNode], pack.ID.Compare)
			selections[p.id] = Selection{Version: v.text, Source: v.source, By: slices.Compact(by[p.packNode])}
		}
	}
	return selections
}
