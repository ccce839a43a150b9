package resolve

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Requirement is what the root or a version of a pack requires.
type Requirement struct {
	Pack       pack.ID
	Constraint string // a range of versions; "", "*" and "latest" mean any
	Source     string // "" for a pack that is found by its name, else the place it must come from
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

// Version is one version of a pack on offer.
type Version struct {
	Version   string // strict semver
	Yanked    bool
	Reason    string // why it was yanked, "" where that is not said
	Withheld  string // why the version is not taken, as the end of a sentence; "" if nothing is against it
	Published string // RFC 3339, or ""
}

// World is what the resolver asks. A source is the one of a requirement, "" for a pack found by its name. Both methods
// may be called more than once with the same arguments, never at the same time.
type World interface {
	// Versions returns the versions of a pack in any order. Those that are not strict semver are passed over.
	Versions(ctx context.Context, pk pack.ID, src string) ([]Version, error)
	// Requirements returns what one version of a pack requires.
	Requirements(ctx context.Context, pk pack.ID, src, version string) ([]Requirement, error)
}

// Options say which of several good choices is taken.
type Options struct {
	Prefer map[pack.ID]string // the versions in the lock
	Stats  *Stats             // if not nil, set to what the search took
	Effort int                // how often rules are looked at before the search is given up; 0 for some seconds' worth
}

// Stats say what a search took. It is the same for equal requirements and worlds.
type Stats struct {
	Packs     int // that were looked at
	Decisions int // versions that were tried
	Conflicts int // how often it had to go back
	Learned   int // rules learnt from conflicts
	Effort    int // how often a rule was looked at
}

// Chosen is the version that was chosen of one pack.
type Chosen struct {
	Version string
	Source  string    // that of the requirements
	By      []pack.ID // the packs that require it, in order; the zero ID stands for the root
}

// Resolve chooses versions for everything that the root requires. The error is a [*ConflictError] when there is no
// choice, one of the world's, with the requirements that led to it and its own code and hint, or one with the code
// Conflict when the search was given up.
func Resolve(ctx context.Context, root []Requirement, w World, o Options) (map[pack.ID]Chosen, error) {
	c := newCatalogue(w, o.Prefer)
	root = sortedRequirements(slices.Clone(root))
	limit := cmp.Or(o.Effort, maxEffort)
	effort := limit
	s, err := solve(ctx, c, root, &effort)
	if o.Stats != nil {
		s.stats.Packs, s.stats.Effort = len(c.packs)-1, limit-effort
		*o.Stats = s.stats
	}
	switch {
	case errors.Is(err, errEffort):
		return nil, diag.Errorf(diag.Conflict, "gave up after %d conflicts between requirements", s.stats.Conflicts).
			WithHint("narrow the ranges in skillpm.yaml, or require fewer packs at once")
	case err != nil:
		return nil, err
	}
	if s.failure == nil {
		return s.chosen(), nil
	}
	conflict, err := explain(ctx, c, root, s.failure)
	if err != nil {
		return nil, err
	}
	conflict.advise(ctx, c, root)
	return nil, conflict
}

// chosen collects the decisions, with who requires each.
func (s *solver) chosen() map[pack.ID]Chosen {
	decided := 0
	requirers := make([]int, len(s.packs)+1) // first how many, then where they begin
	for p, v := range s.decisions() {
		decided++
		for _, e := range *s.cat.lists.at(s.cat.packs[p].versions[v].requires) {
			requirers[e.target]++
		}
	}
	total := 0
	for p, n := range requirers {
		requirers[p], total = total, total+n
	}
	by, ends := make([]pack.ID, total), slices.Clone(requirers)
	for p, v := range s.decisions() {
		for _, e := range *s.cat.lists.at(s.cat.packs[p].versions[v].requires) {
			by[ends[e.target]] = s.cat.packs[p].id
			ends[e.target]++
		}
	}
	out := make(map[pack.ID]Chosen, decided)
	for p, v := range s.decisions() {
		if pk := s.cat.packs[p]; p != rootPack {
			who := by[requirers[p]:ends[p]:ends[p]]
			slices.SortFunc(who, compareIDs)
			out[pk.id] = Chosen{Version: pk.versions[v].version, Source: pk.placeOf(v), By: slices.Compact(who)}
		}
	}
	return out
}

// decisions yields the packs that are decided, the root first, and their versions.
func (s *solver) decisions() iter.Seq2[int32, int] {
	return func(yield func(int32, int) bool) {
		for p := range s.packs {
			if v := s.packs[p].decided; v >= 0 && !yield(int32(p), int(v)) {
				return
			}
		}
	}
}
