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

// InstallOptions configure [Client.Install].
type InstallOptions struct {
	ChangeOptions
	Packs   []string // references in the forms that [pack.Parse] reads; none means what manifest and lockfile say
	Frozen  bool     // change neither manifest nor lockfile; fail if they disagree
	Upgrade bool     // choose all versions anew, within the ranges
	// ResolveLock resolves merge conflicts in the lockfile: it solves the manifest anew, and prefers the versions that
	// the two branches have locked.
	ResolveLock bool
	Skills      []string // install only these skills of the pack
	As          string   // the name of the one skill that is installed
	Agents      []string // link for these agents, and record them
	LinkMode    string   // pack.LinkSymlink, LinkCopy or LinkHard, which is recorded; "" for the recorded one
}

// check refuses combinations that make no sense.
func (o InstallOptions) check() error {
	switch {
	case o.Frozen && len(o.Packs) > 0:
		return diag.Errorf(diag.Usage, "--frozen cannot be used with PACK arguments")
	case o.Frozen && len(o.Agents) > 0:
		return diag.Errorf(diag.Usage, "--frozen cannot be used with --agent")
	case o.Frozen && o.Upgrade:
		return diag.Errorf(diag.Usage, "--frozen cannot be used with --upgrade")
	case o.Frozen && len(o.AcceptChanged) > 0:
		return diag.Errorf(diag.Usage, "--frozen cannot be used with --accept-changed")
	case o.Frozen && o.ResolveLock:
		return diag.Errorf(diag.Usage, "--frozen cannot be used with --resolve-lock")
	case o.ResolveLock && len(o.Packs) > 0:
		return diag.Errorf(diag.Usage, "--resolve-lock cannot be used with PACK arguments")
	case o.Frozen && o.LinkMode != "":
		return diag.Errorf(diag.Usage, "--frozen cannot be used with --link-mode")
	case o.LinkMode != "" && pack.CheckLinkMode(o.LinkMode) != nil:
		return pack.CheckLinkMode(o.LinkMode)
	case o.As != "" && len(o.Packs) != 1:
		return diag.Errorf(diag.Usage, "--as requires exactly one pack")
	case len(o.Skills) > 0 && len(o.Packs) != 1:
		return diag.Errorf(diag.Usage, "--skill requires exactly one pack")
	}
	return nil
}

// Install installs packs: those that the options name, or what the manifest and the lockfile say. It reports what it
// did, or with DryRun would do.
func (c *Client) Install(ctx context.Context, o InstallOptions) (*InstallReport, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := request{
		ChangeOptions: o.ChangeOptions, create: len(o.Packs) > 0, frozen: o.Frozen, resolveLock: o.ResolveLock,
	}
	r.agents.Only = o.Agents
	return c.change(ctx, r, func(in *installer) (*resolution, error) {
		if o.Frozen && in.LacksLock() {
			return nil, diag.Errorf(diag.NotFound, "--frozen requires skillpm.lock, which does not exist in %s",
				in.Scope.Root).
				WithHint("run \"skillpm install\" without --frozen, and commit skillpm.lock")
		}
		return in.resolve(ctx, o)
	})
}

// RemoveOptions configure [Client.Remove].
type RemoveOptions struct {
	ChangeOptions
	Packs []string // owner/name
}

// Remove takes packs out of the manifest and removes what nothing needs any more: their skills, copies and links, and
// the packs that only they required.
func (c *Client) Remove(ctx context.Context, o RemoveOptions) (*InstallReport, error) {
	r := request{ChangeOptions: o.ChangeOptions, command: commandRemove}
	return c.change(ctx, r, func(in *installer) (*resolution, error) { return in.resolveRemoval(ctx, o.Packs) })
}

// resolveRemoval computes the manifest and the lockfile without some packs.
func (in *installer) resolveRemoval(ctx context.Context, packs []string) (*resolution, error) {
	m := in.Manifest.Clone()
	for _, name := range packs {
		id, err := in.parsePackName(name, "remove")
		if err != nil {
			return nil, err
		}
		found, err := m.RemoveDependency(id)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, in.notRequired(id)
		}
		if _, err := m.RemoveAliasesOf(id); err != nil {
			return nil, err
		}
	}
	sol, err := in.Backend.Lock(ctx, m)
	if err != nil {
		return nil, err
	}
	for _, a := range slices.Clone(m.Aliases) {
		if _, stays := sol.Lock.Packs[a.Pack]; !stays {
			if _, err := m.RemoveAliasesOf(a.Pack); err != nil {
				return nil, err
			}
		}
	}
	return &resolution{manifest: m, Solution: sol}, nil
}

// notRequired explains why a pack can't be removed.
func (in *installer) notRequired(id pack.ID) error {
	err := diag.Errorf(diag.NotFound, "skillpm.yaml does not require %s", id)
	if _, ok := in.Lock.Packs[id]; ok {
		for by, p := range in.Lock.Packs {
			if _, ok := p.Dependencies[id.String()]; ok {
				return err.WithHint("%s is installed because %s requires it; run \"skillpm why %[1]s\" for details",
					id, by)
			}
		}
	}
	var have []string
	for _, d := range in.Manifest.Dependencies {
		have = append(have, d.ID.String())
	}
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list installed packs with: skillpm list")
}

