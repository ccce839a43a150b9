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

// Documents are the manifest and the lockfile that a scope gets, with what the lockfile leaves out.
type Documents struct {
	Manifest    *pack.Manifest
	Lock        *pack.Lock
	Directories map[string]string // directories that the lock leaves out, by pack; see [OmitsDirectory]
}

// HasLock reports whether the scope has a lock file.
func (w *Workspace) HasLock() bool { return w.lockBytes != nil }

// LacksLock reports whether the scope has requirements but no lockfile. A scope without requirements needs none.
func (w *Workspace) LacksLock() bool {
	return w.lockBytes == nil && len(w.Manifest.Dependencies)+len(w.Manifest.DevDependencies) > 0
}

// StageDocuments adds manifest and lockfile to the change if they differ from those on disk.
func (w *Workspace) StageDocuments(c *Change, g Documents) {
	if w.manifestBytes != nil || len(g.Manifest.Bytes()) > 0 || w.Scope.Kind != scope.KindUser {
		c.stageFile(w.Rel(w.Scope.Manifest()), w.manifestBytes, g.Manifest.Bytes())
	}
	none := w.lockBytes == nil && len(g.Lock.Packs) == 0
	if lock := g.Lock.Encode(); !none && (w.lockBytes == nil || !equalText(lock, w.lockBytes)) {
		c.stageFile(w.Rel(w.Scope.Lock()), w.lockBytes, lock)
	}
}

// StageFile adds a file beside the manifest to the change if it differs from the one on disk.
func (w *Workspace) StageFile(c *Change, name string, data []byte) error {
	path := filepath.Join(filepath.Dir(w.Scope.Manifest()), filepath.FromSlash(name))
	before, err := safefile.ReadOptional(path)
	if err == nil {
		c.stageFile(w.Rel(path), before, data)
	}
	return err
}

// equalText reports whether two files are equal apart from line endings, which git may change.
func equalText(a, b []byte) bool {
	unix := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(a, b) || bytes.Equal(unix(a), unix(b))
}

// CheckFrozen returns an error unless the lockfile on disk is that of the documents, apart from line endings.
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
			differences = append(differences, fmt.Sprintf("the content of %s differs from skillpm.lock", id))
		}
	}
	slices.Sort(differences)
	return disagreement(differences)
}

// Disagreement returns an error that says how a lockfile differs from what its manifest leads to, nil if a comparison
// of the two shows no difference.
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

// maxFacts is how many differences an error lists.
const maxFacts = 5

func disagreement(differences []string) error {
	text := "skillpm.lock does not match skillpm.yaml"
	if more := len(differences) - maxFacts; more > 0 {
		differences = append(differences[:maxFacts:maxFacts], fmt.Sprintf("and %d more", more))
	}
	if len(differences) > 0 {
		text += ": " + strings.Join(differences, "; ")
	}
	return diag.Errorf(diag.Conflict, "%s", text).
		WithHint("run \"skillpm install\" without --frozen, review the changes to skillpm.lock, and commit the file")
}

// OmitsDirectory reports whether a locked source leaves its directory out. A lockfile never names a directory of one
// machine: a pack from an OCI layout is locked without it, and this machine's state has the directory.
func OmitsDirectory(lockedSource string) bool { return lockedSource == string(pack.KindLayout) }

// Directories returns the directories that the lockfile leaves out, by pack, as this machine's state has them.
func (w *Workspace) Directories() map[string]string { return w.state.Directories }

// directoriesAfter returns the directories that the state has after documents were applied.
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

// DocumentNames returns which of the manifest and the lockfile the change writes.
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

// UpdatesState reports whether the comparison had to hash files that turned out right, so that the state should get
// their new fingerprints.
func (c *Change) UpdatesState() bool { return len(c.rehashed) > 0 }
