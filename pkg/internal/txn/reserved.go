package txn

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// checkReserved returns an error for a path that no operation may have: in the journal's directory, or in git's, which
// contains hooks.
func (s *scopeDir) checkReserved(rel string) error {
	if s.overlapsJournal(rel) {
		return diag.Errorf(diag.Internal, "transaction: %s is reserved for the journal", rel)
	}
	for part := range strings.SplitSeq(rel, "/") {
		if pathx.MeansDotGit(part) {
			return diag.Errorf(diag.Denied, "cannot write %s: the path is inside git's own directory", s.abs(rel))
		}
	}
	return nil
}

// maxLinks is the most links in one path.
const maxLinks = 40

// resolve returns the path of a directory after it has followed links, including dangling ones.
func (s *scopeDir) resolve(dir string) (string, error) {
	if cached, ok := s.resolvedDirs[dir]; ok {
		return cached, nil
	}
	followed, resolved := 0, "."
	rest := strings.Split(dir, "/")
	for len(rest) > 0 {
		next := path.Join(resolved, rest[0])
		rest = rest[1:]
		info, err := s.lstat(next)
		if err != nil {
			return "", err
		}
		if info == nil || info.Mode()&fs.ModeSymlink == 0 {
			resolved = next
			continue
		}
		target, err := s.readlink(next)
		if err != nil {
			return "", err
		}
		target = filepath.ToSlash(target)
		if followed++; followed > maxLinks || path.IsAbs(target) || filepath.IsAbs(target) {
			return "", diag.Errorf(diag.Denied,
				"cannot follow the link %s: its target is absolute, or the path has too many links", s.abs(next)).
				WithHint("use a relative link that stays inside %s", s.path)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	s.resolvedDirs[dir] = resolved
	return resolved, nil
}
