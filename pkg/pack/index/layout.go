package index

import (
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
)

const layoutScheme = string(pack.KindLayout) + ":"

// layoutRef resolves a layout relative to the index that names it. A remote index cannot name one, because it could
// make skillpm read the user's own files.
func layoutRef(dir, digest string, id pack.ID, base pack.Ref) (pack.Ref, error) {
	clean := path.Clean(dir)
	if dir == "" || strings.Contains(dir, `\`) || pathx.Escapes(dir) {
		return pack.Ref{}, diag.Errorf(diag.Invalid, "layout %q is outside its index", dir)
	}
	if h, ok := strings.CutPrefix(digest, "sha256:"); !ok || !isHex(h, 64) {
		return pack.Ref{}, diag.Errorf(diag.Invalid, "invalid digest %q: use sha256: and 64 hexadecimal digits", digest)
	}
	switch base.Kind {
	case pack.KindEmbedded:
		return pack.Ref{Kind: pack.KindEmbedded, ID: id, Digest: digest}, nil
	case pack.KindPath:
		return pack.Ref{Kind: pack.KindLayout, URL: path.Join(base.URL, clean), ID: id, Digest: digest}, nil
	default:
		return pack.Ref{}, diag.Errorf(diag.Invalid, "only an index in a directory can refer to the layout %q",
			dir)
	}
}

// CheckLayout returns an error if the source of a line is a layout below the index that is, or is behind, a link: its
// content would depend on the machine, and could be something that nobody published.
func CheckLayout(fsys fs.FS, src string) error {
	dir, ok := strings.CutPrefix(src, layoutScheme)
	if !ok {
		return nil
	}
	dir = path.Clean(dir)
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if info, err := fs.Lstat(fsys, dir[:i]); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return diag.Errorf(diag.Invalid, "layout %q is outside its index: %s is a link", dir, dir[:i]).
				WithHint("move the layout into the directory of the index")
		}
	}
	return nil
}
