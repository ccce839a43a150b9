package skillpm

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// CachePaths are the directories of the caches, as absolute paths. They need not exist.
type CachePaths struct {
	Root  string `json:"root"`  // that all others are in
	Store string `json:"store"` // skills by the digest of their trees
	Git   string `json:"git"`   // commits that were fetched
	HTTP  string `json:"http"`  // files of indexes
	Try   string `json:"try"`   // packs that are only tried
}

// CachePaths returns the directories of the caches.
func (c *Client) CachePaths() CachePaths {
	p := c.Paths
	return CachePaths{Root: p.Cache, Store: p.Store(), Git: p.GitCache(), HTTP: p.HTTPCache(), Try: p.Trials()}
}

// CacheList is the content of the caches.
type CacheList struct {
	Paths CachePaths   `json:"paths"`
	Trees []CachedTree `json:"trees"`
	Bytes int64        `json:"bytes"` // of the trees' files
	Files int          `json:"files"` // of the trees
	Git   CacheSize    `json:"git"`
	HTTP  CacheSize    `json:"http"`
	Try   CacheSize    `json:"try"`
}

// CachedTree is one skill tree of the store.
type CachedTree struct {
	Tree  string    `json:"tree"` // digest
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
	Used  time.Time `json:"used"` // when it was last used, to a day
	// skills of the project and of the user that have it, as skill@owner/name
	UsedBy  []string `json:"usedBy"`
	Damaged bool     `json:"damaged,omitempty"` // its inventory can't be read
}

// CacheSize is the size of a directory.
type CacheSize struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// The orders of [Client.CacheList].
const (
	SortBySize = "size" // the largest first
	SortByUse  = "used" // least recently used first
)

// CacheList lists the content of the caches in an order.
func (c *Client) CacheList(ctx context.Context, order string) (*CacheList, error) {
	if order != SortBySize && order != SortByUse {
		return nil, diag.Errorf(diag.Usage, "unknown sort order %q: use %s or %s", order, SortBySize, SortByUse)
	}
	s, err := c.Machine.Store()
	if err != nil {
		return nil, err
	}
	list := &CacheList{Paths: c.CachePaths(), Trees: []CachedTree{}}
	users := c.treeUsers()
	for e, err := range s.List() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil && !isDamaged(err) {
			return nil, err
		}
		t := CachedTree{
			Tree: e.Digest, Files: e.Files, Bytes: e.Bytes, Used: e.Used.UTC(), UsedBy: users[e.Digest],
			Damaged: err != nil,
		}
		if t.UsedBy == nil {
			t.UsedBy = []string{}
		}
		list.Trees = append(list.Trees, t)
		list.Bytes, list.Files = list.Bytes+e.Bytes, list.Files+e.Files
	}
	slices.SortFunc(list.Trees, func(a, b CachedTree) int {
		if order == SortByUse {
			return cmp.Or(a.Used.Compare(b.Used), strings.Compare(a.Tree, b.Tree))
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Tree, b.Tree))
	})
	for dir, size := range map[string]*CacheSize{
		list.Paths.Git: &list.Git, list.Paths.HTTP: &list.HTTP,
		list.Paths.Try: &list.Try,
	} {
		*size = sizeOf(dir)
	}
	return list, nil
}

// isDamaged reports whether an error says that bytes don't match their digest.
func isDamaged(err error) bool {
	_, ok := errors.AsType[*bundle.MismatchError](err)
	return ok
}

// treeUsers returns the skills of the project and the user that have a tree, by its digest. It skips a scope that can't
// be read.
func (c *Client) treeUsers() map[string][]string {
	users := map[string][]string{}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		w, err := c.Machine.Open(kind, false)
		if err != nil {
			continue
		}
		for id, p := range w.Lock.Packs {
			for skill, tree := range p.Skills {
				if name := skill + "@" + id.String(); !slices.Contains(users[tree], name) {
					users[tree] = append(users[tree], name)
				}
			}
		}
	}
	for _, names := range users {
		slices.Sort(names)
	}
	return users
}

