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
	dir *os.File // opened before the command starts, which can replace what it sees

	Path  string
	Mode  fs.FileMode
	Steps []step // a directory comes before what it contains
}

// step is one step of a guarded path, without links above it.
type step struct {
	Name   string
	Mode   fs.FileMode // before the command
	Link   string      // target of a link before the command, "" for anything else
	Absent bool        // the command must not create it
	Closed bool        // a directory above it could not be searched before the command

	file *os.File // the link, or what the sandbox mounts; nil for nothing
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
	if g.dir, err = os.Open(g.Path); err != nil {
		return err
	}
	info, err := g.dir.Stat()
	if err != nil {
		return err
	}
	g.Mode = info.Mode()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f, info, link, err := g.look(name)
		if err != nil && !isNoFile(err) { // otherwise, a file of the user would be moved away later
			return &fs.PathError{Op: "open", Path: filepath.Join(g.Path, name), Err: err}
		}
		s := step{Name: name, Mode: 0o755, Link: link}
		s.Absent, s.Closed = err != nil && names[name], errors.Is(err, fs.ErrPermission)
		if err == nil {
			s.Mode = info.Mode()
		}
		if names[name] || link != "" {
			s.file = f
		} else {
			_ = f.Close() // which does nothing for nil
		}
		g.Steps = append(g.Steps, s)
	}
	return nil
}

// isNoFile reports whether an error shows that a path leads to no file that this process can open.
func isNoFile(err error) bool {
	return slices.ContainsFunc([]error{
		fs.ErrNotExist, fs.ErrPermission, unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EINVAL,
	}, func(e error) bool { return errors.Is(err, e) })
}

// look opens the file, directory, or link of a name, and never follows a link on the way: another command can exchange
// a directory for one at any time. The target is "" for anything but a link. The file can only be used for its path.
func (g guard) look(name string) (f *os.File, info fs.FileInfo, target string, err error) {
	fd, err := unix.Openat2(int(g.dir.Fd()), name, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, nil, "", err
	}
	f = os.NewFile(uintptr(fd), name)
	if info, err = f.Stat(); err != nil {
		_ = f.Close()
		return nil, nil, "", err
	}
	buffer := make([]byte, unix.PathMax)
	n, _ := unix.Readlinkat(fd, "", buffer)
	return f, info, string(buffer[:max(n, 0)]), nil
}

func (g guard) close() {
	_ = g.dir.Close() // which does nothing for nil
	for _, s := range g.Steps {
		_ = s.file.Close()
	}
}

// tidy moves away what the command created, restores links, and returns the paths that it found changed. Replaced are
// those that another program has replaced, and those that it cannot look at: for example with too many open files.
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
		switch path := filepath.Join(g.Path, s.Name); {
		case found || refused:
			changed = append(changed, path)
		case err != nil && !isNoFile(err):
			replaced = append(replaced, path)
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
	f, now, _, missing := g.look(s.Name)
	_ = f.Close()
	return err == nil && missing == nil && !os.SameFile(was, now)
}

// refused reports whether another guard has moved the file away, because another command had created it.
func (s step) refused() bool {
	if s.file == nil {
		return false
	}
	path, _ := os.Readlink(descriptor(s.file))
	name := filepath.Base(path)
	return name != filepath.Base(s.Name) && strings.Contains(name, refusedMark)
}

// descriptor returns the path of an open file for this process.
func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

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
		if !found || g.Steps[at].Link != "" {
			continue
		}
		if f, info, _, err := g.look(name[:i]); err == nil {
			if info.IsDir() {
				_ = os.Chmod(descriptor(f), g.Steps[at].Mode|more)
			}
			_ = f.Close()
		}
	}
}

const refusedMark = ".refused-" // in the name of a file that was moved away

// restore moves a step away that is not what it was before the command, and recreates a link.
func (g guard) restore(s step) (changed bool, err error) {
	f, _, target, err := g.look(s.Name)
	_ = f.Close()
	if err == nil && target == s.Link && !s.Absent || err != nil && s.Link == "" {
		return false, err
	}
	dir, name := filepath.Split(s.Name)
	if s.Link != "" {
		_ = createDir(filepath.Join(g.Path, dir)) // the command can remove it
	}
	above, _, _, failed := g.look(filepath.Clean(dir))
	if failed != nil {
		return true, failed
	}
	defer above.Close()
	fd := int(above.Fd())
	if err == nil {
		to := name[:min(len(name), 200)] + refusedMark + strings.ToLower(rand.Text()[:8]) // a name has at most 255 bytes
		err = unix.Renameat(fd, name, fd, to)
	}
	if s.Link != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		err = unix.Symlinkat(s.Link, fd, name)
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
		g.tidy()
	}
	remove(r.Dir)
}
