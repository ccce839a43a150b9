package skillpm

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// The actions of [PackReport]: what an operation did, or would do, to a pack.
const (
	ActionInstalled = "installed"
	ActionUpdated   = "updated"
	ActionRestored  = "restored" // the locked version, of which something was missing
	ActionRenamed   = "renamed"  // only the names of its skills changed
	ActionMoved     = "moved"    // the same version and content, from another source
	ActionRemoved   = "removed"
	ActionLinked    = "linked" // matches a working copy
	ActionUnchanged = "unchanged"
)

// InstallReport is the result, or preview, of an operation that changes a scope.
type InstallReport struct {
	Scope    string `json:"scope"`
	Root     string `json:"root"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dryRun"`
	Recorded bool   `json:"recorded"` // skillpm.yaml or skillpm.lock changes
	// RecordedIn are the names of the files among these two that change.
	RecordedIn []string `json:"recordedIn"`
	// ResolvedLock reports that merge conflicts in skillpm.lock are resolved.
	ResolvedLock bool `json:"resolvedLock,omitempty"`
	// NamesChanged reports that another skill is available under a name that skills of several packs have.
	NamesChanged bool `json:"namesChanged"`
	// Increases are updates that add capabilities.
	Increases []Increase           `json:"increases,omitempty"`
	Packs     []PackReport         `json:"packs"`
	Agents    []workspace.AgentDir `json:"agents"`
	Conflicts []NameConflict       `json:"conflicts"`
	// packs that an update could not move to the newest version
	HeldBack []OutdatedPack `json:"heldBack,omitempty"`
	// installed skills whose local edits stay
	Edited []Edit `json:"edited"`
	// locally edited directories that are replaced or removed -> where a copy is
	Saved    map[string]string `json:"saved"`
	Warnings []string          `json:"warnings"`
	// what the manifest requires and the machine lacks, if something changed
	Missing []skill.Missing `json:"missing,omitempty"`
}

// PackReport is one pack of a scope.
type PackReport struct {
	Pack      string `json:"pack"`
	Version   string `json:"version"`
	Previous  string `json:"previous,omitempty"`  // the version before an update
	Downgrade bool   `json:"downgrade,omitempty"` // the previous version was higher
	Action    string `json:"action,omitempty"`
	Direct    bool   `json:"direct"` // the manifest requires it, not only another pack
	Source    string `json:"source"`
	Demo      bool   `json:"demo,omitempty"` // it comes with skillpm, to try commands without a registry
	// PreviousSource is the source before an operation, if it changes.
	PreviousSource string `json:"previousSource,omitempty"`
	// PreviousResolved is the digest or the commit before an update.
	PreviousResolved string `json:"previousResolved,omitempty"`

	Directory string        `json:"place,omitempty"` // the directory on this machine, if the lockfile leaves it out
	Resolved  string        `json:"resolved,omitempty"`
	Integrity string        `json:"integrity"`
	Signer    string        `json:"signer,omitempty"`   // as the lockfile records it
	SignedBy  string        `json:"signedBy,omitempty"` // the fingerprint of that key, or the identity
	Partial   bool          `json:"partial,omitempty"`  // only some of its skills are installed
	Installed bool          `json:"installed"`          // all its skills are installed that policies do not deny
	Edited    bool          `json:"edited"`             // one of its skills has local edits
	Skills    []SkillReport `json:"skills"`
	Linked    string        `json:"linked,omitempty"`  // the working copy that it is linked to
	Added     []string      `json:"added,omitempty"`   // new skills of an update
	Dropped   []string      `json:"dropped,omitempty"` // skills that are no longer installed
	// PreviousRange and Range are what the manifest required before and requires now, if that changed.
	PreviousRange string `json:"previousRange,omitempty"`
	Range         string `json:"range,omitempty"`
	// Missing is what the skillpm.yaml of a newly installed or changed pack requires and the machine lacks. Packs of
	// OCI registries do not contain the file.
	Missing []skill.Missing `json:"missing,omitempty"`
	// Denied is why the policies deny one of its skills, "" if they allow all.
	Denied string `json:"denied,omitempty"`
	// Advisories are about this version, as far as this machine knows.
	Advisories []AdvisoryRef `json:"advisories,omitempty"`
	// SignerChanged reports that the recorded signer changes; before there may have been none.
	SignerChanged bool `json:"signerChanged,omitempty"`
	// PreviousSigner is the signer that was recorded before a change.
	PreviousSigner string `json:"previousSigner,omitempty"`
}

