package skillpm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
)

// UpdateOptions configure [Client.Update].
type UpdateOptions struct {
	ChangeOptions
	// Packs are owner/name, required by the manifest or by another pack, or owner/name@VERSION for exactly this
	// version. None means all.
	Packs  []string
	Latest bool // beyond the ranges of the manifest, which are rewritten
}

// Update moves packs to the highest versions that the manifest allows, or with Latest to the highest there are. Packs
// that are not updatedPacks move only if one that is updatedPacks needs it. What the user chose besides versions stays.
// A named version that the manifest does not allow is an error without Latest.
func (c *Client) Update(ctx context.Context, o UpdateOptions) (*InstallReport, error) {
	r := request{ChangeOptions: o.ChangeOptions, command: commandUpdate}
	return c.change(ctx, r, func(in *installer) (*resolution, error) {
		return in.resolveUpdate(ctx, o.Packs, o.Latest)
	})
}

// resolveUpdate computes the manifest and the lockfile that an update leads to.
func (in *installer) resolveUpdate(ctx context.Context, packs []string, latest bool) (*resolution, error) {
	names, versions, err := exactVersions(packs)
	if err != nil {
		return nil, err
	}
	ids, err := in.updatedPacks(names, "update")
	if err != nil {
		return nil, err
	}
	r := in.request
	m := in.Manifest.Clone()
	if latest {
		if m, err = withoutRanges(m, ids, r.edited); err != nil {
			return nil, err
		}
	}
	queries := in.updateQueries(m)
	unreachable, missing, err := in.moveSources(ctx, ids, queries)
	if err != nil {
		return nil, err
	}
	if err := in.requireExact(m, versions, latest); err != nil {
		return nil, err
	}
	if r.skipUnreachable || r.Offline {
		maps.Copy(unreachable, in.findUnreachable(ctx, ids, queries))
	}
	if !r.skipUnreachable && len(unreachable) > 0 && len(unreachable) == len(ids) { // there is nothing to update
		return nil, unreachable[sortedIDs(unreachable)[0]]
	}
	fixed := slices.Concat(r.edited, sortedIDs(unreachable), sortedIDs(missing))
	if latest && len(unreachable) > 0 {
		if m, err = withoutRanges(in.Manifest, ids, fixed); err != nil {
			return nil, err
		}
	}
	res := &resolution{
		manifest: in.Manifest.Clone(), updated: ids, exact: versions, latest: latest,
		unreachable: sortedIDs(unreachable),
	}
	if len(names) > 0 {
		res.requested = ids
	}
	if res.Solution, err = in.lockFreed(ctx, m, in.unlockVersions(ids, fixed)); err != nil {
		return nil, in.explainMissingVersion(err, versions, latest)
	}
	for _, id := range res.unreachable {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%s stays at %s because its source is unreachable: %v",
			id, in.lockedVersion(id), unreachable[id]))
	}
	res.Warnings = append(res.Warnings, in.stayWarnings(missing)...)
	if latest {
		err = in.rewriteRanges(ctx, m, res)
	}
	return res, err
}

