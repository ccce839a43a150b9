package pathx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links of one path are followed, as many as [filepath.EvalSymlinks] follows. Systems follow
// fewer: with more, nobody can open the path.
const maxLinks = 255

// ErrProcess is the error for a path through a link in /proc: it leads somewhere else for each process that opens it,
// for example to its working directory.
var ErrProcess = errors.New("the path is different for each process")

// ofProcess reports whether a link is one of Linux's directory of processes.
func ofProcess(link string) bool { return strings.HasPrefix(link, "/proc/") }

// Resolve returns where a path leads: the absolute, clean path without links of the file that a program would open, or
// create, at that path. It looks at the disk.
//
// It follows links step by step as the system does, so that ".." after a link is the directory above what the link
// leads to. (On Windows it is the directory above the link, because Windows removes ".." before it looks at links.)
// What does not exist stays as written, below the resolved path of what does, also where a link leads to it: a link to
// a missing file resolves to that file, which is what a program that writes to the link creates. What is below a file
// counts as missing, too. A relative path is relative to the working directory.
//
// An error means that the target of the path is unknown: the links are a loop, a directory on the way may not be
// searched, or a link depends on the process ([ErrProcess]). Callers that decide about access must refuse such a path.
func Resolve(path string) (string, error) {
	w, err := walk(path, look)
	if err != nil {
		return "", err
	}
	return canonical(w.resolved), nil
}

// ResolveExisting is [Resolve] for what has to exist. The error for a missing file, or for a link to one, is
// [fs.ErrNotExist]; that for what would be below a file is ENOTDIR.
func ResolveExisting(path string) (string, error) {
	w, err := walk(path, look)
	if err == nil {
		err = w.missing
	}
	if err != nil {
		return "", err
	}
	return canonical(w.resolved), nil
}

// ResolveDir is [Resolve] for a directory that the caller is going to create if it is missing. What [os.MkdirAll] could
// not create is an error: [fs.ErrNotExist] for a link that leads to nothing, ENOTDIR for a path below a file.
func ResolveDir(path string) (string, error) {
	w, err := walk(path, look)
	switch {
	case err != nil:
		return "", err
	case errors.Is(w.missing, syscall.ENOTDIR):
		return "", w.missing
	case w.missing != nil && len(w.links) > 0:
		if _, err := os.Stat(w.links[len(w.links)-1].Path); err != nil {
			return "", err
		}
	}
	return canonical(w.resolved), nil
}

// ResolveOrClean returns what [Resolve] returns, or the clean path if nobody can tell where it leads. It is for
// comparing what is shown, never for deciding about access.
func ResolveOrClean(path string) string {
	if resolved, err := Resolve(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// ContainsResolved reports whether path leads to dir or to what is, or would be, below it. It resolves both, and
// compares directories by their identity on the disk, so that it is right about file systems that ignore case and about
// those that don't. If dir does not exist, it compares names, as [Contains].
//
// An error means that nobody can tell, as for [Resolve]. Treat it as "not inside" where inside means allowed, and as
// "inside" where inside means forbidden.
func ContainsResolved(dir, path string) (bool, error) {
	dir, err := Resolve(dir)
	if err != nil {
		return false, err
	}
	if path, err = Resolve(path); err != nil {
		return false, err
	}
	exact := system()
	exact.fold = false
	if _, ok := exact.rel(dir, path); ok {
		return true, nil
	}
	dirInfo, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Contains(dir, path), nil
	} else if err != nil {
		return false, err
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, dirInfo) {
			return true, nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false, nil
		}
		path = parent
	}
}

// Link is a link that a path goes through.
type Link struct {
	Path   string // where it is: an absolute path without links before the last step
	Target string // as it is written in the link
}

// Snapshot resolves paths, and sees each step of them only once: what it returned for one path holds for all that have
// a directory or a link in common with it, also if somebody changes the disk in between. The zero value is ready for
// use. It may not be used by several goroutines at once.
type Snapshot struct{ seen map[string]step }

// Resolve is [Resolve] with the memory of the snapshot.
func (s *Snapshot) Resolve(path string) (string, error) {
	resolved, _, err := s.Follow(path)
	if err != nil {
		return "", err
	}
	return resolved, nil
}

// Follow is [Resolve], and also returns the links on the way, in the order in which the system follows them. Together
// with an error it returns how far it got, and what it did not follow as written below that.
func (s *Snapshot) Follow(path string) (resolved string, links []Link, err error) {
	w, err := walk(path, s.look)
	return canonical(w.resolved), w.links, err
}

// ThroughLink returns the first link on the way to path that is in one of dirs, which are resolved. What leads out of a
// directory through a link in it was chosen by a user who can write to that directory.
func (s *Snapshot) ThroughLink(path string, dirs []string) (link Link, ok bool) {
	_, links, _ := s.Follow(path) // the links on the way are known even if the rest is not
	for _, link := range links {
		for _, dir := range dirs {
			if Contains(dir, link.Path) {
				return link, true
			}
		}
	}
	return Link{}, false
}