// SkillReport is one skill of an installed pack.
type SkillReport struct {
	Name string `json:"name"`
	Link string `json:"link"` // the name that agents see
	// PreviousLink is the name that agents saw before an operation, "" if it stays.
	PreviousLink string `json:"previousLink,omitempty"`

	OwnName   bool     `json:"ownName"`   // its own name means this skill
	Installed bool     `json:"installed"` // otherwise it is only locked
	Edited    bool     `json:"edited"`    // it has local edits
	Tree      string   `json:"tree"`      // digest
	Dir       string   `json:"dir"`       // relative to the root
	Links     []string `json:"links"`     // where agents find it, relative to the root

	// Missing is what a newly installed or changed skill requires and the machine lacks.
	Missing []skill.Missing `json:"missing,omitempty"`

	Capabilities *Capabilities `json:"capabilities,omitempty"` // of a newly installed or described skill

	Denied     string `json:"denied,omitempty"`     // why the policies deny it
	Unapproved bool   `json:"unapproved,omitempty"` // the reason is a missing approval
}

// NameConflict reports that several packs have a skill of one name.
type NameConflict = workspace.NameConflict

// report describes a resolution and its plan in comparison to the lockfile.
func (in *installer) report(t *resolution, p *plan) *InstallReport {
	l, c := p.layout, p.change
	r := &InstallReport{
		Scope: in.Scope.Kind, Root: in.Scope.Root, Agents: l.Dirs, Packs: []PackReport{},
		Conflicts: []NameConflict{}, Changed: !c.Empty(), DryRun: in.request.DryRun, RecordedIn: c.DocumentNames(),
		Edited: append([]Edit{}, c.Edited...), Saved: c.Backups(), Warnings: []string{},
	}
	r.Recorded, r.ResolvedLock = len(r.RecordedIn) > 0, in.LockMerged
	r.Warnings = append(r.Warnings, slices.Concat(t.Warnings, p.warnings, l.Warnings, in.editWarnings(c))...)
	status := in.statusAfter(l, c)
	ids := maps.Clone(l.Packs)
	maps.Copy(ids, in.Lock.Packs)
	for _, id := range sortedIDs(ids) {
		r.Packs = append(r.Packs, in.changedPack(id, t, p, status))
	}
	r.NamesChanged = !maps.EqualFunc(in.Lock.Names, t.Lock.Names, pack.LockedName.Equal)
	r.Conflicts = nameConflicts(l)
	return r
}

func nameConflicts(l *workspace.Layout) []NameConflict {
	conflicts := []NameConflict{}
	for _, c := range l.Conflicts {
		conflicts = append(conflicts, workspace.NewNameConflict(c))
	}
	return conflicts
}

// changedPack describes what a plan does to one pack.
func (in *installer) changedPack(id pack.ID, t *resolution, plan *plan, status skillStatus) PackReport {
	now, stays := plan.layout.Packs[id]
	was, had := in.Lock.Packs[id]
	if !stays {
		return PackReport{
			Pack: id.String(), Version: was.Version, Action: ActionRemoved, Source: was.Source, Skills: []SkillReport{},
		}
	}
	p := packReport(in.Workspace, t.manifest, id, now, plan.layout, status)
	switch {
	case p.Linked != "" && in.anySkill(id, now, plan.change.Links):
		p.Action = ActionLinked
	case p.Linked != "":
		p.Action = ActionUnchanged
	case !had:
		p.Action = ActionInstalled
	case was.Integrity != now.Integrity || was.Version != now.Version:
		p.Action, p.Previous, p.PreviousResolved = ActionUpdated, was.Version, was.Resolved
		p.Downgrade = isHigher(was.Version, now.Version)
		p.Added = missingKeys(now.Skills, was.Skills)
	case was.Source != now.Source:
		p.Action = ActionMoved
	case hasRenamedSkill(id, in.Lock.Names, t.Lock.Names):
		p.Action = ActionRenamed
	case in.anySkill(id, now, plan.change.Writes):
		p.Action = ActionRestored
		if last, ok := in.InstalledPack(id); ok && last.Version != now.Version { // the lockfile was turned back
			p.Action, p.Previous, p.PreviousResolved = ActionUpdated, last.Version, last.Resolved
			p.Downgrade = isHigher(last.Version, now.Version)
		}
	default:
		p.Action = ActionUnchanged
	}
	if had && was.Source != now.Source {
		p.PreviousSource = was.Source
	}
	if had {
		p.Dropped = missingKeys(was.Skills, now.Skills)
		markRenamed(&p, id, was, in.Lock.Names)
		if p.Linked == "" && was.Signer != now.Signer {
			p.SignerChanged, p.PreviousSigner = true, was.Signer
		}
	}
	p.PreviousRange, p.Range = rangeChange(in.Manifest, t.manifest, id)
	return p
}

// missingKeys returns the keys of a map that another does not have, sorted.
func missingKeys(m, other map[string]string) (missing []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if _, ok := other[key]; !ok {
			missing = append(missing, key)
		}
	}
	return missing
}

