package gitcmd

import (
	"io"
	"strings"
	"testing"
)

// TestLimitedBuffer checks that output beyond the limit is not kept, by whichever method it is written.
func TestLimitedBuffer(t *testing.T) {
	for _, fails := range []bool{false, true} {
		b := &limitedBuffer{limit: 100, strict: fails}
		text := strings.Repeat("x", 70)
		n, err := io.Copy(b, io.LimitReader(endlessText{}, 1<<20))
		if len(b.data) != 100 || cap(b.data) > 1000 || !b.exceeded || (err != nil) != fails || fails == (n == 1<<20) {
			t.Errorf("fails %v: %d bytes are kept of %d, %v", fails, len(b.data), n, err)
		}
		b = &limitedBuffer{limit: 140, strict: fails}
		for range 2 {
			if n, err := io.WriteString(b, text); n != 70 || err != nil || b.exceeded {
				t.Errorf("fails %v: %d, %v", fails, n, err)
			}
		}
	}
}

// endlessText is an endless reader.
type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
