package httpx

import (
	"context"
	"sync"
)

// Turns is a set of locks, one for each key. Goroutines that waited can use the result of the first one. The zero value
// is ready to use.
type Turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one element while the lock is free
	users int           // number of goroutines that hold it or wait for it
}

// Take acquires the key's lock. Calling end releases it.
func (t *Turns) Take(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	if t.keys == nil {
		t.keys = make(map[string]*turn)
	}
	k := t.keys[key]
	if k == nil {
		k = &turn{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		t.keys[key] = k
	}
	k.users++
	t.mu.Unlock()
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; t.leave(key, k) }, nil
	case <-ctx.Done():
		t.leave(key, k)
		return nil, ctx.Err()
	}
}

func (t *Turns) leave(key string, k *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(t.keys, key)
	}
}
