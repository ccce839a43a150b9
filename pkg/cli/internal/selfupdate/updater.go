// Package selfupdate has the command that replaces the running program by a newer release.
//
// The rules it keeps:
//
//   - Only a plain binary of a release updates itself. [DetectManager] finds the package manager that installed the
//     program, and its command is the way to update then.
//   - The list of checksums of a release must be signed by a release key that was built into the running program, and
//     the archive must match its checksum, before a byte of it is unpacked.
//   - The program is replaced completely or not at all, and keeps its permissions.
//   - An older release is installed only if the user names it.
//
// Start reading at [Updater].
package selfupdate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
)

// Releases is where the releases are.
const Releases = "https://github.com/skillpm/skillpm/releases"

// Updater replaces a program by a release.
type Updater struct {
	// Mirror is laid out as GitHub's releases: MIRROR/latest redirects to the newest release, whose last path element
	// is v and its version, and its files are in MIRROR/download/vVERSION.
	Mirror     string
	Program    string // the first part of the archives' names, and the name of the file in them
	Keys       string // public keys that sign releases, in the format of OpenSSH, separated by commas
	Executable string // the file to replace; not a link
	OS, Arch   string // as runtime.GOOS and runtime.GOARCH
	Version    string // of skillpm, for the User-Agent header
	Client     *http.Client
}

// archive returns the name of the archive of a release, as .goreleaser.yaml defines it.
func (u *Updater) archive(version string) string {
	suffix := "tar.gz"
	if u.OS == windows {
		suffix = "zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s.%s", u.Program, version, u.OS, u.Arch, suffix)
}

// binary returns the name of the program in the archive.
func (u *Updater) binary() string {
	if u.OS == windows {
		return u.Program + ".exe"
	}
	return u.Program
}

// Update downloads and verifies a release, and replaces the program.
func (u *Updater) Update(ctx context.Context, version string) error {
	keys, err := parseKeys(u.Keys)
	if err != nil {
		return err
	}
	info, err := os.Stat(u.Executable)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	// The temporary file comes first, so that a directory that is not writable is reported before the download.
	err = u.replace(mode, func(w io.Writer) error {
		archive, err := u.download(ctx, version, keys)
		if err != nil {
			return err
		}
		return unpack(w, archive, u.archive(version), u.binary())
	})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return diag.Errorf(diag.Denied, "cannot replace %s: %w", u.Executable, cause(err)).
			WithHint("%s", u.permissionHint())
	}
	return err
}

// permissionHint describes who can replace the program.
func (u *Updater) permissionHint() string {
	if u.OS == windows {
		return "run the command as a user who may write to " + filepath.Dir(u.Executable)
	}
	return fmt.Sprintf("run %q, or move the program to a directory that you own, such as ~/.local/bin",
		"sudo "+u.Executable+" self-update")
}

// replace writes the program with a function. Windows does not replace the file of a running program, but renames it.
func (u *Updater) replace(mode fs.FileMode, write func(io.Writer) error) error {
	if u.OS != windows {
		return atomicfile.Stream(u.Executable, atomicfile.Options{Mode: mode, Sync: true}, write)
	}
	staged, old := u.Executable+".new", u.Executable+".old"
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) { // of the update before this one
		return err
	}
	if err := atomicfile.Stream(staged, atomicfile.Options{Mode: mode, Sync: true}, write); err != nil {
		return err
	}
	if err := os.Rename(u.Executable, old); err != nil {
		_ = os.Remove(staged) // the first error counts
		return err
	}
	if err := os.Rename(staged, u.Executable); err != nil {
		_ = os.Remove(staged)
		return errors.Join(err, os.Rename(old, u.Executable))
	}
	_ = os.Remove(old) // fails while the program runs; the next update removes it
	return nil
}

const windows = "windows" // as runtime.GOOS

// cause returns the system's reason for an error about a file.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
