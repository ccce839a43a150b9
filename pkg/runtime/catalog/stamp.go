package catalog

import (
	"io/fs"
	"time"
)

// stamp is how a file or directory looks to stat.
type stamp struct {
	size     int64
	modified int64 // in nanoseconds
	changed  int64 // likewise, the time of the inode; 0 where the system does not say
	inode    uint64
	device   uint64
}

// look is a stamp and what it is of.
type look struct {
	stamp
	mode fs.FileMode // its type only
}

// How long before a reading a file must have been left alone for its stamp to tell a later change: the clock of the
// file system goes in ticks, of 10 ms at most on Linux, and of whole seconds on systems that keep no fractions.
const (
	tick       = 50 * time.Millisecond
	coarseTick = 2100 * time.Millisecond
)

// settled reports whether what changes after now, which is in nanoseconds, is sure to get another stamp. The moment
// must be before the file was looked at.
func (s stamp) settled(now int64) bool {
	last := s.changed
	if last == 0 {
		last = s.modified
	}
	margin := tick
	if last%int64(time.Second) == 0 {
		margin = coarseTick
	}
	return last+int64(margin) < now
}
