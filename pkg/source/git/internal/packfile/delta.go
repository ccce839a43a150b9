package packfile

import (
	"bufio"
	"io"
)

// bytesAt is a base of deltas in memory.
type bytesAt []byte

// ReadAt reads from an offset.
func (b bytesAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// patch writes what the delta of an entry makes from its base.
func (p *Pack) patch(e *object, base io.ReaderAt, baseSize int64, w io.Writer) error {
	z, err := p.inflate(e)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // never fails
	z.out.Reset(z)
	return applyDelta(base, baseSize, z.out, e.size, w)
}

// applyDelta writes what a delta makes from a base, which must be size bytes. A delta is the sizes of the base and of
// what it makes, then copies from the base and bytes of its own (gitformat-pack, deltified representation).
func applyDelta(base io.ReaderAt, baseSize int64, delta *bufio.Reader, size int64, w io.Writer) error {
	baseLen, err := deltaNumber(delta)
	if err != nil {
		return err
	}
	resultLen, err := deltaNumber(delta)
	if err != nil {
		return err
	}
	if baseLen != baseSize || resultLen != size {
		return errMalformed
	}
	for size > 0 {
		n, err := deltaStep(base, baseSize, delta, size, w)
		if err != nil {
			return err
		}
		size -= n
	}
	if _, err := delta.ReadByte(); err == nil {
		return errMalformed // it makes more than it says
	}
	return nil
}

// deltaStep does one instruction, which must not write more than left bytes, and returns how many it wrote.
func deltaStep(base io.ReaderAt, baseSize int64, delta *bufio.Reader, remaining int64, w io.Writer) (int64, error) {
	op, err := delta.ReadByte()
	if err != nil {
		return 0, noEOF(err)
	}
	if op&0x80 == 0 {
		n := int64(op)
		if n == 0 || n > remaining {
			return 0, errMalformed
		}
		data, err := delta.Peek(int(n))
		if err != nil {
			return 0, noEOF(err)
		}
		if _, err := w.Write(data); err != nil {
			return 0, err
		}
		_, err = delta.Discard(int(n))
		return n, err
	}
	var offset, n int64
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		c, err := delta.ReadByte()
		if err != nil {
			return 0, noEOF(err)
		}
		if i < 4 {
			offset |= int64(c) << (8 * i)
		} else {
			n |= int64(c) << (8 * (i - 4))
		}
	}
	if n == 0 {
		n = 0x10000
	}
	if n > remaining || offset+n > baseSize {
		return 0, errMalformed
	}
	return n, copyFrom(base, offset, n, w)
}

// copyFrom writes n bytes of a base.
func copyFrom(base io.ReaderAt, offset, n int64, w io.Writer) error {
	if b, ok := base.(bytesAt); ok {
		_, err := w.Write(b[offset : offset+n])
		return err
	}
	_, err := io.Copy(w, io.NewSectionReader(base, offset, n))
	return err
}

// deltaNumber reads a number of a delta's header: seven bits a byte, the lowest first.
func deltaNumber(r io.ByteReader) (n int64, err error) {
	for i := range 8 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, noEOF(err)
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errMalformed
}

// noEOF makes the end of input in the middle of something an error.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}
