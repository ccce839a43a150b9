package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// checkOwner rejects a repository of another user, as git does: in a shared directory, anyone can create one that hides
// changes and ignores files.
func checkOwner(root, gitDir string) error {
	path := filepath.Join(root, ".git")
	link, err := os.Lstat(path)
	dir, err2 := os.Stat(gitDir)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if !safefile.Mine(link) || !safefile.Mine(dir) {
		return diag.Errorf(diag.NotFound, "the repository %s belongs to another user", path).
			WithHint("run the command as the owner of the repository, or pass the files and directories as arguments")
	}
	return nil
}

// checkRegular rejects a repository in which a file that git reads is not a regular file: git would block on a pipe,
// and a device has no end.
func checkRegular(gitDir, common string) error {
	check := func(name string, info fs.FileInfo, err error) error {
		switch {
		case err == nil && !info.IsDir():
			return safefile.Check(name, info, maxIndex)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	}
	for _, dir := range []string{gitDir, common} {
		for _, name := range [...]string{
			"HEAD", "index", "config", "config.worktree", "shallow", "packed-refs", "info/exclude", "info/attributes",
			"info/grafts", "objects/info/alternates", "objects/info/commit-graph",
		} {
			name = filepath.Join(dir, filepath.FromSlash(name))
			info, err := os.Stat(name)
			if err := check(name, info, err); err != nil {
				return err
			}
		}
		err := filepath.WalkDir(filepath.Join(dir, "refs"), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return check(name, nil, err)
			}
			info, err := os.Stat(name)
			return check(name, info, err)
		})
		if err != nil {
			return err
		}
		if dir == common {
			break
		}
	}
	return nil
}

// gitDirOf returns the repository directory of the work tree at root, or "" if there is none.
func gitDirOf(root string) (string, error) {
	path := filepath.Join(root, ".git")
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		return "", nil //nolint:nilerr // an unreadable path is not a repository
	case info.IsDir() && isGitDir(path, path):
		return path, nil
	case info.IsDir():
		return "", nil
	}
	text, err := readSmall(path)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return "", diag.Errorf(diag.Invalid, "%s does not contain the path of a repository", path)
	}
	if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	if common, err := commonDir(dir); err != nil || !isGitDir(dir, common) {
		return "", diag.Errorf(diag.NotFound, "%s points to %s, which is not a repository", path, dir).
			WithHint("if you moved the repository, run \"git worktree repair\" in the repository")
	}
	return dir, nil
}

// isGitDir reports whether directories have what every repository has: HEAD and objects.
func isGitDir(dir, common string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	objects, err2 := os.Stat(filepath.Join(common, "objects"))
	return err == nil && !head.IsDir() && err2 == nil && objects.IsDir()
}

// commonDir returns the directory that the repository of a linked work tree shares with the main one, or dir.
func commonDir(dir string) (string, error) {
	text, err := readSmall(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	} else if err != nil {
		return "", err
	}
	common := filepath.FromSlash(strings.TrimSpace(string(text)))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common, nil
}

// readSmall reads a regular file of at most maxSmallFile bytes.
func readSmall(name string) ([]byte, error) { return safefile.ReadFile(name, maxSmallFile) }
