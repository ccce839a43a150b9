package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The names in the journal's directory.
const (
	journalName = "journal" // its presence is the commit point
	draftName   = "journal.new"
	stageName   = "stage" // what is new, by operation
	oldName     = "old"   // what was replaced, by operation
	usedName    = "used"  // what is new and was copied to its place, by operation
)

// site is a scope's root with the journal's directory in it. All paths are slash-separated and relative to the root.
type site struct {
	root *os.Root
	path string // the root's
	dir  string // the journal's directory
	own  string // skillpm's own directory, the parent of dir
	key  []byte // of the journal's MAC
	step func(string) error

	resolved map[string]string // directories above operations, and where they are when their links are followed

	// What is known while operations are carried out, to spare the system the question once an operation.
	shelved bool            // there may be something in old
	present map[string]bool // directories that are there
	plain   map[string]bool // directories that are no links
	open    map[string]*openDir
}

func openSite(o Options) (*site, error) {
	rel, ok := pathx.Rel(o.Root, o.Dir)
	if !ok || !filepath.IsAbs(o.Root) {
		return nil, diag.Errorf(diag.Internal, "transaction: the journal's directory %s is not inside %s", o.Dir,
			o.Root)
	}
	if len(o.Key) != 0 && len(o.Key) < minKey {
		return nil, diag.Errorf(diag.Internal, "transaction: a key of %d bytes is too short", len(o.Key))
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, err
	}
	dir := filepath.ToSlash(rel)
	s := &site{
		root: root, path: o.Root, dir: dir, own: path.Dir(dir), step: o.Fail,
		key: journalKey(o.Key), resolved: map[string]string{".": "."}, plain: make(map[string]bool),
		open: make(map[string]*openDir),
	}
	if err := s.noLinks(s.in(journalName)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) close() error {
	s.closeDirs()
	return s.root.Close()
}

// fail is a failpoint.
func (s *site) fail(step string) error {
	if s.step == nil {
		return nil
	}
	return s.step(step)
}

func (s *site) in(name string) string   { return path.Join(s.dir, name) }
func (s *site) staged(o *op) string     { return path.Join(s.dir, stageName, o.ID) }
func (s *site) old(o *op) string        { return path.Join(s.dir, oldName, o.ID) }
func (s *site) partial(o *op) string    { return path.Join(s.dir, oldName, o.ID+".partial") }
func (s *site) used(o *op) string       { return path.Join(s.dir, usedName, o.ID) }
func (s *site) abs(rel string) string   { return filepath.Join(s.path, filepath.FromSlash(rel)) }
func (s *site) mkdir(name string) error { return s.root.MkdirAll(s.in(name), 0o755) }

// isShelved reports whether something is in old under that name.
func (s *site) isShelved(name string) bool { return s.shelved && s.exists(name) }

// isOwn reports whether rel is skillpm's own directory or in it.
func (s *site) isOwn(rel string) bool { return s.own != "." && pathx.Contains(s.own, rel) }

// touches reports whether rel is the journal's directory, in it or above it, in any case.
func (s *site) touches(rel string) bool {
	return pathx.ContainsFold(s.dir, rel) || pathx.ContainsFold(rel, s.dir)
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isDir(info fs.FileInfo) bool { return info != nil && info.IsDir() }

// check returns rel clean, or says why it can't be part of a transaction.
func (s *site) check(rel string) (string, error) {
	clean, err := cleanRel(rel)
	if err != nil {
		return "", err
	}
	if err := s.reserved(clean); err != nil {
		return "", err
	}
	if s.isOwn(clean) {
		return clean, s.noLinks(clean)
	}
	if _, err := s.lstat(clean); err != nil {
		if _, _, known := syserr.Of(err); known {
			return "", err
		}
		return "", diag.Errorf(diag.Denied, "%s can't be written: %w", s.abs(clean), err).
			WithHint("every directory above it must be a directory, or a relative link that stays inside %s", s.path)
	}
	dir, err := s.resolve(path.Dir(clean))
	if err != nil {
		return "", err
	}
	return clean, s.reserved(path.Join(dir, path.Base(clean)))
}

// noLinks reports a directory above rel that is not a directory.
func (s *site) noLinks(rel string) error {
	for i := range len(rel) {
		if rel[i] != '/' || s.plain[rel[:i]] {
			continue
		}
		info, err := s.lstat(rel[:i])
		if err != nil {
			return err
		}
		if info == nil {
			return nil
		}
		if !info.IsDir() {
			return diag.Errorf(diag.Denied, "%s is not a directory", s.abs(rel[:i])).
				WithHint("move it away: skillpm follows no links inside its own directory")
		}
		s.plain[rel[:i]] = true
	}
	return nil
}

// content returns the digest of the file at rel, "" if there is none.
func (s *site) content(rel string) (string, error) {
	info, err := s.lstat(rel)
	if err != nil || info == nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", diag.Errorf(diag.Denied, "%s is not a regular file", s.abs(rel)).
			WithHint("move it away: skillpm writes this file and follows no link to it")
	}
	data, err := s.root.ReadFile(rel)
	if err != nil {
		return "", err
	}
	return textx.SHA256(data), nil
}

// finish ends the transaction. What can't be deleted any more is left to the next one.
func (s *site) finish(ops []*op) error {
	for _, o := range ops {
		if o.Kind == kindRemove {
			s.prune(path.Dir(o.Path))
		}
	}
	removed, err := s.removeJournal()
	switch {
	case !removed:
		return fmt.Errorf("all is done but for the journal: %w", err)
	case err == nil:
		_ = s.remove(s.dir)
	}
	return nil // a journal that comes back finds what it names, and that all is done
}

// prune removes directories that are empty, upwards, inside skillpm's own.
func (s *site) prune(dir string) {
	for s.isOwn(dir) && dir != s.own {
		info, err := s.lstat(dir)
		s.moved()
		if err != nil || !isDir(info) || s.root.Remove(dir) != nil {
			return
		}
		dir = path.Dir(dir)
	}
}

// clean deletes the journal, and then what else is in its directory.
func (s *site) clean() error {
	if _, err := s.removeJournal(); err != nil {
		return err
	}
	return s.remove(s.dir)
}

// removeJournal takes the commit back, or ends what was committed. It is on the disk before anything that was staged is
// deleted: a journal that came back would take that for having been put in place.
func (s *site) removeJournal() (removed bool, err error) {
	err = s.root.Remove(s.in(journalName))
	if absent(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err := syncDir(s.abs(s.dir)); err != nil {
		return true, err
	}
	return true, s.fail("journal removed")
}

// temporary returns the name that rel's successor has while it is being made in rel's own directory.
func temporary(rel string, o *op) string {
	dir, base := path.Split(rel)
	return dir + "." + strings.TrimPrefix(base, ".") + ".skillpm-" + o.ID
}
