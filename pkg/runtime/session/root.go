package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// maxRoot is the maximum length of a directory's path in bytes.
const maxRoot = 64 << 10

// Root returns the directory in which an agent's session began, and stores dir as that at the first call. The agent may
// change its working directory later; the project stays the same. If the directory cannot be stored, Root returns dir.
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
		sweepFiles(filepath.Dir(path), now)
	}
	return dir
}

// ForgetRoot deletes the stored directory of a session.
func ForgetRoot(state, id string) {
	if state != "" && id != "" {
		_ = os.Remove(rootFile(state, id)) // a leftover file is removed after KeptFor
	}
}

func rootFile(state, id string) string {
	return filepath.Join(Dir(state), "roots", fileName(id))
}

// sweepFiles removes the files of old sessions from a directory, once a day.
func sweepFiles(dir string, now time.Time) {
	if !sweepDue(dir, now) {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != sweepMark && now.Sub(info.ModTime()) > KeptFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next sweep tries again
		}
	}
}
