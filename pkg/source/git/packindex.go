package git

import (
	"bytes"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/skillpm/skillpm/pkg/diag"
)

// limits bound what a server may send. They are far above what repositories of skills hold.
type limits struct {
	pack    int64 // bytes of a pack as it is sent
	objects uint32
	object  int64 // bytes of one object, inflated
	total   int64 // bytes of all objects, inflated
	depth   int64 // bytes of the objects that one chain of deltas needs at once
}

func defaultLimits() limits {
	return limits{pack: 2 << 30, objects: 2_000_000, object: 128 << 20, total: 8 << 30, depth: 512 << 20}
}

// packIndexer reads a pack once, front to back, and learns the id of each object. What go-git's own parser does in two
// passes it does in one, and it refuses objects that are too large before they are inflated.
type packIndexer struct {
	limits  limits
	file    io.ReaderAt // the pack as far as it was read, for the deltas
	index   idxfile.Writer
	objects map[int64]*packed
	deltas  map[int64][]*packed         // by the offset of their base
	byID    map[plumbing.Hash][]*packed // deltas by the id of their base
	roots   []*packed                   // what is not a delta, in order
	total   int64
}

// packed is an object of a pack.
type packed struct {
	offset int64
	size   int64
	crc    uint32
	kind   plumbing.ObjectType
	id     plumbing.Hash
}

// indexPack reads a pack from r, whose bytes also are in file as far as they were read, and returns its index and
// checksum.
func indexPack(r io.Reader, file io.ReaderAt, l limits) (*idxfile.Writer, plumbing.Hash, error) {
	p := &packIndexer{
		limits: l, file: file,
		objects: make(map[int64]*packed), deltas: make(map[int64][]*packed), byID: make(map[plumbing.Hash][]*packed),
	}
	scanner := packfile.NewScanner(onlyReader{r})
	_, count, err := scanner.Header()
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	if count > l.objects {
		return nil, plumbing.ZeroHash, tooLarge("%d objects", count)
	}
	if err := p.index.OnHeader(count); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	for range count {
		if err := p.scan(scanner); err != nil {
			return nil, plumbing.ZeroHash, err
		}
	}
	checksum, err := scanner.Checksum()
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	if err := p.resolve(); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	return &p.index, checksum, p.index.OnFooter(checksum)
}

// onlyReader hides what else a reader can do, so that the scanner does not seek.
type onlyReader struct{ io.Reader }

func tooLarge(format string, args ...any) error {
	return diag.Errorf(diag.Invalid, "the repository is too large: "+format, args...)
}

// scan reads the next object. Its id is known at once unless it is a delta.
func (p *packIndexer) scan(scanner *packfile.Scanner) error {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	if err := p.spend(header.Length); err != nil {
		return err
	}
	o := &packed{offset: header.Offset, size: header.Length, kind: header.Type}
	p.objects[o.offset] = o
	sink := io.Discard
	hash := plumbing.NewHasher(header.Type, header.Length)
	switch header.Type {
	case plumbing.OFSDeltaObject:
		if p.objects[header.OffsetReference] == nil {
			return packfile.ErrMalformedPackFile
		}
		p.deltas[header.OffsetReference] = append(p.deltas[header.OffsetReference], o)
	case plumbing.REFDeltaObject:
		p.byID[header.Reference] = append(p.byID[header.Reference], o)
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		p.roots = append(p.roots, o)
		sink = hash
	default:
		return packfile.ErrMalformedPackFile
	}
	n, crc, err := scanner.NextObject(sink)
	if err != nil {
		return err
	}
	if n != header.Length {
		return packfile.ErrMalformedPackFile
	}
	o.crc = crc
	if !header.Type.IsDelta() {
		o.id = hash.Sum()
		p.index.Add(o.id, uint64(o.offset), o.crc)
	}
	return nil
}

func (p *packIndexer) spend(size int64) error {
	if size < 0 || size > p.limits.object {
		return tooLarge("an object of %d bytes", size)
	}
	if p.total += size; p.total > p.limits.total {
		return tooLarge("more than %d bytes", p.limits.total)
	}
	return nil
}

// resolve applies the deltas. Each base is in memory only while the deltas on it are applied.
func (p *packIndexer) resolve() error {
	if len(p.deltas) == 0 && len(p.byID) == 0 {
		return nil
	}
	scanner := packfile.NewScanner(io.NewSectionReader(p.file, 0, p.limits.pack))
	for _, root := range p.roots {
		if len(p.deltas[root.offset]) == 0 && len(p.byID[root.id]) == 0 {
			continue
		}
		content, err := readPacked(scanner, root)
		if err != nil {
			return err
		}
		if err := p.apply(scanner, root, content); err != nil {
			return err
		}
	}
	if len(p.deltas) > 0 || len(p.byID) > 0 {
		return packfile.ErrReferenceDeltaNotFound
	}
	return nil
}

// base is an object whose content is in memory, and the deltas on it that are not applied yet.
type base struct {
	content []byte
	deltas  []*packed
}

// apply resolves all deltas that build on root, directly or by way of others.
func (p *packIndexer) apply(scanner *packfile.Scanner, root *packed, content []byte) error {
	stack := []base{{content, p.takeDeltas(root)}}
	held := int64(len(content))
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.deltas) == 0 {
			held -= int64(len(top.content))
			stack = stack[:len(stack)-1]
			continue
		}
		o := top.deltas[0]
		top.deltas = top.deltas[1:]
		target, err := p.patch(scanner, top.content, o)
		if err != nil {
			return err
		}
		o.id = plumbing.ComputeHash(root.kind, target)
		p.index.Add(o.id, uint64(o.offset), o.crc)
		if deltas := p.takeDeltas(o); len(deltas) > 0 {
			if held += int64(len(target)); held > p.limits.depth {
				return tooLarge("a chain of deltas of more than %d bytes", p.limits.depth)
			}
			stack = append(stack, base{target, deltas})
		}
	}
	return nil
}

// takeDeltas removes and returns the deltas on an object.
func (p *packIndexer) takeDeltas(o *packed) []*packed {
	deltas := append(p.deltas[o.offset], p.byID[o.id]...)
	delete(p.deltas, o.offset)
	delete(p.byID, o.id)
	return deltas
}

// patch applies one delta to its base.
func (p *packIndexer) patch(scanner *packfile.Scanner, content []byte, o *packed) ([]byte, error) {
	delta, err := readPacked(scanner, o)
	if err != nil {
		return nil, err
	}
	size, ok := targetSize(delta)
	if !ok {
		return nil, packfile.ErrInvalidDelta
	}
	if err := p.spend(size); err != nil {
		return nil, err
	}
	return packfile.PatchDelta(content, delta)
}

// readPacked inflates an object of the pack, as it is stored.
func readPacked(scanner *packfile.Scanner, o *packed) ([]byte, error) {
	if _, err := scanner.SeekObjectHeader(o.offset); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(o.size))
	_, _, err := scanner.NextObject(&b)
	return b.Bytes(), err
}

// targetSize reads the size of what a delta makes: its second number, after the size of its base.
func targetSize(delta []byte) (int64, bool) {
	_, rest, ok := deltaNumber(delta)
	if !ok {
		return 0, false
	}
	size, _, ok := deltaNumber(rest)
	return size, ok
}

// deltaNumber reads a number of a delta's header: seven bits a byte, the lowest first.
func deltaNumber(b []byte) (n int64, rest []byte, ok bool) {
	for i, c := range b {
		if i > 7 {
			break
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
