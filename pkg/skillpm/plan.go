package skillpm

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source"
)

// wish is one pack that the call names.
type wish struct {
	dep source.Dependency
	// open says that no version was asked for, so the manifest gets a range around the one that is found.
	open bool
	// latest says that the newest version was asked for, whatever manifest and lock say.
	latest bool
}

// resolve works out the manifest and the lock that a call leads to. It asks registries and places, and fetches only
// packs whose content nobody vouches for (git, foreign artifacts).
func (w *workspace) resolve(ctx context.Context, o InstallOptions) (*target, error) {
	world, err := w.newWorld(ctx, o)
	if err != nil {
		return nil, err
	}
	t := newTarget(w.manifest.Clone())
	wishes, err := w.wishes(ctx, world, o, t.manifest)
	if err != nil {
		return nil, err
	}
	chosen, err := w.solve(ctx, world, t.manifest)
	if err != nil {
		return nil, w.suggest(err, wishes)
	}
	if t.lock, err = w.newLock(ctx, world, chosen, t); err != nil {
		return nil, err
	}
	for _, x := range wishes {
		if x.open && !strings.HasPrefix(chosen[x.dep.ID].Version, "0.0.0-") {
			x.dep.Constraint = "^" + chosen[x.dep.ID].Version
		}
		if err := t.manifest.SetDependency(x.dep); err != nil {
			return nil, err
		}
	}
	return t, w.choices(o, wishes, t)
}

// suggest adds to the error for a name that nobody knows the name that was perhaps meant.
func (w *workspace) suggest(err error, wishes []wish) error {
	if diag.CodeOf(err) != diag.NotFound {
		return err
	}
	known := w.client.KnownPacks()
	for _, x := range wishes {
		if info, statErr := os.Stat(w.client.abs(filepath.FromSlash(x.dep.ID.String()))); statErr == nil && info.IsDir() && x.dep.Ref == nil {
			return diag.Errorf(diag.NotFound, "%w", err).WithHint("for the directory of that name, write ./%s", x.dep.ID)
		}
		if near := diag.Nearest(x.dep.ID.String(), known); x.dep.Ref == nil && near != "" && !slices.Contains(known, x.dep.ID.String()) {
			return diag.Errorf(diag.NotFound, "%w", err).WithHint("did you mean %s?", near)
		}
	}
	return err
}

