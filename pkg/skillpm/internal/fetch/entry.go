package fetch

import (
	"context"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Entry makes a lock's entry for a pack, with the required skills, or all if required is nil. It fetches the pack if
// its source doesn't state the digests. Then it leaves out skills that cannot be part of a pack, unless they are
// required, and returns them.
func (f *Fetcher) Entry(ctx context.Context, p *pack.Pack, required []string) (*pack.LockedPack, []pack.BadSkill,
	error,
) {
	names := p.SkillNames()
	if required != nil {
		names = required
	}
	trees := map[string]string{}
	var bad []pack.BadSkill
	unknown := false
	for _, name := range names {
		s, ok := p.Skill(name)
		if !ok {
			return nil, nil, diag.Errorf(diag.NotFound, "%s %s does not contain the skill %q", p.ID, p.Version, name).
				WithHint("available skills: %s", strings.Join(p.SkillNames(), ", "))
		}
		trees[name] = s.Tree
		unknown = unknown || s.Tree == ""
	}
	if err := checkIntegrity(p); err != nil {
		return nil, nil, err
	}
	if len(trees) == 0 {
		return nil, nil, diag.Errorf(diag.Invalid, "%s %s does not contain skills", p.ID, p.Version)
	}
	if unknown {
		fetched, err := f.Fetch(ctx, p, required, nil)
		if err != nil {
			return nil, nil, err
		}
		trees, bad = fetched.Trees, fetched.Bad
	}
	locked := &pack.LockedPack{
		Version: p.Version, Source: p.Ref.Locked(p.Version), Resolved: p.Ref.Digest,
		Integrity: bundle.Integrity(trees), Skills: trees, Dependencies: map[string]string{},
		Needs:   p.Requires.Table(),
		Partial: len(trees)+len(bad) < len(p.Skills),
	}
	for _, d := range p.Dependencies {
		locked.Dependencies[d.ID.String()] = pack.FormatRequirement(d)
	}
	return locked, bad, nil
}

// checkIntegrity checks that the integrity that a source states of a pack is that of its skills.
func checkIntegrity(p *pack.Pack) error {
	trees := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree == "" {
			return nil
		}
		trees[s.Name] = s.Tree
	}
	if got := bundle.Integrity(trees); p.Integrity != "" && p.Integrity != got {
		what := "integrity of " + p.ID.String() + " " + p.Version
		return &bundle.MismatchError{What: what, Want: p.Integrity, Got: got}
	}
	return nil
}
