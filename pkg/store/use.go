package store

import (
	"os"
	"path/filepath"
	"time"
)

// usePrecision is the precision of the recorded last use of a tree.
const usePrecision = 24 * time.Hour

// minPlausibleTime returns a time before skillpm existed. A clock before it is wrong.
func minPlausibleTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// Track makes the store record when trees are used, for [Store.GC]. It sets the modification time of the inventory at
// most once a day. Call it before any other method. Without it, the last use of a tree is the time when it was added.
func (s *Store) Track(now func() time.Time) { s.now = now }

// recordUse records a use of a tree now, unless lastUse is less than a day away. lastUse may be in the future after a
// wrong clock.
func (s *Store) recordUse(dir *directory, lastUse time.Time) {
	if s.now == nil {
		return
	}
	now := s.now()
	if age := now.Sub(lastUse); age < usePrecision && age > -usePrecision {
		return
	}
	_ = setLastUse(dir.path, now) // a read-only store works too
}

func setLastUse(dir string, now time.Time) error {
	return os.Chtimes(filepath.Join(dir, inventoryName), now, now)
}
