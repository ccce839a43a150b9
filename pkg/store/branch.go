package store

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// facts are what the system knows of a file.
type facts struct {
	regular, executable bool
	size                int64
	modified            time.Time
}

// branch keeps the directories open that lead to where files are read or written, so that each directory is opened once
// when the files come in order.
type branch struct {
	root  *folder
	names []string
	dirs  []*folder // of names
}

// enter goes to dir, a slash-separated path, and makes the directories on the way if grow is true. Where it fails it
// returns the directory in which name could not be entered.
func (b *branch) enter(dir string, grow bool) (parent *folder, name string, err error) {
	parent = b.root
	level := 0
	if dir != "." {
		for name := range strings.SplitSeq(dir, "/") {
			if level < len(b.names) && b.names[level] == name {
				parent = b.dirs[level]
				level++
				continue
			}
			b.cut(level)
			if grow {
				if err := parent.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
					return parent, name, err
				}
			}
			next, err := parent.sub(name)
			if err != nil {
				return parent, name, err
			}
			b.names, b.dirs = append(b.names, name), append(b.dirs, next)
			parent = next
			level++
		}
	}
	b.cut(level)
	return parent, "", nil
}

// cut goes back until level directories are left.
func (b *branch) cut(level int) {
	for last := len(b.dirs) - 1; last >= level; last-- {
		b.dirs[last].close()
		b.names, b.dirs = b.names[:last], b.dirs[:last]
	}
}

// close closes all, the root too.
func (b *branch) close() {
	if b.root == nil {
		return
	}
	b.cut(0)
	b.root.close()
	b.root = nil
}
