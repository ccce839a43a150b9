package git

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

const (
	maxIndex = 256 << 20 // bytes of an index; each file takes about a hundred
	maxRefs  = 64 << 20  // bytes of a file outside of objects; the largest is packed-refs
)

// plainFiles are the files of a local repository, which another user may have created. It opens only regular files, and
// only for reading: opening a pipe named HEAD would block.
type plainFiles struct{ billy.Filesystem }

func newPlainFiles(dir string) billy.Filesystem { return plainFiles{osfs.New(dir)} }

// repositoryFiles returns the files of a repository and of the directory that it shares with other work trees.
func repositoryFiles(gitDir, common string) billy.Filesystem {
	if common == gitDir {
		return newPlainFiles(gitDir)
	}
	return dotgit.NewRepositoryFilesystem(newPlainFiles(gitDir), newPlainFiles(common))
}

// allFiles returns the files of the volume of dir. Alternates may be anywhere on it.
func allFiles(dir string) billy.Filesystem {
	return newPlainFiles(filepath.VolumeName(dir) + string(filepath.Separator))
}

func (p plainFiles) Open(name string) (billy.File, error) {
	return p.OpenFile(name, os.O_RDONLY, 0)
}

func (p plainFiles) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, billy.ErrReadOnly
	}
	info, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	limit := int64(maxRefs)
	if slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "objects") {
		limit = math.MaxInt64
	}
	if err := safefile.Check(filepath.Join(p.Root(), name), info, limit); err != nil {
		return nil, err
	}
	return p.Filesystem.OpenFile(name, flag, perm)
}

func (p plainFiles) Chroot(path string) (billy.Filesystem, error) {
	inside, err := p.Filesystem.Chroot(path)
	if err != nil {
		return nil, err
	}
	return plainFiles{inside}, nil
}
