package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Options says where a [Client] reads.
type Options struct {
	Base string // the directory that relative places are relative to; "" for the working directory
	OS   string // as runtime.GOOS, which is the default: on windows a git checkout's modes come from its index
}

// Client reads packs from directories.
type Client struct{ options Options }

// New returns a client that has touched nothing.
func New(o Options) *Client {
	if o.OS == "" {
		o.OS = runtime.GOOS
	}
	return &Client{options: o}
}

// Versions returns the version that the directory's skillpm.yaml declares; none if it declares none.
func (c *Client) Versions(ctx context.Context, ref pack.Ref) (_ []string, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	content, _, err := c.describe(ctx, ref)
	if err != nil || content.Manifest == nil || content.Manifest.Version == "" {
		return nil, err
	}
	return []string{content.Version}, nil
}

// Open describes the pack in a directory. There is nothing to pin it to. Directories that the pack depends on are
// relative to it; in the result they are relative to what the pack's own place is relative to.
func (c *Client) Open(ctx context.Context, ref pack.Ref) (_ *pack.Pack, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	content, _, err := c.describe(ctx, ref)
	if err != nil {
		return nil, err
	}
	p := content.Pack(ref)
	for i, d := range p.Dependencies {
		p.Dependencies[i].Ref = resolveRef(ref, d.Ref)
	}
	return p, nil
}

// resolveRef makes a relative directory that a pack names relative to what the pack's own directory is relative to.
func resolveRef(ref pack.Ref, d *pack.Ref) *pack.Ref {
	if d == nil || d.Kind != pack.KindPath && d.Kind != pack.KindLayout || filepath.IsAbs(d.URL) {
		return d
	}
	moved := *d
	moved.URL = path.Join(filepath.ToSlash(ref.URL), ref.Subdir, filepath.ToSlash(d.URL))
	if !filepath.IsAbs(moved.URL) && !pathx.Escapes(moved.URL) {
		moved.URL = "./" + strings.TrimPrefix(moved.URL, "./")
	}
	return &moved
}

// Fetch streams the files of the named skills of a pack, or of all its skills if there are no names.
func (c *Client) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) (err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	content, fsys, err := c.describe(ctx, p.Ref)
	if err != nil {
		return err
	}
	return content.Stream(ctx, fsys, skills, sink)
}

// Tree returns a directory as a file system, with the bytes and modes that its files have as parts of a pack.
func (c *Client) Tree(ref pack.Ref) (fs.FS, error) {
	dir, err := c.dir(ref)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, diag.Errorf(diag.NotFound, "directory %s does not exist", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, diag.Errorf(diag.NotFound, "%s is not a directory", dir).
			WithHint("use the directory that contains the file")
	}
	return checkout{dir: dir, index: readIndex(dir, c.options.OS)}, nil
}

// dir returns the directory of a place.
func (c *Client) dir(ref pack.Ref) (string, error) {
	if ref.Kind != pack.KindPath || ref.URL == "" {
		return "", diag.Errorf(diag.Internal, "invalid directory %q", ref)
	}
	dir := filepath.FromSlash(ref.URL)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.options.Base, dir)
	}
	dir, err := filepath.Abs(dir)
	return filepath.Join(dir, filepath.FromSlash(ref.Subdir)), err
}

// describe reads what the pack in a directory is. A pack without a name is called by the directory's own name, even if
// the place is written as "." or "..".
func (c *Client) describe(ctx context.Context, ref pack.Ref) (*pack.Content, fs.FS, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	fsys, err := c.Tree(ref)
	if err != nil {
		return nil, nil, err
	}
	dir, err := c.dir(ref)
	if err != nil {
		return nil, nil, err
	}
	content, err := pack.Describe(fsys, pack.Ref{Kind: pack.KindPath, URL: dir})
	if diag.CodeOf(err) == diag.NotFound && isLayout(fsys) {
		return nil, nil, diag.Errorf(diag.NotFound, "%s is an OCI layout, not a directory of skills", ref.URL).
			WithHint("install the packs in the layout with: skillpm install oci-layout:%s", ref.URL)
	}
	if err != nil && !strings.HasPrefix(err.Error(), dir) {
		err = fmt.Errorf("%s: %w", ref.URL, err)
	}
	return content, fsys, err
}

// isLayout reports whether a directory is an OCI image layout.
func isLayout(fsys fs.FS) bool {
	for _, name := range []string{"oci-layout", "index.json"} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
