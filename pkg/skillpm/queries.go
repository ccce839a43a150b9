package skillpm

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// versionQueries returns for each required pack the dependency that lists all its versions: without ranges and without
// tags of releases.
func (in *installer) versionQueries() map[pack.ID]pack.Dependency {
	queries := map[pack.ID]pack.Dependency{}
	add := func(d pack.Dependency) {
		if _, ok := queries[d.ID]; ok {
			return
		}
		if d.Ref != nil && d.Ref.Rev != "" && releaseTag(d) {
			d = withoutRevision(d)
		}
		queries[d.ID] = pack.Dependency{ID: d.ID, Ref: d.Ref}
	}
	for _, d := range slices.Concat(in.Manifest.Dependencies, in.Manifest.DevDependencies) {
		add(d)
	}
	for _, id := range in.Lock.IDs() {
		deps, _ := in.Lock.Packs[id].Requires() // one that can't be read is an error of the solver
		for _, d := range deps {
			add(d)
		}
	}
	return queries
}

// withoutRevision returns a dependency on the same source without a tag, branch, commit, or digest.
func withoutRevision(d pack.Dependency) pack.Dependency {
	if d.Ref != nil {
		ref := *d.Ref
		ref.Rev, ref.Digest = "", ""
		d.Ref = &ref
	}
	return d
}

// requirers returns what requires each locked pack.
func (in *installer) requirers() map[pack.ID][]Requirer {
	by := map[pack.ID][]Requirer{}
	for _, d := range slices.Concat(in.Manifest.Dependencies, in.Manifest.DevDependencies) {
		by[d.ID] = append(by[d.ID], Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, id := range in.Lock.IDs() {
		deps, _ := in.Lock.Packs[id].Requires() // as above
		for _, d := range deps {
			by[d.ID] = append(by[d.ID], Requirer{By: id.String(), Range: requirement(d)})
		}
	}
	return by
}
