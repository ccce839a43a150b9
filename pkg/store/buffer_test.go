package store_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// most is the most bytes that a store may buffer for its disk.
const most = 16 << 20

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	bytes *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestSlowDisk blocks all workers of several Writers and sends more files than may be buffered: the rest is not read.
// After the workers continue, everything is written.
func TestSlowDisk(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(32))
	for _, tt := range []struct {
		name        string
		size        int
		files       int // of each writer
		announced   bool
		least, most int64 // buffered bytes
	}{
		{"large", 128 << 10, 48, true, most * 9 / 10, most},
		{"unannounced", 100 << 10, 48, false, most * 7 / 10, most}, // buffers are larger than these files
		{"small", 16 << 10, 400, true, most * 8 / 10, most},
		{"tiny", 10, 400, true, 800 * 10, 1024 * 10}, // the capacity of buffers counts, at least 16 KiB
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { slowDisk(t, tt.size, tt.files, tt.announced, tt.least, tt.most) })
		})
	}
}

func slowDisk(t *testing.T, size, files int, announced bool, least, most int64) {
	s, _ := open(t)
	const writers, workers = 4, 8
	content := bytes.Repeat([]byte("x"), size)
	disk, running := make(chan struct{}), sync.WaitGroup{}
	var live atomic.Int64
	for n := range writers {
		w := writer(t, s, bundle.Limits{})
		var streams, senders sync.WaitGroup
		for k := range workers { // a worker that waits for a reader is blocked as by a slow disk
			streams.Go(func() {
				r := io.MultiReader(bytes.NewReader(make([]byte, 200<<10)), stalled{disk})
				if err := w.WriteFile(fmt.Sprint("s", k), "large", false, 200<<10, r); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // skills are assigned to workers in turn
		}
		for k := range workers {
			senders.Go(func() {
				for i := range files / workers {
					announce := int64(-1)
					if announced {
						announce = int64(size)
					}
					r := counted{bytes.NewReader(content), &live}
					if err := w.WriteFile(fmt.Sprint("s", k), fmt.Sprint("f", i), false, announce, r); err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Go(func() {
			streams.Wait()
			senders.Wait()
			if digests, err := w.Commit(nil); err != nil || len(digests) != workers {
				t.Errorf("writer %d: %v, %v", n, digests, err)
			}
		})
	}
	synctest.Wait()
	if got := live.Load(); got < least || got > most {
		t.Errorf("%d bytes are held, want %d to %d", got, least, most)
	}
	close(disk)
	running.Wait()
	if got, want := live.Load(), int64(writers*(files/workers)*workers*size); got != want {
		t.Errorf("%d bytes were read, want %d", got, want)
	}
}

// stalled blocks until the channel is closed.
type stalled struct{ until chan struct{} }

func (s stalled) Read([]byte) (int, error) {
	<-s.until
	return 0, io.EOF
}

// TestBuffersComeBack checks that files that fail release their buffers.
func TestBuffersComeBack(t *testing.T) {
	s, dir := open(t)
	synctest.Test(t, func(t *testing.T) { // fails if all goroutines are blocked
		for range 2 * most / (128 << 10) {
			w := writer(t, s, bundle.Limits{TotalBytes: 150 << 10})
			for _, size := range []int64{100 << 10, -1} { // shorter than announced, or of unknown size and too large
				if err := w.WriteFile("s", fmt.Sprint("f", size), false, size, io.LimitReader(zeroes{}, 90<<10)); err == nil {
					t.Fatalf("a file of %d bytes was taken", size)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		w := writer(t, s, bundle.Limits{})
		remove(t, dir) // so that its worker fails
		failed := 0
		for n := range 2 * most / (128 << 10) {
			if err := w.WriteFile("s", fmt.Sprint(n), false, 100<<10, io.LimitReader(zeroes{}, 100<<10)); err != nil {
				failed++
			}
			synctest.Wait()
		}
		if failed < 2*most/(128<<10)-2 {
			t.Errorf("only %d of the files that can't be written failed", failed)
		}
	})
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