// packRequest is one pack that the call names.
type packRequest struct {
	pack   *pack.Pack // the opened pack, nil for a name
	dep    pack.Dependency
	open   bool // without a version: the manifest gets a range around the version that is found
	latest bool // the newest version, whatever manifest and lockfile say
}

// resolve computes the manifest and the lockfile that an installation leads to.
func (in *installer) resolve(ctx context.Context, o InstallOptions) (*resolution, error) {
	res := &resolution{manifest: in.Manifest.Clone()}
	requests, err := in.packRequests(ctx, o, res.manifest)
	if err != nil {
		return nil, err
	}
	for _, x := range requests {
		res.requested = append(res.requested, x.dep.ID)
	}
	var free []pack.ID
	if o.Upgrade {
		free = in.Lock.IDs()
	}
	if res.Solution, err = in.lockFreed(ctx, res.manifest, in.unlockVersions(free, in.request.edited)); err != nil {
		return nil, in.suggest(ctx, err, o, requests)
	}
	if err := in.recordRequests(res, requests); err != nil {
		return nil, err
	}
	return res, in.recordChoices(o, requests, res)
}

// suggest adds a similar name to the error for a name that no registry knows: one that can be installed.
func (in *installer) suggest(ctx context.Context, err error, o InstallOptions, requests []packRequest) error {
	if diag.CodeOf(err) != diag.NotFound {
		return err
	}
	var known []string
	offers, listErr := in.client.Offers(ctx, OfferOptions{Scope: in.Scope.Kind, Registry: o.Registry, Offline: true})
	if listErr == nil { // otherwise there is nothing to suggest
		known = offers.Names()
	}
	for _, x := range requests {
		if info, statErr := os.Stat(in.client.Machine.Abs(filepath.FromSlash(x.dep.ID.String()))); statErr == nil &&
			info.IsDir() && x.dep.Ref == nil {
			return diag.Errorf(diag.NotFound, "%w", err).
				WithHint("use ./%s to install the directory with this name", x.dep.ID)
		}
		if near := diag.Nearest(x.dep.ID.String(), known); x.dep.Ref == nil && near != "" &&
			!slices.Contains(known, x.dep.ID.String()) {
			return diag.Errorf(diag.NotFound, "%w", err).WithHint("did you mean %s?", near)
		}
	}
	return err
}

// packRequests reads the packs that the call names and adds them to the manifest. A range around the version that is
// found comes later, with [installer.recordRequests].
func (in *installer) packRequests(ctx context.Context, o InstallOptions, m *pack.Manifest) ([]packRequest, error) {
	var list []packRequest
	for _, text := range o.Packs {
		ref, err := pack.Parse(text)
		if err != nil {
			return nil, err
		}
		x, err := in.newRequest(pack.WithSkills(ctx, skillFilter(o.Skills)), ref)
		if err != nil {
			return nil, err
		}
		opened := x.pack
		if have, ok := m.Dependency(x.dep.ID); ok {
			if x, err = mergeRequest(have, x, o.Registry); err != nil {
				return nil, err
			}
		}
		if opened != nil {
			in.Backend.Found(x.dep, opened)
		}
		if x.dep.Ref == nil && o.Registry != "" {
			in.Backend.Move(x.dep.ID)
		}
		if have, ok := m.Dependency(x.dep.ID); slices.Contains(o.Skills, allSkills) {
			x.dep.Skills = nil
		} else if !ok || len(have.Skills) > 0 || o.As == "" {
			// with --as, --skill only selects a skill of a pack that is installed completely
			x.dep.Skills = solve.Union(x.dep.Skills, o.Skills)
		}
		if err := m.SetDependency(x.dep); err != nil {
			return nil, err
		}
		if opened != nil && len(o.Skills) == 0 && len(x.dep.Skills) == 0 {
			in.Backend.Reuse(x.dep, opened)
		}
		list = append(list, x)
	}
	return list, nil
}

// skillFilter returns the skills of a pack that --skill selects, nil for all.
func skillFilter(skills []string) []string {
	if slices.Contains(skills, allSkills) {
		return nil
	}
	return skills
}

