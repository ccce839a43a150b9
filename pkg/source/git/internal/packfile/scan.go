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

// objectHash is the hash that gives objects their ids. go-git's knows the attacks on it.
const objectHash = crypto.SHA1

// incoming is a pack as it comes in: what is read is written to a file and hashed, except for the last bytes, which are
// the hash of those before them.
type incoming struct {
	buffered *bufio.Reader
	r        io.Reader
	w        io.Writer
	sum      hash.Hash
	trailer  []byte // the last bytes, not hashed yet
	total    int64
}

func newIncoming(r io.Reader, w io.Writer) *incoming {
	in := &incoming{r: r, w: w, sum: hash.New(objectHash)}
	in.buffered = bufio.NewReaderSize(in, 64<<10)
	return in
}

// Read takes what has come.
func (in *incoming) Read(p []byte) (int, error) {
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
	if over := len(in.trailer) - hash.Size; over > 0 {
		in.sum.Write(in.trailer[:over])
		in.trailer = append(in.trailer[:0], in.trailer[over:]...)
	}
	return n, err
}

// position is the offset of what is read next.
func (in *incoming) position() int64 { return in.total - int64(in.buffered.Buffered()) }

// header reads the header of a pack and returns how many objects follow (gitformat-pack).
func (in *incoming) header() (count uint32, err error) {
	var h [12]byte
	if _, err := io.ReadFull(in.buffered, h[:]); err != nil {
		return 0, noEOF(err)
	}
	if string(h[:4]) != "PACK" || binary.BigEndian.Uint32(h[4:]) != 2 {
		return 0, errMalformed
	}
	return binary.BigEndian.Uint32(h[8:]), nil
}

// end reads the checksum of a pack, behind which there must be nothing.
func (in *incoming) end() error {
	var sum [hash.Size]byte
	if _, err := io.ReadFull(in.buffered, sum[:]); err != nil {
		return noEOF(err)
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

// packHeader is what stands before the data of an object in a pack.
type packHeader struct {
	kind plumbing.ObjectType
	size int64         // of the data, inflated
	back int64         // how far back the base of a delta is
	base plumbing.Hash // the base of a delta
}

// readHeader reads the header of an object (gitformat-pack).
func readHeader(r *bufio.Reader) (h packHeader, err error) {
	c, err := r.ReadByte()
	if err != nil {
		return h, noEOF(err)
	}
	h.kind, h.size = plumbing.ObjectType(c>>4&7), int64(c&0x0f) //nolint:gosec // three bits
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return h, noEOF(err)
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
		h.back, err = readBack(r)
		return h, err
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(r, h.base[:])
		return h, noEOF(err)
	}
	return h, errMalformed
}

// readBack reads how far back a base is: seven bits a byte, the highest first, each but the last one more than it says.
func readBack(r *bufio.Reader) (n int64, err error) {
	for range 8 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, noEOF(err)
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

// writeObjectHeader writes what an object's id is the hash of, before its content.
func writeObjectHeader(w io.Writer, kind plumbing.ObjectType, size int64) {
	b := append(make([]byte, 0, 32), kind.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	_, _ = w.Write(append(b, 0)) // hashes do not fail
}

// NewHash returns a hash that becomes an object's id when its content is written to it.
func NewHash(kind plumbing.ObjectType, size int64) hash.Hash {
	sum := hash.New(objectHash)
	writeObjectHeader(sum, kind, size)
	return sum
}
