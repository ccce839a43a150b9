package store

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// fileInfo describes an open file.
type fileInfo struct {
	regular, executable bool
	size                int64
	modified            time.Time
}

// dirPath keeps the directories above the last used file open. If files come in order, each directory is opened only
// once.
type dirPath struct {
	root  *directory
	names []string
	dirs  []*directory // of names
}

// open opens dir, a slash-separated path. If create is true, it creates missing directories. On an error it returns the
// component that it could not open, and its parent.
func (p *dirPath) open(dir string, create bool) (parent *directory, name string, err error) {
	parent = p.root
	level := 0
	if dir != "." {
		for name := range strings.SplitSeq(dir, "/") {
			if level < len(p.names) && p.names[level] == name {
				parent = p.dirs[level]
				level++
				continue
			}
			p.closeBelow(level)
			if create {
				if err := parent.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
					return parent, name, err
				}
			}
			next, err := parent.sub(name)
			if err != nil {
				return parent, name, err
			}
			p.names, p.dirs = append(p.names, name), append(p.dirs, next)
			parent = next
			level++
		}
	}
	p.closeBelow(level)
	return parent, "", nil
}

// closeBelow closes all directories below a level.
func (p *dirPath) closeBelow(level int) {
	for last := len(p.dirs) - 1; last >= level; last-- {
		p.dirs[last].close()
		p.names, p.dirs = p.names[:last], p.dirs[:last]
	}
}

// close closes all directories and the root.
func (p *dirPath) close() {
	if p.root == nil {
		return
	}
	p.closeBelow(0)
	p.root.close()
	p.root = nil
}
