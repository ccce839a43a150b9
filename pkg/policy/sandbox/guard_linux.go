package sandbox

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// guard watches paths in a writable directory that a command may not create or replace. The sandbox cannot mount them
// read-only, because they do not exist or are links.
type guard struct {
	path  string
	root  *os.Root // opened before the command starts, which can replace what it sees
	dir   *os.File
	mode  fs.FileMode
	names []string
	links []string // the targets of those names that are links, otherwise empty
}

// newGuards returns guards for the paths that are below writable directories.
func newGuards(write, paths []string) (all []guard, err error) {
	for _, dir := range write {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			continue // a skill may name a file
		}
		g := guard{path: dir}
		for _, path := range paths {
			name, below := pathx.Rel(dir, path)
			if !below {
				continue
			}
			target, err := os.Readlink(path)
			if _, missing := os.Lstat(path); missing != nil || err == nil {
				g.names, g.links = append(g.names, name), append(g.links, target)
			}
		}
		if len(g.names) == 0 {
			continue
		}
		if err := g.open(); err != nil {
			for _, g := range append(all, g) {
				g.close()
			}
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func (g *guard) open() (err error) {
	if g.root, err = os.OpenRoot(g.path); err != nil {
		return err
	}
	if g.dir, err = g.root.Open("."); err != nil {
		return err
	}
	info, err := g.dir.Stat()
	if err != nil {
		return err
	}
	g.mode = info.Mode().Perm()
	for i := range slices.Backward(g.names) { // not those that links of the user lead out of the directory
		_, err := g.root.Lstat(g.names[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			g.names, g.links = slices.Delete(g.names, i, i+1), slices.Delete(g.links, i, i+1)
		}
	}
	return nil
}

func (g guard) close() {
	if g.root != nil {
		_ = g.root.Close()
	}
	if g.dir != nil {
		_ = g.dir.Close()
	}
}

// tidy moves away what the command created, restores links, and returns the paths that it found changed.
func (g guard) tidy() (changed []string) {
	for i, name := range g.names {
		found, err := g.restore(name, g.links[i])
		if errors.Is(err, fs.ErrPermission) { // the command can forbid changes to its directories
			_ = g.dir.Chmod(g.mode)
			for i, c := range name {
				if c == filepath.Separator {
					_ = g.root.Chmod(name[:i], 0o755)
				}
			}
			found, err = g.restore(name, g.links[i])
		}
		if found || errors.Is(err, fs.ErrPermission) {
			changed = append(changed, filepath.Join(g.path, name))
		}
	}
	return changed
}

// restore moves a file or directory away, unless it is the link that was there before, and recreates that link.
func (g guard) restore(name, link string) (changed bool, err error) {
	_, err = g.root.Lstat(name)
	if parent := filepath.Dir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		if _, none := g.root.Readlink(parent); none == nil { // a new link, which leads out of the directory
			name, link, err = parent, "", nil
		}
	}
	if target, _ := g.root.Readlink(name); err == nil && (link == "" || target != link) {
		changed = true
		err = g.root.Rename(name, name+".refused-"+strings.ToLower(rand.Text()[:8]))
	} else if err == nil || link == "" && errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if link != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return true, g.root.Symlink(link, name)
	}
	return changed, err
}
