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

// Options say where a transaction works.
type Options struct {
	Root string // the scope's root, an absolute path; nothing outside it is touched
	Dir  string // the journal's directory, below Root; its parent is skillpm's own directory
	// a secret of this machine, 32 bytes; without it no other process can complete the transaction
	Key  []byte
	Fail func(step string) error // called at each step; an error is taken for one of the step. For tests; may be nil
}

// Tx is a transaction that is being put together. It is not safe for concurrent use, but the staged directories may be
// filled by whatever number of goroutines.
type Tx struct {
	s      *site
	ops    []*op
	byPath map[string]*op
	below  map[string]int // by directory: how many operations are inside it
	next   int
	done   bool
	check  func() error // see CommitIf
}

// Begin starts a transaction. It is an error if an interrupted one is there: call [Recover] first, and read the scope
// after that.
func Begin(o Options) (*Tx, error) {
	s, err := openSite(o)
	if err != nil {
		return nil, explain(o.Root, err)
	}
	t := &Tx{s: s, byPath: make(map[string]*op), below: make(map[string]int)}
	if err := t.begin(); err != nil {
		return nil, explain(o.Root, errors.Join(err, s.close()))
	}
	return t, nil
}

func (t *Tx) begin() error {
	if _, err := t.s.root.Lstat(t.s.in(journalName)); err == nil {
		return diag.Errorf(diag.Internal, "an interrupted transaction in %s was not recovered", t.s.dir)
	}
	if err := t.s.clean(); err != nil {
		return err
	}
	if err := t.s.root.MkdirAll(t.s.in(stageName), 0o755); err != nil {
		return errors.Join(err, t.s.clean())
	}
	if err := t.s.fail("begin"); err != nil {
		return errors.Join(err, t.s.clean())
	}
	return nil
}

// StageDir returns the absolute path of a directory that the caller makes and fills; on Commit it takes the place of
// rel, whatever is there. rel is slash-separated and relative to the root.
func (t *Tx) StageDir(rel string) (abs string, err error) {
	o, err := t.add(kindDir, rel)
	if err != nil {
		return "", err
	}
	return filepath.Join(t.s.path, filepath.FromSlash(t.s.staged(o))), t.s.fail("stage " + rel)
}

// StageFile has a file written at rel with that content and mode. An existing file is replaced; what is there must
// not be a link or a directory.
func (t *Tx) StageFile(rel string, data []byte, mode fs.FileMode) error {
	o, err := t.add(kindFile, rel)
	if err != nil {
		return err
	}
	o.Data, o.Mode = slices.Clone(data), mode.Perm()
	if o.Before, err = t.s.content(o.Path); err != nil {
		return err
	}
	return t.s.fail("stage " + rel)
}

// StageLink has a symbolic link made at rel that says target, in the place of whatever is there.
func (t *Tx) StageLink(rel, target string) error {
	o, err := t.add(kindLink, rel)
	if err != nil {
		return err
	}
	o.Target = target
	return t.s.fail("stage " + rel)
}

// Remove has a file, link or directory removed. Directories above it that are left empty go too, inside skillpm's own
// directory. That there is nothing is no error.
func (t *Tx) Remove(rel string) error {
	_, err := t.add(kindRemove, rel)
	if err != nil {
		return err
	}
	return t.s.fail("stage " + rel)
}

// add records an operation. One that was recorded for the same path before is replaced.
func (t *Tx) add(k kind, rel string) (*op, error) {
	if t.done {
		return nil, diag.Errorf(diag.Internal, "transaction: used after its end")
	}
	clean, err := t.s.check(rel)
	if err != nil {
		return nil, explain(t.s.path, err)
	}
	if other := t.byPath[clean]; other != nil {
		if err := t.drop(other); err != nil {
			return nil, err
		}
	}
	if k != kindRemove && t.below[clean] > 0 {
		return nil, diag.Errorf(diag.Internal, "transaction: something inside %s is part of it already", clean)
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if other := t.byPath[dir]; other != nil && other.Kind != kindRemove {
			return nil, diag.Errorf(diag.Internal, "transaction: %s is inside %s, which is part of it already", clean,
				dir)
		}
	}
	o := &op{ID: strconv.Itoa(t.next), Kind: k, Path: clean}
	t.next++
	t.ops = append(t.ops, o)
	t.byPath[clean] = o
	t.count(clean, +1)
	return o, nil
}

