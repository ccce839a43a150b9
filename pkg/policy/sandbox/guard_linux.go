package sandbox

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// guard watches what a command must not create or replace in a writable directory. The sandbox cannot mount a name
// that does not exist, and mounting what a link leads to does not protect the link.
type guard struct {
	path  string
	root  *os.Root // opened before the command starts, which can replace what it sees
	dir   *os.File
	mode  fs.FileMode
	steps []step // a directory comes before what it contains
}

// step is one step of a guarded path, without links above it.
type step struct {
	name   string
	mode   fs.FileMode // permissions before the command
	link   string      // target of a link before the command, "" for anything else
	absent bool        // the command must not create it
	closed bool        // a directory above it could not be searched before the command
}

// newGuards returns guards for what the paths lead to, and for each step on the way, in the writable directories.
func newGuards(write, paths []string) (all []guard, err error) {
	ends := map[string]bool{} // whether a path ends there, or is a link on the way
	var disk pathx.Snapshot
	for _, path := range paths {
		end, links, _ := disk.Follow(path) // as far as it is known
		ends[end] = true
		for _, l := range links {
			ends[l.Path] = ends[l.Path]
		}
	}
	for _, dir := range write {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			continue // a skill may name a file
		}
		names := map[string]bool{}
		for path, end := range ends {
			name, below := pathx.Rel(dir, path)
			for ; below && name != "."; name, end = filepath.Dir(name), false {
				names[name] = names[name] || end
			}
		}
		if len(names) == 0 {
			continue
		}
		g := guard{path: dir}
		if err := g.open(names); err != nil {
			for _, g := range append(all, g) {
				g.close()
			}
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// open opens the directory and notes what the names are. The value of a name is whether a guarded path ends there.
func (g *guard) open(names map[string]bool) (err error) {
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
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := step{name: name, mode: 0o755}
		info, err := g.root.Lstat(name)
		if err == nil {
			s.mode = info.Mode().Perm()
			s.link, _ = g.root.Readlink(name)
		}
		s.absent, s.closed = err != nil && names[name], errors.Is(err, fs.ErrPermission)
		g.steps = append(g.steps, s)
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
	for _, s := range g.steps {
		found, err := g.restore(s)
		if errors.Is(err, fs.ErrPermission) && !s.closed { // the command can forbid changes to its directories
			g.chmod(s.name, 0o700)
			again, _ := g.restore(s)
			found = found || again
			g.chmod(s.name, 0)
		}
		if found {
			changed = append(changed, filepath.Join(g.path, s.name))
		}
	}
	return changed
}

// chmod gives the directories above a name the permissions that they had before the command, and more.
func (g guard) chmod(name string, more fs.FileMode) {
	_ = g.dir.Chmod(g.mode | more)
	for _, above := range g.steps {
		if pathx.ContainsStrict(above.name, name) && above.link == "" {
			_ = g.root.Chmod(above.name, above.mode|more)
		}
	}
}

// restore moves a step away that is not what it was before the command, and recreates a link.
func (g guard) restore(s step) (changed bool, err error) {
	_, err = g.root.Lstat(s.name)
	target, _ := g.root.Readlink(s.name) // "" for anything but a link
	switch {
	case err == nil && target == s.link && !s.absent, err != nil && s.link == "":
		return false, err
	case err == nil:
		dir, name := filepath.Split(s.name)
		name = name[:min(len(name), 200)] // the longest name has 255 bytes
		err = g.root.Rename(s.name, dir+name+".refused-"+strings.ToLower(rand.Text()[:8]))
	}
	if s.link != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		err = g.root.Symlink(s.link, s.name)
	}
	return true, err
}
