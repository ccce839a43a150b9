package publish

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// volume is the targets on one volume (there is only one outside of Windows). Its file system starts at the volume's
// root, because links may lead out of the targets.
type volume struct {
	root    string // for example "/" or `C:\`
	dir     string // the user's directory
	below   string // it in the file system, with a slash at the end, if it is on this volume
	fsys    fs.FS
	targets []string
	typed   []string // targets that were written as absolute paths
}

func (c *Client) volume(root string) *volume {
	v := &volume{root: root, dir: c.Dir, fsys: os.DirFS(root)}
	if volumeRoot(c.Dir) == root {
		v.below = strings.TrimPrefix(v.inVolume(c.Dir)+"/", "./")
	}
	return v
}

// volumeRoot returns the root of the volume that an absolute path is on.
func volumeRoot(abs string) string { return filepath.VolumeName(abs) + string(filepath.Separator) }

// add adds a target by its absolute path and by the path that the user typed.
func (v *volume) add(abs, path string) {
	v.targets = append(v.targets, v.inVolume(abs))
	if filepath.IsAbs(path) {
		v.typed = append(v.typed, filepath.Clean(path))
	}
}

// inVolume converts an absolute path to one for package fs.
func (v *volume) inVolume(abs string) string {
	rel := filepath.ToSlash(strings.TrimPrefix(abs, v.root))
	if rel == "" {
		return "."
	}
	return rel
}

// show formats a path of the volume for the user: absolute if it is below a target that was typed as an absolute path
// and is outside the user's directory, else relative to that directory.
func (v *volume) show(name string) string {
	if rel, ok := strings.CutPrefix(name, v.below); ok && rel != "" && v.below != "" { // the usual case, without a copy
		return rel
	}
	abs := filepath.Join(v.root, filepath.FromSlash(name))
	rel, err := filepath.Rel(v.dir, abs)
	if !pathx.Contains(v.dir, abs) {
		for _, t := range v.typed {
			if err != nil || pathx.Contains(t, abs) {
				return filepath.ToSlash(abs)
			}
		}
		if err != nil {
			return filepath.ToSlash(abs)
		}
	}
	return filepath.ToSlash(rel)
}

// unshow is the inverse of show.
func (v *volume) unshow(shown string) string {
	name := filepath.FromSlash(shown)
	if !filepath.IsAbs(name) {
		name = filepath.Join(v.dir, name)
	}
	return v.inVolume(name)
}
