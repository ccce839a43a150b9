package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// download fetches a commit into dir, which appears when everything is there.
func (c *Client) download(ctx context.Context, ref source.Ref, dir string) error {
	p, err := c.place(ref)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }() // it is gone if all went well
	if err := p.fetch(ctx, ref, temp); err != nil {
		return err
	}
	if isComplete(dir, ref) {
		return nil // another process was faster, and may be reading
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err = os.Rename(temp, dir); err != nil && isComplete(dir, ref) {
		return nil
	}
	return err
}

// isComplete reports whether a directory of the cache has the commit.
func isComplete(dir string, ref source.Ref) bool {
	k := &commit{id: plumbing.NewHash(ref.Digest)}
	return k.open(dir) == nil && k.close() == nil
}

// fetch fetches one commit without history. A commit that the server gives only to those who name a branch or tag is
// looked for in all of them.
func (p *place) fetch(ctx context.Context, ref source.Ref, dir string) error {
	session, err := p.take(ctx)
	if err != nil {
		return err
	}
	refs := advertised(p.adv)
	req := p.request()
	if refs.has(ref.Digest) || p.offers(capability.AllowReachableSHA1InWant) {
		req.Wants = []plumbing.Hash{plumbing.NewHash(ref.Digest)}
		if p.offers(capability.Shallow) {
			req.Depth = packp.DepthCommits(1)
			_ = req.Capabilities.Set(capability.Shallow) // has no arguments that could be wrong
		}
	} else {
		req.Wants = refs.tips()
	}
	response, err := session.UploadPack(ctx, req)
	if err != nil {
		return p.explainFetch(ctx, ref, err)
	}
	defer func() { _ = response.Close() }() // what matters was read
	return p.explainFetch(ctx, ref, p.client.receive(demultiplex(req, response), dir))
}

func (p *place) offers(c capability.Capability) bool { return p.adv.Capabilities.Supports(c) }

// request returns a request with what both sides can do.
func (p *place) request() *packp.UploadPackRequest {
	req := packp.NewUploadPackRequestFromCapabilities(p.adv.Capabilities)
	if p.offers(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress) // has no arguments that could be wrong
	}
	return req
}

// demultiplex returns the pack in a response.
func demultiplex(req *packp.UploadPackRequest, r io.Reader) io.Reader {
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	case req.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// tips returns all commits that branches and tags are on.
func (r *refs) tips() []plumbing.Hash {
	seen := make(map[string]bool)
	var tips []plumbing.Hash
	for _, id := range r.all {
		if !seen[id] {
			seen[id] = true
			tips = append(tips, plumbing.NewHash(id))
		}
	}
	plumbing.HashesSort(tips)
	return tips
}

// receive writes a pack and its index below dir, as a repository has them.
func (c *Client) receive(r io.Reader, dir string) error {
	packs := filepath.Join(dir, "objects", "pack")
	if err := os.MkdirAll(packs, 0o755); err != nil {
		return err
	}
	pack, err := os.Create(filepath.Join(packs, "incoming"))
	if err != nil {
		return err
	}
	defer pack.Close()
	limited := &limitReader{r: r, left: c.limits.pack}
	tee := io.TeeReader(limited, pack)
	index, checksum, err := indexPack(tee, pack, c.limits)
	if err != nil {
		return limited.orElse(err)
	}
	if n, err := io.Copy(io.Discard, limited); err != nil || n > 0 {
		return limited.orElse(errors.New("there is something behind the pack"))
	}
	if err := pack.Close(); err != nil {
		return err
	}
	name := filepath.Join(packs, fmt.Sprintf("pack-%s", checksum))
	if err := os.Rename(pack.Name(), name+".pack"); err != nil {
		return err
	}
	return writeIndex(name+".idx", index)
}

func writeIndex(name string, w *idxfile.Writer) error {
	index, err := w.Index()
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := idxfile.NewEncoder(f).Encode(index); err != nil {
		return err
	}
	return f.Close()
}

// limitReader reads at most left bytes and remembers the error it met first, which decoders tend to hide.
type limitReader struct {
	r    io.Reader
	left int64
	err  error
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		err = tooLarge("more than its packed size may be")
	}
	if l.err == nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

func (l *limitReader) orElse(err error) error {
	var coded interface{ Code() diag.Code }
	switch {
	case l.err != nil:
		return l.err
	case errors.As(err, &coded):
		return err
	}
	return diag.Errorf(diag.Remote, "what the server sent is damaged: %s", oneLine(err))
}
