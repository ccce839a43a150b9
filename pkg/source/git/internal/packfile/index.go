package packfile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Limits bound the size of a pack. They are far above the size of real skill repositories.
type Limits struct {
	Objects uint32
	Object  int64 // bytes of one object, inflated
	Total   int64 // bytes inflated, counting bases of deltas each time
	Chain   int64 // bytes of bases of one delta chain in memory at once
	Files   int64 // bytes of the files of large objects
}

// DefaultLimits returns the limits for packs that servers send.
func DefaultLimits() Limits {
	return Limits{Objects: 500_000, Object: 128 << 20, Total: 8 << 30, Chain: 8 << 20, Files: 2 << 30}
}

// packFile stores a pack while it is received, and provides the data of deltas.
type packFile interface {
	io.Writer
	io.ReaderAt
}

// packIndexer reads a pack once, front to back, and computes the id of each object. It rejects too large objects before
// it inflates them, and never holds a large one in memory.
type packIndexer struct {
	*Pack
	limits    Limits
	in        *packReader
	z         inflater
	sum       hash.Hash // of an object
	buffer    []byte
	total     int64 // inflated so far
	files     int64 // bytes of large objects from deltas
	deltas    []int32
	refDeltas []refDelta // deltas that name their base by id
}

// refDelta is a delta that names its base by id.
type refDelta struct {
	base  plumbing.Hash
	delta int32
}

// indexPack reads a pack from r, writes it to file, and returns it. Large objects that are deltas become files in dir,
// with the name and an extension.
func indexPack(r io.Reader, file packFile, dir, name string, l Limits) (*Pack, error) {
	p := &packIndexer{
		Pack: &Pack{dir: dir, name: name, file: file, cacheSpace: maxCached}, limits: l,
		in: newPackReader(r, file), sum: hash.New(objectHash),
	}
	p.z.in = p.in.buffered
	count, err := p.in.header()
	if err != nil {
		return nil, err
	}
	if count > l.Objects {
		return nil, TooLarge("%d objects", count)
	}
	p.entries = make([]object, 0, min(count, 1<<14))
	for range count {
		if err := p.readObject(); err != nil {
			return nil, unexpectedEOF(err)
		}
	}
	if err := p.in.end(); err != nil {
		return nil, err
	}
	p.size = p.in.position()
	if err := p.resolveDeltas(); err != nil {
		return nil, unexpectedEOF(err)
	}
	p.sort()
	return p.Pack, nil
}

// TooLarge returns the error that a repository exceeds a limit.
func TooLarge(format string, args ...any) error {
	return diag.Errorf(diag.Invalid, "the repository is too large: "+format, args...)
}

// readObject reads the next object. It computes the id unless the object is a delta.
func (p *packIndexer) readObject() error {
	e := object{offset: p.in.position(), base: notDelta}
	h, err := readHeader(p.in.buffered)
	if err != nil {
		return err
	}
	if err := p.addInflated(h.size); err != nil {
		return err
	}
	e.kind, e.size = h.kind, h.size
	if err := p.z.reset(); err != nil {
		return err
	}
	i := int32(len(p.entries)) //nolint:gosec // there are at most limits.Objects
	switch h.kind {
	case plumbing.OFSDeltaObject:
		base, ok := p.findAt(e.offset - h.baseDistance)
		if !ok {
			return errMalformed
		}
		e.base = base
		p.deltas = append(p.deltas, i)
	case plumbing.REFDeltaObject:
		e.base = i // deltasOn replaces it
		p.refDeltas = append(p.refDeltas, refDelta{h.base, i})
	}
	p.entries = append(p.entries, e)
	if h.kind.IsDelta() {
		return p.copyRest(io.Discard, h.size)
	}
	return p.hashObject(i)
}

// hashObject hashes the next object, and caches a small one if there is room.
func (p *packIndexer) hashObject(i int32) error {
	e := &p.entries[i]
	p.sum.Reset()
	writeObjectHeader(p.sum, e.kind, e.size)
	if e.size >= LargeObject || e.size > p.cacheSpace {
		if err := p.copyRest(p.sum, e.size); err != nil {
			return err
		}
		return p.identify(e)
	}
	content := make([]byte, e.size)
	if _, err := io.ReadFull(p.z.z, content); err != nil {
		return err
	}
	p.keep(i, content)
	p.sum.Write(content)
	if err := p.checkEnd(); err != nil {
		return err
	}
	return p.identify(e)
}

