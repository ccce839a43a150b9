package skillpm

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// What happened, or would happen, to a pack.
const (
	ActionInstalled = "installed"
	ActionUpdated   = "updated"
	ActionRestored  = "restored" // as locked, and not or not wholly there before
	ActionRenamed   = "renamed"  // its skills have other names than before, nothing else
	ActionRemoved   = "removed"
	ActionLinked    = "linked" // to the directory that it is worked on in
	ActionUnchanged = "unchanged"
)

// InstallReport says what an install or a removal did.
type InstallReport struct {
	Scope    string `json:"scope"`
	Root     string `json:"root"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dryRun"`
	Recorded bool   `json:"recorded"` // skillpm.yaml or skillpm.lock changed
	// RecordedIn are the names of those of the two that changed.
	RecordedIn []string `json:"recordedIn"`
	// NamesChanged says that skills won, lost or changed names that several packs have.
	NamesChanged bool                 `json:"namesChanged"`
	Packs        []PackReport         `json:"packs"`
	Agents       []workspace.AgentDir `json:"agents"`
	Conflicts    []NameConflict       `json:"conflicts"`
	HeldBack     []OutdatedPack       `json:"heldBack,omitempty"` // what an update could not move to the newest version
	// installed skills that somebody edited and that stay so
	Edited []Edit `json:"edited"`
	// edited directories that were replaced or removed -> where a copy is
	Saved    map[string]string `json:"saved"`
	Warnings []string          `json:"warnings"`
}

// PackReport is one pack of a scope.
type PackReport struct {
	Pack      string        `json:"pack"`
	Version   string        `json:"version"`
	Previous  string        `json:"previous,omitempty"`  // the version before an update
	Downgrade bool          `json:"downgrade,omitempty"` // which was a higher one
	Action    string        `json:"action,omitempty"`
	Direct    bool          `json:"direct"` // the manifest asks for it, not only another pack
	Source    string        `json:"source"`
	Place     string        `json:"place,omitempty"` // where that is on this machine, if the lock leaves it out
	Resolved  string        `json:"resolved,omitempty"`
	Integrity string        `json:"integrity"`
	Signer    string        `json:"signer,omitempty"`   // as the lock records it
	SignedBy  string        `json:"signedBy,omitempty"` // the fingerprint of that key, or the identity
	Partial   bool          `json:"partial,omitempty"`  // only some of its skills are wanted
	Installed bool          `json:"installed"`          // all its skills are
	Edited    bool          `json:"edited"`             // one of them was
	Skills    []SkillReport `json:"skills"`
	Linked    string        `json:"linked,omitempty"`  // the directory that it is linked to
	Added     []string      `json:"added,omitempty"`   // skills that an update brought
	Dropped   []string      `json:"dropped,omitempty"` // skills that were installed before and are no longer
	// PreviousRange and Range are what the manifest required before and requires now, where that was rewritten.
	PreviousRange string `json:"previousRange,omitempty"`
	Range         string `json:"range,omitempty"`
	// Denied is why the policies do not let one of its skills be used, "" where they do.
	Denied string `json:"denied,omitempty"`
	// SignerChanged says that another signer is recorded than before, as where there was none.
	SignerChanged bool `json:"signerChanged,omitempty"`
	// PreviousSigner is who was recorded as the signer before, where now somebody else is, or nobody.
	PreviousSigner string `json:"previousSigner,omitempty"`
}

// SkillReport is one skill of an installed pack.
type SkillReport struct {
	Name      string   `json:"name"`
	Link      string   `json:"link"`      // the name that agents see
	InForce   bool     `json:"inForce"`   // the bare name is this skill's
	Installed bool     `json:"installed"` // it is there; else only locked
	Edited    bool     `json:"edited"`    // somebody changed what is there
	Tree      string   `json:"tree"`      // digest
	Dir       string   `json:"dir"`       // relative to the root
	Links     []string `json:"links"`     // where agents find it, relative to the root

	Denied     string `json:"denied,omitempty"`     // why the policies do not let it be used
	Unapproved bool   `json:"unapproved,omitempty"` // that is so because nobody has approved it
}

// NameConflict says that several packs have a skill of one name.
type NameConflict = workspace.NameConflict

