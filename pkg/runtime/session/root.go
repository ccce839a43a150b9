package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// maxRoot is how many bytes the path of a directory has at most.
const maxRoot = 64 << 10

// Root returns the directory that a session of a host was first seen in, and notes it where that is now: the host's
// model may go elsewhere, and the project stays the same. Where it can't be noted it is the directory of now.
func Root(state, id, dir string, now time.Time) string {
	if state == "" || id == "" || !filepath.IsAbs(dir) {
		return dir
	}
	path := rootFile(state, id)
	if data, err := safefile.ReadFile(path, maxRoot); err == nil && filepath.IsAbs(string(data)) {
		return string(data)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return dir
	}
	if atomicfile.Write(path, []byte(dir), atomicfile.Options{Mode: 0o600, MkdirMode: 0o700}) == nil {
		sweepRoots(filepath.Dir(path), now)
	}
	return dir
}

// ForgetRoot forgets where a session was first seen.
func ForgetRoot(state, id string) {
	if state != "" && id != "" {
		_ = os.Remove(rootFile(state, id)) // it is swept one day
	}
}

func rootFile(state, id string) string {
	return filepath.Join(Dir(state), "roots", fileName(id))
}

// sweepRoots removes what was noted of sessions that began long ago, once a day.
func sweepRoots(dir string, now time.Time) {
	if !sweepDue(dir, now) {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != sweepMark && now.Sub(info.ModTime()) > KeptFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // it is tried again tomorrow
		}
	}
}
