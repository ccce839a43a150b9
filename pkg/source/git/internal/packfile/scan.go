package packfile

import (
	"bufio"
	"bytes"
	"crypto"
	"encoding/binary"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// objectHash is the hash of object ids. go-git registers an implementation that detects collision attacks.
const objectHash = crypto.SHA1

// packReader copies a pack to a file and hashes it while it is read. It does not hash the last bytes, which are the
// checksum.
type packReader struct {
	buffered *bufio.Reader
	r        io.Reader
	w        io.Writer
	sum      hash.Hash
	trailer  []byte // the last hash.Size bytes, not hashed yet
	total    int64
}

func newPackReader(r io.Reader, w io.Writer) *packReader {
	in := &packReader{r: r, w: w, sum: hash.New(objectHash)}
	in.buffered = bufio.NewReaderSize(in, 64<<10)
	return in
}

// Read reads, stores, and hashes the next bytes.
func (in *packReader) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	if n == 0 {
		return 0, err
	}
	in.total += int64(n)
	if _, err := in.w.Write(p[:n]); err != nil {
		return n, err
	}
	if n >= hash.Size {
		in.sum.Write(in.trailer)
		in.sum.Write(p[:n-hash.Size])
		in.trailer = append(in.trailer[:0], p[n-hash.Size:n]...)
		return n, err
	}
	in.trailer = append(in.trailer, p[:n]...)
	if excess := len(in.trailer) - hash.Size; excess > 0 {
		in.sum.Write(in.trailer[:excess])
		in.trailer = append(in.trailer[:0], in.trailer[excess:]...)
	}
	return n, err
}

// position returns the offset of the next byte to read.
func (in *packReader) position() int64 { return in.total - int64(in.buffered.Buffered()) }

// header reads the header of a pack and returns how many objects follow (gitformat-pack).
func (in *packReader) header() (count uint32, err error) {
	var h [12]byte
	if _, err := io.ReadFull(in.buffered, h[:]); err != nil {
		return 0, unexpectedEOF(err)
	}
	if string(h[:4]) != "PACK" || binary.BigEndian.Uint32(h[4:]) != 2 {
		return 0, errMalformed
	}
	return binary.BigEndian.Uint32(h[8:]), nil
}

// end verifies the checksum of a pack. Nothing may follow it.
func (in *packReader) end() error {
	var sum [hash.Size]byte
	if _, err := io.ReadFull(in.buffered, sum[:]); err != nil {
		return unexpectedEOF(err)
	}
	switch _, err := in.buffered.ReadByte(); {
	case err == nil:
		return errMalformed
	case err != io.EOF:
		return err
	}
	if !bytes.Equal(in.sum.Sum(nil), sum[:]) {
		return errMalformed
	}
	return nil
}

// packHeader is the header of an object in a pack.
type packHeader struct {
	kind         plumbing.ObjectType
	size         int64         // of the data, inflated
	baseDistance int64         // distance to the base of an offset delta
	base         plumbing.Hash // id of the base of a reference delta
}

// readHeader reads the header of an object (gitformat-pack).
func readHeader(r *bufio.Reader) (h packHeader, err error) {
	c, err := r.ReadByte()
	if err != nil {
		return h, unexpectedEOF(err)
	}
	h.kind, h.size = plumbing.ObjectType(c>>4&7), int64(c&0x0f) //nolint:gosec // three bits
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return h, unexpectedEOF(err)
		}
		if shift > 53 {
			return h, errMalformed
		}
		h.size |= int64(c&0x7f) << shift
	}
	switch h.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return h, nil
	case plumbing.OFSDeltaObject:
		h.baseDistance, err = readBaseDistance(r)
		return h, err
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(r, h.base[:])
		return h, unexpectedEOF(err)
	}
	return h, errMalformed
}

// readBaseDistance reads the distance to a base: seven bits a byte, the highest first. Each byte but the last adds one.
func readBaseDistance(r *bufio.Reader) (n int64, err error) {
	for range 8 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, unexpectedEOF(err)
		}
		n |= int64(c & 0x7f)
		if c&0x80 == 0 {
			if n == 0 {
				return 0, errMalformed
			}
			return n, nil
		}
		n = (n + 1) << 7
	}
	return 0, errMalformed
}

// writeObjectHeader writes the header that precedes an object's content in the hash of its id.
func writeObjectHeader(w io.Writer, kind plumbing.ObjectType, size int64) {
	b := append(make([]byte, 0, 32), kind.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	_, _ = w.Write(append(b, 0)) // hashes do not fail
}

// NewHash returns a hash that is an object's id after its content is written to it.
func NewHash(kind plumbing.ObjectType, size int64) hash.Hash {
	sum := hash.New(objectHash)
	writeObjectHeader(sum, kind, size)
	return sum
}