// updatedPacks returns the packs that a command such as update names, or all that are required or locked if it names
// none.
func (in *installer) updatedPacks(names []string, command string) ([]pack.ID, error) {
	known := map[pack.ID]bool{}
	for id := range in.Lock.Packs {
		known[id] = true
	}
	for _, d := range slices.Concat(in.Manifest.Dependencies, in.Manifest.DevDependencies) {
		known[d.ID] = true
	}
	if len(names) == 0 {
		return sortedIDs(known), nil
	}
	var ids []pack.ID
	for _, name := range names {
		id, err := in.parsePackName(name, command)
		if err != nil {
			return nil, err
		}
		if !known[id] {
			return nil, notDependency(id, known)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parsePackName reads the owner/name of a pack that a command names. For anything else, the hint of the error shows
// what to write.
func (in *installer) parsePackName(name, command string) (pack.ID, error) {
	id, err := pack.ParseID(name)
	if err == nil {
		return id, nil
	}
	text, _, _ := strings.Cut(name, "@")
	for _, pk := range in.Lock.IDs() {
		if _, ok := in.Lock.Packs[pk].Skills[text]; ok {
			return id, diag.Errorf(diag.Usage, "%s is a skill; skillpm %s takes pack names", text, command).
				WithHint("use the pack of the skill: skillpm %s %s", command, pk)
		}
	}
	for _, pk := range in.Lock.IDs() {
		if pk.Name == text {
			return id, diag.Errorf(diag.Usage, "invalid pack name %q", text).WithHint("did you mean %s?", pk)
		}
	}
	if ref, refErr := pack.Parse(name); refErr == nil && ref.Kind != pack.KindName {
		return id, diag.Errorf(diag.Usage, "%s is a source; skillpm %s takes pack names", name, command).
			WithHint("list installed packs with: skillpm list")
	}
	return id, err
}

// notDependency is the error for a pack that nothing here requires.
func notDependency(id pack.ID, known map[pack.ID]bool) error {
	err := diag.Errorf(diag.NotFound, "neither skillpm.yaml nor an installed pack requires %s", id)
	var have []string
	for k := range known {
		have = append(have, k.String())
	}
	slices.Sort(have)
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list installed packs with: skillpm list; add the pack with: skillpm install %s", id)
}

// unlockVersions lets the solver choose new versions of locked packs, except of fixed ones, and returns the packs that
// are free.
func (in *installer) unlockVersions(ids, fixed []pack.ID) map[pack.ID]bool {
	unlockVersions := map[pack.ID]bool{}
	for _, id := range ids {
		if _, locked := in.Lock.Packs[id]; locked && !slices.Contains(fixed, id) {
			in.Backend.Free(id)
			unlockVersions[id] = true
		}
	}
	return unlockVersions
}

// lockFreed solves a manifest with some packs free. Those that can't move, or that could only move to an older version,
// stay at their locked version.
func (in *installer) lockFreed(ctx context.Context, m *pack.Manifest, unlockVersions map[pack.ID]bool) (*solve.Solution,
	error,
) {
	for {
		sol, err := in.Backend.Lock(ctx, m)
		var lock *pack.Lock
		if err == nil {
			lock = sol.Lock
		}
		if !in.dropUnmovable(unlockVersions, err, func(id pack.ID) string {
			if p := lock.Packs[id]; p != nil {
				return p.Version
			}
			return ""
		}) {
			return sol, err
		}
	}
}

// dropUnmovable takes packs out of the free ones: those that a conflict is about or, without a conflict, those that
// would move to an older version. It reports whether there are any.
func (in *installer) dropUnmovable(unlockVersions map[pack.ID]bool, err error, version func(pack.ID) string) bool {
	conflict, ok := errors.AsType[*resolve.ConflictError](err)
	if err != nil && !ok {
		return false
	}
	matched := false
	stay := func(id pack.ID) {
		if unlockVersions[id] {
			in.Backend.Unfree(id)
			delete(unlockVersions, id)
			matched = true
		}
	}
	if ok {
		for _, d := range conflict.Disputes {
			stay(d.Pack)
		}
		return matched
	}
	for id := range maps.Clone(unlockVersions) {
		if in.wouldDowngrade(id, version(id)) {
			stay(id)
		}
	}
	return matched
}

// wouldDowngrade reports whether a version is a lower release than the locked one, unless the locked one was yanked and
// no policy forbids downgrades.
func (in *installer) wouldDowngrade(id pack.ID, version string) bool {
	was := in.Lock.Packs[id].Version
	if o, ok := in.Backend.Offer(id, was); ok && o.Yanked && !in.Admission.ForbidsDowngrades() {
		return false
	}
	return isHigher(was, version)
}

// isPinned reports whether a version stands for a commit or a digest, which have no order.
func isPinned(version string) bool { return strings.HasPrefix(version, "0.0.0-") }

// withoutRanges returns a manifest whose requirements of some packs allow every release. It drops ranges, tags of
// releases, and digests that stand beside a tag or a branch. A requirement of any version stays as it is: only a pack
// that is required in this way follows a default branch.
func withoutRanges(m *pack.Manifest, ids, fixed []pack.ID) (*pack.Manifest, error) {
	loose := m.Clone()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if !slices.Contains(ids, d.ID) || slices.Contains(fixed, d.ID) {
			continue
		}
		if d.Ref != nil {
			ref := *d.Ref
			d.Ref = &ref
			switch {
			case ref.Kind == pack.KindPath, ref.Rev == "" && (ref.Digest != "" || d.Constraint == ""):
				continue
			case ref.Rev == "":
			case releaseTag(d):
				d.Ref.Rev, d.Ref.Digest = "", ""
			default:
				d.Ref.Digest = ""
				if err := loose.SetDependency(d); err != nil {
					return nil, err
				}
				continue
			}
		}
		d.Constraint = solve.AnyRelease
		if err := loose.SetDependency(d); err != nil {
			return nil, err
		}
	}
	return loose, nil
}

// releaseTag reports whether a requirement names the tag of a release.
func releaseTag(d pack.Dependency) bool {
	_, ok := pack.VersionFromTag(d.Ref.Rev, d.ID.Name)
	return ok
}

// rewriteRanges changes the requirements of a resolution's manifest so that they allow the chosen versions, each in its
// own form: a tag stays a tag, a digest a digest, one version one version, a tilde range a tilde range. Requirements
// that allow the chosen version stay as they are.
func (in *installer) rewriteRanges(ctx context.Context, loose *pack.Manifest, res *resolution) error {
	for _, d := range slices.Concat(in.Manifest.Dependencies, in.Manifest.DevDependencies) {
		matched, ok := res.Lock.Packs[d.ID]
		now, _ := loose.Dependency(d.ID)
		if !ok || !slices.Contains(res.updated, d.ID) || sameRequirement(d, now) {
			continue
		}
		next := d
		if d.Ref != nil && d.Ref.Rev != "" {
			ref, err := in.Backend.Locate(ctx, now, matched.Version)
			if err != nil {
				return err
			}
			lockFreed := *d.Ref
			next.Ref = &lockFreed
			if releaseTag(d) && matched.Version != in.lockedVersion(d.ID) {
				lockFreed.Rev = ref.Rev
			}
			if d.Ref.Digest != "" {
				lockFreed.Digest = ref.Digest
			}
			if lockFreed == *d.Ref {
				continue
			}
		} else if fits, err := pack.Allows(d, matched.Version); err == nil && fits {
			continue
		} else {
			next.Constraint = rangeLike(d.Constraint, matched.Version)
		}
		if err := res.manifest.SetDependency(next); err != nil {
			return err
		}
	}
	return nil
}

// sameRequirement reports whether two requirements have the same range and reference.
func sameRequirement(a, b pack.Dependency) bool {
	if (a.Ref == nil) != (b.Ref == nil) || a.Constraint != b.Constraint {
		return false
	}
	return a.Ref == nil || *a.Ref == *b.Ref
}

// lockedVersion returns the version that a pack is locked to, "" if it is not.
func (in *installer) lockedVersion(id pack.ID) string {
	if p, ok := in.Lock.Packs[id]; ok {
		return p.Version
	}
	return ""
}

var oneVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^\s*(=?)\s*v?\d+\.\d+\.\d+[-+.0-9A-Za-z]*\s*$`)
})

// rangeLike returns a range around a version in the form of another range: one version, a tilde, or else a caret.
func rangeLike(constraint, version string) string {
	if matched := oneVersion().FindStringSubmatch(constraint); matched != nil {
		return matched[1] + version
	}
	if trimmed := strings.TrimSpace(constraint); strings.HasPrefix(trimmed, "~") &&
		!strings.ContainsAny(trimmed, " ,|") {
		return "~" + version
	}
	return "^" + version
}

// findUnreachable returns the locked packs whose registry or source can't be reached, with the reason. They stay at
// their locked versions.
func (in *installer) findUnreachable(
	ctx context.Context, ids []pack.ID, queries map[pack.ID]pack.Dependency,
) map[pack.ID]error {
	var deps []pack.Dependency
	for _, id := range ids {
		if d, ok := queries[id]; ok && in.Lock.Packs[id] != nil {
			deps = append(deps, d)
		}
	}
	in.Backend.Prefetch(ctx, deps)
	unreachable := map[pack.ID]error{}
	for _, d := range deps {
		if _, err := in.Backend.Offered(ctx, d); diag.CodeOf(err) == diag.Remote && ctx.Err() == nil {
			unreachable[d.ID] = err
			in.Backend.Hold(d.ID)
		}
	}
	return unreachable
}

// updateQueries is [installer.versionQueries] with what a manifest requires exactly as it requires it.
func (in *installer) updateQueries(m *pack.Manifest) map[pack.ID]pack.Dependency {
	queries := in.versionQueries()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		queries[d.ID] = pack.Dependency{ID: d.ID, Ref: d.Ref}
	}
	return queries
}

// sortedIDs returns the keys of a map, sorted.
func sortedIDs[V any](m map[pack.ID]V) []pack.ID {
	return slices.SortedFunc(maps.Keys(m), pack.ID.Compare)
}
