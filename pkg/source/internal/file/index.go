package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

const (
	maxIndex = 256 << 20 // bytes of an index, which is some hundred for each file
	maxSmall = 1 << 20   // bytes of a configuration, or of a file that names a directory
)

// index is what the index of a git checkout says about the files in a directory. The zero index is that of a directory
// outside of any checkout.
type index struct {
	files map[string]tracked // by path inside the directory
	modes bool               // the disk does not keep modes, the index does
}

type tracked struct {
	id         [20]byte
	executable bool
}

// mode returns a file's description with the mode of the index, if modes come from there.
func (x *index) mode(name string, info fs.FileInfo) fs.FileInfo {
	t, ok := x.files[name]
	if !ok || !x.modes || !info.Mode().IsRegular() {
		return info
	}
	m := fs.FileMode(0o644)
	if t.executable {
		m = 0o755
	}
	return infoWithMode{info, m}
}

type infoWithMode struct {
	fs.FileInfo
	mode fs.FileMode
}

func (m infoWithMode) Mode() fs.FileMode { return m.mode }

// readIndex reads the index of the checkout that a directory is in. What cannot be read counts as no checkout: then the
// files are what they are on disk. So does a repository of another user, as it does for git: in a directory that others
// may write to, anybody can put one.
func readIndex(dir, goos string) index {
	dir, err := pathx.ResolveExisting(dir)
	if err != nil {
		return index{}
	}
	top, gitDir := findGitDir(dir)
	if gitDir == "" || !isOwn(os.Lstat(filepath.Join(top, ".git"))) || !isOwn(os.Stat(gitDir)) {
		return index{}
	}
	f, err := safefile.Open(filepath.Join(gitDir, "index"), maxIndex)
	if err != nil {
		return index{}
	}
	defer f.Close()
	var decoded gitindex.Index
	if err := gitindex.NewDecoder(f).Decode(&decoded); err != nil {
		return index{}
	}
	prefix, ok := pathx.Rel(top, dir)
	if !ok {
		return index{}
	}
	return index{
		files: below(decoded.Entries, filepath.ToSlash(prefix)),
		modes: goos == "windows" || !keepsModes(gitDir),
	}
}

// merged is the stage of files that no merge has left in conflict. (go-git's constant of that name is 1, as no index
// has.)
const merged gitindex.Stage = 0

// below returns the regular files of an index that are below a directory, by their path inside it.
func below(entries []*gitindex.Entry, dir string) map[string]tracked {
	files := make(map[string]tracked)
	for _, e := range entries {
		name := e.Name
		if dir != "." {
			var ok bool
			if name, ok = strings.CutPrefix(name, dir+"/"); !ok {
				continue
			}
		}
		if e.Stage == merged && (e.Mode.IsRegular() || e.Mode == filemode.Executable) {
			files[name] = tracked{id: e.Hash, executable: e.Mode == filemode.Executable}
		}
	}
	return files
}

// findGitDir looks upward for the top of a checkout, and returns it with its git directory. A submodule or an
// additional worktree has a file there that names the directory.
func findGitDir(dir string) (top, gitDir string) {
	for {
		dot := filepath.Join(dir, ".git")
		info, err := os.Stat(dot)
		switch {
		case err == nil && info.IsDir():
			return dir, dot
		case err == nil && info.Mode().IsRegular():
			return dir, readLink(dot)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// isOwn reports whether what was found belongs to the user.
func isOwn(info fs.FileInfo, err error) bool { return err == nil && safefile.Mine(info) }

// readLink returns the directory that a .git file names.
func readLink(file string) string {
	data, err := safefile.ReadFile(file, maxSmall)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return ""
	}
	return relativeTo(filepath.Dir(file), strings.TrimSpace(target))
}

func relativeTo(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// keepsModes reports whether git trusts the executable bits on disk, which core.fileMode says. The configuration of an
// additional worktree is in the directory that its commondir file names.
func keepsModes(gitDir string) bool {
	if common, err := safefile.ReadFile(filepath.Join(gitDir, "commondir"), maxSmall); err == nil {
		gitDir = relativeTo(gitDir, strings.TrimSpace(string(common)))
	}
	f, err := safefile.Open(filepath.Join(gitDir, "config"), maxSmall)
	if err != nil {
		return true
	}
	defer f.Close()
	c := config.New()
	if err := config.NewDecoder(f).Decode(c); err != nil {
		return true
	}
	switch strings.ToLower(c.Section("core").Option("filemode")) {
	case "false", "no", "off", "0":
		return false
	}
	return true
}

func sortEntries(entries []fs.DirEntry) {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
