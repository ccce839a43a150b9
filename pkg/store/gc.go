package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// maxIdle is the longest plausible time since the last use of any tree. A clock that is further ahead is wrong.
const maxIdle = 2 * 365 * 24 * time.Hour

// GCOptions configure [Store.GC].
type GCOptions struct {
	Unused time.Duration // remove trees unused for this long, at least a day: the precision of recorded uses
	Now    time.Time
	All    bool // remove all trees
	DryRun bool // remove nothing
}

// GCReport is the result of [Store.GC], also of a dry run.
type GCReport struct {
	Removed   []Entry
	Bytes     int64 // size of the removed trees
	Kept      int   // remaining trees
	KeptBytes int64
	Leftovers int  // scratch directories of processes that died
	BadClock  bool // the clock is wrong, so that the age of trees is unknown
}

// GC removes unused trees, trees with a damaged inventory, and the scratch directories of processes that died.
//
// A process that reads a removed tree gets an error and fetches it again. GC keeps trees that another process begins to
// use meanwhile. A recorded use in the future, or before skillpm existed, comes from a wrong clock and counts as now.
// If the clock is wrong now (before skillpm existed, or years after the last use of any tree), GC removes no tree for
// its age.
func (s *Store) GC(ctx context.Context, o GCOptions) (GCReport, error) {
	c := &collector{store: s, options: o}
	err := c.scan(ctx)
	if err == nil && !o.DryRun && c.report.Removed != nil {
		err = c.removeAll(ctx)
	}
	for _, e := range c.report.Removed {
		c.report.Bytes += e.Bytes
	}
	tmp := filepath.Join(s.dir, tmpName)
	c.report.Leftovers = sweep(tmp, o.DryRun) + sweepOrphans(tmp, o.Now, o.DryRun)
	return c.report, syserr.Explain(err)
}

type collector struct {
	store   *Store
	options GCOptions
	report  GCReport
}

// scan decides which trees to remove.
func (c *collector) scan(ctx context.Context) error {
	var trees []Entry
	newest := time.Time{}
	for e, err := range c.store.List() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, damaged := errors.AsType[*bundle.MismatchError](err); damaged {
			c.report.Removed = append(c.report.Removed, e)
			continue
		}
		if err != nil {
			return err
		}
		trees = append(trees, e)
		if e.Used.After(newest) {
			newest = e.Used
		}
	}
	now := c.options.Now
	c.report.BadClock = len(trees) > 0 && (now.Before(minPlausibleTime()) || now.Sub(newest) > maxIdle)
	for _, e := range trees {
		if c.options.All || !c.report.BadClock && c.isUnused(e) {
			c.report.Removed = append(c.report.Removed, e)
			continue
		}
		c.report.Kept++
		c.report.KeptBytes += e.Bytes
	}
	return nil
}

// isUnused reports whether a tree was unused for long enough. If a wrong clock recorded its last use, isUnused sets
// that to now, so that the tree ages from now on.
func (c *collector) isUnused(e Entry) bool {
	now := c.options.Now
	if !e.Used.Before(minPlausibleTime()) && !e.Used.After(now) {
		return now.Sub(e.Used) >= max(c.options.Unused, usePrecision)
	}
	if dir, err := c.store.entryDir(e.Digest); err == nil && !c.options.DryRun {
		_ = setLastUse(dir, now) // without write access, GC cannot remove the tree either
	}
	return false
}

// removeAll removes the trees that scan chose, and reduces the report to those that it removed.
func (c *collector) removeAll(ctx context.Context) (err error) {
	scratch, err := c.store.newScratch()
	if err != nil {
		c.report.Removed = nil
		return err
	}
	defer func() { err = errors.Join(err, scratch.close()) }()
	var removed []Entry
	for i, e := range c.report.Removed {
		if err = ctx.Err(); err != nil {
			break
		}
		ok, removeErr := c.remove(e, filepath.Join(scratch.dir, strconv.Itoa(i)))
		if err = removeErr; err != nil {
			break
		}
		if ok {
			removed = append(removed, e)
		} else {
			c.report.Kept++
			c.report.KeptBytes += e.Bytes
		}
	}
	c.report.Removed = removed
	return err
}

// remove moves a tree aside, deletes it, and reports whether it did. It moves the tree back if it was used since scan,
// or was damaged then and is intact now.
func (c *collector) remove(e Entry, aside string) (bool, error) {
	dir, err := c.store.entryDir(e.Digest)
	if err != nil {
		return false, err
	}
	if err := os.Rename(dir, aside); errors.Is(err, fs.ErrNotExist) {
		return false, nil // another process removed it
	} else if err != nil {
		return false, err
	}
	if !c.options.All && changed(e, aside) && c.store.restore(aside, dir, e.Digest) == nil {
		return false, nil
	}
	return true, os.RemoveAll(aside)
}

// changed reports whether a tree has changed since scan: it was used, or is no longer damaged.
func changed(e Entry, aside string) bool {
	dir, err := openDirectory(aside)
	if err != nil {
		return false
	}
	defer dir.close()
	_, used, err := readInventory(dir, e.Digest)
	return err == nil && !used.Equal(e.Used)
}
