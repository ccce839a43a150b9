package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// maxWants is the most objects in one request, because servers limit its size.
const maxWants = 20_000

// want describes the objects to request from a server.
type want struct {
	ids      []plumbing.Hash
	have     plumbing.Hash // the server need not send this commit and its objects
	shallow  bool          // without history
	trees    bool          // without blobs
	progress *progress
}

// progress reports received bytes to a meter. It never reports bytes twice: the git program counts while it receives,
// and its pack is read again afterwards.
type progress struct {
	mu       sync.Mutex
	meter    pack.Progress
	base     int64 // bytes of earlier transfers
	reported int64 // highest count so far
}

// report reports that n bytes have been received.
func (p *progress) report(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.reported {
		p.reported = n
		p.meter(p.base+n, 0)
	}
}

// wantsSubset reports whether a part of a commit probably suffices.
func wantsSubset(ctx context.Context, ref pack.Ref) bool {
	skills, known := pack.SkillsOf(ctx)
	return ref.Subdir != "" || !known || len(skills) > 0
}

// download fetches the commit into the cache: all of it, or only its trees if a subset suffices and the server supports
// filters. The cache entry appears when it is complete.
func (k *commit) download(ctx context.Context, subset bool) error {
	p, err := k.client.remote(k.ref)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if subset {
		if subset, err = p.supportsFilter(ctx); err != nil {
			return err
		}
	}
	return k.withScratchDir(func(temp string) error {
		w := want{ids: []plumbing.Hash{k.id}, shallow: true, trees: subset}
		received, err := k.receive(ctx, p, w, temp)
		if err != nil {
			return err
		}
		dir := filepath.Join(temp, "entry")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := received.MoveTo(dir); err != nil {
			return err
		}
		return k.publish(dir, received, !subset)
	})
}

// fetchMissing fetches missing objects. It fetches the whole commit if the server does not send single objects or
// another process removed the cache entry.
func (k *commit) fetchMissing(ctx context.Context, ids []plumbing.Hash) error {
	if len(k.missing(ids)) == 0 {
		return nil
	}
	k.fetchMu.Lock()
	defer k.fetchMu.Unlock()
	missing := k.missing(ids)
	for len(missing) > 0 {
		n := min(len(missing), maxWants)
		err := k.fetchObjects(ctx, missing[:n])
		missing = missing[n:]
		if err == nil && len(k.missing(ids)) > len(missing) {
			err = errors.New("the server did not send the requested objects")
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil || diag.CodeOf(err) == diag.Denied || isLocalFault(err) && !k.isEvicted(err) {
			return err
		}
		return k.download(ctx, false)
	}
	return nil
}

// isLocalFault reports whether an error is about a local file, such as a full disk.
func isLocalFault(err error) bool {
	var fault *os.PathError
	var link *os.LinkError
	return errors.As(err, &fault) || errors.As(err, &link)
}

// isEvicted reports whether an error means that the cache entry was removed.
func (k *commit) isEvicted(err error) bool {
	path := ""
	if fault, ok := errors.AsType[*os.PathError](err); ok {
		path = fault.Path
	} else if fault, ok := errors.AsType[*os.LinkError](err); ok {
		path = fault.New
	}
	return errors.Is(err, fs.ErrNotExist) && pathx.Contains(k.dir, path)
}

// fetchObjects fetches objects into another pack of the cache entry.
func (k *commit) fetchObjects(ctx context.Context, ids []plumbing.Hash) error {
	p, err := k.client.remote(k.ref)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.forget() // makes room for the new objects
	return k.withScratchDir(func(temp string) error {
		received, err := k.receive(ctx, p, want{ids: ids}, temp)
		if err != nil {
			return err
		}
		if err := received.MoveTo(k.dir); err != nil {
			return err
		}
		if err := received.Reopen(k.dir); err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if s, ok := k.objects.(packfile.Set); ok {
			k.objects = append(slices.Clip(s), received)
		}
		return nil
	})
}

// replaceDamaged fetches a damaged cache entry again, unless another call has already replaced it.
func (k *commit) replaceDamaged(ctx context.Context, stale objects) error {
	k.fetchMu.Lock()
	defer k.fetchMu.Unlock()
	k.mu.RLock()
	changed := !samePacks(k.objects, stale)
	k.mu.RUnlock()
	if changed || k.refetched {
		return nil
	}
	k.refetched = true
	if err := os.RemoveAll(k.dir); err != nil {
		return err
	}
	return k.download(ctx, false)
}

// samePacks reports whether two sets have the same packs.
func samePacks(a, b objects) bool {
	s, ok := a.(packfile.Set)
	t, ok2 := b.(packfile.Set)
	return ok && ok2 && len(s) == len(t) && (len(s) == 0 || s[0] == t[0])
}

// withScratchDir calls do with a temporary directory next to the cache entry, and removes it afterwards.
func (k *commit) withScratchDir(do func(temp string) error) error {
	parent := filepath.Dir(k.dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, "tmp-")
	if err != nil {
		return err
	}
	err = do(temp)
	_ = os.RemoveAll(temp) // do has moved its result elsewhere
	return err
}

// receive requests objects and writes the received pack below temp. It repeats an interrupted transfer in a new
// directory.
func (k *commit) receive(ctx context.Context, p *remote, w want, temp string) (*packfile.Pack, error) {
	for attempt := 0; ; attempt++ {
		received, err := k.receiveOnce(ctx, p, w, filepath.Join(temp, strconv.Itoa(attempt)))
		if err == nil {
			return received, nil
		}
		if attempt == retries || ctx.Err() != nil || !isTransient(err) {
			return nil, p.explainFetch(ctx, k.ref, err)
		}
		p.disconnect()
		if err := k.client.clock.sleep(ctx, backoff(attempt)); err != nil {
			return nil, err
		}
	}
}

// receiveOnce writes the pack to dir, which it creates, and removes again on failure.
func (k *commit) receiveOnce(ctx context.Context, p *remote, w want, dir string) (received *packfile.Pack, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // the caller removes temp
		}
	}()
	w.progress = &progress{meter: pack.ProgressFrom(ctx), base: k.received}
	defer func() { k.received += w.progress.reported }()
	stream, err := p.transfer(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // all of the pack was read
	limited := &limitReader{r: stream, remaining: k.client.limits.pack, progress: w.progress}
	if received, err = packfile.Write(limited, dir, k.client.limits.packs); err != nil {
		return nil, limited.firstError(err)
	}
	return received, nil
}

