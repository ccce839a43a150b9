package skillpm

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
)

// packRequest is one pack that the call names.
type packRequest struct {
	pack *pack.Pack // what is at the place, nil for a name
	dep  pack.Dependency
	// open says that no version was asked for, so the manifest gets a range around the one that is found.
	open bool
	// latest says that the newest version was asked for, whatever manifest and lock say.
	latest bool
}

// resolve works out the manifest and the lock that a call leads to.
func (w *work) resolve(ctx context.Context, o InstallOptions) (*target, error) {
	t := &target{manifest: w.Manifest.Clone()}
	requests, err := w.requests(ctx, o, t.manifest)
	if err != nil {
		return nil, err
	}
	for _, x := range requests {
		t.asked = append(t.asked, x.dep.ID)
	}
	var free []pack.ID
	if o.Upgrade {
		free = w.Lock.IDs()
	}
	if t.Solution, err = w.moved(ctx, t.manifest, w.free(free, o.held)); err != nil {
		return nil, w.suggest(err, requests)
	}
	if err := w.record(t, requests); err != nil {
		return nil, err
	}
	return t, w.choices(o, requests, t)
}

// suggest adds to the error for a name that nobody knows the name that was perhaps meant.
func (w *work) suggest(err error, requests []packRequest) error {
	if diag.CodeOf(err) != diag.NotFound {
		return err
	}
	known := w.client.KnownPacks()
	for _, x := range requests {
		if info, statErr := os.Stat(w.client.Machine.Abs(filepath.FromSlash(x.dep.ID.String()))); statErr == nil &&
			info.IsDir() && x.dep.Ref == nil {
			return diag.Errorf(diag.NotFound, "%w", err).
				WithHint("for the directory of that name, write ./%s", x.dep.ID)
		}
		if near := diag.Nearest(x.dep.ID.String(), known); x.dep.Ref == nil && near != "" &&
			!slices.Contains(known, x.dep.ID.String()) {
			return diag.Errorf(diag.NotFound, "%w", err).WithHint("did you mean %s?", near)
		}
	}
	return err
}

// requests reads the packs that the call names and adds them to the manifest, as yet without the range around a version
// that was left open.
func (w *work) requests(ctx context.Context, o InstallOptions, m *pack.Manifest) ([]packRequest, error) {
	var list []packRequest
	for _, text := range o.Packs {
		ref, err := pack.Parse(text)
		if err != nil {
			return nil, err
		}
		x, err := w.request(pack.WithSkills(ctx, chosen(o.Skills)), ref)
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
			// with --as, --skill only says which skill of a whole pack is meant
			x.dep.Skills = solve.Union(x.dep.Skills, o.Skills)
		}
		if err := m.SetDependency(x.dep); err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// chosen returns the skills of a pack that the call wants, none for all.
func chosen(skills []string) []string {
	if slices.Contains(skills, allSkills) {
		return nil
	}
	return skills
}

// request turns a place into a dependency. A place has to be opened to learn which pack is there.
func (w *work) request(ctx context.Context, ref pack.Ref) (packRequest, error) {
	if ref.Kind == pack.KindName {
		x := packRequest{dep: pack.Dependency{ID: ref.ID, Constraint: ref.Constraint}, open: ref.Constraint == ""}
		if ref.Constraint == "latest" {
			x = packRequest{dep: pack.Dependency{ID: ref.ID}, open: true, latest: true}
			w.Backend.Free(ref.ID)
		}
		return x, nil
	}
	if ref.Kind == pack.KindPath || ref.Kind == pack.KindLayout {
		ref.URL = w.portable(ref.URL)
	}
	p, err := w.Fetcher.Open(ctx, ref)
	if err != nil {
		return packRequest{}, err
	}
	open := ref.Rev == "" && ref.Digest == "" && ref.Kind != pack.KindPath
	if _, tagged := pack.VersionFromTag(p.Ref.Rev, p.ID.Name); !tagged {
		open = false
	}
	return packRequest{dep: pack.Dependency{ID: p.ID, Ref: &ref}, open: open, pack: p}, nil
}

// portable rewrites a directory from the command line to be relative to the manifest, unless it was given as absolute
// and is outside the scope.
func (w *work) portable(dir string) string {
	abs := w.client.Machine.Abs(filepath.FromSlash(dir))
	base := filepath.Dir(w.Scope.Manifest())
	rel, err := filepath.Rel(base, abs)
	if err != nil || filepath.IsAbs(dir) && !pathx.ContainsStrict(base, abs) {
		return filepath.ToSlash(abs)
	}
	rel = filepath.ToSlash(rel)
	if rel != "." && !pathx.Escapes(rel) {
		rel = "./" + rel
	}
	return rel
}

// allSkills is what --skill takes for every skill of a pack.
const allSkills = "*"

// merge joins what the manifest has with what the call asks for: a name without a version asks for nothing new, and a
// second source for an identity is a conflict.
func merge(have pack.Dependency, x packRequest) (packRequest, error) {
	if x.open && !x.latest && (x.dep.Ref == nil || have.Ref != nil &&
		solve.SourceText(have) == solve.SourceText(x.dep)) {
		return packRequest{dep: have}, nil
	}
	if was, now := origin(have), origin(x.dep); was != now {
		return x, diag.Errorf(diag.Conflict, "%s is required already, from %s; it can't come from %s as well",
			have.ID, was, now).
			WithHint("skillpm remove %s first, if it should come from there from now on", have.ID)
	}
	x.dep.Skills = have.Skills
	return x, nil
}

// origin names where a dependency comes from, without its revision.
func origin(d pack.Dependency) string {
	if d.Ref == nil {
		return "the registries"
	}
	return d.Ref.Source()
}

// choices records what the call chose besides packs: agents, and another name.
func (w *work) choices(o InstallOptions, requests []packRequest, t *target) error {
	if err := chooseAgents(t.manifest, o.Agents); err != nil {
		return err
	}
	if o.LinkMode != "" && o.LinkMode != t.manifest.LinkMode {
		if err := t.manifest.Set("link-mode", o.LinkMode); err != nil {
			return err
		}
	}
	if o.As == "" {
		return nil
	}
	if err := skill.CheckName(o.As); err != nil {
		return diag.Errorf(diag.Usage, "--as %s: %v", o.As, err)
	}
	id := requests[0].dep.ID
	name, err := theSkill(id, o.Skills, t.Lock.Packs[id])
	if err != nil {
		return err
	}
	if name == o.As {
		return diag.Errorf(diag.Usage, "--as %s: that is the name that the skill has", o.As)
	}
	return t.manifest.SetAlias(pack.Alias{Alias: o.As, Skill: name, Pack: id})
}

// chooseAgents records the agents that were asked for.
func chooseAgents(m *pack.Manifest, asked []string) error {
	switch {
	case len(asked) == 0:
		return nil
	case slices.Contains(asked, agent.DetectedID) && len(asked) > 1:
		return diag.Errorf(diag.Usage, "--agent %s goes with no other", agent.DetectedID)
	case slices.Contains(asked, agent.DetectedID):
		return m.SetAgents(nil)
	case slices.Contains(asked, agent.AllID):
		return m.SetAgents([]string{agent.AllID})
	}
	return m.SetAgents(solve.Union(m.Agents, asked))
}

// theSkill returns the one skill that --as can mean.
func theSkill(id pack.ID, chosen []string, p *pack.LockedPack) (string, error) {
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
