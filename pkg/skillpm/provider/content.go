package provider

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Files returns the files of a skill with SKILL.md at the root, of which the digest is that of the lock, or "" for a
// directory that is linked. It returns nil where they are not at hand.
type Files func(id pack.ID, name, digest string) (fs.FS, error)

// Policed reports whether there are policies.
func (pr *Provider) Policed() bool { return len(pr.policies) > 0 }

// LooksAt reports whether a policy wants to look at the files of skills.
func (pr *Provider) LooksAt() bool {
	return slices.ContainsFunc(pr.policies, (*policy.Policy).NeedsFiles)
}

// AdmitFiles holds the files of skills that are to be in force, or are, against the policies: what they are able to do,
// how large they are, what a check finds in them, and who approved them. A pack that was admitted on this machine with
// the same trees, by the same policies and approvals, is not looked at again.
func (pr *Provider) AdmitFiles(ctx context.Context, s Standing, files Files) error {
	if !pr.LooksAt() {
		return nil
	}
	known := ReadVerdicts(pr.machine, pr.guard)
	var fresh []string
	for _, id := range slices.SortedFunc(maps.Keys(s.Packs), pack.ID.Compare) {
		entry := s.Packs[id]
		key := ""
		if !s.Linked(id) {
			key = verdictOf(id, entry.Source, entry.Skills, s.Names)
		}
		if known.has(key) {
			continue
		}
		plain, err := pr.admitSkills(ctx, s, id, files)
		if err != nil {
			return err
		}
		if plain && key != "" {
			fresh = append(fresh, key)
		}
	}
	known.add(fresh)
	return nil
}

// admitSkills looks at the skills of a pack. Plain says that all of them were at hand, and that there is nothing to say
// of them.
func (pr *Provider) admitSkills(ctx context.Context, s Standing, id pack.ID, files Files) (plain bool, err error) {
	entry := s.Packs[id]
	names := slices.Sorted(maps.Keys(entry.Skills))
	decided, errs := make([]decision, len(names)), make([]error, len(names))
	group := new(errgroup.Group)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, name := range names {
		group.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				decided[i], errs[i] = pr.admitSkill(ctx, s, id, name, files)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are kept in order
	plain = true
	for i, d := range decided {
		if errs[i] != nil {
			return false, explained(s, id, errs[i])
		}
		plain = plain && d.whole && len(d.Notes) == 0
		pr.note(d.Notes...)
	}
	return plain, nil
}

// decision is what was decided about a skill. Whole says that its files were at hand, as they are locked.
type decision struct {
	enforce.Decision
	whole bool
}

// admitSkill looks at one skill of a pack.
func (pr *Provider) admitSkill(ctx context.Context, s Standing, id pack.ID, name string, files Files) (d decision, err error) {
	want := s.Packs[id].Skills[name]
	fsys, err := files(id, name, want)
	if fsys == nil || err != nil {
		return d, err
	}
	about := s.about(id, name)
	if doc, _, err := skill.Load(fsys, "."); err == nil && doc.Name() != name {
		about.Other = doc.Name()
	}
	d.Decision, err = pr.guard.Evaluate(ctx, about, fsys)
	d.whole = want == "" || d.Digest == "" || d.Digest == want // else somebody edited it: it is looked at when it is used
	return d, err
}

// about returns what a guard is told of a skill.
func (s Standing) about(id pack.ID, name string) enforce.Skill {
	return enforce.Skill{Name: name, As: s.Names[NameOf{id, name}], Pack: id.String(), Source: s.place(id), Machine: s.Machine}
}

// NameOf is a skill of a pack.
type NameOf struct {
	Pack  pack.ID
	Skill string
}

// admitNames refuses skills by their names.
func (pr *Provider) admitNames(id pack.ID, s Standing) error {
	if s.Machine || !slices.ContainsFunc(pr.policies, func(p *policy.Policy) bool { return len(p.Skills.Deny) > 0 }) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Packs[id].Skills)) {
		notes, err := pr.policies.Skill([]string{name, s.Names[NameOf{id, name}]}, id.String())
		pr.note(notes...)
		if err != nil {
			return explained(s, id, err)
		}
	}
	return nil
}

// explained says of a pack that is refused who requires it, where that is not the manifest.
func explained(s Standing, id pack.ID, err error) error {
	if diag.CodeOf(err) != diag.Denied {
		return err
	}
	if _, direct := s.Manifest.Dependency(id); direct || s.Linked(id) {
		return err
	}
	for _, by := range slices.SortedFunc(maps.Keys(s.Packs), pack.ID.Compare) {
		if _, ok := s.Packs[by].Dependencies[id.String()]; ok {
			return fmt.Errorf("%w (%s requires %s)", err, by, id)
		}
	}
	return err
}

// verdictOf names what was decided: a pack of a source with exactly these trees, under these names.
func verdictOf(id pack.ID, place string, trees map[string]string, names map[NameOf]string) string {
	text := fmt.Appendf(nil, "%s\n%q\n%s\n", id, place, bundle.Integrity(trees))
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if as := names[NameOf{id, name}]; as != "" && as != name {
			text = fmt.Appendf(text, "%s %s\n", name, as)
		}
	}
	return bundle.DigestOf(text)
}
