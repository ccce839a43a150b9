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

// An answer has to bring a kilobyte a second while it is waited for, as with registries (package oci). One that brings
// less in two windows of time in a row is as good as broken: a byte now and then must not hold an installation up for
// good. A server that has to put a pack together says only that it is still there, which git's own does every five
// seconds; it may do so for some minutes before the pack comes.
const (
	window       = 15 * time.Second
	slowWindows  = 2
	slowBytes    = 1 << 10 * int64(window/time.Second)
	stallTimeout = 60 * time.Second // how long a server may say nothing at all
	preparing    = 5 * time.Minute
)

var (
	errSilent = diag.Errorf(diag.Remote, "the server was silent for %d seconds", int(stallTimeout.Seconds()))
	errSlow   = diag.Errorf(diag.Remote, "the server sent less than a kilobyte a second")
)

// patience ends a conversation in which nothing comes for stallTimeout, or too little. That what has come is not read
// at once does not count.
type patience struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   timer
	opaque  bool // what comes may be worked on for long before more of it is wanted
	waiting atomic.Bool
	flowing atomic.Bool // nothing is prepared any more
	ended   atomic.Bool
	n       atomic.Int64 // bytes that came

	last   int64 // n at the end of the last window that was not too slow
	before int64 // n at the end of the last window
	slow   int   // windows since last
	silent int   // windows in which nothing came
}

// watch returns a context that ends when the patience with a server does.
func (c *Client) watch(ctx context.Context) (context.Context, *patience) {
	return c.start(ctx, &patience{})
}

// watchProgram is watch for a git binary. Whether it waits for the server, or works on what the server has sent, cannot
// be told from outside, so the rate counts over the minutes of preparing. For silence it has a setting of its own.
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

// endWindow ends a window.
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

// explain returns errSilent or errSlow for an error that the end of patience led to.
func (p *patience) explain(err error) error {
	if cause := context.Cause(p.ctx); err != nil && (errors.Is(cause, errSilent) || errors.Is(cause, errSlow)) {
		return cause
	}
	return err
}

// end stops the watching, and the context.
func (p *patience) end() {
	p.ended.Store(true)
	p.timer.Stop()
	p.cancel(nil)
}

// packStream is the pack in an answer that is watched.
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

// Close ends the answer.
func (s *packStream) Close() error { return s.answer.Close() }

// watchedStream is an answer that comes, as long as patience lasts.
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

// Close ends the answer.
func (s *watchedStream) Close() error {
	defer s.patience.end()
	return s.response.Close()
}