func (s *Snapshot) look(path string) step {
	known, ok := s.seen[path]
	if !ok {
		if s.seen == nil {
			s.seen = make(map[string]step)
		}
		known = look(path)
		s.seen[path] = known
	}
	return known
}

// step is what one step of a path is on the disk.
type step struct {
	link   bool
	target string // of a link
	dir    bool
	err    error
}

// look looks at one step: the last of a path without links.
func look(path string) step {
	info, err := os.Lstat(path)
	if err != nil {
		return step{err: err}
	}
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return step{dir: info.IsDir()}
	}
	target, err := os.Readlink(path)
	switch {
	case err == nil && !isMount(target):
		return step{link: true, target: target}
	case info.Mode()&fs.ModeSymlink != 0 && err != nil:
		return step{err: err}
	}
	// A volume that is mounted here, or a file of Windows that is neither a link nor regular: as of a cloud's.
	return step{dir: true}
}

// isMount reports whether the target of a junction is a whole volume, which is mounted there rather than linked.
func isMount(target string) bool { return strings.HasPrefix(target, `\\?\Volume{`) }

// walked is how far a path was followed.
type walked struct {
	resolved string
	missing  error // why what the path leads to does not exist, nil if it does
	links    []Link
}

// walk follows a path from its root. With an error, the path that it returns is that of [Snapshot.Follow].
func walk(path string, look func(string) step) (walked, error) {
	root, steps, err := begin(path)
	if err != nil {
		return walked{resolved: path}, err
	}
	w := walked{resolved: root}
	gone := 0 // how many steps are below the last directory that exists
	for len(steps) > 0 {
		name := steps[0]
		steps = steps[1:]
		switch {
		case name == "..":
			w.resolved, gone = filepath.Dir(w.resolved), max(0, gone-1)
			continue
		case gone > 0: // not looked at: a path can have thousands of such steps
			w.resolved, gone = w.resolved+string(filepath.Separator)+name, gone+1
			continue
		}
		next := filepath.Join(w.resolved, name)
		s := look(next)
		switch {
		case errors.Is(s.err, fs.ErrNotExist) || errors.Is(s.err, syscall.ENOTDIR):
			w.miss(s.err)
			gone = 1
		case s.err != nil:
			w.resolved = filepath.Join(next, filepath.Join(steps...))
			return w, s.err
		case s.link && ofProcess(next):
			w.resolved = filepath.Join(next, filepath.Join(steps...))
			return w, &fs.PathError{Op: "resolve", Path: path, Err: ErrProcess}
		case s.link:
			w.links = append(w.links, Link{Path: next, Target: s.target})
			if len(w.links) > maxLinks {
				w.resolved = filepath.Join(next, filepath.Join(steps...))
				return w, &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
			}
			steps = append(w.enter(s.target), steps...)
			continue
		case !s.dir && len(steps) > 0:
			w.miss(&fs.PathError{Op: "lstat", Path: filepath.Join(next, steps[0]), Err: syscall.ENOTDIR})
		}
		w.resolved = next
	}
	return w, nil
}

// miss notes why something does not exist, the first time.
func (w *walked) miss(err error) {
	if w.missing == nil {
		w.missing = err
	}
}

// enter goes to where the target of a link starts, and returns the steps from there.
func (w *walked) enter(target string) []string {
	switch root := rootOf(target); {
	case root != "":
		w.resolved, target = root, target[len(root):]
	case target != "" && os.IsPathSeparator(target[0]):
		w.resolved = rootOf(w.resolved) // of this drive
	}
	return split(target)
}

// begin returns the root and the steps of a path.
func begin(path string) (root string, steps []string, err error) {
	switch {
	case path == "":
		return "", nil, &fs.PathError{Op: "resolve", Path: path, Err: fs.ErrInvalid}
	case system().windows: // removes .. before anything else
		if path, err = filepath.Abs(path); err != nil {
			return "", nil, err
		}
	case !filepath.IsAbs(path):
		dir, err := os.Getwd()
		if err != nil {
			return "", nil, err
		}
		path = dir + string(filepath.Separator) + path // not joined, which would remove ..
	}
	root = rootOf(path)
	return root, split(path[len(root):]), nil
}

// rootOf returns the root that an absolute path begins with, "" for any other path.
func rootOf(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	volume := filepath.VolumeName(path)
	return path[:min(len(volume)+1, len(path))]
}

// split returns the steps of a path.
func split(path string) []string {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	rest := steps[:0]
	for _, step := range steps {
		if step != "." {
			rest = append(rest, step)
		}
	}
	return rest
}
