package registry

import (
	"context"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// memo answers each question once: who asks while an answer is looked for waits for that one, and what was found is
// kept. Errors are told to all who wait for them and not kept. It is safe for concurrent use.
type memo[K comparable, V any] struct {
	now  func() time.Time // nil where answers are kept for good
	keep time.Duration

	mu    sync.Mutex
	found map[K]answer[V]
	calls map[K]*call[V]
}

type answer[V any] struct {
	value V
	at    time.Time
}

type call[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// mostKept bounds what a memo keeps.
const mostKept = 10_000

// get returns what is known about key, or what look finds.
func (m *memo[K, V]) get(ctx context.Context, key K, look func(context.Context) (V, error)) (V, error) {
	for {
		m.mu.Lock()
		if a, ok := m.found[key]; ok && m.fresh(a.at) {
			m.mu.Unlock()
			return a.value, nil
		}
		c, asked := m.calls[key]
		if !asked {
			c = m.callLocked(key)
		}
		m.mu.Unlock()
		if !asked {
			c.value, c.err = look(ctx)
			m.end(key, c)
			return c.value, c.err
		}
		select {
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		case <-c.done:
		}
		if c.err == nil || httpx.EndOfContext(c.err) == nil {
			return c.value, c.err
		} // it was given up by who looked, which says nothing about the answer
	}
}

func (m *memo[K, V]) fresh(at time.Time) bool {
	if m.now == nil {
		return true
	}
	age := m.now().Sub(at)
	return age >= 0 && age < m.keep
}

func (m *memo[K, V]) callLocked(key K) *call[V] {
	if m.calls == nil {
		m.calls, m.found = make(map[K]*call[V]), make(map[K]answer[V])
	}
	c := &call[V]{done: make(chan struct{})}
	m.calls[key] = c
	return c
}

func (m *memo[K, V]) end(key K, c *call[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.calls, key)
	close(c.done)
	if c.err != nil {
		return
	}
	if len(m.found) >= mostKept {
		clear(m.found)
	}
	a := answer[V]{value: c.value}
	if m.now != nil {
		a.at = m.now()
	}
	m.found[key] = a
}
