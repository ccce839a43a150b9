package store

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// mostQueued is how many bytes of files all Writers of a Store hold at a time, between what comes and a disk that
	// is slower. The pools keep as much of either size at most.
	mostQueued = 16 << 20
	// mostBuffered is the size up to which a file is handed to a worker whole, while the next one is being read.
	mostBuffered = 128 << 10

	smallBuffer = 18 << 10 // most files fit; both are sizes that the runtime does not round up
	largeBuffer = mostBuffered + 8<<10
)

// buffers lends memory for files, and no more than mostQueued of it. It counts what the buffers have room for, not what
// is in them.
type buffers struct {
	available    *semaphore.Weighted
	small, large sync.Pool
}

func newBuffers() *buffers {
	b := &buffers{available: semaphore.NewWeighted(mostQueued)}
	b.small.New = func() any { return newBuffer(smallBuffer) }
	b.large.New = func() any { return newBuffer(largeBuffer) }
	return b
}

func newBuffer(size int) *[]byte {
	b := make([]byte, 0, size)
	return &b
}

// lend returns an empty buffer that has room for a file of that size, up to mostBuffered, and for one byte more. A size
// below zero is one that is not known. It waits until others have returned theirs, which they do without taking any
// more.
func (b *buffers) lend(size int64) *[]byte {
	pool, capacity := &b.large, int64(largeBuffer)
	if size >= 0 && size < smallBuffer {
		pool, capacity = &b.small, smallBuffer
	}
	_ = b.available.Acquire(context.Background(), capacity) // it fails only when its context ends
	buffer := pool.Get().(*[]byte)
	*buffer = (*buffer)[:0]
	return buffer
}

// take takes a buffer back; nil is none.
func (b *buffers) take(buffer *[]byte) {
	if buffer == nil {
		return
	}
	pool := &b.large
	if cap(*buffer) == smallBuffer {
		pool = &b.small
	}
	capacity := int64(cap(*buffer))
	pool.Put(buffer)
	b.available.Release(capacity)
}