// newRequest turns a reference into a dependency. Unless it is a name, the source is opened, because only the pack
// itself states its name.
func (in *installer) newRequest(ctx context.Context, ref pack.Ref) (packRequest, error) {
	if ref.Kind == pack.KindName {
		x := packRequest{dep: pack.Dependency{ID: ref.ID, Constraint: ref.Constraint}, open: ref.Constraint == ""}
		if ref.Constraint == "latest" {
			x = packRequest{dep: pack.Dependency{ID: ref.ID}, open: true, latest: true}
			in.Backend.Free(ref.ID)
		}
		return x, nil
	}
	if pack.IsHub(ref.Kind) {
		registry, _, _ := strings.Cut(ref.Source(), "//"+ref.ID.String())
		return packRequest{}, diag.Errorf(diag.Usage,
			"cannot install %s: skillpm installs packs of this registry by name", ref).
			WithHint("run \"skillpm registry add NAME %s --namespace %s\", then \"skillpm install %s\"",
				registry, ref.ID.Owner, ref.ID)
	}
	if ref.Kind == pack.KindPath || ref.Kind == pack.KindLayout {
		ref.URL = in.portableDir(ref.URL)
	}
	p, err := in.Fetcher.Open(ctx, ref)
	if err != nil {
		return packRequest{}, err
	}
	open := ref.Rev == "" && ref.Digest == "" && ref.Kind != pack.KindPath
	if ref.Kind == pack.KindLayout {
		ref.ID = p.ID // a whole layout has the pack's name only inside
	}
	if _, tagged := pack.VersionFromTag(p.Ref.Rev, p.ID.Name); !tagged {
		open = false
	}
	return packRequest{dep: pack.Dependency{ID: p.ID, Ref: &ref}, open: open, pack: p}, nil
}

// portableDir rewrites a directory from the command line to be relative to the manifest, unless it is absolute and
// outside the scope.
func (in *installer) portableDir(dir string) string {
	abs := in.client.Machine.Abs(filepath.FromSlash(dir))
	base := filepath.Dir(in.Scope.Manifest())
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

// mergeRequest merges a request with the dependency that the manifest has: a name without a version changes nothing
// there, and another source is a conflict.
func mergeRequest(have pack.Dependency, x packRequest, registry string) (packRequest, error) {
	if x.open && !x.latest && (x.dep.Ref == nil && (have.Ref == nil || registry == "") || have.Ref != nil &&
		x.dep.Ref != nil && solve.SourceText(have) == solve.SourceText(x.dep)) {
		return packRequest{dep: have}, nil
	}
	if was, now := sourceName(have), sourceName(x.dep); was != now {
		return x, diag.Errorf(diag.Conflict, "skillpm.yaml requires %s from %s, so the pack cannot also come from %s",
			have.ID, was, now).
			WithHint("to change the source, edit the entry of %s in skillpm.yaml, and run: skillpm install", have.ID)
	}
	x.dep.Skills = have.Skills
	return x, nil
}

// sourceName names the source of a dependency, without its revision.
func sourceName(d pack.Dependency) string {
	if d.Ref == nil {
		return "the registries"
	}
	return d.Ref.Source()
}

// recordChoices records in the manifest what the call chooses besides packs: agents, a link mode, and an alias.
func (in *installer) recordChoices(o InstallOptions, requests []packRequest, res *resolution) error {
	if err := in.recordAgents(res.manifest, o.Agents); err != nil {
		return err
	}
	if o.LinkMode != "" && o.LinkMode != res.manifest.LinkMode {
		if err := res.manifest.Set("link-mode", o.LinkMode); err != nil {
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
	name, err := aliasedSkill(id, o.Skills, res.Lock.Packs[id])
	if err != nil {
		return err
	}
	if name == o.As {
		return diag.Errorf(diag.Usage, "cannot use --as %s: the skill already has this name", o.As)
	}
	return res.manifest.SetAlias(pack.Alias{Alias: o.As, Skill: name, Pack: id})
}

// recordAgents adds agents to those that skills are linked for.
func (in *installer) recordAgents(m *pack.Manifest, ids []string) error {
	if len(ids) == 0 {
		return nil // without looking for agents in use
	}
	return addAgents(m, in.chosenAgents(m), ids)
}

// addAgents adds agents to the chosen ones in the manifest.
func addAgents(m *pack.Manifest, chosen, ids []string) error {
	ids = slices.Clone(ids)
	for i, id := range ids {
		ids[i] = agent.Canonical(id)
	}
	switch {
	case len(ids) == 0:
		return nil
	case slices.Contains(ids, agent.DetectedID) && len(ids) > 1:
		return diag.Errorf(diag.Usage, "--agent %s cannot be used with other agents", agent.DetectedID)
	case slices.Contains(ids, agent.DetectedID):
		return m.SetAgents(nil)
	case slices.Contains(ids, agent.AllID):
		return m.SetAgents([]string{agent.AllID})
	}
	return m.SetAgents(solve.Union(chosen, ids))
}

// aliasedSkill returns the one skill that --as can rename.
func aliasedSkill(id pack.ID, selected []string, p *pack.LockedPack) (string, error) {
	if len(selected) == 1 {
		return selected[0], nil
	}
	names := slices.Sorted(maps.Keys(p.Skills))
	if len(selected) == 0 && len(names) == 1 {
		return names[0], nil
	}
	if len(selected) > 1 {
		return "", diag.Errorf(diag.Usage, "--as requires exactly one skill, but --skill selects %d", len(selected)).
			WithHint("use --skill once")
	}
	return "", diag.Errorf(diag.Usage, "--as requires exactly one skill, but %s has %d", id, len(names)).
		WithHint("use --skill with one of %s", strings.Join(names, ", "))
}
