// Package memo caches what concurrent callers fetch, so that each value is fetched once.
package memo

import (
	"context"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// Map fetches each value once: concurrent callers share one fetch, and successful results are cached. Errors go to
// all waiting callers and are not cached. The zero Map is empty and safe for concurrent use.
type Map[K comparable, V any] struct {
	Now  func() time.Time // nil: results never expire
	Keep time.Duration

	mu    sync.Mutex
	found map[K]answer[V]
	calls map[K]*call[V]
}

type answer[V any] struct {
	value   V
	created time.Time
}

type call[V any] struct {
	ready chan struct{}
	value V
	err   error
}

// maxValues limits the number of cached results.
const maxValues = 10_000

// Get returns the cached value for a key, or fetches it.
func (m *Map[K, V]) Get(ctx context.Context, key K, fetch func(context.Context) (V, error)) (V, error) {
	for {
		m.mu.Lock()
		if a, ok := m.found[key]; ok && m.fresh(a.created) {
			m.mu.Unlock()
			return a.value, nil
		}
		c, pending := m.calls[key]
		if !pending {
			c = m.callLocked(key)
		}
		m.mu.Unlock()
		if !pending {
			c.value, c.err = fetch(ctx)
			m.end(key, c)
			return c.value, c.err
		}
		select {
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		case <-c.ready:
		}
		if c.err == nil || httpx.EndOfContext(c.err) == nil {
			return c.value, c.err
		} // the caller that fetched gave up, which is not an answer
	}
}

func (m *Map[K, V]) fresh(now time.Time) bool {
	if m.Now == nil {
		return true
	}
	age := m.Now().Sub(now)
	return age >= 0 && age < m.Keep
}

func (m *Map[K, V]) callLocked(key K) *call[V] {
	if m.calls == nil {
		m.calls, m.found = make(map[K]*call[V]), make(map[K]answer[V])
	}
	c := &call[V]{ready: make(chan struct{})}
	m.calls[key] = c
	return c
}

func (m *Map[K, V]) end(key K, c *call[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.calls, key)
	close(c.ready)
	if c.err != nil {
		return
	}
	if len(m.found) >= maxValues {
		clear(m.found)
	}
	a := answer[V]{value: c.value}
	if m.Now != nil {
		a.created = m.Now()
	}
	m.found[key] = a
}