// wishes reads the packs that the call names and adds them to the manifest, as yet without the range around a version
// that was left open.
func (w *workspace) wishes(ctx context.Context, world *world, o InstallOptions, m *project.Manifest) ([]wish, error) {
	var list []wish
	for _, text := range o.Packs {
		ref, err := source.Parse(text)
		if err != nil {
			return nil, err
		}
		x, err := w.wish(ctx, world, ref)
		if err != nil {
			return nil, err
		}
		if have, ok := m.Dependency(x.dep.ID); ok {
			if x, err = merge(have, x); err != nil {
				return nil, err
			}
		}
		if have, ok := m.Dependency(x.dep.ID); slices.Contains(o.Skills, allSkills) {
			x.dep.Skills = nil
		} else if !ok || len(have.Skills) > 0 || o.As == "" {
			x.dep.Skills = union(x.dep.Skills, o.Skills) // with --as, --skill only says which skill of a whole pack is meant
		}
		if err := m.SetDependency(x.dep); err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// wish turns a place into a dependency. A place has to be opened to learn which pack is there.
func (w *workspace) wish(ctx context.Context, world *world, ref source.Ref) (wish, error) {
	if ref.Kind == source.KindName {
		x := wish{dep: source.Dependency{ID: ref.ID, Constraint: ref.Constraint}, open: ref.Constraint == ""}
		if ref.Constraint == "latest" {
			x = wish{dep: source.Dependency{ID: ref.ID}, open: true, latest: true}
			world.fresh[ref.ID] = true
		}
		return x, nil
	}
	if ref.Kind == source.KindPath || ref.Kind == source.KindLayout {
		ref.URL = w.portable(ref.URL)
	}
	if err := world.reach(ref); err != nil {
		return wish{}, err
	}
	p, err := w.client.openPlace(ctx, world.root, ref)
	if err != nil {
		return wish{}, err
	}
	open := ref.Rev == "" && ref.Digest == "" && ref.Kind != source.KindPath
	if _, tagged := source.VersionFromTag(p.Ref.Rev, p.ID.Name); !tagged {
		open = false
	}
	return wish{dep: source.Dependency{ID: p.ID, Ref: &ref}, open: open}, nil
}

// portable rewrites a directory from the command line to be relative to the manifest, unless it was given as absolute
// and is outside the scope.
func (w *workspace) portable(dir string) string {
	abs := w.client.abs(filepath.FromSlash(dir))
	base := filepath.Dir(w.scope.Manifest())
	rel, err := filepath.Rel(base, abs)
	if err != nil || filepath.IsAbs(dir) && !within(base, abs) {
		return filepath.ToSlash(abs)
	}
	rel = filepath.ToSlash(rel)
	if rel != "." && !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel
}

// allSkills is what --skill takes for every skill of a pack.
const allSkills = "*"

// merge joins what the manifest has with what the call asks for: a name without a version asks for nothing new, and a
// second source for an identity is a conflict.
func merge(have source.Dependency, x wish) (wish, error) {
	if x.open && !x.latest && (x.dep.Ref == nil || have.Ref != nil && place(have) == place(x.dep)) {
		return wish{dep: have}, nil
	}
	if was, now := origin(have), origin(x.dep); was != now {
		return x, diag.Errorf(diag.Conflict, "%s is required already, from %s; it can't come from %s as well", have.ID, was, now).
			WithHint("skillpm remove %s first, if it should come from there from now on", have.ID)
	}
	x.dep.Skills = have.Skills
	return x, nil
}

// origin names where a dependency comes from, without its revision.
func origin(d source.Dependency) string {
	if d.Ref == nil {
		return "the registries"
	}
	return d.Ref.Source()
}

func union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// solve chooses versions: first with every locked pack as it is, which asks nobody about them, and if that can't be,
// with the lock as a preference.
func (w *workspace) solve(ctx context.Context, world *world, m *project.Manifest) (map[source.ID]resolve.Chosen, error) {
	roots := world.requirements(slices.Concat(m.Dependencies, m.DevDependencies))
	prefer := map[source.ID]string{}
	for id, p := range w.lock.Packs {
		if !world.fresh[id] {
			prefer[id] = p.Version
		}
	}
	world.sticky = true
	chosen, err := resolve.Resolve(ctx, roots, world, resolve.Options{Prefer: prefer})
	if world.sealed && diag.CodeOf(err) == diag.NotFound {
		return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have what skillpm.yaml asks for: %w", err).
			WithHint("run skillpm install without --frozen, look at the difference and commit it")
	}
	if code := diag.CodeOf(err); err == nil || world.sealed || code != diag.Conflict && code != diag.NotFound {
		return chosen, err
	}
	world.sticky = false
	return resolve.Resolve(ctx, roots, world, resolve.Options{Prefer: prefer})
}

// newLock builds the lock for the chosen versions. An entry that is still right is kept as it is.
func (w *workspace) newLock(ctx context.Context, world *world, chosen map[source.ID]resolve.Chosen, t *target) (*project.Lock, error) {
	lock := w.lock.Clone()
	for id := range lock.Packs {
		if _, ok := chosen[id]; !ok {
			delete(lock.Packs, id)
		}
	}
	wanted, err := w.wantedSkills(ctx, world, t.manifest, chosen)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.SortedFunc(maps.Keys(chosen), source.ID.Compare) {
		pick := chosen[id]
		if have, ok := world.locked(id, pick.Source); ok && have.Version == pick.Version && !isDirectory(have.Source) {
			if narrowed, ok := narrow(have, wanted[id]); ok {
				lock.Packs[id] = narrowed
				t.warnings = append(t.warnings, world.strayed(id, pick.Source, have)...)
				continue
			}
		}
		if world.sealed && !world.isPath(pick.Source) {
			return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have the skills of %s that skillpm.yaml asks for", id).
				WithHint("run skillpm install without --frozen and commit skillpm.lock")
		}
		p, err := world.pack(ctx, id, pick.Source, pick.Version)
		if err != nil {
			return nil, err
		}
		t.packs[id] = p
		t.remember(p)
		t.warnings = append(t.warnings, p.Warnings...)
		if p.Yanked != "" {
			t.warnings = append(t.warnings, id.String()+" "+p.Version+" was withdrawn: "+p.Yanked)
		}
		if lock.Packs[id], err = w.lockPack(ctx, world, p, wanted[id]); err != nil {
			return nil, err
		}
	}
	return lock, nil
}

// narrow returns the locked entry with the wanted skills only (nil for all), if it has all of them.
func narrow(have *project.LockedPack, wanted []string) (*project.LockedPack, bool) {
	if wanted == nil {
		return have, !have.Partial
	}
	skills := map[string]string{}
	for _, name := range wanted {
		digest, ok := have.Skills[name]
		if !ok {
			return nil, false
		}
		skills[name] = digest
	}
	if len(skills) == len(have.Skills) {
		return have, true
	}
	next := *have
	next.Skills, next.Integrity, next.Partial = skills, bundle.Integrity(skills), true
	return &next, true
}

// wantedSkills returns the skills to install of every pack, sorted; nil means all. A pack that several require is
// wanted with all that any of them wants.
func (w *workspace) wantedSkills(ctx context.Context, world *world, m *project.Manifest, chosen map[source.ID]resolve.Chosen) (map[source.ID][]string, error) {
	wanted := map[source.ID][]string{}
	all := map[source.ID]bool{}
	want := func(deps []source.Dependency) {
		for _, d := range deps {
			if len(d.Skills) == 0 {
				all[d.ID] = true
			}
			wanted[d.ID] = union(wanted[d.ID], d.Skills)
		}
	}
	want(slices.Concat(m.Dependencies, m.DevDependencies))
	for id, pick := range chosen {
		deps, err := world.dependencies(ctx, id, pick)
		if err != nil {
			return nil, err
		}
		want(deps)
	}
	for id := range all {
		wanted[id] = nil
	}
	return wanted, nil
}

// lockPack makes the lock's entry for a pack.
func (w *workspace) lockPack(ctx context.Context, world *world, p *source.Pack, wanted []string) (*project.LockedPack, error) {
	names := p.SkillNames()
	if wanted != nil {
		names = wanted
	}
	trees := map[string]string{}
	unknown := false
	for _, name := range names {
		s, ok := p.Skill(name)
		if !ok {
			return nil, diag.Errorf(diag.NotFound, "%s %s has no skill %q", p.ID, p.Version, name).
				WithHint("it has %s", strings.Join(p.SkillNames(), ", "))
		}
		trees[name] = s.Tree
		unknown = unknown || s.Tree == ""
	}
	if err := vouched(p); err != nil {
		return nil, err
	}
	if len(trees) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s %s has no skills", p.ID, p.Version)
	}
	if unknown {
		var err error
		if trees, err = w.client.fetch(ctx, world, p, names, nil); err != nil {
			return nil, err
		}
	}
	entry := &project.LockedPack{
		Version: p.Version, Source: p.Ref.Locked(p.Version), Resolved: p.Ref.Digest,
		Integrity: bundle.Integrity(trees), Skills: trees, Dependencies: map[string]string{},
		Partial: len(trees) < len(p.Skills),
	}
	for _, d := range p.Dependencies {
		entry.Dependencies[d.ID.String()] = required(d)
	}
	return entry, nil
}

// vouched checks that what a place says of a pack agrees with itself: its integrity is that of its skills.
func vouched(p *source.Pack) error {
	trees := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree == "" {
			return nil
		}
		trees[s.Name] = s.Tree
	}
	if got := bundle.Integrity(trees); p.Integrity != "" && p.Integrity != got {
		return &bundle.MismatchError{What: "integrity of " + p.ID.String() + " " + p.Version, Want: p.Integrity, Got: got}
	}
	return nil
}