// skillStatus describes how a skill is installed.
type skillStatus func(id pack.ID, skill string) workspace.SkillStatus

// statusAfter describes how skills are installed after a change, or now if the change is not applied.
func (in *installer) statusAfter(l *workspace.Layout, c *workspace.Change) skillStatus {
	edited := map[string]bool{}
	for _, e := range c.Edited {
		edited[e.Path] = true
	}
	return func(id pack.ID, skill string) workspace.SkillStatus {
		at := in.SkillAt(id, skill)
		changes := c.Writes(at) || c.Links(at)
		installed := l.Has(at)
		return workspace.SkillStatus{Installed: installed && (!in.request.DryRun || !changes), Edited: edited[at]}
	}
}

// statusNow describes how skills are installed now.
func statusNow(w *workspace.Workspace, l *workspace.Layout) skillStatus {
	return func(id pack.ID, skill string) workspace.SkillStatus { return w.SkillStatus(l, id, skill) }
}

// rangeChange returns what a manifest required of a pack before and what it requires after a change, "" if it stays.
func rangeChange(before, after *pack.Manifest, id pack.ID) (was, now string) {
	old, had := before.Dependency(id)
	d, has := after.Dependency(id)
	if !had || !has || sameRequirement(old, d) {
		return "", ""
	}
	return requirement(old), requirement(d)
}

// requirement formats a dependency without its skills.
func requirement(d pack.Dependency) string {
	d.Skills = nil
	return pack.FormatRequirement(d)
}

// anySkill reports whether something holds for the directory of one of a pack's skills.
func (in *installer) anySkill(id pack.ID, p *pack.LockedPack, holds func(dir string) bool) bool {
	for name := range p.Skills {
		if holds(in.SkillAt(id, name)) {
			return true
		}
	}
	return false
}

// hasRenamedSkill reports whether a skill of the pack has another name than before.
func hasRenamedSkill(id pack.ID, before, after map[string]pack.LockedName) bool {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for name := range names {
		was, now := before[name], after[name]
		if was.Shadowed[id] != now.Shadowed[id] {
			return true
		}
	}
	return false
}

// markRenamed adds to a pack's skills the names under which agents saw them before, if these change.
func markRenamed(r *PackReport, id pack.ID, was *pack.LockedPack, names map[string]pack.LockedName) {
	for i := range r.Skills {
		s := &r.Skills[i]
		before := cmp.Or(names[s.Name].Shadowed[id], s.Name)
		if _, had := was.Skills[s.Name]; had && before != s.Link {
			s.PreviousLink = before
		}
	}
}

// packReport describes an installed pack.
func packReport(
	w *workspace.Workspace, m *pack.Manifest, id pack.ID, p *pack.LockedPack, l *workspace.Layout, status skillStatus,
) PackReport {
	_, direct := m.Dependency(id)
	r := PackReport{
		Pack: id.String(), Version: p.Version, Direct: direct, Source: p.Source, Resolved: p.Resolved,
		Integrity: p.Integrity, Demo: registry.IsDemo(id, p.Source),
		Signer: p.Signer, SignedBy: trust.Fingerprint(p.Signer),
		Skills: make([]SkillReport, 0, len(p.Skills)), Installed: true, Partial: p.Partial,
	}
	if d, ok := m.Dependency(id); ok && d.Ref != nil && (p.Source == "path" ||
		strings.HasPrefix(p.Source, "git+file")) {
		r.Directory = d.Ref.String()
	} else if dir := w.Directories()[id.String()]; dir != "" && workspace.OmitsDirectory(p.Source) {
		r.Directory = p.Source + ":" + dir
	}
	if linked := l.Linked[id]; linked != nil {
		r.Linked = linked.Dir
	}
	for _, n := range l.Named {
		if n.Pack != id {
			continue
		}
		s := SkillReport{
			Name: n.Skill, Link: n.Link, OwnName: n.Bare, Tree: p.Skills[n.Skill],
			Dir: w.SkillAt(id, n.Skill), Links: []string{},
		}
		st := status(id, n.Skill)
		s.Installed, s.Edited = st.Installed, st.Edited
		r.Edited = r.Edited || st.Edited
		if err := l.Denial(id, n.Skill); err != nil {
			s.Denied = err.Error()
			r.Denied = cmp.Or(r.Denied, s.Denied)
		} else {
			r.Installed = r.Installed && st.Installed
			for _, dir := range l.Dirs {
				s.Links = append(s.Links, path.Join(dir.Dir, n.Link))
			}
		}
		r.Skills = append(r.Skills, s)
	}
	slices.SortFunc(r.Skills, func(a, b SkillReport) int { return strings.Compare(a.Name, b.Name) })
	return r
}
