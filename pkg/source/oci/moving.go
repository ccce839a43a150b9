package oci

import (
	"context"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// move points the moving tags of a release to it: 1.4, 1 and latest for 1.4.2, each where no higher release is
// published in its line. A tag that leads to a higher release stays, also where that release's own tag is gone. It
// returns the tags that moved.
func (p *publisher) move(ctx context.Context, doc document) ([]string, error) {
	ours, err := semver.StrictNewVersion(p.rel.Version)
	if err != nil || !p.options.Moving || ours.Prerelease() != "" {
		return nil, nil //nolint:nilerr // the version was checked before
	}
	tags, err := p.to.tags(ctx)
	if err != nil && diag.CodeOf(err) != diag.NotFound {
		return nil, err
	}
	var moved []string
	for _, line := range lines(ours) {
		if slices.ContainsFunc(tags, func(tag string) bool { return line.above(tag, ours) }) {
			continue
		}
		if slices.Contains(tags, line.tag) {
			if stays, err := p.stays(ctx, line.tag, ours, doc); err != nil {
				return moved, err
			} else if stays {
				continue
			}
		}
		if err := p.to.pushDocument(ctx, doc, line.tag); err != nil {
			return moved, err
		}
		moved = append(moved, line.tag)
	}
	return p.yield(ctx, ours, moved)
}

// yield looks again after tags were moved, because a registry has no lock: where somebody has published a higher
// release in the meantime, its line's tags lead to that. It returns the tags that stay with ours.
func (p *publisher) yield(ctx context.Context, ours *semver.Version, moved []string) ([]string, error) {
	if _, remote := p.to.(*repository); !remote || len(moved) == 0 {
		return moved, nil
	}
	tags, err := p.to.tags(ctx)
	if err != nil {
		return moved, err
	}
	for _, line := range lines(ours) {
		i := slices.Index(moved, line.tag)
		higher := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !line.above(tag, ours) })
		if i < 0 || len(higher) == 0 {
			continue
		}
		doc, err := p.to.document(ctx, slices.MaxFunc(higher, byVersion))
		if err != nil {
			return moved, err
		}
		if err := p.to.pushDocument(ctx, doc, line.tag); err != nil {
			return moved, err
		}
		moved = slices.Delete(moved, i, i+1)
	}
	return moved, nil
}

// byVersion compares tags that are versions.
func byVersion(a, b string) int {
	va, _ := pack.VersionFromTag(a, "")
	vb, _ := pack.VersionFromTag(b, "")
	return semver.MustParse(va).Compare(semver.MustParse(vb))
}

// line is a moving tag and the releases that it may lead to.
type line struct {
	tag  string
	here func(*semver.Version) bool
}

func lines(v *semver.Version) []line {
	return []line{
		{fmt.Sprintf("%d.%d", v.Major(), v.Minor()), func(o *semver.Version) bool { return o.Major() == v.Major() && o.Minor() == v.Minor() }},
		{fmt.Sprintf("%d", v.Major()), func(o *semver.Version) bool { return o.Major() == v.Major() }},
		{"latest", func(*semver.Version) bool { return true }},
	}
}

// above reports whether a tag is that of a higher release of the line.
func (l line) above(tag string, ours *semver.Version) bool {
	text, ok := pack.VersionFromTag(tag, "")
	return ok && l.higher(text, ours)
}

func (l line) higher(text string, ours *semver.Version) bool {
	v, err := semver.StrictNewVersion(text)
	return err == nil && v.Prerelease() == "" && l.here(v) && v.GreaterThan(ours)
}

// stays reports whether a moving tag is where it should be, or at something higher.
func (p *publisher) stays(ctx context.Context, tag string, ours *semver.Version, doc document) (bool, error) {
	now, err := p.to.document(ctx, tag)
	switch {
	case diag.CodeOf(err) == diag.NotFound:
		return false, nil
	case err != nil:
		return false, err
	case now.desc.Digest == doc.desc.Digest:
		return true, nil
	}
	a, err := parseArtifact(now)
	if err != nil || a.info == nil || a.info.Name != p.info.Name {
		return false, nil //nolint:nilerr // what is no release of this pack holds no tag
	}
	return line{here: func(*semver.Version) bool { return true }}.higher(a.info.Version, ours), nil
}
