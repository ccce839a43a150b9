// Package packfile indexes git packs (gitformat-pack(5)) while a server sends them, and stores them on disk.
//
// A pack is read once, front to back, while it is written to a file. Each object is inflated, hashed with the
// collision-detecting SHA-1, and cached if it is small and there is room. Deltas are resolved without recursion. Large
// objects are streamed, and those that are deltas become files. Objects that are read again are not verified: callers
// compare contents with ids. docs/adr/0010-packfile-reader.md explains why this is not go-git's storage.
//
// Start reading at [Write] and [Set].
package packfile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// Memory limits in bytes: contents cached while a pack is indexed, recently used bases of deltas, and the size from
// which an object is never in memory as a whole.
const (
	maxCached   = 16 << 20
	basesBytes  = 8 << 20
	LargeObject = 1 << 20
)

// Pack is an indexed pack on disk. Several goroutines may read it at a time. Contents that it reads from disk are not
// verified.
type Pack struct {
	dir     string // of the pack file and of the files of large objects
	name    string // of the pack file, without its extension
	file    io.ReaderAt
	closer  io.Closer
	size    int64
	entries []object // by offset
	byID    []int32  // indices of entries, by id

	mu         sync.Mutex
	cache      map[int32][]byte // verified contents
	cacheSpace int64            // bytes that cache may still take
	bases      map[int32][]byte // contents of bases of deltas
	baseBytes  int64            // bytes of bases
}

// object is an object of a pack.
type object struct {
	id     plumbing.Hash
	kind   plumbing.ObjectType // for a delta, that of its base
	base   int32               // the entry that is the base of this delta, or notDelta
	offset int64               // of its header
	size   int64               // of its content
}

const notDelta = -1

var errMalformed = errors.New("malformed pack")

// sort builds the index by id.
func (p *Pack) sort() {
	p.byID = make([]int32, len(p.entries))
	for i := range p.byID {
		p.byID[i] = int32(i) //nolint:gosec // there are at most limits.Objects
	}
	slices.SortFunc(p.byID, func(a, b int32) int { return bytes.Compare(p.entries[a].id[:], p.entries[b].id[:]) })
}

// find returns the entry of an object.
func (p *Pack) find(id plumbing.Hash) (int32, bool) {
	i, ok := slices.BinarySearchFunc(p.byID, id,
		func(i int32, id plumbing.Hash) int { return bytes.Compare(p.entries[i].id[:], id[:]) })
	if !ok {
		return 0, false
	}
	return p.byID[i], true
}

// findAt returns the entry at an offset.
func (p *Pack) findAt(offset int64) (int32, bool) {
	i, ok := slices.BinarySearchFunc(p.entries, offset,
		func(e object, offset int64) int { return cmp.Compare(e.offset, offset) })
	return int32(i), ok //nolint:gosec // there are at most limits.Objects
}

// keep caches a verified content if there is room.
func (p *Pack) keep(i int32, content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int64(len(content))
	if n > p.cacheSpace {
		return
	}
	if p.cache == nil {
		p.cache = make(map[int32][]byte)
	}
	p.cacheSpace -= n
	p.cache[i] = content
}

// content returns the content of a small object. It is not verified unless it is cached.
func (p *Pack) content(i int32) ([]byte, error) {
	var chain []int32
	content, ok := p.cachedContent(i)
	for !ok {
		e := &p.entries[i]
		if e.size >= LargeObject {
			return nil, errMalformed // deltas on a large object are in files; this one is missing
		}
		if e.base == notDelta {
			var err error
			if content, err = p.inflateAll(e); err != nil {
				return nil, err
			}
			break
		}
		chain = append(chain, i)
		i = e.base
		content, ok = p.cachedContent(i)
	}
	for _, i := range slices.Backward(chain) {
		p.cacheContent(p.entries[i].base, content)
		var b bytes.Buffer
		b.Grow(int(p.entries[i].size))
		if err := p.patch(&p.entries[i], bytesAt(content), int64(len(content)), &b); err != nil {
			return nil, err
		}
		content = b.Bytes()
	}
	return content, nil
}

