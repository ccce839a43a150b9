package skillpm

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/txn"
)

// workspace is one scope as it is on disk: its manifest, lock and state, with the settings that apply.
type workspace struct {
	client        *Client
	scope         scope.Scope
	manifest      *project.Manifest
	manifestBytes []byte // as read, nil if there is no file
	lock          *project.Lock
	lockBytes     []byte // as read, nil if there is no file
	state         *state
	config        *project.Config
	lockTrees     map[string]treeState // see ownTrees
}

// openWorkspace reads the scope: that of the user, or the project around the client's directory. Where there is no
// project and create is set, the directory itself becomes one; else it is a not-found error.
func (c *Client) openWorkspace(kind string, create bool) (*workspace, error) {
	s, err := c.findScope(kind, create)
	if err != nil {
		return nil, err
	}
	w := &workspace{client: c, scope: s}
	if err := w.read(); err != nil {
		return nil, err
	}
	if w.config, err = c.readConfig(); err != nil {
		return nil, err
	}
	return w, nil
}

func (c *Client) findScope(kind string, create bool) (scope.Scope, error) {
	switch kind {
	case scope.KindUser:
		return c.Paths.User(), nil
	case scope.KindProject, "":
	default:
		return scope.Scope{}, diag.Errorf(diag.Usage, "unknown scope %q: use %s or %s", kind, scope.KindProject, scope.KindUser)
	}
	s, found, err := c.Paths.Project(c.Dir)
	if err != nil {
		return scope.Scope{}, err
	}
	if found {
		return s, nil
	}
	if !create {
		return scope.Scope{}, diag.Errorf(diag.NotFound, "no skillpm.yaml in %s or above it", c.Dir).
			WithHint("skillpm init makes one, skillpm install owner/name too")
	}
	return s, nil
}

// read reads manifest, lock and state.
func (w *workspace) read() (err error) {
	w.lockTrees = nil
	if w.manifestBytes, err = readOptional(w.scope.Manifest()); err != nil {
		return err
	}
	if w.lockBytes, err = readOptional(w.scope.Lock()); err != nil {
		return err
	}
	w.manifest = project.NewManifest(w.scope.Manifest())
	if w.manifestBytes != nil {
		if w.manifest, err = project.ParseManifest(w.scope.Manifest(), w.manifestBytes); err != nil {
			return err
		}
	}
	w.lock = project.NewLock()
	if w.lockBytes != nil {
		if w.lock, err = project.ParseLock(w.scope.Lock(), w.lockBytes); err != nil {
			return err
		}
	}
	w.state, err = readState(w.scope.State(), w.scope.Root, w.client.machineKey())
	return err
}

// untagged matches the versions that Go gives to builds between releases.
var untagged = regexp.MustCompile(`\d{14}-[0-9a-f]{12}`)

// newEnough refuses a manifest that asks for another skillpm. A build between releases passes.
func (c *Client) newEnough(m *project.Manifest) error {
	mine, err := semver.NewVersion(c.Version)
	if m.Skillpm == "" || err != nil || untagged.MatchString(c.Version) {
		return nil
	}
	allowed, err := semver.NewConstraint(m.Skillpm)
	if err != nil || allowed.Check(mine) {
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s asks for skillpm %s, and this is %s", m.Path, m.Skillpm, c.Version).
		WithHint("install a skillpm that fits")
}

// changed reports whether manifest or lock differ from what was read.
func (w *workspace) changed() (bool, error) {
	manifest, err := readOptional(w.scope.Manifest())
	if err != nil {
		return false, err
	}
	lock, err := readOptional(w.scope.Lock())
	if err != nil {
		return false, err
	}
	same := bytes.Equal(manifest, w.manifestBytes) && bytes.Equal(lock, w.lockBytes)
	return !same || (manifest == nil) != (w.manifestBytes == nil) || (lock == nil) != (w.lockBytes == nil), nil
}

// txnOptions returns where the scope's transactions happen.
func (w *workspace) txnOptions() txn.Options {
	return txn.Options{Root: w.scope.Root, Dir: w.scope.Journal(), Key: w.client.machineKey()}
}

// recover finishes or discards a transaction that an earlier process left behind, and reads the scope again.
func (w *workspace) recover(ctx context.Context) (err error) {
	if _, err := os.Lstat(w.scope.Journal()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := txn.Lock(ctx, w.scope.LockFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := txn.Recover(w.txnOptions()); err != nil {
		return err
	}
	return w.read()
}

// rel returns a path below the scope's root as a slash-separated relative path.
func (w *workspace) rel(path string) string {
	r, err := filepath.Rel(w.scope.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(r)
}

// readConfig reads the user's settings; a file that was named must exist, the default one need not.
func (c *Client) readConfig() (*project.Config, error) {
	path := c.Config
	if path == "" {
		path = c.Paths.ConfigFile()
	}
	data, err := readOptional(path)
	if err != nil {
		return nil, err
	}
	if data == nil && c.Config != "" {
		return nil, diag.Errorf(diag.NotFound, "settings file %s does not exist", path)
	}
	return project.ParseConfig(path, data)
}

// readOptional returns a file's bytes, or nil if it does not exist. It refuses links and what is not a file, so that a
// manifest or lock can't lead elsewhere.
func readOptional(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Invalid, "%s is not a regular file", path).
			WithHint("replace the link or directory with the file itself")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}
