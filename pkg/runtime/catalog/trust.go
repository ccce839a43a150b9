package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// Folders are the directories whose skills a user trusts, with all directories in them. They are stored as real paths
// in a file that only the user can read.
type Folders struct {
	path string
	home string
}

// TrustedFolders returns the user's list.
func TrustedFolders(paths scope.Paths) Folders {
	return Folders{path: filepath.Join(paths.State, "trusted.json"), home: paths.Home}
}

// Folder is a trusted directory.
type Folder struct {
	Path  string    `json:"path"`
	Since time.Time `json:"since"`
}

// foldersFile is the format of the file.
type foldersFile struct {
	Version int      `json:"version"`
	Folders []Folder `json:"folders"`
}

// maxFolders is the maximum size of the file in bytes.
const maxFolders = 4 << 20

// List returns the directories sorted by path. The error has code Invalid if the file cannot be read.
func (f Folders) List() ([]Folder, error) {
	data, err := safefile.ReadFile(f.path, maxFolders)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file foldersFile
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err == nil && file.Version > 1 {
		return nil, diag.Errorf(diag.Invalid,
			"cannot read the trusted directories: %s: a newer version of skillpm wrote the file in format %d", f.path,
			file.Version).WithHint("use a newer skillpm")
	}
	if err == nil && file.Version != 1 {
		err = fmt.Errorf("the file has the unsupported format %d", file.Version)
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read the trusted directories: %s: %s", f.path, reason(err)).
			WithHint("remove the file, then trust the directories again")
	}
	slices.SortFunc(file.Folders, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return file.Folders, nil
}

// Has reports whether a directory, or one above it, is trusted. If the file cannot be read, nothing is trusted, and the
// error has code Invalid.
func (f Folders) Has(dir string) (bool, error) {
	list, err := f.List()
	if err != nil || len(list) == 0 {
		return false, err
	}
	resolved, err := pathx.ResolveExisting(dir)
	if err != nil {
		return false, nil //nolint:nilerr // a missing directory is not trusted
	}
	return slices.ContainsFunc(list, func(t Folder) bool { return pathx.Contains(t.Path, resolved) }), nil
}

// Add trusts a directory and returns its real path. It rejects the home directory and those above it, because every
// cloned project would be trusted. It also rejects directories that everybody can write to, because any user could add
// a project.
func (f Folders) Add(dir string, now time.Time) (real string, err error) {
	if real, err = realDir(dir); err != nil {
		return "", err
	}
	if !utf8.ValidString(real) { // JSON would have the name of another directory
		return "", diag.Errorf(diag.Usage, "cannot trust %q: the path is not valid UTF-8", real).
			WithHint("rename the directory")
	}
	home, err := pathx.ResolveExisting(f.home)
	if err != nil {
		home = f.home
	}
	if pathx.Contains(real, home) || filepath.Dir(real) == real {
		return "", diag.Errorf(diag.Usage,
			"cannot trust %s: the directory contains all your projects", real).
			WithHint("trust each project separately")
	}
	if info, err := os.Stat(real); err == nil && info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows" {
		return "", diag.Errorf(diag.Usage, "cannot trust %s: all users can write to the directory", real).
			WithHint("trust each project in the directory separately, or run: chmod o-w %s", real)
	}
	return real, f.change(func(list []Folder) []Folder {
		if slices.ContainsFunc(list, func(t Folder) bool { return t.Path == real }) {
			return list
		}
		return append(list, Folder{Path: real, Since: now.UTC().Truncate(time.Second)})
	})
}

// Remove ends the trust in a directory, and returns the path that the list had. The error has code NotFound if it is
// not in the list.
func (f Folders) Remove(dir string) (removed string, err error) {
	names := []string{filepath.Clean(dir)}
	if real, err := pathx.ResolveExisting(dir); err == nil {
		names = append(names, real)
	}
	err = f.change(func(list []Folder) []Folder {
		return slices.DeleteFunc(list, func(t Folder) bool {
			hit := slices.Contains(names, t.Path)
			if hit {
				removed = t.Path
			}
			return hit
		})
	})
	if err == nil && removed == "" {
		err = diag.Errorf(diag.NotFound, "%s is not a trusted directory", dir).
			WithHint("list the trusted directories with: skillpm trust --list")
	}
	return removed, err
}

// Path returns the path of the file.
func (f Folders) Path() string { return f.path }

// change edits the list under a lock, and writes it if it changed.
func (f Folders) change(edit func([]Folder) []Folder) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(f.path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := f.List()
	if err != nil {
		return err
	}
	after := edit(slices.Clone(before))
	if slices.Equal(before, after) {
		return nil
	}
	slices.SortFunc(after, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	data, err := json.MarshalIndent(foldersFile{Version: 1, Folders: after}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, append(data, '\n'), atomicfile.Options{Mode: 0o600, Sync: true})
}

// realDir returns the real path of a directory.
func realDir(dir string) (string, error) {
	real, err := pathx.ResolveExisting(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "directory %s does not exist", dir)
	}
	if err != nil {
		return "", diag.Errorf(diag.NotFound, "cannot use the directory %s: %s", dir, reason(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", diag.Errorf(diag.Usage, "%s is not a directory", dir)
	}
	return real, nil
}
