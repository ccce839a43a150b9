package scope

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Names of skillpm's own files and directories in a scope.
const (
	ManifestName = "skillpm.yaml"
	LockName     = "skillpm.lock"
	DirName      = ".skillpm"
)

// Kinds of scopes.
const (
	KindProject    = "project"
	KindUser       = "user"
	KindEnterprise = "enterprise" // for all users of the machine; only a sync changes it
)

// Scope is where packs are installed. Agents' directories are relative to Root: the project's directory, the user's
// home directory, or the parent of the enterprise directory.
type Scope struct {
	Kind string // KindProject, KindUser or KindEnterprise
	Root string // absolute

	own string // name of skillpm's directory in Root; "" means DirName
}

// HomeError reports that the home directory was used as a project, which it never is.
type HomeError struct{ Home string }

// Error names the directory.
func (e *HomeError) Error() string {
	return fmt.Sprintf("%s is the home directory, not a project", e.Home)
}

// Code is Usage.
func (e *HomeError) Code() diag.Code { return diag.Usage }

// Hint suggests what to do instead.
func (e *HomeError) Hint() string {
	return "change to a project's directory, or use --scope user to install for all of your projects"
}

// Project finds the project that contains dir: the nearest directory upward with a skillpm.yaml, but never the home
// directory or one above it. A skillpm.yaml of another user in a parent directory that every user can write to does not
// count. If there is none, it returns the possible project, and false: the root of the git repository around dir, or
// dir itself outside of repositories and with [Paths.Exact]. If dir is the home directory or inside the user scope's
// own files, the error is a [HomeError].
func (p Paths) Project(dir string) (Scope, bool, error) {
	start := dir
	if !filepath.IsAbs(start) {
		start = filepath.Join(p.dir, dir)
	}
	if !filepath.IsAbs(start) {
		return Scope{}, false, diag.Errorf(diag.Internal, "the directory %q is not an absolute path", dir)
	}
	start = filepath.Clean(start)
	if info, err := os.Stat(start); err != nil {
		return Scope{}, false, diag.Errorf(diag.NotFound, "cannot use the directory %s: %w", dir, err)
	} else if !info.IsDir() {
		return Scope{}, false, diag.Errorf(diag.Usage, "%s is not a directory", dir)
	}
	if p.inUserDir(start) {
		return Scope{}, false, &HomeError{Home: p.Home}
	}
	for d := start; !p.isHome(d); d = filepath.Dir(d) {
		if d == start || !isPlanted(d, ManifestName) {
			found, err := hasManifest(d)
			if err != nil {
				return Scope{}, false, err
			}
			if found {
				return Scope{Kind: KindProject, Root: d}, true, nil
			}
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	if p.isHome(start) {
		return Scope{}, false, &HomeError{Home: p.Home}
	}
	return Scope{Kind: KindProject, Root: p.newProject(start)}, false, nil
}

// newProject returns the directory that becomes a project if skillpm creates one for dir: the root of the git
// repository around it. The home directory and the directories above it do not count, even if they are repositories,
// and neither does a parent directory that every user can write to, because any user could make it one.
func (p Paths) newProject(dir string) string {
	if p.Exact {
		return dir
	}
	for d := dir; !p.isHome(d) && filepath.Dir(d) != d; d = filepath.Dir(d) {
		if !isRepository(d) {
			continue
		}
		if d == dir || !isShared(d) {
			return d
		}
		return dir
	}
	return dir
}

// isShared reports whether every user can create files in a directory, as in /tmp, or its mode cannot be read.
func isShared(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0 && runtime.GOOS != "windows"
}

// isPlanted reports whether a file in a directory that every user can write to belongs neither to this user nor to the
// administrator. Its owner may have created it to influence the commands of other users.
func isPlanted(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && isShared(dir) && !safefile.Mine(info) && !safefile.IsOwnedBy(info, 0)
}

// isRepository reports whether dir is the root of a git working tree: it has a .git with a HEAD or, in a worktree or a
// submodule, a file of this name.
func isRepository(dir string) bool {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil || info.Mode().IsRegular() {
		return err == nil
	}
	_, err = os.Lstat(filepath.Join(dotGit, "HEAD"))
	return err == nil
}

// User returns the user's scope, whether or not anything is installed there.
func (p Paths) User() Scope { return Scope{Kind: KindUser, Root: p.Home} }

// Machine returns the enterprise scope, which the machine's administrator installs for all users.
func (p Paths) Machine() Scope {
	return Scope{Kind: KindEnterprise, Root: filepath.Dir(p.Enterprise), own: filepath.Base(p.Enterprise)}
}

// isHome reports whether dir is the home directory, by any path.
func (p Paths) isHome(dir string) bool {
	if dir == p.Home {
		return true
	}
	home, err := os.Stat(p.Home)
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(home, info)
}

// inUserDir reports whether dir is or is below the user scope's own directory.
func (p Paths) inUserDir(dir string) bool {
	for d := dir; filepath.Dir(d) != d; d = filepath.Dir(d) {
		if filepath.Base(d) == DirName && p.isHome(filepath.Dir(d)) {
			return true
		}
	}
	return false
}

// hasManifest reports whether dir holds a manifest. One that is there and is not a file is an error, so that a broken
// link never sends an install to a directory further up.
func hasManifest(dir string) (bool, error) {
	path := filepath.Join(dir, ManifestName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, diag.Errorf(diag.Invalid, "cannot read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return false, diag.Errorf(diag.Invalid, "%s is not a regular file", path)
	}
	return true, nil
}

// Manifest is the path of skillpm.yaml.
func (s Scope) Manifest() string { return filepath.Join(s.base(), ManifestName) }

// Lock is the path of skillpm.lock.
func (s Scope) Lock() string { return filepath.Join(s.base(), LockName) }

// Dir is the directory that holds everything else skillpm writes.
func (s Scope) Dir() string { return filepath.Join(s.Root, cmp.Or(s.own, DirName)) }

// Plugins is the plugin layer: the directory of installed packs.
func (s Scope) Plugins() string { return filepath.Join(s.Dir(), "plugins") }

// Plugin is the directory of one installed pack, whose id is written owner/name.
func (s Scope) Plugin(id fmt.Stringer) string {
	return filepath.Join(s.Plugins(), filepath.FromSlash(id.String()))
}

// PluginSkill is the directory of one skill of an installed pack.
func (s Scope) PluginSkill(id fmt.Stringer, skill string) string {
	return filepath.Join(s.Plugin(id), skill)
}

// Links holds the copies of skills that agents see under an alias.
func (s Scope) Links() string { return filepath.Join(s.Dir(), "links") }

// Link is the directory of the copy under one alias.
func (s Scope) Link(alias string) string { return filepath.Join(s.Links(), alias) }

// Skills is the layer of hand-written skills.
func (s Scope) Skills() string { return filepath.Join(s.Dir(), "skills") }

// State is the machine-local record of links, copies and fingerprints.
func (s Scope) State() string { return filepath.Join(s.Dir(), "state") }

// Backup holds copies of installed skills that somebody had edited before they were replaced.
func (s Scope) Backup() string { return filepath.Join(s.Dir(), "backup") }

// Journal is the directory of an unfinished transaction.
func (s Scope) Journal() string { return filepath.Join(s.Dir(), "journal") }

// LockFile is the file that the kernel's lock on this scope is held on.
func (s Scope) LockFile() string { return filepath.Join(s.Dir(), "lock") }

// Ignore is the .gitignore that keeps all but hand-written skills out of the project's repository.
func (s Scope) Ignore() string { return filepath.Join(s.Dir(), ".gitignore") }

// IgnoreText is what the file [Scope.Ignore] holds.
//
// It ignores itself, too: skillpm creates it wherever it creates something to ignore.
const IgnoreText = "# created by skillpm: commit only local skills\n/*\n!/skills/\n"

// Rel returns path relative to the scope's root, with forward slashes. A path that is not inside the root is an error.
func (s Scope) Rel(path string) (string, error) {
	rel, ok := pathx.Rel(s.Root, path)
	if !ok {
		return "", diag.Errorf(diag.Internal, "%s is not inside %s", path, s.Root)
	}
	return filepath.ToSlash(rel), nil
}

// Abs returns the absolute path of a slash-separated path relative to the scope's root.
func (s Scope) Abs(rel string) string { return filepath.Join(s.Root, filepath.FromSlash(rel)) }

// Show returns path as a person reads it: relative to the root of a project, with a leading ~ for the user's scope, and
// with forward slashes. A path that is not inside the root is returned as it is.
func (s Scope) Show(path string) string {
	rel, err := s.Rel(path)
	switch {
	case err != nil:
		return path
	case s.Kind == KindUser:
		return strings.TrimSuffix("~/"+rel, "/.")
	default:
		return rel
	}
}

func (s Scope) base() string {
	if s.Kind == KindUser || s.Kind == KindEnterprise {
		return s.Dir()
	}
	return s.Root
}
