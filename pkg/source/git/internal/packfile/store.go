package packfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A pack on disk has a file NAME.pack as the server sent it, a file NAME.index, without which the pack does not exist,
// and files NAME.OFFSET of large objects. The index has indexMagic, the size of the pack, an entry of entrySize bytes
// for each object, and the SHA-256 of all that. NAME is the truncated SHA-256 of the ids of the objects.
const (
	packExt    = ".pack"
	indexExt   = ".index"
	indexMagic = "skillpm pack 1\n"
	entrySize  = 20 + 1 + 4 + 8 + 8
)

// incomingName is the name of a pack until it is complete.
const incomingName = "incoming"

// Write reads a pack from r and stores it in dir with an index in memory. No other process may write to dir.
func Write(r io.Reader, dir string, l Limits) (*Pack, error) {
	f, err := os.Create(filepath.Join(dir, incomingName+packExt))
	if err != nil {
		return nil, err
	}
	p, err := indexPack(r, f, dir, incomingName, l)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.closer = f
	return p, nil
}

// MoveTo moves a complete pack to another directory under its final name, writes its index file, and closes it.
func (p *Pack) MoveTo(dir string) error {
	if err := p.closer.Close(); err != nil {
		return err
	}
	name := p.contentName()
	files, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		ext, ok := strings.CutPrefix(file.Name(), p.name+".")
		if !ok {
			continue
		}
		if err := os.Rename(filepath.Join(p.dir, file.Name()), filepath.Join(dir, name+"."+ext)); err != nil {
			return err
		}
	}
	p.dir, p.name, p.closer = dir, name, nil
	return p.writeIndex()
}

// Reopen opens the file of a pack whose directory was moved to dir.
func (p *Pack) Reopen(dir string) error {
	if p.closer != nil {
		_ = p.closer.Close() // read-only, or closed already
	}
	p.dir = dir
	f, err := os.Open(filepath.Join(dir, p.name+packExt))
	if err != nil {
		return err
	}
	p.file, p.closer = f, f
	return nil
}

// contentName returns the final name of a pack, which depends on its objects.
func (p *Pack) contentName() string {
	sum := sha256.New()
	for _, i := range p.byID {
		sum.Write(p.entries[i].id[:])
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// writeIndex writes the index file atomically, by a rename.
func (p *Pack) writeIndex() error {
	b := make([]byte, 0, len(indexMagic)+8+len(p.entries)*entrySize+sha256.Size)
	b = binary.BigEndian.AppendUint64(append(b, indexMagic...), uint64(p.size)) //nolint:gosec // not negative
	for _, e := range p.entries {
		b = append(b, e.id[:]...)
		b = append(b, byte(e.kind))                            //nolint:gosec // three bits
		b = binary.BigEndian.AppendUint32(b, uint32(e.base))   //nolint:gosec // comes back the same
		b = binary.BigEndian.AppendUint64(b, uint64(e.offset)) //nolint:gosec // not negative
		b = binary.BigEndian.AppendUint64(b, uint64(e.size))   //nolint:gosec // not negative
	}
	sum := sha256.Sum256(b)
	name := filepath.Join(p.dir, p.name+indexExt)
	f, err := os.CreateTemp(p.dir, "tmp-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, sum[:]...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error matters
	}
	return err
}

// errDamaged reports that a file of the cache was changed or truncated.
var errDamaged = errors.New("the cache entry is damaged")

// openPack opens a pack by its index file.
func openPack(index string, l Limits) (*Pack, error) {
	info, err := os.Stat(index)
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(l.Objects)*entrySize+1024 {
		return nil, errDamaged
	}
	data, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	p := &Pack{name: strings.TrimSuffix(filepath.Base(index), indexExt), cacheSpace: maxCached}
	if err := p.readIndex(data); err != nil {
		return nil, err
	}
	if err := p.Reopen(filepath.Dir(index)); err != nil {
		return nil, err
	}
	f, err := os.Stat(filepath.Join(p.dir, p.name+packExt))
	if err == nil && f.Size() != p.size {
		err = errDamaged
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// readIndex reads the content of an index file.
func (p *Pack) readIndex(data []byte) error {
	body := len(data) - sha256.Size
	const start = len(indexMagic) + 8
	if body < start || (body-start)%entrySize != 0 || string(data[:len(indexMagic)]) != indexMagic {
		return errDamaged
	}
	if sum := sha256.Sum256(data[:body]); !bytes.Equal(sum[:], data[body:]) {
		return errDamaged
	}
	p.size = int64(binary.BigEndian.Uint64(data[len(indexMagic):])) //nolint:gosec // it was written from one
	p.entries = make([]object, (body-start)/entrySize)
	for i := range p.entries {
		b := data[start+i*entrySize:]
		e := &p.entries[i]
		copy(e.id[:], b)
		e.kind = plumbing.ObjectType(b[20])               //nolint:gosec // it was written from one
		e.base = int32(binary.BigEndian.Uint32(b[21:]))   //nolint:gosec // it was written from one
		e.offset = int64(binary.BigEndian.Uint64(b[25:])) //nolint:gosec // it was written from one
		e.size = int64(binary.BigEndian.Uint64(b[33:]))   //nolint:gosec // it was written from one
	}
	p.sort()
	return nil
}
