package git

import (
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A server must send a kilobyte a second on average, as in package oci. A transfer that is slower in two windows in a
// row is canceled, so that a trickle of bytes cannot block an installation forever. While a server prepares a pack, git
// servers send only a keep-alive every five seconds; a server may do so for a few minutes.
const (
	watchWindow    = 15 * time.Second
	slowWindows    = 2
	slowBytes      = 1 << 10 * int64(watchWindow/time.Second)
	stallTimeout   = 60 * time.Second // without any byte
	maxPreparation = 5 * time.Minute
)

var (
	errSilent = diag.Errorf(diag.Remote, "the server was silent for %d seconds", int(stallTimeout.Seconds()))
	errSlow   = diag.Errorf(diag.Remote, "the server sent less than one kilobyte per second")
)

// watchdog cancels a transfer in which no data arrives for stallTimeout, or too little. Time in which the client does
// not read does not count.
type watchdog struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    timer
	program  bool // the client cannot see whether git waits for the server
	reading  atomic.Bool
	prepared atomic.Bool // the server has finished its preparation
	stopped  atomic.Bool
	received atomic.Int64 // received bytes

	lastFast     int64 // received at the end of the last window that was fast enough
	lastReceived int64 // received at the end of the last window
	slowCount    int   // windows since lastFast
	silentCount  int   // windows in a row without data
}

// watch returns a context that is canceled if the server stalls.
func (c *Client) watch(ctx context.Context) (context.Context, *watchdog) {
	return c.start(ctx, &watchdog{})
}

// watchProgram is like watch for a git binary. From outside it is not visible whether git waits for the server or
// processes data, so the minimum rate applies to the longer time of preparation. Git itself detects silence
// (http.lowSpeedTime).
func (c *Client) watchProgram(ctx context.Context) (context.Context, *watchdog) {
	return c.start(ctx, &watchdog{program: true})
}

func (c *Client) start(ctx context.Context, p *watchdog) (context.Context, *watchdog) {
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.reading.Store(true)
	p.timer = c.clock.after(math.MaxInt64, p.endWindow)
	p.timer.Reset(watchWindow) // only now, because endWindow uses p.timer
	return p.ctx, p
}

// endWindow evaluates a window and starts the next.
func (p *watchdog) endWindow() {
	if p.stopped.Load() {
		return
	}
	n := p.received.Load()
	waiting, received, sinceLast := p.reading.Load(), n-p.lastReceived, n-p.lastFast
	p.lastReceived = n
	if p.silentCount++; !waiting || received > 0 {
		p.silentCount = 0
	}
	if p.slowCount++; !waiting || sinceLast >= slowBytes*int64(min(p.slowCount, slowWindows)) {
		p.lastFast, p.slowCount = n, 0
		p.prepared.CompareAndSwap(false, waiting && !p.program)
	}
	switch {
	case p.silentCount >= int(stallTimeout/watchWindow) && !p.program:
		p.cancel(errSilent)
	case p.slowCount >= int(maxPreparation/watchWindow), p.slowCount >= slowWindows && p.prepared.Load():
		p.cancel(errSlow)
	default:
		p.timer.Reset(watchWindow)
	}
}

// explain returns errSilent or errSlow if that is the cause of an error.
func (p *watchdog) explain(err error) error {
	if cause := context.Cause(p.ctx); err != nil && (errors.Is(cause, errSilent) || errors.Is(cause, errSlow)) {
		return cause
	}
	return err
}

// stop stops the timer and cancels the context.
func (p *watchdog) stop() {
	p.stopped.Store(true)
	p.timer.Stop()
	p.cancel(nil)
}

// packStream is the pack in a response, with errors that name a stall.
type packStream struct {
	io.Reader
	response *watchedStream
}

func (s *packStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.response.watchdog.explain(err)
	}
	return n, err
}

// Close closes the response.
func (s *packStream) Close() error { return s.response.Close() }

// watchedStream is a response body that fails if the server stalls.
type watchedStream struct {
	io.Reader
	response io.Closer
	watchdog *watchdog
}

func (s *watchedStream) Read(p []byte) (int, error) {
	s.watchdog.reading.Store(true)
	n, err := s.Reader.Read(p)
	s.watchdog.reading.Store(false)
	s.watchdog.received.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.watchdog.explain(err)
	}
	return n, err
}

// Close closes the response.
func (s *watchedStream) Close() error {
	defer s.watchdog.stop()
	return s.response.Close()
}
