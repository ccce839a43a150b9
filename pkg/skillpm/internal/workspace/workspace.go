package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// Workspace is one scope as it is on disk: its manifest, lockfile and state, with the settings that apply.
type Workspace struct {
	Scope    scope.Scope
	Manifest *pack.Manifest
	Lock     *pack.Lock
	Config   *pack.Config // of the user
	// LockMerged reports that Lock was merged from a lockfile with merge conflicts.
	LockMerged bool

	machine       *Machine
	manifestBytes []byte // nil if there is no file
	lockBytes     []byte // nil if there is no file
	state         *state
	linksChanged  bool                 // see SetLinked
	linkedBefore  map[string]string    // see SetLinked
	guard         *enforce.Evaluator   // see findDenied
	mcpServers    map[string]bool      // see abilities
	lockTrees     map[string]treeState // see ownTrees
	plugins       string               // see SkillAt
	forChange     bool                 // see OpenForChange
	merge         MergeLock            // see OpenForChange
	scan          *diskScan
}

// Open reads a scope: the user's, or that of the project around the machine's directory. If there is no project, the
// directory becomes one if create is set; otherwise it is a not-found error.
func (m *Machine) Open(kind string, create bool) (*Workspace, error) {
	s, err := m.findScope(kind, create)
	if err != nil {
		return nil, err
	}
	return m.openScope(&Workspace{Scope: s})
}

// MergeLock returns the lock for a lockfile with merge conflicts, and for the manifest beside it.
type MergeLock func(file string, data []byte, m *pack.Manifest) (*pack.Lock, error)

// OpenForChange is [Machine.Open] for callers that compare the scope: it starts the scan of installed files at once,
// while it reads manifest and lockfile. If merge is nil, a lockfile with merge conflicts is an error.
func (m *Machine) OpenForChange(kind string, create bool, merge MergeLock) (*Workspace, error) {
	s, err := m.findScope(kind, create)
	if err != nil {
		return nil, err
	}
	return m.openScope(&Workspace{Scope: s, forChange: true, merge: merge})
}

// OpenMachine reads the scope of the machine's administrator.
func (m *Machine) OpenMachine() (*Workspace, error) {
	return m.openScope(&Workspace{Scope: m.Paths.Machine(), forChange: true})
}

func (m *Machine) openScope(w *Workspace) (_ *Workspace, err error) {
	w.machine = m
	if err := w.read(); err != nil {
		return nil, err
	}
	if w.Config, err = m.UserConfig(); err != nil {
		return nil, err
	}
	return w, nil
}

func (m *Machine) findScope(kind string, create bool) (scope.Scope, error) {
	switch kind {
	case scope.KindUser:
		return m.Paths.User(), nil
	case scope.KindProject, "":
	default:
		return scope.Scope{}, diag.Errorf(diag.Usage, "unknown scope %q: use %s or %s",
			kind, scope.KindProject, scope.KindUser)
	}
	s, found, err := m.Paths.Project(m.Dir)
	if err != nil {
		return scope.Scope{}, err
	}
	if found {
		return s, nil
	}
	if !create {
		return scope.Scope{}, diag.Errorf(diag.NotFound, "no skillpm.yaml found in %s or its parent directories",
			m.Dir).
			WithHint("create skillpm.yaml with: skillpm init, or skillpm install owner/name")
	}
	return s, nil
}

// read reads state, manifest and lock.
func (w *Workspace) read() (err error) {
	w.lockTrees, w.scan, w.guard, w.LockMerged = nil, nil, nil, false
	if w.state, err = readState(w.Scope.State(), w.Scope.Root, w.machine.key()); err != nil {
		return err
	}
	if w.forChange {
		w.StartScan()
	}
	if w.manifestBytes, err = safefile.ReadOptional(w.Scope.Manifest()); err != nil {
		return err
	}
	if w.lockBytes, err = safefile.ReadOptional(w.Scope.Lock()); err != nil {
		return err
	}
	w.Manifest = pack.NewManifest(w.Scope.Manifest())
	if w.manifestBytes != nil {
		if w.Manifest, err = pack.ParseManifest(w.Scope.Manifest(), w.manifestBytes); err != nil {
			return err
		}
	}
	switch {
	case w.lockBytes == nil:
		w.Lock = pack.NewLock()
	case w.merge != nil && pack.HasConflict(w.lockBytes):
		w.Lock, err = w.merge(w.Scope.Lock(), w.lockBytes, w.Manifest)
		w.LockMerged = err == nil
	default:
		w.Lock, err = pack.ParseLock(w.Scope.Lock(), w.lockBytes)
	}
	return err
}

