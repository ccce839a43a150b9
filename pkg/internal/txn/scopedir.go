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
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Names in the journal's directory.
const (
	journalName = "journal" // its presence is the commit point
	draftName   = "journal.new"
	stageName   = "stage" // new content, by operation
	oldName     = "old"   // replaced content, by operation
	copiedName  = "used"  // new content that was copied into place, by operation
)

// scopeDir is the root of a scope with the journal's directory in it. All paths are slash-separated and relative to the
// root.
type scopeDir struct {
	root      *os.Root
	path      string // of the root
	dir       string // of the journal
	ownDir    string // skillpm's own directory, the parent of dir
	key       []byte // of the journal's MAC
	failpoint func(string) error

	resolvedDirs map[string]string // parents of operations, with their links followed

	// Caches while operations are applied, to save system calls.
	oldExists    bool            // old exists
	existingDirs map[string]bool // directories that exist
	realDirs     map[string]bool // directories that are not links
	openDirs     map[string]*openDir
}

func openScopeDir(o Options) (*scopeDir, error) {
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
	s := &scopeDir{
		root: root, path: o.Root, dir: dir, ownDir: path.Dir(dir), failpoint: o.Fail,
		key: journalKey(o.Key), resolvedDirs: map[string]string{".": "."}, realDirs: make(map[string]bool),
		openDirs: make(map[string]*openDir),
	}
	if err := s.checkNoLinks(s.journalPath(journalName)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *scopeDir) close() error {
	s.closeDirs()
	return s.root.Close()
}

// fail calls the failpoint of tests.
func (s *scopeDir) fail(step string) error {
	if s.failpoint == nil {
		return nil
	}
	return s.failpoint(step)
}

func (s *scopeDir) journalPath(name string) string { return path.Join(s.dir, name) }
func (s *scopeDir) stagePath(o *op) string         { return path.Join(s.dir, stageName, o.ID) }
func (s *scopeDir) oldPath(o *op) string           { return path.Join(s.dir, oldName, o.ID) }
func (s *scopeDir) partialPath(o *op) string       { return path.Join(s.dir, oldName, o.ID+".partial") }
func (s *scopeDir) copiedPath(o *op) string        { return path.Join(s.dir, copiedName, o.ID) }
func (s *scopeDir) abs(rel string) string          { return filepath.Join(s.path, filepath.FromSlash(rel)) }

func (s *scopeDir) mkdir(name string) error { return s.root.MkdirAll(s.journalPath(name), 0o755) }

// isInOld reports whether a path in old exists.
func (s *scopeDir) isInOld(name string) bool { return s.oldExists && s.exists(name) }

// isOwn reports whether rel is skillpm's own directory or inside it.
func (s *scopeDir) isOwn(rel string) bool { return s.ownDir != "." && pathx.Contains(s.ownDir, rel) }

// overlapsJournal reports whether rel is the journal's directory, inside it, or above it, ignoring case.
func (s *scopeDir) overlapsJournal(rel string) bool {
	return pathx.ContainsFold(s.dir, rel) || pathx.ContainsFold(rel, s.dir)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func isDir(info fs.FileInfo) bool { return info != nil && info.IsDir() }

// checkPath returns rel cleaned, or an error if it can't be part of a transaction.
func (s *scopeDir) checkPath(rel string) (string, error) {
	clean, err := cleanRel(rel)
	if err != nil {
		return "", err
	}
	if err := s.checkReserved(clean); err != nil {
		return "", err
	}
	if s.isOwn(clean) {
		return clean, s.checkNoLinks(clean)
	}
	if _, err := s.lstat(clean); err != nil {
		if _, _, explained := syserr.Of(err); explained {
			return "", err
		}
		return "", diag.Errorf(diag.Denied, "cannot write %s: %w", s.abs(clean), err).
			WithHint("use only directories, or relative links that stay inside %s, above the file", s.path)
	}
	dir, err := s.resolve(path.Dir(clean))
	if err != nil {
		return "", err
	}
	return clean, s.checkReserved(path.Join(dir, path.Base(clean)))
}

// checkNoLinks returns an error if a component above rel is not a directory.
func (s *scopeDir) checkNoLinks(rel string) error {
	for i := range len(rel) {
		if rel[i] != '/' || s.realDirs[rel[:i]] {
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
				WithHint("move the file or link away: skillpm does not follow links inside its own directory")
		}
		s.realDirs[rel[:i]] = true
	}
	return nil
}

// digestOf returns the digest of the file at rel, "" if there is none.
func (s *scopeDir) digestOf(rel string) (string, error) {
	info, err := s.lstat(rel)
	if err != nil || info == nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", diag.Errorf(diag.Denied, "%s is not a regular file", s.abs(rel)).
			WithHint("move the link or directory away: skillpm writes a regular file to this path")
	}
	data, err := s.read(rel)
	if err != nil {
		return "", err
	}
	return textx.SHA256(data), nil
}

// maxRead is the maximum size of a journal, and of a file that a transaction replaces, in bytes. A project can contain
// any file.
const maxRead = 256 << 20

func (s *scopeDir) read(rel string) ([]byte, error) {
	return safefile.ReadIn(s.root.FS(), rel, maxRead)
}

// finish ends the transaction, whose changes are synced. The next transaction deletes what cannot be deleted now.
func (s *scopeDir) finish(ops []*op) error {
	var emptied []*op
	for _, o := range ops {
		if o.Kind == kindRemove && s.removeEmptyDirs(path.Dir(o.Path)) {
			emptied = append(emptied, o)
		}
	}
	_ = s.syncAbove(emptied) // otherwise only empty directories could reappear
	removed, err := s.removeJournal()
	switch {
	case !removed:
		return fmt.Errorf("the changes are complete, but skillpm cannot remove the journal: %w", err)
	case err == nil:
		_ = s.remove(s.dir)
	}
	return nil // after a crash the journal may reappear; then recovery finds every operation done
}

// removeEmptyDirs removes empty directories, upwards, inside skillpm's own directory, and reports whether it did.
func (s *scopeDir) removeEmptyDirs(dir string) (removed bool) {
	for s.isOwn(dir) && dir != s.ownDir {
		info, err := s.lstat(dir)
		s.invalidateOpenDirs()
		if err != nil || !isDir(info) || s.root.Remove(dir) != nil {
			return removed
		}
		dir, removed = path.Dir(dir), true
	}
	return removed
}

// discard deletes the journal, and then the rest of its directory.
func (s *scopeDir) discard() error {
	if _, err := s.removeJournal(); err != nil {
		return err
	}
	return s.remove(s.dir)
}

// removeJournal reverts the commit point, or ends the committed transaction. It syncs before anything staged is
// deleted: with a journal that reappears, recovery would take missing staged directories for moved ones.
func (s *scopeDir) removeJournal() (removed bool, err error) {
	err = s.root.Remove(s.journalPath(journalName))
	if isNotExist(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	dir, _, err := s.parentOf(s.journalPath(journalName))
	if err == nil {
		err = syncDir(dir.file)
	}
	if err != nil {
		return true, err
	}
	return true, s.fail("journal removed")
}

// draftPath returns a temporary name in rel's own directory for the replacement of rel.
func draftPath(rel string, o *op) string {
	dir, base := path.Split(rel)
	return dir + "." + strings.TrimPrefix(base, ".") + ".skillpm-" + o.ID
}
