package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// sharedDirs are directories in which programs of the system and of the user have sockets. Nothing but the path protects
// those, so a command that may write to one of these directories must not open Unix sockets.
var sharedDirs = [...]string{"/tmp", "/var/tmp", "/run"}

// sharesSockets reports whether a command may write to a directory in which other programs have sockets.
func (t *tree) sharesSockets() bool {
	for _, p := range t.paths {
		for _, dir := range t.disk.real(sharedDirs[:]) {
			if p.Write && pathx.Contains(p.Path, dir) {
				return true
			}
		}
	}
	return false
}

// makeTemp creates the directory for a box's root and its temporary files. A command that may use /tmp itself must not
// see it, or it could reach its root by another path.
func (t *tree) makeTemp(preferred string) (dir string, err error) {
	err = errors.New("every directory for temporary files is visible to the command")
	for _, base := range []string{preferred, "/tmp", "/var/tmp", "/dev/shm"} {
		if !filepath.IsAbs(base) || t.shows(base) {
			continue
		}
		if dir, err = os.MkdirTemp(base, "skillpm-sandbox-"); err == nil {
			return dir, nil
		}
	}
	return "", err
}

// shows reports whether a directory is visible to the command.
func (t *tree) shows(dir string) bool {
	real, _ := t.disk.follow(dir)
	for _, p := range t.paths {
		if p.Dir && pathx.Contains(p.Path, real) {
			return true
		}
	}
	return false
}
