package oci

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// readIndexFiles finds the skills in a layer without a description. It caches the result and the layer, so that
// fetching the pack does not download the layer again.
func (c *Client) readIndexFiles(ctx context.Context, p reader, layer ocispec.Descriptor, used *int64) ([]root, error) {
	c.mu.Lock()
	roots, ok := c.foreign[string(layer.Digest)]
	c.mu.Unlock()
	if ok {
		return roots, nil
	}
	hashes := &skillHasher{hasher: bundle.NewHasher(c.opts.Limits), main: make(map[string][]byte)}
	opts := bundle.UnpackOptions{Layout: bundle.Auto, Limits: c.opts.Limits, Used: used}
	if err := c.streamTwice(ctx, p, layer, opts, hashes); err != nil {
		return nil, err
	}
	roots, err := hashes.roots()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.foreign[string(layer.Digest)] = roots
	c.mu.Unlock()
	return roots, nil
}

// streamTwice is stream for layers that were already read once to find their skills.
func (c *Client) streamTwice(ctx context.Context, p reader, layer ocispec.Descriptor, opts bundle.UnpackOptions,
	sink bundle.Sink,
) error {
	body, drop, err := c.seekable(ctx, p, layer)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	v := &rewinder{newVerifier(contextReader{ctx, body}, layer, "layer "+string(layer.Digest)), body}
	err = explain(ctx, v.verifier, bundle.Unpack(v, opts, sink))
	if _, damaged := errors.AsType[*bundle.MismatchError](err); damaged {
		drop()
	}
	return err
}

// seekable opens a layer for reading it twice: from its file on disk, or from the spool, to which it is downloaded if
// necessary. The caller verifies the bytes, and drops the layer if they do not match.
func (c *Client) seekable(ctx context.Context, p reader, layer ocispec.Descriptor) (body io.ReadSeekCloser, drop func(),
	err error,
) {
	meter := pack.ProgressFrom(ctx)
	if _, ok := p.(*layout); ok {
		body, err := p.blob(ctx, layer)
		if seekable, ok := body.(io.ReadSeekCloser); ok || err != nil {
			meter(layer.Size, layer.Size)
			return seekable, func() {}, err
		}
		_ = body.Close()
	}
	end, err := c.turns.Take(ctx, "layer "+string(layer.Digest))
	if err != nil {
		return nil, nil, err
	}
	defer end()
	k := c.spool.find(layer)
	if k != nil {
		meter(layer.Size, layer.Size)
	} else if k, err = c.download(ctx, p, layer); err != nil {
		return nil, nil, err
	}
	return k.open(), func() { c.spool.drop(k) }, nil
}

// download stores a layer in the spool and returns it for one reader.
func (c *Client) download(ctx context.Context, p reader, layer ocispec.Descriptor) (*spooled, error) {
	if layer.Size > maxSpooled {
		return nil, diag.Errorf(diag.Invalid, "the layer %s without a media type has %d bytes; the limit is %d",
			layer.Digest, layer.Size, maxSpooled).
			WithHint("ask the publisher to publish the pack with skillpm")
	}
	body, err := p.blob(ctx, layer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	k, err := c.spool.temporary(layer)
	if err != nil {
		return nil, err
	}
	v := newVerifier(newProgressReader(ctx, body, layer.Size), layer, "layer "+string(layer.Digest))
	if _, err := io.Copy(k.file, v); err != nil {
		k.release()
		return nil, err
	}
	c.spool.keep(k)
	return k, nil
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// rewinder is a verifier that can restart from the beginning.
type rewinder struct {
	*verifier
	body io.Seeker
}

// Seek supports only returning the position and rewinding.
func (r *rewinder) Seek(offset int64, whence int) (int64, error) {
	switch {
	case offset == 0 && whence == io.SeekCurrent:
		return r.n, nil
	case offset == 0 && whence == io.SeekStart:
		r.n, r.err = 0, nil
		r.sum.Reset()
		return r.body.Seek(0, io.SeekStart)
	}
	return 0, diag.Errorf(diag.Internal, "a layer can be read only from its start")
}

// skillHasher is a sink that keeps only SKILL.md files and digests.
type skillHasher struct {
	hasher *bundle.Hasher
	main   map[string][]byte // SKILL.md, by directory
}

// maxMain is the maximum size of a SKILL.md whose name is read.
const maxMain = 1 << 20

func (s *skillHasher) WriteFile(dir, path string, executable bool, size int64, r io.Reader) error {
	if path == "SKILL.md" && size <= maxMain {
		var buf bytes.Buffer
		r = io.TeeReader(r, &buf)
		defer func() { s.main[dir] = buf.Bytes() }()
	}
	return s.hasher.WriteFile(dir, path, executable, size, r)
}

// roots names the skills by their frontmatter, or else by their directory, converted to a valid name.
func (s *skillHasher) roots() ([]root, error) {
	var roots []root
	for dir, inv := range s.hasher.Inventories() {
		doc, _ := skill.Parse(s.main[dir])
		name := cmp.Or(legalName(doc.Name()), legalName(dir), skill.Slug(cmp.Or(dir, doc.Name())))
		if name == "" {
			return nil, diag.Errorf(diag.Invalid, "the skill in %q does not have a name", httpx.Clean(dir))
		}
		roots = append(roots, root{dir: dir, name: name, tree: inv.Digest(), description: oneLine(doc.Description())})
	}
	slices.SortFunc(roots, func(a, b root) int { return strings.Compare(a.dir, b.dir) })
	return roots, nil
}

func legalName(name string) string {
	if skill.LegalName(name) {
		return name
	}
	return ""
}
