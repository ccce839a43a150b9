package store

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// fileInfo is what the store needs to know about a file.
type fileInfo struct {
	regular, executable bool
	size                int64
	modified            time.Time
}

// dirPath is a path of open directories to the file that was used last. So each directory is opened once if the files
// are in order.
type dirPath struct {
	root  *directory
	names []string
	dirs  []*directory // of names
}

// open opens dir, a slash-separated path, and creates the directories on the way if create is true. On an error it
// returns the directory in which it couldn't open name.
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
