// Package indexer maintains an index: it adds and checks lines, builds the derived files and the website, and serves or
// publishes them. Start reading at [Client].
//
// An index is a directory of plain files, usually a git repository whose changes are reviewed. The rules it keeps:
//
//   - Files only grow, and a version's line never changes. [Client.Check] proves it against an earlier state of the
//     repository.
//   - A line is written from a source that was fetched and hashed, never from user input.
//   - Derived files are reproducible.
//   - Files are replaced atomically.
//
// This package may change at any time.
package indexer

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// Options configure a [Client].
type Options = skillpm.Options

// Client maintains indexes for one user, relative to one directory.
type Client struct{ *skillpm.Base }

// New returns a client. It does not access the disk or the network.
func New(o Options) *Client { return &Client{Base: skillpm.NewBase(o)} }

// indexDir is the directory of an index.
type indexDir struct {
	dir     string // absolute
	display string // for messages
	fsys    fs.FS
	root    *safefile.Root // fsys; nil if it is not kept open
	config  *index.Config
}

// open opens the index in a directory; "" is the client's directory. The caller closes it.
func (c *Client) open(dir string) (*indexDir, error) {
	path := c.Dir
	if dir != "" {
		path = c.Machine.Abs(dir)
	}
	o := &indexDir{dir: path, display: c.DisplayPath(path)}
	root, err := safefile.OpenRoot(path)
	if err == nil {
		o.root, o.fsys = root, root
		err = o.readConfig()
	}
	if err == nil {
		return o, nil
	}
	o.close()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s is not an index: it does not contain %s",
			o.display, index.ConfigPath).
			WithHint("use the directory of an index, or create one with: skillpm index init DIR")
	}
	return nil, err
}

func (o *indexDir) readConfig() error {
	data, err := safefile.ReadIn(o.fsys, index.ConfigPath, index.MaxBytes)
	if err != nil {
		return err
	}
	o.config, err = index.ParseConfig(filepath.Join(o.display, index.ConfigPath), data)
	return err
}

func (o *indexDir) close() {
	if o.root != nil {
		_ = o.root.Close() // read only
	}
}

// path returns the path of an index file on disk.
func (o *indexDir) path(name string) string { return filepath.Join(o.dir, filepath.FromSlash(name)) }

// write replaces a file atomically, unless it already has these bytes.
func (o *indexDir) write(name string, data []byte) (changed bool, err error) {
	old, err := safefile.ReadFile(o.path(name), index.MaxCatalogBytes)
	if err == nil && string(old) == string(data) {
		return false, nil
	}
	return true, writeFile(o.path(name), data)
}

// writeFile replaces a file atomically.
func writeFile(file string, data []byte) error {
	return atomicfile.Write(file, data, atomicfile.Options{Mode: 0o644, MkdirMode: 0o755})
}
