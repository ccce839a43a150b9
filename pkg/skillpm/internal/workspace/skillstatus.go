package workspace

import (
	"os"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// SkillStatus describes how a skill is installed.
type SkillStatus struct {
	Installed bool // with or without local edits
	Edited    bool // it has local edits
}

// SkillStatus describes how a skill of a layout is installed. Files with an unchanged fingerprint are not read.
func (w *Workspace) SkillStatus(l *Layout, id pack.ID, skill string) SkillStatus {
	at := w.SkillAt(id, skill)
	t, ok := l.trees[at]
	if !ok { // it is linked, or denied
		target, linked := l.links[at]
		return SkillStatus{Installed: linked && isLinkTo(w.Scope.Abs(at), target)}
	}
	known, ours := w.ownTrees()[at]
	if w.looksUnchanged(at) && known.Source == t.source() {
		return SkillStatus{Installed: true}
	}
	if info, err := os.Lstat(w.Scope.Abs(at)); err != nil || !info.IsDir() {
		return SkillStatus{}
	}
	got, err := bundle.Sum(os.DirFS(w.Scope.Root), at)
	switch {
	case err == nil && w.machine.matches(got, t):
		return SkillStatus{Installed: true}
	case err == nil && (ours && got.Digest() == known.Digest || w.machine.isPart(got, t)):
		return SkillStatus{} // another version, or with files missing
	}
	return SkillStatus{Installed: ours && w.installedTree(at, known).source() == t.source(), Edited: true}
}