// sizeOf counts the files below a directory that can be read.
func sizeOf(dir string) (size CacheSize) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // as above
		}
		if info, err := d.Info(); err == nil {
			size.Files++
			size.Bytes += info.Size()
		}
		return nil
	})
	return size
}

// CacheCheck is the result of hashing the store.
type CacheCheck struct {
	Trees   int           `json:"trees"`
	Bytes   int64         `json:"bytes"`
	Damaged []DamagedTree `json:"damaged"`
}

// DamagedTree is a tree of the store that does not match its digest.
type DamagedTree struct {
	Tree    string   `json:"tree"`
	UsedBy  []string `json:"usedBy"` // as in CachedTree
	Message string   `json:"message"`
	Removed bool     `json:"removed"` // it is out of the way, so that it is fetched again when it is needed
}

// CacheVerify hashes every tree of the store, several at a time, and removes damaged ones, so that they are fetched
// again when needed.
func (c *Client) CacheVerify(ctx context.Context) (*CacheCheck, error) {
	defer c.Progress(Event{Done: true})
	s, err := c.Machine.Store()
	if err != nil {
		return nil, err
	}
	r := &CacheCheck{Damaged: []DamagedTree{}}
	err = s.VerifyAll(ctx, func(e store.Entry, err error) {
		r.Trees++
		r.Bytes += e.Bytes
		c.Progress(Event{Text: "verified " + textx.Count(r.Trees, "skill") + " in the store"})
		if err != nil {
			r.Damaged = append(r.Damaged, DamagedTree{Tree: e.Digest, Message: err.Error(), UsedBy: []string{}})
		}
	})
	if err != nil || len(r.Damaged) == 0 {
		return r, err
	}
	users := c.treeUsers()
	slices.SortFunc(r.Damaged, func(a, b DamagedTree) int { return strings.Compare(a.Tree, b.Tree) })
	for i := range r.Damaged {
		d := &r.Damaged[i]
		d.UsedBy = append(d.UsedBy, users[d.Tree]...)
		d.Removed = s.Discard(d.Tree) == nil
	}
	return r, nil
}

// CacheUnused is the default age of unused entries that [Client.CacheGC] removes.
const CacheUnused = 30 * 24 * time.Hour

// staleAfter is the age of a temporary file whose process is considered dead.
const staleAfter = 24 * time.Hour

// CacheGCOptions are the options of [Client.CacheGC].
type CacheGCOptions struct {
	Unused time.Duration // unused for that long; at least a day, the precision of recorded uses
	All    bool          // everything
	DryRun bool          // dry run
}

// CacheFreed is what [Client.CacheGC] removed, or would remove.
type CacheFreed struct {
	DryRun    bool         `json:"dryRun"`
	Bytes     int64        `json:"bytes"` // altogether
	Trees     []CachedTree `json:"trees"` // of the store; usedBy says who will fetch them again
	Kept      int          `json:"kept"`  // trees
	KeptBytes int64        `json:"keptBytes"`
	Git       CacheSize    `json:"git"`
	HTTP      CacheSize    `json:"http"`
	Try       CacheSize    `json:"try"`
	Leftovers int          `json:"leftovers"` // of processes that died
	Warnings  []string     `json:"warnings"`
}

