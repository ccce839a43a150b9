package skillpm

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// DiffOptions are the options of [Client.Diff].
type DiffOptions struct {
	Packs    []string // owner/name[@RANGE]; none means all that an update would move
	Latest   bool     // beyond the ranges of the manifest
	Edits    bool     // local edits instead of the changes of an update
	Registry string   // look names up here only, for this call
	Offline  bool     // use no network
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// DiffReport is what an update would change in the text of skills, or the local edits. Paths are relative to the root.
type DiffReport struct {
	Scope    string        `json:"scope"`
	Root     string        `json:"root"`
	Packs    []PackDiff    `json:"packs"`
	Stat     textdiff.Stat `json:"stat"`
	Warnings []string      `json:"warnings"`

	// packs that are not compared, because their registry or source can't be reached
	Unreached []string `json:"unreached,omitempty"`
}

// PackDiff is the diff of one pack.
type PackDiff struct {
	Pack string `json:"pack"`
	From string `json:"from,omitempty"` // the locked version, "" for a new pack
	To   string `json:"to,omitempty"`   // "" for a removed pack; the same as From for local edits
	// Capabilities are what the skills of the new version can do and those of the locked version could not. The line of a
	// lifted restriction is that in the locked version.
	Capabilities []CapabilityChange `json:"capabilities,omitempty"`
	Notes        []DiffNote         `json:"notes"` // other changes that need attention
	Files        textdiff.Diff      `json:"files"`
}

// Increases returns the packs whose new version has more capabilities than the locked one.
func (r *DiffReport) Increases() (list []Increase) {
	for _, p := range r.Packs {
		if len(p.Capabilities) > 0 {
			list = append(list, Increase{Pack: p.Pack, From: p.From, To: p.To, Capabilities: p.Capabilities})
		}
	}
	return list
}

// Diff reports what an update would change in the text of skills, which agents would follow from then on. It fetches
// new versions into the store, and installs nothing.
func (c *Client) Diff(ctx context.Context, o DiffOptions) (*DiffReport, error) {
	defer c.Progress(Event{Done: true})
	if o.Edits && o.Latest {
		return nil, diag.Errorf(diag.Usage, "--edits cannot be used with --latest")
	}
	w, err := c.Machine.Open(o.Scope, false)
	if err != nil {
		return nil, err
	}
	in, err := c.installer(ctx, w, request{
		ChangeOptions: ChangeOptions{Registry: o.Registry, Offline: o.Offline}, skipUnreachable: true,
	})
	if err != nil {
		return nil, err
	}
	in.Backend.WarnOfChanges() // they are what the user wants to see
	r := &DiffReport{Scope: w.Scope.Kind, Root: w.Scope.Root, Packs: []PackDiff{}, Warnings: []string{}}
	if o.Edits {
		err = in.diffEdits(ctx, o, r)
	} else {
		err = in.diffUpdate(ctx, o, r)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range r.Packs {
		s := p.Files.Stat()
		r.Stat.Files += s.Files
		r.Stat.Insertions += s.Insertions
		r.Stat.Deletions += s.Deletions
	}
	return r, nil
}

// diffEdits compares installed skills that have local edits with what was installed.
func (in *installer) diffEdits(ctx context.Context, o DiffOptions, r *DiffReport) error {
	ids, err := in.updatedPacks(o.Packs, "diff")
	if err != nil {
		return err
	}
	edits, err := in.Edits()
	if err != nil {
		return err
	}
	if err := in.fetchPristine(ctx, edits); err != nil {
		return err
	}
	budget := textdiff.NewBudget()
	byPack := map[pack.ID]*PackDiff{}
	for _, e := range edits {
		id := e.Tree.Pack
		if len(o.Packs) > 0 && !slices.Contains(ids, id) {
			continue
		}
		d, err := in.Difference(ctx, e, budget)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return diag.Errorf(diag.CodeOf(err), "%s: %w", e, err)
		}
		p := byPack[id]
		if p == nil {
			p = &PackDiff{Pack: e.Pack, From: in.lockedVersion(id), To: in.lockedVersion(id), Notes: []DiffNote{}}
			byPack[id] = p
		}
		p.Files = append(p.Files, d...)
	}
	for _, id := range sortedIDs(byPack) {
		r.Packs = append(r.Packs, *byPack[id])
	}
	return nil
}

// diffUpdate compares the lockfile with the one that an update would write.
func (in *installer) diffUpdate(ctx context.Context, o DiffOptions, r *DiffReport) error {
	res, err := in.diffResolution(ctx, o)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, res.Warnings...)
	for _, id := range res.unreachable {
		r.Unreached = append(r.Unreached, id.String())
	}
	ids := maps.Clone(in.Lock.Packs)
	maps.Copy(ids, res.Lock.Packs)
	var moved []pack.ID
	for _, id := range sortedIDs(ids) {
		before, after := in.Lock.Packs[id], res.Lock.Packs[id]
		if before == nil || after == nil || before.Version != after.Version || before.Integrity != after.Integrity {
			moved = append(moved, id)
		}
	}
	if err := in.fetchNew(ctx, res, moved); err != nil {
		return err
	}
	if err := in.fetchPrevious(ctx, moved); err != nil {
		return err
	}
	budget := textdiff.NewBudget()
	for _, id := range moved {
		p, err := in.diffPack(ctx, budget, id, in.Lock.Packs[id], res.Lock.Packs[id])
		if err != nil {
			return err
		}
		r.Packs = append(r.Packs, *p)
	}
	return nil
}

