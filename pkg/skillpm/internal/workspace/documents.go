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

// Documents is what a scope is to become.
type Documents struct {
	Manifest    *pack.Manifest
	Lock        *pack.Lock
	Directories map[string]string // directories that the lock leaves out, by pack; see [OmitsDirectory]
}

// HasLock reports whether the scope has a lock file.
func (w *Workspace) HasLock() bool { return w.lockBytes != nil }

// LacksLock reports whether the scope should have a lock file and has none: where nothing is required none is written.
func (w *Workspace) LacksLock() bool {
	return w.lockBytes == nil && len(w.Manifest.Dependencies)+len(w.Manifest.DevDependencies) > 0
}

// StageDocuments adds manifest and lock to the change where they differ from what the goal says.
func (w *Workspace) StageDocuments(c *Change, g Documents) {
	if w.manifestBytes != nil || len(g.Manifest.Dependencies) > 0 || w.Scope.Kind != scope.KindUser {
		c.stageFile(w.Rel(w.Scope.Manifest()), w.manifestBytes, g.Manifest.Bytes())
	}
	none := w.lockBytes == nil && len(g.Lock.Packs) == 0
	if lock := g.Lock.Encode(); !none && (w.lockBytes == nil || !equalText(lock, w.lockBytes)) {
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

// equalText reports whether two files say the same: git may write them with other line endings.
func equalText(a, b []byte) bool {
	unix := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(unix(a), unix(b))
}

// CheckFrozen reports a goal whose lock is not, but for line endings, the one that is there.
func (w *Workspace) CheckFrozen(g Documents) error {
	if equalText(g.Lock.Encode(), w.lockBytes) || w.lockBytes == nil && len(g.Lock.Packs) == 0 {
		return nil
	}
	if err := Disagreement(g.Manifest, w.Lock); err != nil {
		return err
	}
	var differences []string
	if d, ok := pack.CompareText(w.Lock, w.lockBytes); ok && g.Lock.Equal(w.Lock) {
		differences = append(differences, fmt.Sprintf("line %d: %s", d.Line, d.Message))
	}
	for id, p := range g.Lock.Packs {
		if was := w.Lock.Packs[id]; was != nil && !p.Equal(was) {
			differences = append(differences, fmt.Sprintf("%s is not what is locked of it", id))
		}
	}
	slices.Sort(differences)
	return disagreement(differences)
}

// Disagreement says in what a lock is another one than the manifest leads to, nil if that can't be told from the two.
func Disagreement(m *pack.Manifest, l *pack.Lock) error {
	var differences []string
	for _, d := range pack.Compare(m, l) {
		differences = append(differences, d.Message)
	}
	if len(differences) == 0 {
		return nil
	}
	return disagreement(differences)
}

// maxFacts is how many differences an error tells.
const maxFacts = 5

func disagreement(differences []string) error {
	text := "skillpm.lock does not agree with skillpm.yaml"
	if more := len(differences) - maxFacts; more > 0 {
		differences = append(differences[:maxFacts:maxFacts], fmt.Sprintf("and %d more", more))
	}
	if len(differences) > 0 {
		text += ": " + strings.Join(differences, "; ")
	}
	return diag.Errorf(diag.Conflict, "%s", text).
		WithHint("run skillpm install without --frozen, look at the difference and commit it")
}

// OmitsDirectory reports whether a locked source leaves its directory out. A lock never names a directory of one machine: a
// pack that was found by name in a layout there is locked without its place, which this machine's state remembers.
func OmitsDirectory(lockedSource string) bool { return lockedSource == string(pack.KindLayout) }

// Directories returns the directories that the lock leaves out and this machine remembers, by pack.
func (w *Workspace) Directories() map[string]string { return w.state.Directories }

// directoriesAfter returns the directories that the state should remember once the goal is reached.
func (w *Workspace) directoriesAfter(g Documents) map[string]string {
	directories := maps.Clone(w.state.Directories)
	maps.Copy(directories, g.Directories)
	without := map[string]bool{}
	for id, p := range g.Lock.Packs {
		without[id.String()] = OmitsDirectory(p.Source)
	}
	maps.DeleteFunc(directories, func(name, _ string) bool { return !without[name] })
	return directories
}

// DocumentNames returns the names of the files that the change writes, of the manifest and the lock.
func (c *Change) DocumentNames() []string {
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

// UpdatesState reports whether what is right was found by hashing, so that this machine should remember it.
func (c *Change) UpdatesState() bool { return len(c.rehashed) > 0 }
