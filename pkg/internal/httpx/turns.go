package httpx

import (
	"context"
	"sync"
)

// Turns lets one goroutine at a time do what a key stands for. Those who waited find what the first one left. The
// zero value is ready to use.
type Turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one element while nobody has the turn
	users int           // who has it or waits for it
}

// Take waits for the key's turn, which lasts until end is called.
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