// diffResolution computes what an update of the packs would lead to.
func (in *installer) diffResolution(ctx context.Context, o DiffOptions) (*resolution, error) {
	var names []string
	ranges := map[string]string{}
	for _, text := range o.Packs {
		name, version, ok := strings.Cut(text, "@")
		if names = append(names, name); ok {
			ranges[name] = version
		}
	}
	if len(ranges) == 0 {
		return in.resolveUpdate(ctx, names, o.Latest)
	}
	ids, err := in.updatedPacks(names, "diff")
	if err != nil {
		return nil, err
	}
	m := in.Manifest.Clone()
	for _, id := range ids {
		version, ok := ranges[id.String()]
		if !ok {
			continue
		}
		d, direct := m.Dependency(id)
		if !direct {
			d = pack.Dependency{ID: id}
		}
		if err := m.SetDependency(atVersion(d, version)); err != nil {
			return nil, diag.Errorf(diag.Usage, "%s@%s: %w", id, version, err)
		}
	}
	res := &resolution{manifest: m}
	res.Solution, err = in.lockFreed(ctx, m, in.unlockVersions(ids, nil))
	return res, err
}

// atVersion returns a dependency on other versions of a pack.
func atVersion(d pack.Dependency, version string) pack.Dependency {
	if version == "latest" {
		version = solve.AnyRelease
	}
	d.Constraint = version
	return withoutRevision(d)
}

// diffPack compares two versions of a pack, of which one may be missing.
func (in *installer) diffPack(
	ctx context.Context, b *textdiff.Budget, id pack.ID, before, after *pack.LockedPack,
) (*PackDiff, error) {
	p := &PackDiff{Pack: id.String(), Notes: []DiffNote{}, Files: textdiff.Diff{}}
	old, err := in.filesOf(id, before)
	if err != nil {
		return nil, err
	}
	now, err := in.filesOf(id, after)
	if err != nil {
		return nil, err
	}
	if before != nil {
		p.From = before.Version
	}
	if after != nil {
		p.To = after.Version
		if p.Capabilities, err = in.compareCapabilities(ctx, before, after); err != nil {
			return nil, err
		}
		if p.Notes, err = notes(ctx, old, now, in.shownAt(id, p.Capabilities)); err != nil {
			return nil, err
		}
	}
	p.Notes = append(p.Notes, requirementNotes(before, after)...)
	if p.Files, err = textdiff.Trees(ctx, old, now, textdiff.Options{Budget: b}); err != nil {
		return nil, err
	}
	p.Notes = append(p.Notes, hiddenNotes(p.Files)...)
	return p, nil
}

// shownAt returns what capabilities show about the files of a pack.
func (in *installer) shownAt(id pack.ID, list []CapabilityChange) map[shown]bool {
	all := map[shown]bool{}
	for _, c := range list {
		at := path.Join(in.SkillAt(id, c.Skill), c.Path)
		switch c.Capability {
		case policy.Scripts, policy.NativeBinaries:
			all[shown{NoteExecutable, at, ""}] = true
		case policy.NetworkTools:
			all[shown{NoteURL, at, c.Name}] = true
		}
	}
	return all
}

// filesOf returns the files of all skills of a pack, as an installation writes them.
func (in *installer) filesOf(id pack.ID, p *pack.LockedPack) ([]textdiff.File, error) {
	if p == nil {
		return nil, nil
	}
	var all []textdiff.File
	for _, name := range slices.Sorted(maps.Keys(p.Skills)) {
		files, err := in.client.Machine.Files(workspace.Tree{Pack: id, Skill: name, Digest: p.Skills[name]})
		if err != nil {
			return nil, err
		}
		all = append(all, workspace.Below(in.SkillAt(id, name), files)...)
	}
	return all, nil
}