// untaggedVersion matches the versions that Go gives to builds between releases.
var untaggedVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d{14}-[0-9a-f]{12}`) })

// CheckVersion refuses a manifest that requires another version of skillpm. A build between releases passes.
func (m *Machine) CheckVersion(manifest *pack.Manifest) error {
	current, err := semver.NewVersion(m.Version)
	if manifest.Skillpm == "" || err != nil || untaggedVersion().MatchString(m.Version) {
		return nil
	}
	constraint, err := semver.NewConstraint(manifest.Skillpm)
	if err != nil || constraint.Check(current) {
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s requires skillpm %s, but this is skillpm %s",
		manifest.Path, manifest.Skillpm, m.Version).
		WithHint("install a matching version of skillpm")
}

// changed reports whether manifest or lockfile differ from what was read.
func (w *Workspace) changed() (bool, error) {
	manifest, err := safefile.ReadOptional(w.Scope.Manifest())
	if err != nil {
		return false, err
	}
	lock, err := safefile.ReadOptional(w.Scope.Lock())
	if err != nil {
		return false, err
	}
	same := bytes.Equal(manifest, w.manifestBytes) && bytes.Equal(lock, w.lockBytes)
	return !same || (manifest == nil) != (w.manifestBytes == nil) || (lock == nil) != (w.lockBytes == nil), nil
}

// Confirm returns [ErrChanged] if another process changed the scope since it was read, and err otherwise. A conflict
// that was found without the scope's lock may be with files that such a process has just written: Confirm waits until
// its transaction has ended.
func (w *Workspace) Confirm(ctx context.Context, err error) error {
	unlock, lockErr := w.machine.lock(ctx, w.Scope.LockFile())
	if lockErr != nil {
		return err
	}
	changed, changedErr := w.changed()
	if unlockErr := unlock(); unlockErr != nil || changedErr != nil || !changed {
		return err
	}
	return ErrChanged
}

// txnOptions returns the options of the scope's transactions.
func (w *Workspace) txnOptions() txn.Options {
	return txn.Options{Root: w.Scope.Root, Dir: w.Scope.Journal(), Key: w.machine.key()}
}

// Recover finishes or undoes a transaction that an earlier process did not end, and reads the scope again.
func (w *Workspace) Recover(ctx context.Context) (err error) {
	if _, err := os.Lstat(w.Scope.Journal()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := w.machine.lock(ctx, w.Scope.LockFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := txn.Recover(w.txnOptions()); err != nil {
		return err
	}
	return w.read()
}

// Rel returns a path below the scope's root as a slash-separated relative path.
func (w *Workspace) Rel(path string) string {
	r, err := filepath.Rel(w.Scope.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(r)
}

// SkillAt returns where a skill of a pack is installed, relative to the root. It is [Workspace.Rel] of
// [scope.Scope.PluginSkill] without path operations, which take too long for thousands of skills.
func (w *Workspace) SkillAt(id pack.ID, skill string) string {
	if w.plugins == "" {
		w.plugins = w.Rel(w.Scope.Plugins())
	}
	return w.plugins + "/" + id.Owner + "/" + id.Name + "/" + skill
}

// abs returns a clean path relative to the root as an absolute one.
func (w *Workspace) abs(at string) string {
	return filepath.Clean(w.Scope.Root) + string(filepath.Separator) + filepath.FromSlash(at)
}

// UserConfig reads the user's settings. A file that the user named must exist; the default file need not.
func (m *Machine) UserConfig() (*pack.Config, error) {
	path := m.Config
	if path == "" {
		path = m.Paths.ConfigFile()
	}
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return nil, err
	}
	if data == nil && m.Config != "" {
		return nil, diag.Errorf(diag.NotFound, "settings file %s does not exist", path)
	}
	return pack.ParseConfig(path, data)
}