// choices records what the call chose besides packs: agents, and another name.
func (w *workspace) choices(o InstallOptions, wishes []wish, t *target) error {
	if len(o.Agents) > 0 {
		if err := t.manifest.SetAgents(union(t.manifest.Agents, o.Agents)); err != nil {
			return err
		}
	}
	if o.As == "" {
		return nil
	}
	if err := skill.CheckName(o.As); err != nil {
		return diag.Errorf(diag.Usage, "--as %s: %v", o.As, err)
	}
	id := wishes[0].dep.ID
	name, err := theSkill(id, o.Skills, t.lock.Packs[id])
	if err != nil {
		return err
	}
	if name == o.As {
		return diag.Errorf(diag.Usage, "--as %s: that is the name that the skill has", o.As)
	}
	return t.manifest.SetAlias(project.Alias{Alias: o.As, Skill: name, Pack: id})
}

// theSkill returns the one skill that --as can mean.
func theSkill(id source.ID, chosen []string, p *project.LockedPack) (string, error) {
	if len(chosen) == 1 {
		return chosen[0], nil
	}
	names := slices.Sorted(maps.Keys(p.Skills))
	if len(chosen) == 0 && len(names) == 1 {
		return names[0], nil
	}
	return "", diag.Errorf(diag.Usage, "--as names one skill and %s has %d", id, len(names)).
		WithHint("choose one with --skill: %s", strings.Join(names, ", "))
}
