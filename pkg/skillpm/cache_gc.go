package skillpm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/store"
)

// CacheUnused is how long something must not have been used before [Client.CacheGC] removes it, unless it is told
// otherwise.
const CacheUnused = 30 * 24 * time.Hour

// abandoned is how old a temporary file is whose process is taken for dead.
const abandoned = 24 * time.Hour

// CacheGCOptions say what to remove.
type CacheGCOptions struct {
	Unused time.Duration // what nobody used for that long; a day at least, because use is recorded by the day
	All    bool          // everything
	DryRun bool          // nothing: say what would be removed
}

// CacheFreed says what [Client.CacheGC] removed, or would remove.
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

// CacheGC removes from the caches what nobody used for some time. Other processes may go on: what they are using they
// keep, or fetch again.
func (c *Client) CacheGC(ctx context.Context, o CacheGCOptions) (*CacheFreed, error) {
	if !o.All && o.Unused < 24*time.Hour {
		return nil, diag.Errorf(diag.Usage, "use is recorded by the day: what was used today can't be told from what was not").
			WithHint("give a day or more, as 7d, or --all")
	}
	defer c.Progress(Event{Done: true})
	s, err := c.machine.Store()
	if err != nil {
		return nil, err
	}
	r := &CacheFreed{DryRun: o.DryRun, Trees: []CachedTree{}, Warnings: []string{}}
	users := c.treeUsers()
	done, err := s.GC(ctx, store.GCOptions{Unused: o.Unused, Now: c.Now(), All: o.All, DryRun: o.DryRun})
	for _, e := range done.Removed {
		t := CachedTree{Tree: e.Digest, Files: e.Files, Bytes: e.Bytes, Used: e.Used.UTC(), UsedBy: append([]string{}, users[e.Digest]...)}
		r.Trees = append(r.Trees, t)
	}
	r.Kept, r.KeptBytes, r.Bytes, r.Leftovers = done.Kept, done.KeptBytes, done.Bytes, done.Leftovers
	if done.BadClock {
		r.Warnings = append(r.Warnings, "the clock of this machine can't be right, so no skill was removed for its age")
	}
	if err != nil || done.BadClock && !o.All {
		return r, err
	}
	sw := sweeper{options: o, now: c.Now(), freed: r}
	sw.git(c.Paths.GitCache())
	sw.files(c.Paths.HTTPCache())
	sw.trials(c.Paths.Trials())
	r.Bytes += r.Git.Bytes + r.HTTP.Bytes + r.Try.Bytes
	return r, ctx.Err()
}

// sweeper removes old entries of caches that know no use: what counts is when they came. What can't be removed stays,
// and is not counted.
type sweeper struct {
	options CacheGCOptions
	now     time.Time
	freed   *CacheFreed
}

// git removes commits. They are directories, by the digest of their repository's URL and their id.
func (s *sweeper) git(dir string) {
	for _, repository := range entries(dir) {
		at := filepath.Join(dir, repository.Name())
		if temporary(repository) {
			s.leftover(at)
			continue
		}
		for _, commit := range entries(at) {
			path := filepath.Join(at, commit.Name())
			if temporary(commit) {
				s.leftover(path)
			} else if s.old(path, s.options.Unused) {
				s.remove(path, &s.freed.Git)
			}
		}
		if empty(at) {
			s.leftover(at)
		}
	}
}

// files removes the files of a directory.
func (s *sweeper) files(dir string) {
	for _, e := range entries(dir) {
		path := filepath.Join(dir, e.Name())
		if temporary(e) {
			s.leftover(path)
		} else if s.old(path, s.options.Unused) {
			s.remove(path, &s.freed.HTTP)
		}
	}
}

// trials removes projects that were made for trying a pack.
func (s *sweeper) trials(dir string) {
	for _, e := range entries(dir) {
		if path := filepath.Join(dir, e.Name()); s.old(path, s.options.Unused) && !inUse(path) {
			s.remove(path, &s.freed.Try)
		}
	}
}

// inUse reports whether a process works in a trial's directory. One that was made this moment has no lock yet.
func inUse(dir string) bool {
	lock := flock.New(filepath.Join(dir, trialLock), flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if locked {
		_ = lock.Unlock() // it ends with the process in any case
	}
	return err == nil && !locked
}

// temporary reports whether a process is writing an entry, or did when it died.
func temporary(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), "tmp-") || strings.HasPrefix(e.Name(), ".tmp-")
}

// old reports whether an entry is to go: it is of that age, and its time is none of a wrong clock.
func (s *sweeper) old(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && (s.options.All || !info.ModTime().After(s.now.Add(-age)))
}

// leftover removes what a process left that died. One that is at work changes its entry now and then.
func (s *sweeper) leftover(path string) {
	info, err := os.Lstat(path)
	if err == nil && !info.ModTime().After(s.now.Add(-abandoned)) && s.remove(path, &CacheSize{}) {
		s.freed.Leftovers++
	}
}

// remove removes an entry, in one step as others see it, and counts it.
func (s *sweeper) remove(path string, size *CacheSize) bool {
	had := sizeOf(path)
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
	size.Files += had.Files
	size.Bytes += had.Bytes
	return true
}

// empty reports whether a directory has nothing in it.
func empty(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) == 0
}

// entries lists a directory; one that can't be listed has none.
func entries(dir string) []fs.DirEntry {
	list, _ := os.ReadDir(dir) // see above
	return list
}
