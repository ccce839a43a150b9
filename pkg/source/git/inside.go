package git

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// inside turns a directory that a pack depends on into a place in the pack's own repository, at the same commit. Other
// places are returned as they are.
func inside(ref pack.Ref, d pack.Dependency) (*pack.Ref, error) {
	if d.Ref == nil || d.Ref.Kind != pack.KindPath {
		return d.Ref, nil
	}
	dir := strings.ReplaceAll(d.Ref.URL, `\`, "/")
	subdir := path.Join(ref.Subdir, dir)
	if path.IsAbs(dir) || strings.Contains(dir, ":") || pathx.Escapes(subdir) {
		return nil, diag.Errorf(diag.Denied, "%s depends on %s at %s, which is outside its repository", ref.URL, d.ID, d.Ref.URL)
	}
	if subdir == "." {
		subdir = ""
	}
	return &pack.Ref{Kind: pack.KindGit, URL: ref.URL, Subdir: subdir, Digest: ref.Digest}, nil
}
