package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// stream reads one of a command's outputs.
type stream struct {
	read, write *os.File
	out         io.Writer // gets all output; may be nil
	ended       chan struct{}

	mu    sync.Mutex // guards the capture, because a blocked write can outlast the command
	keep  capture
	sum   hash.Hash
	total int64
}

func newStream(out io.Writer, most int64) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{
		read: r, write: w, out: out, ended: make(chan struct{}), keep: capture{limit: int(max(most, 0))},
		sum: sha256.New(),
	}, nil
}

// start begins to read, after the command has got its end of the pipe.
func (s *stream) start() {
	_ = s.write.Close()
	bug.Go(s.drain)
}

func (s *stream) drain() {
	defer close(s.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.read.Read(buffer)
		if n > 0 {
			s.take(buffer[:n])
			if s.out != nil {
				if _, failed := s.out.Write(buffer[:n]); failed != nil {
					_ = s.read.Close() // the command gets SIGPIPE
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *stream) take(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += int64(len(data))
	s.sum.Write(data)
	s.keep.add(data)
}

// close closes both ends of the pipe, which ends the reading.
func (s *stream) close() { _, _ = s.read.Close(), s.write.Close() }

// captured returns the captured bytes, the total number of bytes, and the digest of all of them.
func (s *stream) captured() ([]byte, int64, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep.bytes(s.total), s.total, "sha256:" + hex.EncodeToString(s.sum.Sum(nil))
}

func (s *stream) cut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total > int64(s.keep.limit)
}

// capture keeps the first and the last bytes of a stream, each up to half of limit.
type capture struct {
	limit int
	head  []byte
	tail  []byte // a ring buffer once it is full
	start int    // start of the ring
}

func (k *capture) add(data []byte) {
	if space := k.limit/2 - len(k.head); space > 0 {
		n := min(space, len(data))
		k.head = append(k.head, data[:n]...)
		data = data[n:]
	}
	size := k.limit - k.limit/2
	if len(data) > size {
		data = data[len(data)-size:]
	}
	if n := min(size-len(k.tail), len(data)); n > 0 {
		k.tail = append(k.tail, data[:n]...)
		data = data[n:]
	}
	for len(data) > 0 {
		n := copy(k.tail[k.start:], data)
		k.start = (k.start + n) % size
		data = data[n:]
	}
}

// bytes returns the captured bytes, with a line in place of omitted ones. It does not split characters.
func (k *capture) bytes(total int64) []byte {
	last := append(append(make([]byte, 0, len(k.tail)), k.tail[k.start:]...), k.tail[:k.start]...)
	if total <= int64(k.limit) {
		return append(append(make([]byte, 0, total), k.head...), last...)
	}
	if k.limit == 0 {
		return nil
	}
	head := k.head[:len(k.head)-halfRune(k.head)]
	for i := 0; i < utf8.UTFMax-1 && len(last) > 0 && !utf8.RuneStart(last[0]); i++ {
		last = last[1:]
	}
	missing := total - int64(len(head)) - int64(len(last))
	return fmt.Appendf(append([]byte(nil), head...), "\n[%d bytes omitted]\n%s", missing, last)
}

// halfRune returns how many bytes at the end of b belong to an incomplete character.
func halfRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
