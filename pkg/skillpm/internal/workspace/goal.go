package workspace

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Goal is what a scope is to become.
type Goal struct {
	Manifest *pack.Manifest
	Lock     *pack.Lock
	Places   map[string]string // directories that the lock leaves out, by pack; see [Placeless]
}

// Locked reports whether the scope has a lock file.
func (w *Workspace) Locked() bool { return w.lockBytes != nil }

// LacksLock reports whether the scope should have a lock file and has none: where nothing is required none is written.
func (w *Workspace) LacksLock() bool {
	return w.lockBytes == nil && len(w.Manifest.Dependencies)+len(w.Manifest.DevDependencies) > 0
}

// StageDocuments adds manifest and lock to the change where they differ from what the goal says.
func (w *Workspace) StageDocuments(c *Change, g Goal) {
	if w.manifestBytes != nil || len(g.Manifest.Dependencies) > 0 || w.Scope.Kind != scope.KindUser {
		c.stageFile(w.Rel(w.Scope.Manifest()), w.manifestBytes, g.Manifest.Bytes())
	}
	none := w.lockBytes == nil && len(g.Lock.Packs) == 0
	if lock := g.Lock.Encode(); !none && (w.lockBytes == nil || !sameText(lock, w.lockBytes)) {
		c.stageFile(w.Rel(w.Scope.Lock()), w.lockBytes, lock)
	}
}

// StageFile adds a file beside the manifest to the change where it differs from what is there.
func (w *Workspace) StageFile(c *Change, name string, data []byte) error {
	path := filepath.Join(filepath.Dir(w.Scope.Manifest()), filepath.FromSlash(name))
	before, err := safefile.ReadOptional(path)
	if err == nil {
		c.stageFile(w.Rel(path), before, data)
	}
	return err
}

// sameText reports whether two files say the same: git may write them with other line endings.
func sameText(a, b []byte) bool {
	unix := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(unix(a), unix(b))
}

// CheckFrozen reports a goal whose lock is not, but for line endings, the one that is there.
func (w *Workspace) CheckFrozen(g Goal) error {
	if sameText(g.Lock.Encode(), w.lockBytes) || w.lockBytes == nil && len(g.Lock.Packs) == 0 {
		return nil
	}
	if err := Disagreement(g.Manifest, w.Lock); err != nil {
		return err
	}
	var facts []string
	if d, ok := pack.CompareText(w.Lock, w.lockBytes); ok && g.Lock.Equal(w.Lock) {
		facts = append(facts, fmt.Sprintf("line %d: %s", d.Line, d.Message))
	}
	for id, p := range g.Lock.Packs {
		if was := w.Lock.Packs[id]; was != nil && !p.Equal(was) {
			facts = append(facts, fmt.Sprintf("%s is not what is locked of it", id))
		}
	}
	slices.Sort(facts)
	return disagreement(facts)
}

// Disagreement says in what a lock is another one than the manifest leads to, nil if that can't be told from the two.
func Disagreement(m *pack.Manifest, l *pack.Lock) error {
	var facts []string
	for _, d := range pack.Compare(m, l) {
		facts = append(facts, d.Message)
	}
	if len(facts) == 0 {
		return nil
	}
	return disagreement(facts)
}

// toldFacts is how many differences an error tells.
const toldFacts = 5

func disagreement(facts []string) error {
	text := "skillpm.lock does not agree with skillpm.yaml"
	if more := len(facts) - toldFacts; more > 0 {
		facts = append(facts[:toldFacts:toldFacts], fmt.Sprintf("and %d more", more))
	}
	if len(facts) > 0 {
		text += ": " + strings.Join(facts, "; ")
	}
	return diag.Errorf(diag.Conflict, "%s", text).
		WithHint("run skillpm install without --frozen, look at the difference and commit it")
}

// Placeless reports whether a locked source leaves its directory out. A lock never names a directory of one machine: a
// pack that was found by name in a layout there is locked without its place, which this machine's state remembers.
func Placeless(lockedSource string) bool { return lockedSource == string(pack.KindLayout) }

// Places returns the directories that the lock leaves out and this machine remembers, by pack.
func (w *Workspace) Places() map[string]string { return w.state.Places }

// placesAfter returns the directories that the state should remember once the goal is reached.
func (w *Workspace) placesAfter(g Goal) map[string]string {
	places := maps.Clone(w.state.Places)
	maps.Copy(places, g.Places)
	without := map[string]bool{}
	for id, p := range g.Lock.Packs {
		without[id.String()] = Placeless(p.Source)
	}
	maps.DeleteFunc(places, func(name, _ string) bool { return !without[name] })
	return places
}

// Recorded returns the names of the files that the change writes, of the manifest and the lock.
func (c *Change) Recorded() []string {
	names := []string{}
	for _, name := range []string{pack.ManifestName, pack.LockName} {
		for at := range c.files {
			if path.Base(at) == name {
				names = append(names, name)
			}
		}
	}
	return names
}

// Restated reports whether what is right was found by hashing, so that this machine should remember it.
func (c *Change) Restated() bool { return len(c.looks) > 0 }