// CacheGC removes unused entries from the caches. Other processes may run meanwhile: they keep what they use, or fetch
// it again.
func (c *Client) CacheGC(ctx context.Context, o CacheGCOptions) (*CacheFreed, error) {
	if !o.All && o.Unused < 24*time.Hour {
		return nil, diag.Errorf(diag.Usage,
			"--older-than must be at least one day, because skillpm records only the day of each use").
			WithHint("use one day or more, such as 7d, or --all")
	}
	defer c.Progress(Event{Done: true})
	s, err := c.Machine.Store()
	if err != nil {
		return nil, err
	}
	r := &CacheFreed{DryRun: o.DryRun, Trees: []CachedTree{}, Warnings: []string{}}
	users := c.treeUsers()
	report, err := s.GC(ctx, store.GCOptions{Unused: o.Unused, Now: c.Now(), All: o.All, DryRun: o.DryRun})
	for _, e := range report.Removed {
		t := CachedTree{
			Tree: e.Digest, Files: e.Files, Bytes: e.Bytes, Used: e.Used.UTC(),
			UsedBy: append([]string{}, users[e.Digest]...),
		}
		r.Trees = append(r.Trees, t)
	}
	r.Kept, r.KeptBytes, r.Bytes, r.Leftovers = report.Kept, report.KeptBytes, report.Bytes, report.Leftovers
	if report.BadClock {
		r.Warnings = append(r.Warnings, "skillpm did not remove skills by age because the system clock is wrong")
	}
	if err != nil || report.BadClock && !o.All {
		return r, err
	}
	sw := sweeper{options: o, now: c.Now(), freed: r}
	sw.sweep(c.Paths.GitCache(), 1, &r.Git)
	sw.sweep(c.Paths.HTTPCache(), 0, &r.HTTP)
	sw.sweep(c.Paths.Trials(), 0, &r.Try)
	r.Bytes += r.Git.Bytes + r.HTTP.Bytes + r.Try.Bytes
	return r, ctx.Err()
}

// sweeper removes old entries of caches that record no use, by their modification time. It skips what can't be removed.
type sweeper struct {
	options CacheGCOptions
	now     time.Time
	freed   *CacheFreed
}

// sweep removes old entries at a depth below a directory: commits are a level deeper than files and trials.
func (s *sweeper) sweep(dir string, depth int, freed *CacheSize) {
	entries, _ := os.ReadDir(dir) // a directory that can't be read has nothing to remove
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); {
		case isTemporary(e):
			s.leftover(path)
		case depth > 0:
			s.sweep(path, depth-1, freed)
			if isEmptyDir(path) {
				s.leftover(path)
			}
		case s.isOld(path) && !inUse(path):
			s.remove(path, freed)
		}
	}
}

// inUse reports whether a process uses a path as the directory of a trial.
func inUse(dir string) bool {
	lock := flock.New(filepath.Join(dir, trialLock), flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if locked {
		_ = lock.Unlock() // it ends with the process in any case
	}
	return err == nil && !locked
}

// isTemporary reports whether an entry is a temporary file of a process.
func isTemporary(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), "tmp-") || strings.HasPrefix(e.Name(), ".tmp-")
}

// isOld reports whether the options remove an entry.
func (s *sweeper) isOld(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && (s.options.All || !info.ModTime().After(s.now.Add(-s.options.Unused)))
}

// leftover removes a temporary file of a dead process. A living one changes its file now and then.
func (s *sweeper) leftover(path string) {
	info, err := os.Lstat(path)
	if err == nil && !info.ModTime().After(s.now.Add(-staleAfter)) && s.remove(path, &CacheSize{}) {
		s.freed.Leftovers++
	}
}

// remove removes an entry, in one step for other processes, and counts it.
func (s *sweeper) remove(path string, size *CacheSize) bool {
	removed := sizeOf(path)
	if !s.options.DryRun {
		aside, err := os.MkdirTemp(filepath.Dir(path), "tmp-gone-*") // nobody who died while removing has that name
		if err != nil {
			return false
		}
		err = os.Rename(path, filepath.Join(aside, filepath.Base(path)))
		if errors.Join(err, os.RemoveAll(aside)) != nil {
			return false
		}
	}
	size.Files += removed.Files
	size.Bytes += removed.Bytes
	return true
}

// isEmptyDir reports whether a directory has nothing in it.
func isEmptyDir(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) == 0
}
