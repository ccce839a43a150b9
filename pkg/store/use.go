package store

import (
	"os"
	"path/filepath"
	"time"
)

// markAfter is how old the mark of a tree's last use may be.
const markAfter = 24 * time.Hour

// earliest returns a time before any tree was ever used: a clock that shows less is not set.
func earliest() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// Track has the store remember by the given clock when trees are used, for [Store.GC]: the time of change of a tree's
// inventory is set, once a day at most, and not where that can't be written. It must be called before the store is
// used. Without it a tree counts as used when it came.
func (s *Store) Track(now func() time.Time) { s.now = now }

// use records that a tree is used. A mark in the future is one of a wrong clock, so it is replaced too.
func (s *Store) use(dir *folder, used time.Time) {
	if s.now == nil {
		return
	}
	now := s.now()
	if age := now.Sub(used); age < markAfter && age > -markAfter {
		return
	}
	_ = mark(dir.path, now) // a store that can't be written to is used all the same
}

func mark(dir string, now time.Time) error {
	return os.Chtimes(filepath.Join(dir, inventoryName), now, now)
}
