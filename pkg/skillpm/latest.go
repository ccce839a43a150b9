package skillpm

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/pack"
)

// anyRelease is the range that a requirement has while the latest version is looked for.
const anyRelease = ">=0.0.0"

// loosened returns a manifest whose requirements of some packs allow every release. Ranges give way, and tags of
// releases; a digest gives way where a tag or branch says what is to be had.
func loosened(m *pack.Manifest, ids, held []pack.ID) (*pack.Manifest, error) {
	loose := m.Clone()
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		if !slices.Contains(ids, d.ID) || slices.Contains(held, d.ID) {
			continue
		}
		if d.Ref != nil {
			ref := *d.Ref
			d.Ref = &ref
			switch {
			case ref.Kind == pack.KindPath, ref.Rev == "" && ref.Digest != "":
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
		d.Constraint = anyRelease
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

// narrowed writes the requirements of the target's manifest so that they allow what was found, each in the form it has:
// a tag stays a tag, a digest a digest, one version one version, a tilde a tilde. What allows it already is left alone.
func (w *work) narrowed(ctx context.Context, loose *pack.Manifest, t *target, ids []pack.ID) error {
	for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
		found, ok := t.Lock.Packs[d.ID]
		now, _ := loose.Dependency(d.ID)
		if !ok || !slices.Contains(ids, d.ID) || same(d, now) {
			continue
		}
		next := d
		if d.Ref != nil && d.Ref.Rev != "" {
			ref, err := w.Backend.Locate(ctx, now, found.Version)
			if err != nil {
				return err
			}
			moved := *d.Ref
			next.Ref = &moved
			if releaseTag(d) && found.Version != w.lockedVersion(d.ID) {
				moved.Rev = ref.Rev
			}
			if d.Ref.Digest != "" {
				moved.Digest = ref.Digest
			}
			if moved == *d.Ref {
				continue
			}
		} else if fits, err := pack.Allows(d, found.Version); err == nil && fits {
			continue
		} else {
			next.Constraint = inForm(d.Constraint, found.Version)
		}
		if err := t.manifest.SetDependency(next); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether two requirements ask for the same.
func same(a, b pack.Dependency) bool {
	if (a.Ref == nil) != (b.Ref == nil) || a.Constraint != b.Constraint {
		return false
	}
	return a.Ref == nil || *a.Ref == *b.Ref
}

// lockedVersion returns the version that a pack is locked to, "" if it is not.
func (w *work) lockedVersion(id pack.ID) string {
	if p, ok := w.Lock.Packs[id]; ok {
		return p.Version
	}
	return ""
}

var oneVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(=?)\s*v?\d+\.\d+\.\d+[-+.0-9A-Za-z]*\s*$`) })

// inForm writes a range of the form that another has: one version, a tilde, or else a caret.
func inForm(constraint, version string) string {
	if found := oneVersion().FindStringSubmatch(constraint); found != nil {
		return found[1] + version
	}
	if trimmed := strings.TrimSpace(constraint); strings.HasPrefix(trimmed, "~") && !strings.ContainsAny(trimmed, " ,|") {
		return "~" + version
	}
	return "^" + version
}
