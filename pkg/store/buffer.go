package store

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// maxQueued is the most bytes of files that all Writers of a Store keep in memory.
	maxQueued = 16 << 20
	// maxBuffered is the size of the largest file that is read into memory, so that a worker can write it while the
	// next one is read.
	maxBuffered = 128 << 10

	smallBuffer = 18 << 10 // fits most files; the allocator does not round up these sizes
	largeBuffer = maxBuffered + 8<<10
)

// bufferPool provides buffers for files, with a total capacity of maxQueued.
type bufferPool struct {
	available    *semaphore.Weighted
	small, large sync.Pool
}

func newBufferPool() *bufferPool {
	b := &bufferPool{available: semaphore.NewWeighted(maxQueued)}
	b.small.New = func() any { return newBuffer(smallBuffer) }
	b.large.New = func() any { return newBuffer(largeBuffer) }
	return b
}

func newBuffer(size int) *[]byte {
	b := make([]byte, 0, size)
	return &b
}

// acquire returns an empty buffer for a file of a size, -1 if unknown. It has room for one byte more than maxBuffered.
// It waits for other users to release buffers; they never need a second one, so there is no deadlock.
func (b *bufferPool) acquire(size int64) *[]byte {
	pool, capacity := &b.large, int64(largeBuffer)
	if size >= 0 && size < smallBuffer {
		pool, capacity = &b.small, smallBuffer
	}
	_ = b.available.Acquire(context.Background(), capacity) // fails only if its context ends
	buffer := pool.Get().(*[]byte)
	*buffer = (*buffer)[:0]
	return buffer
}

// release returns a buffer to the pool. It ignores nil.
func (b *bufferPool) release(buffer *[]byte) {
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
