package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
)

// stream reads a tar, compressed or not, up to a limit, and checks that both formats are complete.
type stream struct {
	source *sourceReader
	in     *bufio.Reader // the raw archive
	zip    *gzip.Reader  // nil: not compressed
	size   int64         // bytes of the tar that may be read
	limit  int64         // the rest of size
	ended  bool          // the tar has no more bytes
}

func openStream(r io.Reader, limits Limits) (*stream, error) {
	const perEntry = 4 << 10 // headers, padding, and extended headers of long names
	s := &stream{source: &sourceReader{r: r}}
	s.in = bufio.NewReaderSize(s.source, 64<<10)
	s.size = limits.TotalBytes + int64(limits.Files)*perEntry + 1<<20
	s.limit = s.size
	magic, err := s.in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return s, nil
	}
	if s.zip, err = gzip.NewReader(s.in); err != nil {
		return nil, s.readError(err)
	}
	s.zip.Multistream(false)
	return s, nil
}

// Read reads the tar. It never returns io.EOF together with bytes.
func (s *stream) Read(p []byte) (n int, err error) {
	if s.limit <= 0 {
		return 0, diag.Errorf(diag.Invalid, "the unpacked archive is larger than %d bytes", s.size)
	}
	p = p[:min(int64(len(p)), s.limit)]
	if s.zip != nil {
		n, err = s.zip.Read(p)
	} else {
		n, err = s.in.Read(p)
	}
	s.limit -= int64(n)
	if errors.Is(err, io.EOF) && n > 0 {
		return n, nil
	}
	s.ended = s.ended || errors.Is(err, io.EOF)
	return n, err
}

// finish checks, at the end of the tar, that there was an end mark, that only padding follows it, that the compressed
// stream is complete, and that nothing follows that.
func (s *stream) finish() error {
	if s.ended {
		return diag.Errorf(diag.Invalid, "the archive is truncated: the end mark is missing")
	}
	buf := make([]byte, 4<<10)
	const maxPadding = 1 << 20
	for padding := 0; !s.ended; {
		n, err := s.Read(buf)
		if padding += n; padding > maxPadding || len(bytes.TrimLeft(buf[:n], "\x00")) > 0 {
			return diag.Errorf(diag.Invalid, "data follows the last entry of the archive")
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return s.readError(err)
		}
	}
	if s.zip == nil {
		return nil
	}
	if _, err := s.in.ReadByte(); err == nil {
		return diag.Errorf(diag.Invalid, "data follows the compressed stream")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// readError describes the errors of the tar and gzip readers about damaged input, with the code Invalid. It returns
// errors of the source and of the sink as they are.
func (s *stream) readError(err error) error {
	if s.source.err != nil {
		return s.source.err
	}
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return diag.Errorf(diag.Invalid, "the archive is truncated")
	case errors.Is(err, gzip.ErrChecksum):
		return diag.Errorf(diag.Invalid, "the compressed stream does not match its checksum")
	case errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt), errors.As(err, &internal):
		return diag.Errorf(diag.Invalid, "the compressed stream is corrupt")
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong):
		return diag.Errorf(diag.Invalid, "the archive is corrupt or not a tar archive: invalid header")
	}
	return err
}

// sourceReader records the error of its reader, because the readers above it may replace or wrap it.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