// report describes a target in comparison to the lock that is there.
func (w *work) report(t *target, l *workspace.Layout, c *workspace.Change, dry bool) *InstallReport {
	r := &InstallReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Agents: l.Dirs, Packs: []PackReport{},
		Conflicts: []NameConflict{}, Edited: []Edit{}, Warnings: []string{},
	}
	ids := maps.Clone(l.Packs)
	maps.Copy(ids, w.Lock.Packs)
	for _, id := range slices.SortedFunc(maps.Keys(ids), pack.ID.Compare) {
		now, have := l.Packs[id]
		was, had := w.Lock.Packs[id]
		if !have {
			r.Packs = append(r.Packs, PackReport{
				Pack: id.String(), Version: was.Version, Action: ActionRemoved,
				Source: was.Source, Skills: []SkillReport{},
			})
			continue
		}
		p := packReport(w.Workspace, t.manifest, id, now, l, w.statusAfter(dry, c))
		switch {
		case p.Linked != "":
			p.Action = w.actionLinked(id, now, c)
		case !had:
			p.Action = ActionInstalled
		case was.Integrity != now.Integrity || was.Version != now.Version:
			p.Action, p.Previous = ActionUpdated, was.Version
			p.Downgrade = higher(was.Version, now.Version)
		case renamedIn(id, w.Lock.Names, t.Lock.Names):
			p.Action = ActionRenamed
		case w.placedOf(id, now, c):
			p.Action = ActionRestored
		default:
			p.Action = ActionUnchanged
		}
		if had && p.Linked == "" && was.Signer != now.Signer {
			p.SignerChanged, p.PreviousSigner = true, was.Signer
		}
		p.PreviousRange, p.Range = rewritten(w.Manifest, t.manifest, id)
		if p.Action == ActionUpdated {
			for _, name := range slices.Sorted(maps.Keys(now.Skills)) {
				if _, old := was.Skills[name]; !old {
					p.Added = append(p.Added, name)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(skillsOf(was))) {
			if _, kept := now.Skills[name]; !kept {
				p.Dropped = append(p.Dropped, name)
			}
		}
		r.Packs = append(r.Packs, p)
	}
	r.NamesChanged = !maps.EqualFunc(w.Lock.Names, t.Lock.Names, pack.LockedName.Equal)
	for _, c := range l.Conflicts {
		r.Conflicts = append(r.Conflicts, workspace.NewNameConflict(c))
	}
	return r
}

// skillStatus says how a skill is installed.
type skillStatus func(id pack.ID, skill string) workspace.SkillStatus

// statusAfter says how skills are installed once a change has been applied, or where it is not.
func (w *work) statusAfter(dry bool, c *workspace.Change) skillStatus {
	edited := map[string]bool{}
	for _, e := range c.Edited {
		edited[e.Path] = true
	}
	return func(id pack.ID, skill string) workspace.SkillStatus {
		at := w.SkillAt(id, skill)
		_, placed := c.Place[at]
		return workspace.SkillStatus{Installed: !dry || !placed && !c.Links(at), Edited: edited[at]}
	}
}

// statusNow says how skills are installed.
func statusNow(w *workspace.Workspace, l *workspace.Layout) skillStatus {
	return func(id pack.ID, skill string) workspace.SkillStatus { return w.SkillStatus(l, id, skill) }
}

// actionLinked says whether the change links a pack or leaves it as it is.
func (w *work) actionLinked(id pack.ID, p *pack.LockedPack, c *workspace.Change) string {
	for name := range p.Skills {
		if c.Links(w.SkillAt(id, name)) {
			return ActionLinked
		}
	}
	return ActionUnchanged
}

// rewritten returns what a manifest required of a pack and what it requires now, if that is something else.
func rewritten(before, after *pack.Manifest, id pack.ID) (was, now string) {
	old, had := before.Dependency(id)
	d, has := after.Dependency(id)
	if !had || !has || same(old, d) {
		return "", ""
	}
	return requirement(old), requirement(d)
}

// requirement writes what is required of a pack, without its skills.
func requirement(d pack.Dependency) string {
	d.Skills = nil
	return pack.FormatRequirement(d)
}

// skillsOf returns the skills of a locked pack, none if it is not locked.
func skillsOf(p *pack.LockedPack) map[string]string {
	if p == nil {
		return nil
	}
	return p.Skills
}

// placedOf reports whether the change writes one of the pack's skills.
func (w *work) placedOf(id pack.ID, p *pack.LockedPack, c *workspace.Change) bool {
	for name := range p.Skills {
		if _, ok := c.Place[w.SkillAt(id, name)]; ok {
			return true
		}
	}
	return false
}

// renamedIn reports whether a skill of the pack won, lost or changed a name.
func renamedIn(id pack.ID, before, after map[string]pack.LockedName) bool {
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

// packReport describes an installed pack.
func packReport(
	w *workspace.Workspace, m *pack.Manifest, id pack.ID, p *pack.LockedPack, l *workspace.Layout, how skillStatus,
) PackReport {
	_, direct := m.Dependency(id)
	r := PackReport{
		Pack: id.String(), Version: p.Version, Direct: direct, Source: p.Source, Resolved: p.Resolved,
		Integrity: p.Integrity,
		Signer:    p.Signer, SignedBy: trust.Fingerprint(p.Signer),
		Skills: []SkillReport{}, Installed: true, Partial: p.Partial,
	}
	if d, ok := m.Dependency(id); ok && d.Ref != nil && (p.Source == "path" ||
		strings.HasPrefix(p.Source, "git+file")) {
		r.Place = d.Ref.String()
	} else if dir := w.Places()[id.String()]; dir != "" && workspace.Placeless(p.Source) {
		r.Place = p.Source + ":" + dir
	}
	if linked := l.Linked[id]; linked != nil {
		r.Linked = linked.Dir
	}
	for _, n := range l.Named {
		if n.Pack != id {
			continue
		}
		s := SkillReport{
			Name: n.Skill, Link: n.Link, InForce: n.Bare, Tree: p.Skills[n.Skill],
			Dir: w.SkillAt(id, n.Skill), Links: []string{},
		}
		is := how(id, n.Skill)
		s.Installed, s.Edited = is.Installed, is.Edited
		r.Installed, r.Edited = r.Installed && is.Installed, r.Edited || is.Edited
		for _, dir := range l.Dirs {
			s.Links = append(s.Links, path.Join(dir.Dir, n.Link))
		}
		r.Skills = append(r.Skills, s)
	}
	slices.SortFunc(r.Skills, func(a, b SkillReport) int { return strings.Compare(a.Name, b.Name) })
	return r
}
