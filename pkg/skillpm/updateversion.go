package skillpm

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// exactVersions splits the arguments of an update into names, and the versions that they ask for.
func exactVersions(packs []string) (names []string, versions map[pack.ID]string, err error) {
	versions = map[pack.ID]string{}
	for _, text := range packs {
		name, version, ok := strings.Cut(text, "@")
		id, badName := pack.ParseID(name)
		if !ok || badName != nil {
			names = append(names, text)
			continue
		}
		if _, err := semver.StrictNewVersion(version); err != nil {
			return nil, nil, diag.Errorf(diag.Usage, "cannot update %s: %q is not an exact version", name, version).
				WithHint("use a version such as %s@1.4.0, or change the range with: skillpm install '%s'", name, text)
		}
		if other, ok := versions[id]; ok && other != version {
			return nil, nil, diag.Errorf(diag.Usage, "cannot update %s to both %s and %s", name, other, version)
		}
		names, versions[id] = append(names, name), version
	}
	return names, versions, nil
}

// requireExact makes a manifest require exact versions. Unless the update may rewrite ranges, the ranges must allow
// them.
func (in *installer) requireExact(m *pack.Manifest, versions map[pack.ID]string, latest bool) error {
	queries := in.versionQueries()
	for _, id := range sortedIDs(versions) {
		version := versions[id]
		d, direct := m.Dependency(id)
		if !direct {
			if d = queries[id]; d.ID.IsZero() {
				d.ID = id
			}
			if locked := in.Lock.Packs[id]; locked != nil && locked.Partial {
				d.Skills = slices.Sorted(maps.Keys(locked.Skills))
			}
		}
		if was, ok := in.Manifest.Dependency(id); ok && !latest && !allowsExact(was, version, in.lockedVersion(id)) {
			return diag.Errorf(diag.Conflict, "cannot update %s to %s: skillpm.yaml requires %s", id, version,
				requirement(was)).
				WithHint("change the range, too, with: skillpm update --latest %s@%s", id, version)
		}
		if d.Ref != nil && (d.Ref.Rev != "" || d.Ref.Digest != "" || d.Ref.Kind == pack.KindPath) {
			if version == in.lockedVersion(id) {
				continue
			}
			return diag.Errorf(diag.Conflict,
				"cannot update %s to %s: its source is %s, which does not have another version", id, version, d.Ref).
				WithHint("change the source of %s in skillpm.yaml", id)
		}
		d.Constraint = "=" + version
		if err := m.SetDependency(d); err != nil {
			return err
		}
	}
	return nil
}

// explainMissingVersion adds a hint to an error about a version that an update names and that does not exist. It
// returns other errors unchanged.
func (in *installer) explainMissingVersion(err error, versions map[pack.ID]string, latest bool) error {
	var conflict *resolve.ConflictError
	if !errors.As(err, &conflict) || conflict.Code() != diag.NotFound {
		return err
	}
	for _, dispute := range conflict.Disputes {
		version, named := versions[dispute.Pack]
		if !named || len(dispute.Versions) == 0 {
			continue
		}
		d, direct := in.Manifest.Dependency(dispute.Pack)
		command, available := "skillpm update", dispute.Versions[0]
		i := slices.IndexFunc(dispute.Versions, func(v string) bool { return allows(d, v) })
		if !direct || !latest && i >= 0 {
			available = dispute.Versions[max(i, 0)]
		} else {
			command += " --latest"
		}
		return diag.Errorf(diag.NotFound, "cannot update %s to %s: %w", dispute.Pack, version, err).
			WithHint("select an available version, for example with: %s %s@%s", command, dispute.Pack, available)
	}
	return err
}

// allowsExact reports whether a requirement allows a version. One on a tag or a digest allows the locked version.
func allowsExact(d pack.Dependency, version, locked string) bool {
	return version == locked || allows(d, version)
}