// collisionDetector is a hash that detects crafted SHA-1 collisions.
type collisionDetector interface {
	CollisionResistantSum(in []byte) ([]byte, bool)
}

// identify sets the object's id to the hash of its content.
func (p *packIndexer) identify(e *object) error {
	if c, ok := p.sum.(collisionDetector); ok {
		sum, collides := c.CollisionResistantSum(nil)
		if copy(e.id[:], sum); !collides {
			return nil
		}
		return diag.Errorf(diag.Integrity, "object %s has a forged ID (SHA-1 collision)", e.id)
	}
	p.sum.Sum(e.id[:0])
	return nil
}

// copyRest copies the rest of an object, which must be exactly size bytes, to w.
func (p *packIndexer) copyRest(w io.Writer, size int64) error {
	if p.buffer == nil {
		p.buffer = make([]byte, 32<<10)
	}
	n, err := io.CopyBuffer(onlyWriter{w}, io.LimitReader(p.z.z, size), p.buffer)
	if err != nil {
		return err
	}
	if n != size {
		return errMalformed
	}
	return p.checkEnd()
}

// onlyWriter hides ReadFrom, so that [io.CopyBuffer] uses the buffer.
type onlyWriter struct{ io.Writer }

// checkEnd fails if an object is longer than its header says or its checksum is wrong.
func (p *packIndexer) checkEnd() error {
	var extra [1]byte
	n, err := p.z.z.Read(extra[:])
	switch {
	case n > 0 || err == nil:
		return errMalformed
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func (p *packIndexer) addInflated(size int64) error {
	if size < 0 || size > p.limits.Object {
		return TooLarge("an object has %d bytes; the limit is %d", size, p.limits.Object)
	}
	if p.total += size; p.total > p.limits.Total {
		return TooLarge("it contains more than %d bytes", p.limits.Total)
	}
	return nil
}

// resolveDeltas applies the deltas. Large bases are in files. Small ones stay in memory while the deltas on them are
// applied, up to limits.Chain.
func (p *packIndexer) resolveDeltas() error {
	if len(p.deltas)+len(p.refDeltas) == 0 {
		return nil
	}
	slices.SortStableFunc(p.deltas, func(a, b int32) int { return cmp.Compare(p.entries[a].base, p.entries[b].base) })
	slices.SortStableFunc(p.refDeltas, func(a, b refDelta) int { return bytes.Compare(a.base[:], b.base[:]) })
	resolved := 0
	for i := range p.entries {
		if p.entries[i].base != notDelta {
			continue
		}
		n, err := p.resolveDeltasOn(int32(i)) //nolint:gosec // there are at most limits.Objects
		if err != nil {
			return err
		}
		resolved += n
	}
	if resolved != len(p.deltas)+len(p.refDeltas) {
		return errMalformed // bases are missing or cyclic
	}
	return nil
}

// base is an object that deltas are applied to.
type base struct {
	index   int32
	content []byte // nil if it is large or was evicted
	deltas  []int32
}

// resolveDeltasOn resolves all deltas on an object, directly or indirectly, and returns their number.
func (p *packIndexer) resolveDeltasOn(root int32) (resolved int, err error) {
	stack := []base{{index: root, deltas: p.deltasOn(root)}}
	memory := int64(0)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.deltas) == 0 {
			memory -= int64(len(top.content))
			stack = stack[:len(stack)-1]
			continue
		}
		i := top.deltas[0]
		top.deltas = top.deltas[1:]
		if top.content == nil && p.entries[top.index].size < LargeObject {
			if err := p.addInflated(p.entries[top.index].size); err != nil {
				return resolved, err
			}
			if top.content, err = p.content(top.index); err != nil {
				return resolved, err
			}
			memory += int64(len(top.content))
		}
		content, err := p.apply(top, i)
		if err != nil {
			return resolved, err
		}
		resolved++
		if deltas := p.deltasOn(i); len(deltas) > 0 {
			memory += int64(len(content))
			stack = append(stack, base{i, content, deltas})
			memory = evict(stack, memory, p.limits.Chain)
		}
	}
	return resolved, nil
}

