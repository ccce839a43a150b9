package skillpm

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// denials say what the policies deny of what is shown.
type denials struct {
	door     *enforce.Evaluator
	admitted *admission.Verdicts
	looks    bool // a policy wants to look at files
}

// denials opens what decides for a scope; nil where there is no policy.
func (c *Client) denials(w *workspace.Workspace) *denials {
	door := w.Guard(c.Around)
	set := door.Policies()
	if len(set) == 0 {
		return nil
	}
	d := &denials{door: door, looks: set.Err() == nil && slices.ContainsFunc(set, (*policy.Policy).NeedsFiles)}
	if d.looks {
		d.admitted = admission.ReadVerdicts(c.Machine, door)
	}
	return d
}

// named returns why a skill may not be used because of its name or where it is from, "" where it may.
func (d *denials) named(name, as string, id pack.ID, place string) string {
	if d == nil {
		return ""
	}
	return text(d.door.CheckListed(enforce.Skill{Name: name, As: as, Pack: id.String(), Source: place}))
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// mark says in the report of a pack what the policies deny of it. Of a pack whose files were admitted before they are
// not read again.
func (d *denials) mark(ctx context.Context, w *workspace.Workspace, l *workspace.Layout, id pack.ID, r *PackReport) {
	if d == nil {
		return
	}
	entry, place := l.Packs[id], r.Source
	if r.Linked != "" {
		place = string(pack.KindPath)
	}
	look := d.looks && !d.admitted.Has(id, entry, base.SkillNames(l))
	for i := range r.Skills {
		s := &r.Skills[i]
		about := enforce.Skill{
			Name: s.Name, As: s.Link, Pack: r.Pack, Source: place, Dir: w.Scope.PluginSkill(id, s.Name),
		}
		if s.Denied = text(d.door.CheckListed(about)); s.Denied == "" && look && s.Installed {
			_, err := d.door.Evaluate(ctx, about, safefile.Dir(about.Dir))
			s.Denied = text(err)
			refused, ok := errors.AsType[*policy.RefusedError](err)
			s.Unapproved = ok && refused.Rule == "approve"
		}
		if r.Denied == "" {
			r.Denied = s.Denied
		}
	}
}

// locked returns why the policies deny a locked pack because of its place or its skills' names, "" where they do not.
func (d *denials) locked(id pack.ID, p *pack.LockedPack) string {
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		if why := d.named(name, "", id, p.Source); why != "" {
			return why
		}
	}
	return ""
}

// skill returns why a skill may not be used because of its name, whatever its place.
func (d *denials) skill(name string, id pack.ID) string {
	_, err := d.door.Policies().Skill([]string{name}, id.String())
	return text(err)
}

// restrictsSources reports whether a policy has a say in where packs come from.
func (d *denials) restrictsSources() bool {
	return slices.ContainsFunc(d.door.Policies(), func(p *policy.Policy) bool {
		return p.Sources.Allow != nil || len(p.Sources.Deny) > 0
	})
}

// markFound says of a pack that was found what the policies deny of it. Where that depends on the place and an index
// names that, the index is asked, as an install would.
func (s *searcher) markFound(ctx context.Context, p *FoundPack) {
	id, err := pack.ParseID(p.Pack)
	if s.denied == nil || err != nil {
		return
	}
	if s.denied.restrictsSources() {
		if place := s.placeOf(ctx, p, id); place != "" {
			_, err := s.denied.door.Policies().Source(place)
			p.Denied = text(err)
		}
	}
	for i := range p.Skills {
		p.Skills[i].Denied = s.denied.skill(p.Skills[i].Name, id)
		p.Denied = cmp.Or(p.Denied, p.Skills[i].Denied)
	}
	for _, name := range p.names {
		p.Denied = cmp.Or(p.Denied, s.denied.skill(name, id))
	}
}

// placeOf returns where the version of a pack that was found is, "" where that is not known.
func (s *searcher) placeOf(ctx context.Context, p *FoundPack, id pack.ID) string {
	if len(p.Registries) == 0 {
		return ""
	}
	i := slices.IndexFunc(s.places, func(place *searchPlace) bool { return place.name == p.Registries[0] })
	if i < 0 {
		return ""
	}
	switch url := s.places[i].url; {
	case url == registry.Local || url == registry.Embedded:
		return url
	case strings.HasPrefix(url, "oci://"):
		return registry.Repository(url, id)
	}
	reg, err := s.Backend.Find(ctx, id)
	if err != nil {
		return ""
	}
	versions, err := reg.Versions(ctx, id)
	if err != nil {
		return ""
	}
	for _, v := range versions {
		if v.Version == p.Version {
			return v.Source
		}
	}
	return ""
}
