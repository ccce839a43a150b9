package oci

import (
	"context"
	"sync"
)

// turns lets one goroutine at a time do what a key stands for. Those who waited find what the first one left.
type turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one element while nobody has the turn
	users int           // who has it or waits for it
}

// take waits for the key's turn, which lasts until end is called.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
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

func (t *turns) leave(key string, k *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(t.keys, key)
	}
}