// limitReader limits and reports the bytes that it reads. It keeps its first error, because decoders tend to hide it.
type limitReader struct {
	r         io.Reader
	remaining int64
	received  int64
	err       error
	progress  *progress
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.received += int64(n)
	l.progress.report(l.received)
	if l.remaining -= int64(n); l.remaining < 0 {
		err = packfile.TooLarge("its packed size exceeds the limit")
	}
	if l.err == nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// errPack is a damaged pack.
type errPack struct{ err error }

// Error returns the decoder's reason.
func (e errPack) Error() string {
	return "the server sent damaged data: " + textx.OneLine(e.err.Error())
}

// Code returns [diag.Remote]: the server is at fault.
func (e errPack) Code() diag.Code { return diag.Remote }

func (l *limitReader) firstError(err error) error {
	var coded interface{ Code() diag.Code }
	switch {
	case l.err != nil:
		return l.err
	case errors.As(err, &coded), isLocalFault(err):
		return err
	}
	return errPack{err}
}

// completeName is the file that marks a complete cache entry.
const completeName = "whole"

func (k *commit) marker() string { return filepath.Join(k.dir, completeName) }

// cacheDir returns the cache directory of a commit. Each URL has its own, so that no repository can impersonate
// another.
func (c *Client) cacheDir(ref pack.Ref) (string, error) {
	root, err := c.cacheRoot()
	return filepath.Join(root, textx.SHA256(ref.URL)[:16], ref.Digest), err
}

func (c *Client) cacheRoot() (string, error) {
	if c.options.Cache != "" {
		return c.options.Cache, os.MkdirAll(c.options.Cache, 0o755)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.temp == "" {
		c.temp, err = os.MkdirTemp("", "skillpm-git-")
	}
	return c.temp, err
}

// publish moves dir, with a pack of the commit, into the cache and opens it. It keeps the entry of another process if
// that has as many objects, because other processes may be reading it.
func (k *commit) publish(dir string, p *packfile.Pack, complete bool) error {
	if complete {
		if err := os.WriteFile(filepath.Join(dir, completeName), nil, 0o644); err != nil {
			return err
		}
	}
	if k.openCached() == nil && (k.complete || !complete) {
		return nil
	}
	if err := os.RemoveAll(k.dir); err != nil {
		return err
	}
	if err := os.Rename(dir, k.dir); err != nil {
		if k.openCached() == nil {
			return nil
		}
		return err
	}
	if err := p.Reopen(k.dir); err != nil {
		return err
	}
	return k.setObjects(packfile.Set{p}, complete)
}
