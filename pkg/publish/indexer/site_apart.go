package indexer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// apart refuses directories of a catalogue that are in one another, however they are written and whatever links lead to
// them.
func (c *Client) apart(index *opened, o SiteOptions) error {
	out := c.Machine.Abs(o.Out)
	if within(out, index.dir) || within(index.dir, out) {
		return diag.Errorf(diag.Usage, "the catalogue cannot be written to %s: it and the index %s would be in one another", c.Shown(out), index.shown).
			WithHint("give --out a directory beside that of the index")
	}
	if o.Marketplace == "" {
		return nil
	}
	market := c.Machine.Abs(o.Marketplace)
	if within(market, out) || within(out, market) {
		return diag.Errorf(diag.Usage, "the marketplace needs a directory of its own: it has the packs' files as they are, and a web server would show them as pages of the catalogue").
			WithHint("give --marketplace a directory that is not in that of --out, nor around it: a git repository for instance")
	}
	return nil
}

// within reports whether a path is that of a directory or leads below it. Neither has to exist.
func within(path, dir string) bool {
	path, dir = real(path), real(dir)
	there, _ := os.Stat(dir)
	for {
		if path == dir {
			return true
		}
		if there != nil { // names may differ in case only
			if info, err := os.Stat(path); err == nil && os.SameFile(info, there) {
				return true
			}
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// real returns an absolute path without links. What does not exist yet has none.
func real(path string) string {
	path = filepath.Clean(path)
	found, err := pathx.ResolveExisting(path)
	if err == nil {
		return found
	}
	parent := filepath.Dir(path)
	if !errors.Is(err, fs.ErrNotExist) || parent == path {
		return path
	}
	return filepath.Join(real(parent), filepath.Base(path))
}
