package sandbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// visible returns what a command sees under the rules, including the programs in the PATH of env.
func (r *Rules) visible(env []string, program string) (*tree, error) {
	t := newTree()
	for _, path := range system() {
		t.add(path, false)
	}
	private := t.disk.real(r.Hidden)
	hidden := append(t.disk.real([]string{"/dev", "/proc", "/sys", "/etc"}), private...)
	own := t.disk.real(slices.Concat(r.Read, r.Write))
	for _, path := range t.disk.programs(env, program, own) {
		real, _ := t.disk.follow(path)
		below := slices.ContainsFunc(private, func(h string) bool { return pathx.Contains(h, real) })
		if !below && t.disk.open(path, hidden, false) == nil {
			t.add(path, false)
		}
	}
	for _, path := range r.Read {
		if err := t.disk.open(path, hidden, false); err != nil {
			return nil, err
		}
		t.add(path, false)
	}
	for _, path := range r.Write {
		if err := t.disk.open(path, hidden, true); err != nil {
			return nil, err
		}
		if err := t.disk.checkNoLinks(path); err != nil {
			return nil, err
		}
		if err := createDir(path); err != nil {
			return nil, err
		}
		t.add(path, true)
	}
	for _, path := range r.Keep {
		if err := t.disk.checkNoLinks(path); err != nil {
			return nil, err
		}
		t.add(path, false)
	}
	for _, path := range r.LinkPaths {
		t.addLinks(path)
	}
	return t, nil
}

// checkNoLinks returns an error for a path that contains a link. The opened path must be the one that was checked, and
// a link could be changed in between.
func (d *disk) checkNoLinks(path string) error {
	if _, links := d.follow(path); len(links) > 0 {
		return diag.Errorf(diag.Conflict, "the sandbox cannot open %s: %s is now a link", path,
			links[0].Path).WithHint("run the command again")
	}
	return nil
}

// removeFile removes a file without following links, and reports whether it existed.
func removeFile(path string) bool {
	dir, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(dir) }()
	name := filepath.Base(path)
	return unix.Unlinkat(dir, name, 0) == nil || unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) == nil
}

// createDir creates a writable directory without following links, if it does not exist.
func createDir(path string) error {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for step := range strings.SplitSeq(strings.Trim(filepath.Clean(path), "/"), "/") {
		if err != nil || step == "" {
			break
		}
		next, failed := openStep(fd, step)
		_ = unix.Close(fd)
		fd, err = next, failed
	}
	if err != nil {
		return diag.Errorf(diag.NotFound, "cannot create %s: %w", path, err)
	}
	return unix.Close(fd)
}

// openStep opens a directory below dir, and creates it if it does not exist.
func openStep(dir int, name string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(dir, name, &how)
	if !errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	if err := unix.Mkdirat(dir, name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return -1, err
	}
	return unix.Openat2(dir, name, &how)
}
