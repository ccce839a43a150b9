package httpx

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/activity"
)

// A server that is overloaded says so to one request, but means all of them. The limiter makes parallel requests to a
// host behave like one client: after status 429 or 503, all wait as long as the server requests, and fewer run in
// parallel: half as many at once, and one more after some responses without another refusal (additive increase,
// multiplicative decrease). The oldest request goes first, so that none is refused again and again.

const (
	// maxParallel is the number of parallel requests from which the limiter does not limit them.
	maxParallel = 32
	// probeAfter is the number of responses after which one more request runs in parallel. It is large enough for a
	// server that allows a few requests a second to receive them one by one.
	probeAfter = 8
)

// limiter is shared by all requests of a transport.
type limiter struct {
	mu       sync.Mutex
	requests uint64
	hosts    map[string]*hostLimit
}

// hostLimit is the state of one host.
type hostLimit struct {
	active   int // requests without a response yet
	parallel int // the most of them; 0 for any number
	answered int // responses since parallel changed
	round    int // increases with each decrease of parallel
	pauses   int // delays that have not ended
	refusals int // rounds since the server last accepted a request
	queue    []*ticket
}

// ticket is a request that waits for its turn.
type ticket struct {
	number uint64 // in the order of the requests
	ready  chan struct{}
	round  int // when it was sent
}

// next returns the number of a new request.
func (l *limiter) next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	return l.requests
}

// acquire waits until a request may be sent. The result is for refuse.
func (l *limiter) acquire(ctx context.Context, host string, number uint64) (round int, err error) {
	l.mu.Lock()
	if l.hosts == nil {
		l.hosts = make(map[string]*hostLimit)
	}
	h := l.hosts[host]
	if h == nil {
		h = &hostLimit{}
		l.hosts[host] = h
	}
	t := &ticket{number: number, ready: make(chan struct{})}
	i, _ := slices.BinarySearchFunc(h.queue, number, func(t *ticket, n uint64) int { return int(t.number) - int(n) })
	h.queue = slices.Insert(h.queue, i, t)
	h.dispatch()
	l.mu.Unlock()
	select {
	case <-t.ready:
		return t.round, nil
	default:
	}
	defer activity.Begin(ctx, &activity.Wait{Source: host}).End()
	select {
	case <-t.ready:
		return t.round, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(h.queue, t); i >= 0 {
		h.queue = slices.Delete(h.queue, i, i+1)
	} else {
		h.active-- // it was its turn just now
		h.dispatch()
	}
	return 0, ctx.Err()
}

// accept ends a request that the server did not refuse. After some of them, one more runs in parallel.
func (l *limiter) accept(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	h.active--
	h.refusals = 0
	if h.answered++; h.parallel > 0 && h.answered == probeAfter {
		h.parallel, h.answered = h.parallel+1, 0
	}
	if h.parallel > maxParallel {
		h.parallel = 0
	}
	h.dispatch()
}

// refuse ends a request that the server refused because it is overloaded: all requests wait for a delay, and half as
// many run in parallel, but requests that were sent before the last decrease cause no other one. The result is the
// number of decreases since the server last accepted a request.
func (l *limiter) refuse(host string, round int, requested time.Duration) (refusals int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if round == h.round {
		h.round++
		h.refusals++
		h.parallel, h.answered = max(1, h.active/2), 0
	}
	h.active--
	h.pauses++
	time.AfterFunc(max(requested, backoff(h.refusals-1)), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		h.pauses--
		h.dispatch()
	})
	return h.refusals
}

// dispatch starts the requests whose turn it is.
func (h *hostLimit) dispatch() {
	for len(h.queue) > 0 && h.pauses == 0 && (h.parallel == 0 || h.active < h.parallel) {
		t := h.queue[0]
		h.queue = h.queue[1:]
		h.active++
		t.round = h.round
		close(t.ready)
	}
}

// limited is a transport for the attempts of one request.
type limited struct {
	next     http.RoundTripper
	limiter  *limiter
	number   uint64
	refusals int // as of the last attempt; see [limiter.refuse]
}

// RoundTrip waits for the request's turn and sends it.
func (t *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	round, err := t.limiter.acquire(req.Context(), host, t.number)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as the contract of RoundTripper requires; nothing was sent
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil || !isBusy(resp) {
		t.limiter.accept(host)
		return resp, err
	}
	delay := retryAfter(resp)
	if delay > longestWait { // the request fails, and so does the next one
		delay = 0
	}
	t.refusals = t.limiter.refuse(host, round, delay)
	return resp, nil
}

// isBusy reports whether a server refused a request because it receives too many.
func isBusy(resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
}

// BusyHint returns what the user can do if a server has refused requests with a status for too long, or "" for another
// status. Login is the command that raises the limit, or "" if there is none.
func BusyHint(status int, host, login string) string {
	switch {
	case status == http.StatusTooManyRequests && login != "":
		return "wait and try again, or raise the limit with: " + login
	case status == http.StatusTooManyRequests:
		return "wait and try again"
	case status == http.StatusServiceUnavailable:
		return "wait and try again; if the problem continues, ask the operator of " + host
	}
	return ""
}
