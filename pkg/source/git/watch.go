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
	window       = 15 * time.Second
	slowWindows  = 2
	slowBytes    = 1 << 10 * int64(window/time.Second)
	stallTimeout = 60 * time.Second // without any byte
	preparing    = 5 * time.Minute
)

var (
	errSilent = diag.Errorf(diag.Remote, "the server was silent for %d seconds", int(stallTimeout.Seconds()))
	errSlow   = diag.Errorf(diag.Remote, "the server sent less than a kilobyte a second")
)

// patience cancels a transfer in which no data arrives for stallTimeout, or too little. Time in which the client does
// not read does not count.
type patience struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   timer
	opaque  bool // the client cannot see whether git waits for the server
	waiting atomic.Bool
	flowing atomic.Bool // the server has finished its preparation
	ended   atomic.Bool
	n       atomic.Int64 // received bytes

	last   int64 // n at the end of the last window that was fast enough
	before int64 // n at the end of the last window
	slow   int   // windows since last
	silent int   // windows in a row without data
}

// watch returns a context that is canceled if the server stalls.
func (c *Client) watch(ctx context.Context) (context.Context, *patience) {
	return c.start(ctx, &patience{})
}

// watchProgram is like watch for a git binary. From outside it is not visible whether git waits for the server or
// processes data, so the minimum rate applies to the longer time of preparation. Git itself detects silence
// (http.lowSpeedTime).
func (c *Client) watchProgram(ctx context.Context) (context.Context, *patience) {
	return c.start(ctx, &patience{opaque: true})
}

func (c *Client) start(ctx context.Context, p *patience) (context.Context, *patience) {
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.waiting.Store(true)
	p.timer = c.clock.after(math.MaxInt64, p.endWindow)
	p.timer.Reset(window) // only now, because endWindow uses p.timer
	return p.ctx, p
}

// endWindow evaluates a window and starts the next.
func (p *patience) endWindow() {
	if p.ended.Load() {
		return
	}
	n := p.n.Load()
	waiting, came, sinceLast := p.waiting.Load(), n-p.before, n-p.last
	p.before = n
	if p.silent++; !waiting || came > 0 {
		p.silent = 0
	}
	if p.slow++; !waiting || sinceLast >= slowBytes*int64(min(p.slow, slowWindows)) {
		p.last, p.slow = n, 0
		p.flowing.CompareAndSwap(false, waiting && !p.opaque)
	}
	switch {
	case p.silent >= int(stallTimeout/window) && !p.opaque:
		p.cancel(errSilent)
	case p.slow >= int(preparing/window), p.slow >= slowWindows && p.flowing.Load():
		p.cancel(errSlow)
	default:
		p.timer.Reset(window)
	}
}

// explain returns errSilent or errSlow if that is the cause of an error.
func (p *patience) explain(err error) error {
	if cause := context.Cause(p.ctx); err != nil && (errors.Is(cause, errSilent) || errors.Is(cause, errSlow)) {
		return cause
	}
	return err
}

// end stops the timer and cancels the context.
func (p *patience) end() {
	p.ended.Store(true)
	p.timer.Stop()
	p.cancel(nil)
}

// packStream is the pack in a response, with errors that name a stall.
type packStream struct {
	io.Reader
	answer *watchedStream
}

func (s *packStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.answer.patience.explain(err)
	}
	return n, err
}

// Close closes the response.
func (s *packStream) Close() error { return s.answer.Close() }

// watchedStream is a response body that fails if the server stalls.
type watchedStream struct {
	io.Reader
	response io.Closer
	patience *patience
}

func (s *watchedStream) Read(p []byte) (int, error) {
	s.patience.waiting.Store(true)
	n, err := s.Reader.Read(p)
	s.patience.waiting.Store(false)
	s.patience.n.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		err = s.patience.explain(err)
	}
	return n, err
}

// Close closes the response.
func (s *watchedStream) Close() error {
	defer s.patience.end()
	return s.response.Close()
}
