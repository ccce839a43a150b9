package publish

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// renameNew renames a directory and fails if target exists. An empty directory created meanwhile may be replaced.
func renameNew(staged, target string) error {
	if _, err := os.Lstat(target); err == nil {
		return &os.LinkError{Op: "rename", Old: staged, New: target, Err: fs.ErrExist}
	}
	return os.Rename(staged, target)
}

// replaceInTwo replaces target in two steps: it moves target to backup, then staged to target. If the second step
// fails, it undoes the first.
func replaceInTwo(staged, target, backup string) (backedUp string, err error) {
	backedUp, err = moveToBackup(target, backup)
	if err != nil {
		return "", err
	}
	if err := os.Rename(staged, target); err != nil {
		return "", errors.Join(err, os.Rename(backedUp, target))
	}
	return backedUp, nil
}

// moveToBackup moves a directory to backup, with a numeric suffix if that name is taken.
func moveToBackup(dir, backup string) (backedUp string, err error) {
	if err := os.MkdirAll(filepath.Dir(backup), 0o755); err != nil {
		return "", err
	}
	backedUp = backup
	for n := 2; n < 1000; n++ {
		if err = renameNew(dir, backedUp); err == nil {
			return backedUp, atomicfile.SyncDir(filepath.Dir(backedUp))
		}
		if _, statErr := os.Lstat(backedUp); statErr != nil {
			return "", err
		}
		backedUp = backup + "-" + strconv.Itoa(n)
	}
	return "", err
}

// stagePrefix begins the names of staging directories.
const stagePrefix = ".skillpm-deploy-"

// sweepStages removes staging directories of interrupted deployments. It keeps those younger than a day, because a
// running deployment may use them.
func sweepStages(parent string, now time.Time) {
	entries, _ := os.ReadDir(parent) // the next deployment tries again
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), stagePrefix)
		if !ours || number == "" || strings.Trim(number, "0123456789") != "" || !e.IsDir() {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}

// errReadOnly returns the error of a read-only file system.
func errReadOnly() error { return syscall.EROFS }

// copyTree copies the files of a tree and verifies each digest, because a file may have changed since validation.
func copyTree(ctx context.Context, tree bundle.Tree, dir string) error {
	dirs := []string{dir}
	for _, e := range tree.Inventory {
		for d := path.Dir(e.Path); d != "."; d = path.Dir(d) {
			if parent := filepath.Join(dir, filepath.FromSlash(d)); !slices.Contains(dirs, parent) {
				dirs = append(dirs, parent)
			}
		}
	}
	slices.Sort(dirs)
	for _, d := range dirs {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(d, 0o755); err != nil { // despite the umask: other users read it
			return err
		}
	}
	for _, e := range tree.Inventory {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := copyEntry(tree, e, filepath.Join(dir, filepath.FromSlash(e.Path))); err != nil {
			return err
		}
	}
	for _, d := range slices.Backward(dirs) {
		if err := atomicfile.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

func copyEntry(tree bundle.Tree, e bundle.Entry, target string) error {
	in, err := tree.Open(e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, e.Size+1))
	if err != nil {
		return err
	}
	if err := e.Check(data); err != nil {
		return diag.Errorf(diag.Conflict, "%s changed during the deployment: %w", e.Path, err).
			WithHint("run the command again")
	}
	mode := fs.FileMode(0o644)
	if e.Executable {
		mode = 0o755
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
}
