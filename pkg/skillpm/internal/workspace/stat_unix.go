//go:build linux || darwin

package workspace

import (
	"strings"

	"golang.org/x/sys/unix"
)

// statter calls stat for entries of one directory, which it has open: a name in it costs one system call.
type statter struct {
	dir    string
	fd     int // -1 if the directory can't be opened
	target []byte
	text   []byte // of the last digest, whose memory the next one uses
}

func newStatter(dir string) *statter {
	s := &statter{dir: dir, fd: -1}
	if dir == "" {
		return s
	}
	if fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		s.fd = fd
	}
	return s
}

func (s *statter) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd) // it was only read
		s.fd = -1
	}
}

// stat returns the stat result of an entry, if it has the type that its name says: directories end with a slash.
func (s *statter) stat(path string) (fileStat, bool) {
	path, dir := strings.CutSuffix(path, "/")
	var st unix.Stat_t
	if s.fd < 0 || unix.Fstatat(s.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW) != nil ||
		dir != (st.Mode&unix.S_IFMT == unix.S_IFDIR) {
		return fileStat{}, false
	}
	f := fileStat{mode: int64(st.Mode), modified: unix.TimespecToNsec(st.Mtim)}
	if !dir {
		f.size, f.changed = st.Size, unix.TimespecToNsec(st.Ctim)
	}
	return f, true
}

// hasEntries reports whether a directory has these entries and no others. On Unix the times of directories show that.
func (*statter) hasEntries(string, string) bool { return true }

// isLinkTo reports whether an entry of the statter's directory is a link to target.
func (s *statter) isLinkTo(base, target string) bool {
	if s.fd < 0 {
		return false
	}
	if s.target == nil {
		s.target = make([]byte, 1<<12)
	}
	n, err := unix.Readlinkat(s.fd, base, s.target)
	return err == nil && string(s.target[:n]) == target
}