// cachedContent returns the content of an object that is in memory, or in a file because its base is large.
func (p *Pack) cachedContent(i int32) ([]byte, bool) {
	p.mu.Lock()
	content, ok := p.cache[i]
	if !ok {
		content, ok = p.bases[i]
	}
	p.mu.Unlock()
	if ok {
		return content, true
	}
	if e := &p.entries[i]; e.base != notDelta && e.size < LargeObject && p.entries[e.base].size >= LargeObject {
		if data, err := os.ReadFile(p.loosePath(i)); err == nil && int64(len(data)) == e.size {
			return data, true
		}
	}
	return nil, false
}

// cacheContent caches the content of a base for the next delta on it.
func (p *Pack) cacheContent(i int32, content []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.bases[i]; ok || len(content) > basesBytes/4 {
		return
	}
	if p.baseBytes+int64(len(content)) > basesBytes {
		p.bases, p.baseBytes = nil, 0
	}
	if p.bases == nil {
		p.bases = make(map[int32][]byte)
	}
	p.bases[i] = content
	p.baseBytes += int64(len(content))
}

// loosePath returns the file of a delta that is large or has a large base, or of a large base.
func (p *Pack) loosePath(i int32) string {
	return filepath.Join(p.dir, p.name+"."+strconv.FormatInt(p.entries[i].offset, 16))
}

// stream opens the content of a large object. It is not verified.
func (p *Pack) stream(i int32) (io.ReadCloser, error) {
	e := &p.entries[i]
	if e.base == notDelta {
		z, err := p.inflate(e)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(z, e.size), z}, nil
	}
	return os.Open(p.loosePath(i))
}

// inflater reads the data of entries, one after another.
type inflater struct {
	in  *bufio.Reader
	z   io.ReadCloser
	out *bufio.Reader // of z, for deltas
}

// inflaters reuses inflaters, because each takes 40 KB.
var inflaters = sync.Pool{New: func() any {
	return &inflater{in: bufio.NewReaderSize(nil, 4<<10), out: bufio.NewReaderSize(nil, 4<<10)}
}}

// objectReader reads the data of one entry.
type objectReader struct{ *inflater }

func (r *objectReader) Read(p []byte) (int, error) {
	if r.inflater == nil {
		return 0, os.ErrClosed
	}
	return r.z.Read(p)
}

// Close returns the inflater to the pool. It does so only once, because another reader may own it afterwards.
func (r *objectReader) Close() error {
	if r.inflater != nil {
		r.in.Reset(nil)
		inflaters.Put(r.inflater)
		r.inflater = nil
	}
	return nil
}

// reset prepares z for the data that follows in z.in.
func (z *inflater) reset() error {
	if z.z == nil {
		var err error
		z.z, err = zlib.NewReader(z.in)
		return err
	}
	return z.z.(zlib.Resetter).Reset(z.in, nil)
}

// inflate opens the data of an entry: its content, or a delta.
func (p *Pack) inflate(e *object) (*objectReader, error) {
	z := &objectReader{inflaters.Get().(*inflater)}
	z.in.Reset(io.NewSectionReader(p.file, e.offset, p.size-e.offset))
	h, err := readHeader(z.in)
	if err == nil && (h.kind.IsDelta() != (e.base != notDelta)) {
		err = errMalformed
	}
	if err == nil {
		err = z.reset()
	}
	if err != nil {
		_ = z.Close() // the first error matters
		return nil, err
	}
	return z, nil
}

// inflateAll returns the content of an entry that is not a delta.
func (p *Pack) inflateAll(e *object) ([]byte, error) {
	z, err := p.inflate(e)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }() // never fails
	content := make([]byte, e.size)
	_, err = io.ReadFull(z, content)
	return content, err
}

// Forget frees the contents that are cached in memory.
func (p *Pack) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache, p.bases, p.baseBytes = nil, nil, 0
}

// Close closes the file.
func (p *Pack) Close() error {
	p.Forget()
	if p.closer == nil {
		return nil
	}
	return p.closer.Close()
}