// drop forgets an operation.
func (t *Tx) drop(o *op) error {
	t.ops = slices.DeleteFunc(t.ops, func(other *op) bool { return other == o })
	delete(t.byPath, o.Path)
	t.count(o.Path, -1)
	return t.s.remove(t.s.staged(o))
}

// count adds n to what is known to be below each directory above rel.
func (t *Tx) count(rel string, n int) {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		t.below[dir] += n
	}
}

// Commit carries the transaction out. If it returns an error, the scope is as it was before Begin, unless the error
// says that undoing did not work either; then [Recover] completes the transaction later.
func (t *Tx) Commit() error { return t.CommitIf(nil) }

// CommitIf is Commit with a last look: check is called when all that is staged was forced to the disk, which takes
// time, and what the transaction is going to take away was recorded. What changes before that is for check to see, and
// what changes later is left alone. If check returns an error, that is the result and nothing has happened.
func (t *Tx) CommitIf(check func() error) error {
	t.check = check
	if t.done {
		return diag.Errorf(diag.Internal, "transaction: used after its end")
	}
	t.done = true
	slices.SortStableFunc(t.ops, func(a, b *op) int { return int(a.Kind) - int(b.Kind) })
	err := t.prepare()
	if err != nil {
		err = errors.Join(err, t.s.clean())
	} else {
		err = t.carryOut()
	}
	return explain(t.s.path, errors.Join(err, t.s.close()))
}

// prepare does all up to the commit point.
func (t *Tx) prepare() error {
	if err := t.s.fail("prepare"); err != nil {
		return err
	}
	t.dropNested()
	dirs := false
	for _, o := range t.ops {
		if o.Kind != kindDir {
			continue
		}
		dirs = true
		info, err := t.s.lstat(t.s.staged(o))
		if err == nil && !isDir(info) {
			err = errors.New("not a directory")
		}
		if err != nil {
			return fmt.Errorf("staged %s: %w", o.Path, err)
		}
		o.Inode = inode(info)
	}
	if dirs {
		if err := syncTree(t.s.abs(t.s.in(stageName))); err != nil {
			return err
		}
	}
	if err := t.s.fail("synced"); err != nil {
		return err
	}
	if err := t.s.expect(t.ops); err != nil {
		return err
	}
	if t.check != nil {
		if err := t.check(); err != nil {
			return err
		}
	}
	return t.s.writeJournal(t.ops)
}

// dropNested forgets removals inside of what is removed.
func (t *Tx) dropNested() {
	removed := removals(t.ops)
	t.ops = slices.DeleteFunc(t.ops, func(o *op) bool { return o.Kind == kindRemove && isBelow(o.Path, removed) })
}

// carryOut does all after the commit point, or undoes it.
func (t *Tx) carryOut() error {
	undo, err := t.s.applyAll(t.ops)
	if err == nil {
		err = t.s.fail("applied")
	}
	if err == nil {
		return t.s.finish(t.ops)
	}
	for _, u := range slices.Backward(undo) {
		if undoErr := u(); undoErr != nil {
			return errors.Join(err, fmt.Errorf("undoing it: %w", undoErr))
		}
	}
	return errors.Join(err, t.s.clean())
}

// Abort gives the transaction up. It does nothing after Commit.
func (t *Tx) Abort() error {
	if t.done {
		return nil
	}
	t.done = true
	return explain(t.s.path, errors.Join(t.s.clean(), t.s.close()))
}

// Recover brings a scope to rest whose writer died: what was staged is deleted, or, if the commit point was reached,
// the transaction is completed and recovered is true.
func Recover(o Options) (recovered bool, err error) {
	if _, err := os.Lstat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := openSite(o)
	if err != nil {
		return false, explain(o.Root, err)
	}
	defer func() { err = explain(o.Root, errors.Join(err, s.close())) }()
	ops, err := s.readJournal()
	if errors.Is(err, fs.ErrNotExist) {
		return false, s.clean()
	}
	if err != nil {
		return false, err
	}
	if err := s.vetAll(ops); err != nil {
		return false, err
	}
	if _, err := s.applyAll(ops); err != nil {
		return false, err
	}
	for _, o := range ops { // of a process that died while it took the transaction back
		if err := s.remove(temporary(o.Path, o)); err != nil {
			return false, err
		}
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
