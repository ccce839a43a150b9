package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Options configure a transaction.
type Options struct {
	Root string // the scope's root, an absolute path; nothing outside it is changed
	Dir  string // the journal's directory, below Root; its parent is skillpm's own directory
	// Key is a secret of this machine, 32 bytes. Without it no other process can complete the transaction.
	Key  []byte
	Fail func(step string) error // for tests: called at each step, fails the step with its error; may be nil
}

// Tx is a transaction before its commit. It is not safe for concurrent use, but any number of goroutines may fill the
// staged directories.
type Tx struct {
	dir          *scopeDir
	ops          []*op
	byPath       map[string]*op
	nested       map[string]int // by directory: how many operations are inside it
	nextID       int
	ended        bool
	beforeCommit func() error // see CommitIf
}

// Begin starts a transaction. It fails if there is an interrupted one: call [Recover] first, and read the scope after
// that.
func Begin(o Options) (*Tx, error) {
	s, err := openScopeDir(o)
	if err != nil {
		return nil, explain(o.Root, err)
	}
	t := &Tx{dir: s, byPath: make(map[string]*op), nested: make(map[string]int)}
	if err := t.begin(); err != nil {
		return nil, explain(o.Root, errors.Join(err, s.close()))
	}
	return t, nil
}

func (t *Tx) begin() error {
	if _, err := t.dir.root.Lstat(t.dir.journalPath(journalName)); err == nil {
		return diag.Errorf(diag.Internal,
			"cannot start a transaction: skillpm did not recover an interrupted transaction in %s", t.dir.dir)
	}
	if err := t.dir.discard(); err != nil {
		return err
	}
	if err := t.dir.root.MkdirAll(t.dir.journalPath(stageName), 0o755); err != nil {
		return errors.Join(err, t.dir.discard())
	}
	if err := t.dir.fail("begin"); err != nil {
		return errors.Join(err, t.dir.discard())
	}
	return nil
}

// StageDir returns the absolute path of a directory that the caller creates and fills. Commit replaces whatever is at
// rel with it. rel is slash-separated and relative to the root.
func (t *Tx) StageDir(rel string) (abs string, err error) {
	o, err := t.add(kindDir, rel)
	if err != nil {
		return "", err
	}
	return filepath.Join(t.dir.path, filepath.FromSlash(t.dir.stagePath(o))), t.dir.fail("stage " + rel)
}

// StageFile stages a file with that content and mode. Commit replaces an existing file at rel, which must not be a link
// or a directory.
func (t *Tx) StageFile(rel string, data []byte, mode fs.FileMode) error {
	o, err := t.add(kindFile, rel)
	if err != nil {
		return err
	}
	o.Data, o.Mode = slices.Clone(data), mode.Perm()
	if o.Before, err = t.dir.digestOf(o.Path); err != nil {
		return err
	}
	return t.dir.fail("stage " + rel)
}

// StageLink stages a symbolic link to target. Commit replaces whatever is at rel with it.
func (t *Tx) StageLink(rel, target string) error {
	o, err := t.add(kindLink, rel)
	if err != nil {
		return err
	}
	o.Target = target
	return t.dir.fail("stage " + rel)
}

// Remove stages the removal of a file, link, or directory, which need not exist. Commit also removes directories above
// it that become empty, inside skillpm's own directory.
func (t *Tx) Remove(rel string) error {
	_, err := t.add(kindRemove, rel)
	if err != nil {
		return err
	}
	return t.dir.fail("stage " + rel)
}

// add adds an operation. It replaces an operation for the same path.
func (t *Tx) add(k kind, rel string) (*op, error) {
	if t.ended {
		return nil, diag.Errorf(diag.Internal, "the transaction has already ended")
	}
	clean, err := t.dir.checkPath(rel)
	if err != nil {
		return nil, explain(t.dir.path, err)
	}
	if other := t.byPath[clean]; other != nil {
		if err := t.drop(other); err != nil {
			return nil, err
		}
	}
	if k != kindRemove && t.nested[clean] > 0 {
		return nil, diag.Errorf(diag.Internal, "transaction: a path inside %s is already in the transaction", clean)
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if other := t.byPath[dir]; other != nil && other.Kind != kindRemove {
			return nil, diag.Errorf(diag.Internal, "transaction: %s is inside %s, which is already in the transaction",
				clean, dir)
		}
	}
	o := &op{ID: strconv.Itoa(t.nextID), Kind: k, Path: clean}
	t.nextID++
	t.ops = append(t.ops, o)
	t.byPath[clean] = o
	t.count(clean, +1)
	return o, nil
}

// drop removes an operation and its staged content.
func (t *Tx) drop(o *op) error {
	t.ops = slices.DeleteFunc(t.ops, func(other *op) bool { return other == o })
	delete(t.byPath, o.Path)
	t.count(o.Path, -1)
	return t.dir.remove(t.dir.stagePath(o))
}

