package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// tempDir is the path of the command's own directory for temporary files.
const tempDir = "/tmp"

// mount builds the command's root directory and makes it this process's root.
func (h *helperProcess) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	root := h.order.Root
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=16m"); err != nil {
		return err
	}
	b := builder{root: root}
	if err := b.basics(h.order.Temp); err != nil {
		return err
	}
	for _, p := range h.order.Paths {
		do := b.bind
		if p.isSetting() {
			do = b.copy
		}
		if err := do(p); err != nil {
			return openError(p.Path, err)
		}
	}
	for _, l := range h.order.Links {
		if err := b.link(l); err != nil {
			return openError(l.Path, err)
		}
	}
	return enterRoot(root)
}

// pathError is an error of a path, whose author could have chosen it so that the command runs unconfined.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }

// openError returns the error for a path: a [pathError], unless it is that of a system that cannot mount any.
func openError(path string, err error) error {
	for _, lacks := range []error{unix.EPERM, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP} {
		if errors.Is(err, lacks) {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return &pathError{path, err}
}

// enterRoot changes the root directory and unmounts the previous one.
func enterRoot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// builder adds files to a root directory. Paths in it are absolute and without links.
type builder struct{ root string }

// basics adds what every program expects: temporary files, devices, and the namespace's /proc.
func (b builder) basics(temp string) error {
	if err := b.mountTree(temp, tempDir, true, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		if err := b.mountTree("/dev/"+name, "/dev/"+name, false,
			unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "self/fd", "stdin": "self/fd/0", "stdout": "self/fd/1",
		"stderr": "self/fd/2",
	} {
		if err := os.Symlink("/proc/"+target, b.root+"/dev/"+name); err != nil {
			return err
		}
	}
	if err := os.Mkdir(b.root+"/dev/shm", 0o700); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", b.root+"/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV,
		"mode=1777,size=256m"); err != nil {
		return err
	}
	if err := os.Mkdir(b.root+settings, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(b.root+"/proc", 0o555); err != nil {
		return err
	}
	if err := unix.Mount("proc", b.root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	return b.proc()
}

// proc sets the process limit of the namespace, and hides files of /proc about the kernel and the user's keys.
func (b builder) proc() error {
	if limitsPIDs() {
		limit := strconv.Itoa(MaxProcesses())
		if err := os.WriteFile(b.root+"/proc/sys/kernel/pid_max", []byte(limit), 0o644); err != nil {
			return fmt.Errorf("process limit: %w", err)
		}
	}
	for _, name := range []string{
		"keys", "key-users", "kallsyms", "kcore", "kmsg", "sched_debug", "sysrq-trigger", "timer_list",
		"interrupts", "modules", "iomem", "ioports", "slabinfo", "vmallocinfo", "pagetypeinfo",
	} {
		path := b.root + "/proc/" + name
		if _, err := os.Lstat(path); err != nil {
			continue // this kernel does not have it
		}
		if err := unix.Mount(b.root+"/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("/proc/%s: %w", name, err)
		}
	}
	return nil
}

// bind makes a path visible.
func (b builder) bind(p visiblePath) error {
	attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if !p.Write {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	return b.mountTree(p.Path, p.Path, p.Dir, attr)
}

// settings is the directory whose single files are copied into the root, which is faster than to mount each.
const settings = "/etc"

// isSetting reports whether a path is a file in that directory.
func (p visiblePath) isSetting() bool {
	return !p.Dir && !p.Write && pathx.Contains(settings, p.Path)
}

// copy copies a file into the root. It skips files that the user cannot read.
func (b builder) copy(p visiblePath) error {
	data, err := safefile.ReadFile(p.Path, maxSettings)
	if err != nil {
		return nil //nolint:nilerr // the command could not read it either, and does without
	}
	target := b.root + p.Path
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, data, 0o644) //nolint:gosec // everybody may read it where it comes from
}

// maxSettings is the maximum size of a copied file in bytes.
const maxSettings = 4 << 20

// mountTree mounts src, which must have no links, at dst in the root, with everything that is mounted below it.
func (b builder) mountTree(src, dst string, dir bool, attr uint64) error {
	source, err := unix.Openat2(unix.AT_FDCWD, src,
		&unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(source) }()
	if err := b.target(dst, dir); err != nil {
		return err
	}
	target := b.root + dst
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(source), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr})
}

// target creates the directory or file to mount on.
func (b builder) target(path string, dir bool) error {
	target := b.root + path
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// link creates a link, unless a mounted directory already has it.
func (b builder) link(l link) error {
	target := b.root + l.Path
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	err := os.Symlink(l.Target, target)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.EROFS) {
		return nil // a mounted directory has its own
	}
	return err
}
