package skillpm

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// denials is what policies deny of packs and skills that a report shows.
type denials struct {
	evaluator  *enforce.Evaluator
	verdicts   *admission.Verdicts
	readsFiles bool // a policy decides by files
}

// denials returns the denials of a scope, nil if there are no policies.
func (c *Client) denials(w *workspace.Workspace) *denials {
	evaluator := w.Guard(c.PolicyProject)
	set := evaluator.Policies()
	if len(set) == 0 {
		return nil
	}
	d := &denials{evaluator: evaluator, readsFiles: set.Err() == nil &&
		slices.ContainsFunc(set, (*policy.Policy).NeedsFiles)}
	if d.readsFiles {
		d.verdicts = admission.ReadVerdicts(c.Machine, evaluator)
	}
	return d
}

// skillDenial returns why the policies deny a skill by its name or source, "" if they allow it.
func (d *denials) skillDenial(name, alias string, id pack.ID, source string) string {
	if d == nil {
		return ""
	}
	skill := enforce.Skill{Name: name, Alias: alias, Pack: id.String(), Source: source, Trusted: true}
	return errorText(d.evaluator.CheckListed(skill))
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// markPack adds to the report of a pack what the policies deny of it. Files that were admitted before are not read
// again.
func (d *denials) markPack(ctx context.Context, w *workspace.Workspace, l *workspace.Layout, id pack.ID,
	r *PackReport,
) {
	if d == nil {
		return
	}
	locked, source := l.Packs[id], r.Source
	if r.Linked != "" {
		source = string(pack.KindPath)
	}
	checkFiles := d.readsFiles && !d.verdicts.Has(id, locked, base.SkillNames(l))
	for i := range r.Skills {
		s := &r.Skills[i]
		subject := enforce.Skill{
			Name: s.Name, Alias: s.Link, Pack: r.Pack, Source: source, Dir: w.Scope.PluginSkill(id, s.Name),
		}
		if linked := l.Linked[id]; linked != nil {
			subject.Claim = pack.LinkedClaim(r.Pack, linked.Skills[s.Name])
		} else if subject.Trusted = !s.Installed; locked != nil {
			subject.Claim, subject.Tree = locked.Claim(id), locked.Skills[s.Name]
		}
		if s.Denied = errorText(d.evaluator.CheckListed(subject)); s.Denied == "" && s.Installed &&
			(checkFiles || s.Edited) {
			_, err := d.evaluator.Evaluate(ctx, subject, safefile.Dir(subject.Dir))
			s.Denied = errorText(err)
			refused, ok := errors.AsType[*policy.RefusedError](err)
			s.Unapproved = ok && refused.Rule == "approve"
		}
		if r.Denied == "" {
			r.Denied = s.Denied
		}
	}
}

// lockedDenial returns what the policies deny of a locked pack by its source or its skills' names.
func (d *denials) lockedDenial(id pack.ID, p *pack.LockedPack) PackDenial {
	return packDenial(slices.Sorted(maps.Keys(p.Skills)), func(name string) string {
		return d.skillDenial(name, "", id, p.Source)
	})
}

// PackDenial is what the policies deny of a pack.
type PackDenial struct {
	Denied       string   `json:"denied,omitempty"`       // why the policies deny it with all of its skills
	DeniedSkills []string `json:"deniedSkills,omitempty"` // the denied ones, if the policies allow others
}

// IsEmpty reports whether the policies deny nothing of the pack.
func (d PackDenial) IsEmpty() bool { return d.Denied == "" && len(d.DeniedSkills) == 0 }

// packDenial summarizes why policies deny skills, "" for those that they allow.
func packDenial(names []string, reason func(name string) string) (d PackDenial) {
	first := ""
	for _, name := range names {
		if why := reason(name); why != "" {
			d.DeniedSkills = append(d.DeniedSkills, name)
			first = cmp.Or(first, why)
		}
	}
	if len(d.DeniedSkills) == len(names) {
		return PackDenial{Denied: first}
	}
	return d
}

// nameDenial returns why the policies deny a skill by its name, whatever its source.
func (d *denials) nameDenial(name string, id pack.ID) string {
	_, err := d.evaluator.Policies().Skill([]string{name}, id.String())
	return errorText(err)
}

// restrictsSources reports whether a policy restricts the sources of packs.
func (d *denials) restrictsSources() bool {
	return slices.ContainsFunc(d.evaluator.Policies(), func(p *policy.Policy) bool {
		return p.Sources.Allow != nil || len(p.Sources.Deny) > 0
	})
}

// markResult adds to a search result what the policies deny of it. If that depends on a source that only an index has,
// it reads the index, as an installation would.
func (s *searcher) markResult(ctx context.Context, p *SearchResult) {
	id, err := pack.ParseID(p.Pack)
	if s.denied == nil || err != nil {
		return
	}
	if s.denied.restrictsSources() {
		if source := s.sourceOf(ctx, p, id); source != "" {
			_, err := s.denied.evaluator.Policies().Source(source)
			p.Denied = errorText(err)
		}
	}
	for i := range p.Skills {
		p.Skills[i].Denied = s.denied.nameDenial(p.Skills[i].Name, id)
	}
	if p.Denied == "" {
		p.PackDenial = packDenial(p.names, func(name string) string { return s.denied.nameDenial(name, id) })
	}
}

// sourceOf returns the source of a search result, "" if that is unknown.
func (s *searcher) sourceOf(ctx context.Context, p *SearchResult, id pack.ID) string {
	if len(p.Registries) == 0 {
		return ""
	}
	switch url := s.urlOf(p.Registries[0]); {
	case url == "":
		return ""
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

// UnlinkedDenied is the result of [Client.UnlinkDenied].
type UnlinkedDenied struct {
	Removed []string // links and copies, relative to the root of the scope
	Kept    []string // copies with local edits
}

// UnlinkDenied removes the links and copies through which the agents of a scope find skills that its policies deny. The
// lockfile and the installed packs stay as they are. A scope without a manifest has none.
func (c *Client) UnlinkDenied(ctx context.Context, kind string) (UnlinkedDenied, error) {
	return workspace.Retry(scopeFiles, func() (u UnlinkedDenied, err error) {
		w, err := c.Machine.OpenForChange(kind, false, nil)
		if diag.CodeOf(err) == diag.NotFound {
			return u, nil
		} else if err != nil {
			return u, err
		}
		if err := w.Recover(ctx); err != nil {
			return u, err
		}
		u.Removed, u.Kept, err = w.RemoveDenied(ctx)
		return u, err
	})
}
