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

// longestIdle is how much later than the last use of any tree it may be. A clock that says more is taken for wrong.
const longestIdle = 2 * 365 * 24 * time.Hour

// GCOptions say what [Store.GC] removes.
type GCOptions struct {
	Unused time.Duration // trees go that nobody used for that long; a day at least, because use is recorded by the day
	Now    time.Time     // what the clock says
	All    bool          // all trees go
	DryRun bool          // nothing goes
}

// GCReport says what [Store.GC] did; in a dry run what it would have done.
type GCReport struct {
	Removed   []Entry
	Bytes     int64 // of the removed trees
	Kept      int   // trees
	KeptBytes int64
	Leftovers int  // directories of processes that died, which are removed too
	BadClock  bool // the clock can't be right, so that no tree was judged by its age
}

// GC removes the trees that nobody used for some time, those with a damaged inventory, and what processes left that
// died.
//
// A tree goes whole and at once. A process that is reading it is told, and fetches it again; one that began to use it
// while GC looked keeps it. A mark of use in the future, or from before skillpm, counts as one of now: a clock that was
// wrong when a tree was used is no reason to remove it. And no tree is old by a clock that can't be right: one of
// before skillpm, or of years after the last use of any tree.
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
	c.report.Leftovers = sweep(tmp, o.DryRun) + sweepStrays(tmp, o.Now, o.DryRun)
	return c.report, syserr.Explain(err)
}

type collector struct {
	store   *Store
	options GCOptions
	report  GCReport
}

// scan decides what goes.
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
	c.report.BadClock = len(trees) > 0 && (now.Before(earliest()) || now.Sub(newest) > longestIdle)
	for _, e := range trees {
		if c.options.All || !c.report.BadClock && c.old(e) {
			c.report.Removed = append(c.report.Removed, e)
			continue
		}
		c.report.Kept++
		c.report.KeptBytes += e.Bytes
	}
	return nil
}

// old reports whether a tree was not used for long enough. The mark of a wrong clock is set right, so that the tree
// ages from now on.
func (c *collector) old(e Entry) bool {
	now := c.options.Now
	if !e.Used.Before(earliest()) && !e.Used.After(now) {
		return now.Sub(e.Used) >= max(c.options.Unused, markAfter)
	}
	if dir, err := c.store.entryDir(e.Digest); err == nil && !c.options.DryRun {
		_ = mark(dir, now) // where that can't be written, nothing can be removed
	}
	return false
}

// removeAll removes what look chose, and keeps in the report what it could remove.
func (c *collector) removeAll(ctx context.Context) (err error) {
	scratch, err := c.store.scratch()
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
		bytes, removeErr := c.remove(e, filepath.Join(scratch.dir, strconv.Itoa(i)))
		if err = removeErr; err != nil {
			break
		}
		if bytes {
			removed = append(removed, e)
		} else {
			c.report.Kept++
			c.report.KeptBytes += e.Bytes
		}
	}
	c.report.Removed = removed
	return err
}

// remove moves a tree aside and deletes it, and reports whether it did. One that somebody used since look is put back,
// and so is one that was damaged then and has come again.
func (c *collector) remove(e Entry, aside string) (bool, error) {
	dir, err := c.store.entryDir(e.Digest)
	if err != nil {
		return false, err
	}
	if err := os.Rename(dir, aside); errors.Is(err, fs.ErrNotExist) {
		return false, nil // somebody else did
	} else if err != nil {
		return false, err
	}
	if !c.options.All && changed(e, aside) && c.store.restore(aside, dir, e.Digest) == nil {
		return false, nil
	}
	return true, os.RemoveAll(aside)
}

// changed reports whether what was moved aside is not any more what look saw: it is in use, or not damaged.
func changed(e Entry, aside string) bool {
	dir, err := openFolder(aside)
	if err != nil {
		return false
	}
	defer dir.close()
	_, used, err := readInventory(dir, e.Digest)
	return err == nil && !used.Equal(e.Used)
}
