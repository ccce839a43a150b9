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

// mostWants is how many objects are asked for at once: servers bound the size of a request.
const mostWants = 20_000

// want is what to ask a server for.
type want struct {
	ids      []plumbing.Hash
	have     plumbing.Hash // a commit that need not be sent, nor what it has
	shallow  bool          // commits without their history
	trees    bool          // commits without blobs
	progress *progress
}

// progress tells a meter how much has come. What a program has received is told while it receives it, and not again
// when it is read.
type progress struct {
	mu    sync.Mutex
	meter pack.Progress
	base  int64 // what had come before
	most  int64
}

// report tells that n bytes have come.
func (p *progress) report(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.most {
		p.most = n
		p.meter(p.base+n, 0)
	}
}

// wantsSubset reports whether a part of a commit is likely to be enough.
func wantsSubset(ctx context.Context, ref pack.Ref) bool {
	skills, known := pack.SkillsOf(ctx)
	return ref.Subdir != "" || !known || len(skills) > 0
}

// download fetches the commit into the cache: all of it, or its trees alone if a subset is enough and the server can
// leave things out. The cache entry appears when everything is there.
func (k *commit) download(ctx context.Context, subset bool) error {
	p, err := k.client.remote(k.ref)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if subset {
		if subset, err = p.filters(ctx); err != nil {
			return err
		}
	}
	return k.inScratch(func(temp string) error {
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

// fetchMissing fetches missing objects. It fetches the whole commit if the server does not send single objects, or if
// another process has removed the cache entry.
func (k *commit) fetchMissing(ctx context.Context, ids []plumbing.Hash) error {
	if len(k.missing(ids)) == 0 {
		return nil
	}
	k.ready.Lock()
	defer k.ready.Unlock()
	missing := k.missing(ids)
	for len(missing) > 0 {
		n := min(len(missing), mostWants)
		err := k.fetchObjects(ctx, missing[:n])
		missing = missing[n:]
		if err == nil && len(k.missing(ids)) > len(missing) {
			err = errors.New("the server left out what was asked for")
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

// isLocalFault reports whether an error is this machine's, as of a full disk.
func isLocalFault(err error) bool {
	var fault *os.PathError
	var link *os.LinkError
	return errors.As(err, &fault) || errors.As(err, &link)
}

// isEvicted reports whether an error means that the cache entry was removed.
func (k *commit) isEvicted(err error) bool {
	url := ""
	if fault, ok := errors.AsType[*os.PathError](err); ok {
		url = fault.Path
	} else if fault, ok := errors.AsType[*os.LinkError](err); ok {
		url = fault.New
	}
	return errors.Is(err, fs.ErrNotExist) && pathx.Contains(k.dir, url)
}

// fetchObjects fetches objects into a further pack of the cache entry.
func (k *commit) fetchObjects(ctx context.Context, ids []plumbing.Hash) error {
	p, err := k.client.remote(k.ref)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k.forget() // what comes needs the room
	return k.inScratch(func(temp string) error {
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

// replaceDamaged fetches a damaged cache entry again, unless another call has replaced the entry that found is from.
func (k *commit) replaceDamaged(ctx context.Context, found objects) error {
	k.ready.Lock()
	defer k.ready.Unlock()
	k.mu.RLock()
	changed := !same(k.objects, found)
	k.mu.RUnlock()
	if changed || k.healed {
		return nil
	}
	k.healed = true
	if err := os.RemoveAll(k.dir); err != nil {
		return err
	}
	return k.download(ctx, false)
}

// same reports whether two sets of packs are one.
func same(a, b objects) bool {
	s, ok := a.(packfile.Set)
	t, ok2 := b.(packfile.Set)
	return ok && ok2 && len(s) == len(t) && (len(s) == 0 || s[0] == t[0])
}

// inScratch does something with a directory next to the cache entry, which is removed afterwards.
func (k *commit) inScratch(do func(temp string) error) error {
	parent := filepath.Dir(k.dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, "tmp-")
	if err != nil {
		return err
	}
	err = do(temp)
	_ = os.RemoveAll(temp) // what matters was moved out of it
	return err
}

// receive asks for objects and writes the pack that comes, below temp. What breaks off is asked for again, and written
// to a directory of its own, where nothing is of the attempt before.
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

// receiveOnce writes the pack to dir, which is made, and removed again if nothing comes of it.
func (k *commit) receiveOnce(ctx context.Context, p *remote, w want, dir string) (received *packfile.Pack, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // goes with temp at the latest
		}
	}()
	w.progress = &progress{meter: pack.ProgressFrom(ctx), base: k.received}
	defer func() { k.received += w.progress.most }()
	stream, err := p.transfer(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // what matters was read
	limited := &limitReader{r: stream, remaining: k.client.limits.pack, progress: w.progress}
	if received, err = packfile.Write(limited, dir, k.client.limits.packs); err != nil {
		return nil, limited.orElse(err)
	}
	return received, nil
}

// limitReader reads at most left bytes, tells a meter, and remembers the error it met first, which decoders tend to
// hide.
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
		err = packfile.TooLarge("more than its packed size may be")
	}
	if l.err == nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// errPack is a pack that makes no sense.
type errPack struct{ err error }

// Error says so.
func (e errPack) Error() string {
	return "what the server sent is damaged: " + textx.OneLine(e.err.Error())
}

// Code is that of a server's fault.
func (e errPack) Code() diag.Code { return diag.Remote }

func (l *limitReader) orElse(err error) error {
	var coded interface{ Code() diag.Code }
	switch {
	case l.err != nil:
		return l.err
	case errors.As(err, &coded), isLocalFault(err):
		return err
	}
	return errPack{err}
}

// completeName is the file that marks a cache entry from which nothing was left out.
const completeName = "whole"

func (k *commit) marker() string { return filepath.Join(k.dir, completeName) }

// cacheDir returns the directory that a commit is kept in: one for each URL, so that no repository can stand in for
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

// publish moves a directory with a pack of the commit to its place in the cache and uses it there. If another process
// was faster, and has no less, its entry is used: somebody may be reading it.
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
	return k.use(packfile.Set{p}, complete)
}