// count adds n to the number of operations below each directory above rel.
func (t *Tx) count(rel string, n int) {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		t.nested[dir] += n
	}
}

// Commit applies the transaction. If it returns an error, the scope is as it was before Begin, unless the error says
// that undoing failed too; then [Recover] completes the transaction later.
func (t *Tx) Commit() error { return t.CommitIf(nil) }

// CommitIf is Commit with a final check. It calls check after it has synced everything staged, which takes time, and
// recorded what the transaction will replace. So check sees all changes before that; later changes are conflicts and
// stay. If check returns an error, CommitIf returns it and changes nothing.
func (t *Tx) CommitIf(check func() error) error {
	t.beforeCommit = check
	if t.ended {
		return diag.Errorf(diag.Internal, "the transaction has already ended")
	}
	t.ended = true
	slices.SortStableFunc(t.ops, func(a, b *op) int { return int(a.Kind) - int(b.Kind) })
	err := t.prepare()
	if err != nil {
		err = errors.Join(err, t.dir.discard())
	} else {
		err = t.apply()
	}
	return explain(t.dir.path, errors.Join(err, t.dir.close()))
}

// prepare does everything up to the commit point.
func (t *Tx) prepare() error {
	if err := t.dir.fail("prepare"); err != nil {
		return err
	}
	t.dropNested()
	dirs := false
	for _, o := range t.ops {
		if o.Kind != kindDir {
			continue
		}
		dirs = true
		info, err := t.dir.lstat(t.dir.stagePath(o))
		if err == nil && !isDir(info) {
			err = errors.New("not a directory")
		}
		if err != nil {
			return fmt.Errorf("staged %s: %w", o.Path, err)
		}
		o.Inode = inode(info)
	}
	if dirs {
		if err := syncTree(t.dir.abs(t.dir.journalPath(stageName))); err != nil {
			return err
		}
	}
	if err := t.dir.fail("synced"); err != nil {
		return err
	}
	if err := t.dir.recordExpected(t.ops); err != nil {
		return err
	}
	if t.beforeCommit != nil {
		if err := t.beforeCommit(); err != nil {
			return err
		}
	}
	return t.dir.writeJournal(t.ops)
}

// dropNested drops removals inside other removals.
func (t *Tx) dropNested() {
	removed := removals(t.ops)
	t.ops = slices.DeleteFunc(t.ops, func(o *op) bool { return o.Kind == kindRemove && isBelow(o.Path, removed) })
}

// apply applies the operations and ends the transaction. If an operation fails, apply reverts all of them.
func (t *Tx) apply() error {
	undo, err := t.dir.applyAll(t.ops)
	if err == nil {
		err = t.dir.syncAbove(t.ops)
	}
	if err == nil {
		err = t.dir.fail("applied")
	}
	if err == nil {
		return t.dir.finish(t.ops)
	}
	for _, u := range slices.Backward(undo) {
		if undoErr := u(); undoErr != nil {
			return errors.Join(err, fmt.Errorf("cannot undo the changes: %w", undoErr))
		}
	}
	return errors.Join(err, t.dir.discard())
}

// Abort discards the transaction. It does nothing after Commit.
func (t *Tx) Abort() error {
	if t.ended {
		return nil
	}
	t.ended = true
	return explain(t.dir.path, errors.Join(t.dir.discard(), t.dir.close()))
}

// Recover repairs a scope after its writer died. If the commit point was reached, it completes the transaction and
// returns true; otherwise it deletes the staged content.
func Recover(o Options) (recovered bool, err error) {
	if _, err := os.Lstat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := openScopeDir(o)
	if err != nil {
		return false, explain(o.Root, err)
	}
	defer func() { err = explain(o.Root, errors.Join(err, s.close())) }()
	ops, err := s.readJournal()
	if errors.Is(err, fs.ErrNotExist) {
		return false, s.discard()
	}
	if err != nil {
		return false, err
	}
	if err := s.checkConflicts(ops); err != nil {
		return false, err
	}
	if _, err := s.applyAll(ops); err != nil {
		return false, err
	}
	for _, o := range ops { // left by a process that died while it undid the transaction
		if err := s.remove(draftPath(o.Path, o)); err != nil {
			return false, err
		}
	}
	if err := s.syncAbove(ops); err != nil {
		return false, err
	}
	return true, s.finish(ops)
}

// cleanRel returns rel as a clean path below the root.
func cleanRel(rel string) (string, error) {
	clean := path.Clean(filepath.ToSlash(rel))
	if clean == "." || !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", diag.Errorf(diag.Denied, "%q is not a path inside the scope", rel)
	}
	return clean, nil
}
