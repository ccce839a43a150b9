package git

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// isLocal reports whether a reference is to a repository on this machine, which is read in its own directory.
func isLocal(ref pack.Ref) bool { return strings.HasPrefix(ref.URL, "file://") }

// localDir returns the directory of a local repository.
func localDir(ref pack.Ref) (string, error) {
	u, err := url.Parse(ref.URL)
	if err != nil {
		return "", diag.Errorf(diag.Usage, "invalid repository URL %q", ref.URL)
	}
	dir := filepath.FromSlash(u.Path)
	if windows := strings.TrimPrefix(dir, `\`); filepath.VolumeName(windows) != "" {
		dir = windows
	}
	return dir, nil
}

func openLocal(ref pack.Ref) (*filesystem.Storage, error) {
	dir, err := localDir(ref)
	if err != nil {
		return nil, err
	}
	return openStorage(dir)
}

// openStorage opens the repository at dir, or the one whose work tree is at dir.
func openStorage(dir string) (*filesystem.Storage, error) {
	gitDir, err := gitDirOf(dir)
	if err != nil {
		return nil, err
	}
	if gitDir == "" {
		gitDir = dir
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	if !isGitDir(gitDir, common) {
		return nil, diag.Errorf(diag.NotFound, "%s is not a git repository", dir)
	}
	return filesystem.NewStorageWithOptions(repositoryFiles(gitDir, common), cache.NewObjectLRUDefault(),
		filesystem.Options{AlternatesFS: allFiles(common)}), nil
}

// localRefs reads the branches and tags of a local repository.
func localRefs(ref pack.Ref) (*refs, error) {
	r, err := openLocal(ref)
	if err != nil {
		return nil, err
	}
	local := &refs{all: make(map[string]string)}
	if head, err := storer.ResolveReference(r, plumbing.HEAD); err == nil {
		local.head = head.Hash().String()
	}
	iter, err := r.IterReferences()
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", ref.URL, textx.OneLine(err.Error()))
	}
	err = iter.ForEach(func(p *plumbing.Reference) error {
		if p.Type() == plumbing.HashReference {
			commit := peel(r, p.Hash())
			if commit != p.Hash() {
				local.addTagObject(p.Name().String(), p.Hash())
			}
			local.add(p.Name().String(), commit)
		}
		return nil
	})
	return local, err
}

// peel follows tag objects to their target. It follows at most ten.
func peel(r *filesystem.Storage, id plumbing.Hash) plumbing.Hash {
	for range 10 {
		tag, err := object.GetTag(r, id)
		if err != nil {
			break
		}
		id = tag.Target
	}
	return id
}

// openLocal opens a commit of a local repository.
func (k *commit) openLocal() error {
	r, err := openLocal(k.ref)
	if err != nil {
		return err
	}
	return k.setObjects(&repository{storage: r}, true)
}
