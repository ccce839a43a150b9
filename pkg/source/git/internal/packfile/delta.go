package packfile

import (
	"bufio"
	"io"
)

// bytesAt is the content of a base in memory.
type bytesAt []byte

// ReadAt implements [io.ReaderAt].
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

// patch applies the delta of an entry to its base and writes the result.
func (p *Pack) patch(e *object, base io.ReaderAt, baseSize int64, w io.Writer) error {
	z, err := p.inflate(e)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }() // never fails
	z.out.Reset(z)
	return applyDelta(base, baseSize, z.out, e.size, w)
}

// applyDelta applies a delta to a base and writes the result, which must have size bytes. A delta has the sizes of the
// base and of the result, then instructions to copy from the base or to insert bytes (gitformat-pack, deltified
// representation).
func applyDelta(base io.ReaderAt, baseSize int64, delta *bufio.Reader, size int64, w io.Writer) error {
	baseLen, err := readDeltaSize(delta)
	if err != nil {
		return err
	}
	resultLen, err := readDeltaSize(delta)
	if err != nil {
		return err
	}
	if baseLen != baseSize || resultLen != size {
		return errMalformed
	}
	for size > 0 {
		n, err := applyInstruction(base, baseSize, delta, size, w)
		if err != nil {
			return err
		}
		size -= n
	}
	if _, err := delta.ReadByte(); err == nil {
		return errMalformed // it has instructions beyond its size
	}
	return nil
}

// applyInstruction executes one instruction, which may write at most remaining bytes, and returns how many it wrote.
func applyInstruction(base io.ReaderAt, baseSize int64, delta *bufio.Reader, remaining int64, w io.Writer) (
	int64, error,
) {
	op, err := delta.ReadByte()
	if err != nil {
		return 0, unexpectedEOF(err)
	}
	if op&0x80 == 0 {
		n := int64(op)
		if n == 0 || n > remaining {
			return 0, errMalformed
		}
		data, err := delta.Peek(int(n))
		if err != nil {
			return 0, unexpectedEOF(err)
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
			return 0, unexpectedEOF(err)
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

// readDeltaSize reads a size in a delta's header: seven bits a byte, the lowest first.
func readDeltaSize(r io.ByteReader) (n int64, err error) {
	for i := range 8 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, unexpectedEOF(err)
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errMalformed
}

// unexpectedEOF converts an end of input in the middle of data to io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it unwrapped
		return io.ErrUnexpectedEOF
	}
	return err
}
