package sandbox

import (
	"crypto/rand"
	"encoding/gob"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// guard watches what a command must not create or replace in a writable directory. The sandbox cannot mount a name
// that does not exist, and mounting what a link leads to does not protect the link.
type guard struct {
	root *os.Root // opened before the command starts, which can replace what it sees
	dir  *os.File

	Path  string
	Mode  fs.FileMode
	Steps []step // a directory comes before what it contains
}

// step is one step of a guarded path, without links above it.
type step struct {
	Name   string
	Mode   fs.FileMode // permissions before the command
	Link   string      // target of a link before the command, "" for anything else
	Absent bool        // the command must not create it
	Closed bool        // a directory above it could not be searched before the command

	file *os.File // what is there, a link or what the sandbox mounts, nil for nothing
}

// newGuards returns guards for what the paths lead to, and for each step on the way, in the writable directories.
func newGuards(write, paths []string) (all []guard, err error) {
	ends := map[string]bool{} // whether a path ends there, or is a link on the way
	var disk pathx.Snapshot
	for _, path := range paths {
		end, links, _ := disk.Follow(path) // as far as it is known
		ends[end] = true
		for _, l := range links {
			if !ends[l.Path] {
				ends[l.Path] = false
			}
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
		g := guard{Path: dir}
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
	if g.root, err = os.OpenRoot(g.Path); err != nil {
		return err
	}
	if g.dir, err = g.root.Open("."); err != nil {
		return err
	}
	info, err := g.dir.Stat()
	if err != nil {
		return err
	}
	g.Mode = info.Mode().Perm()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := step{Name: name, Mode: 0o755}
		info, err := g.root.Lstat(name)
		if err == nil {
			s.Mode = info.Mode().Perm()
			s.Link, _ = g.root.Readlink(name)
		}
		s.Absent, s.Closed = err != nil && names[name], errors.Is(err, fs.ErrPermission)
		if err == nil && (names[name] || s.Link != "") {
			s.file, _ = g.root.OpenFile(name, unix.O_PATH, 0) // it fails only if it was just removed
		}
		g.Steps = append(g.Steps, s)
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
	for _, s := range g.Steps {
		_ = s.file.Close() // which does nothing for nil
	}
}

// tidy moves away what the command created, restores links, and returns the paths that it found changed. Replaced are
// those that another program has replaced.
func (g guard) tidy() (changed, replaced []string) {
	for _, s := range g.Steps {
		refused := s.refused()
		if refused {
			s.Link, s.Absent = "", true
		} else if g.replaced(s) {
			replaced = append(replaced, filepath.Join(g.Path, s.Name))
		}
		found, err := g.restore(s)
		if errors.Is(err, fs.ErrPermission) && !s.Closed { // the command can forbid changes to its directories
			g.chmod(s.Name, 0o700)
			again, _ := g.restore(s)
			found = found || again
			g.chmod(s.Name, 0)
		}
		if found || refused {
			changed = append(changed, filepath.Join(g.Path, s.Name))
		}
	}
	return changed, replaced
}

// replaced reports whether there is another file than the one that the sandbox mounted, whose mount ended with it.
func (g guard) replaced(s step) bool {
	if s.file == nil || s.Link != "" {
		return false
	}
	was, err := s.file.Stat()
	now, missing := g.root.Lstat(s.Name)
	return err == nil && missing == nil && !os.SameFile(was, now)
}

// refused reports whether what was there has been moved away, because it was that of another command.
func (s step) refused() bool {
	if s.file == nil {
		return false
	}
	path, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(s.file.Fd())))
	return strings.Contains(filepath.Base(path), refusedMark)
}

// chmod gives the directories above a name the permissions that they had before the command, and more.
func (g guard) chmod(name string, more fs.FileMode) {
	_ = g.dir.Chmod(g.Mode | more)
	for i, c := range name {
		if c != filepath.Separator {
			continue
		}
		at, found := slices.BinarySearchFunc(g.Steps, name[:i], func(s step, name string) int {
			return strings.Compare(s.Name, name)
		})
		if found && g.Steps[at].Link == "" {
			_ = g.root.Chmod(name[:i], g.Steps[at].Mode|more)
		}
	}
}

const refusedMark = ".refused-" // in the name of what was moved away

// restore moves a step away that is not what it was before the command, and recreates a link.
func (g guard) restore(s step) (changed bool, err error) {
	_, err = g.root.Lstat(s.Name)
	target, _ := g.root.Readlink(s.Name) // "" for anything but a link
	switch {
	case err == nil && target == s.Link && !s.Absent, err != nil && s.Link == "":
		return false, err
	case err == nil:
		dir, name := filepath.Split(s.Name)
		name = name[:min(len(name), 200)] // the longest name has 255 bytes
		err = g.root.Rename(s.Name, dir+name+refusedMark+strings.ToLower(rand.Text()[:8]))
	}
	if s.Link != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		err = g.root.Symlink(s.Link, s.Name)
	}
	return true, err
}

// remains is what another process needs to tidy up for a Box.
type remains struct {
	Dir    string
	Guards []guard // the directory of each is an inherited file
}

// Remains returns files with which [Settle], in another process, does what Tidy and Close do. The caller closes the
// first one.
func (b *Box) Remains() ([]*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	files := []*os.File{os.NewFile(uintptr(fd), "sandbox")}
	if err := gob.NewEncoder(files[0]).Encode(remains{b.dir, b.guards}); err != nil {
		return files, err
	}
	for _, g := range b.guards {
		files = append(files, g.dir)
	}
	return files, nil
}

// Settle tidies up for a Box whose process was killed. Its processes must have ended. Fd is the first of the files.
func Settle(fd int) {
	var r remains
	if gob.NewDecoder(io.NewSectionReader(os.NewFile(uintptr(fd), "sandbox"), 0, math.MaxInt64)).Decode(&r) != nil {
		return
	}
	for i, g := range r.Guards {
		g.dir = os.NewFile(uintptr(fd+1+i), g.Path)
		var err error
		if g.root, err = os.OpenRoot("/proc/self/fd/" + strconv.Itoa(fd+1+i)); err == nil {
			g.tidy()
		}
	}
	remove(r.Dir)
}