// evict frees contents at the bottom of the stack. resolveDeltasOn inflates them again on demand.
func evict(stack []base, memory, limit int64) int64 {
	for i := 0; memory > limit && i < len(stack)-1; i++ {
		memory -= int64(len(stack[i].content))
		stack[i].content = nil
	}
	return memory
}

// deltasOn returns the deltas on an object whose id is known.
func (p *packIndexer) deltasOn(i int32) []int32 {
	start, _ := slices.BinarySearchFunc(p.deltas, i, func(d, i int32) int { return cmp.Compare(p.entries[d].base, i) })
	end := start
	for end < len(p.deltas) && p.entries[p.deltas[end]].base == i {
		end++
	}
	deltas := p.deltas[start:end:end]
	id := p.entries[i].id
	n, _ := slices.BinarySearchFunc(p.refDeltas, id,
		func(w refDelta, id plumbing.Hash) int { return bytes.Compare(w.base[:], id[:]) })
	for ; n < len(p.refDeltas) && p.refDeltas[n].base == id; n++ {
		if d := p.refDeltas[n].delta; p.entries[d].base == d {
			p.entries[d].base = i
			deltas = append(deltas, d)
		}
	}
	return deltas
}

// apply creates an object from a delta and its base. If one of them is large, the object is created in a file.
func (p *packIndexer) apply(parent *base, i int32) ([]byte, error) {
	e := &p.entries[i]
	z, err := p.inflate(e)
	if err != nil {
		return nil, err
	}
	z.out.Reset(z)
	_, err = readDeltaSize(z.out)
	if err == nil {
		e.size, err = readDeltaSize(z.out)
	}
	_ = z.Close() // never fails
	if err == nil {
		err = p.addInflated(e.size)
	}
	if err != nil {
		return nil, err
	}
	e.kind = p.entries[parent.index].kind
	p.sum.Reset()
	writeObjectHeader(p.sum, e.kind, e.size)
	if max(e.size, p.entries[parent.index].size) >= LargeObject {
		return nil, p.applyInFile(parent, i)
	}
	var b bytes.Buffer
	b.Grow(int(e.size))
	if err := p.patch(e, bytesAt(parent.content), int64(len(parent.content)), &b); err != nil {
		return nil, err
	}
	p.sum.Write(b.Bytes())
	p.keep(i, b.Bytes())
	return b.Bytes(), p.identify(e)
}

// applyInFile creates an object as a file.
func (p *packIndexer) applyInFile(parent *base, i int32) error {
	e := &p.entries[i]
	if p.files += e.size; p.files > p.limits.Files {
		return TooLarge("it contains more than %d bytes of large files", p.limits.Files)
	}
	var source io.ReaderAt = bytesAt(parent.content)
	if p.entries[parent.index].size >= LargeObject {
		f, err := p.baseFile(parent.index)
		if err != nil {
			return err
		}
		defer f.Close()
		source = f
	}
	out, err := os.Create(p.loosePath(i))
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(io.MultiWriter(out, p.sum), 64<<10)
	if err := p.patch(e, source, p.entries[parent.index].size, w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), out.Close()); err != nil {
		return err
	}
	return p.identify(e)
}

// baseFile opens a large base as a file. It creates the file if the base is not a delta.
func (p *packIndexer) baseFile(i int32) (*os.File, error) {
	e := &p.entries[i]
	f, err := os.Open(p.loosePath(i))
	if err == nil || e.base != notDelta {
		return f, err
	}
	if p.files += e.size; p.files > p.limits.Files {
		return nil, TooLarge("it contains more than %d bytes of large files", p.limits.Files)
	}
	z, err := p.inflate(e)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }() // never fails
	out, err := os.Create(p.loosePath(i))
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(onlyWriter{out}, io.LimitReader(z, e.size)); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}
