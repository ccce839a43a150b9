package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
)

// An answer has to bring a kilobyte a second while it is waited for, which any line that works does. One that brings
// less in two windows of time in a row is as good as broken: a server that says nothing for ever, or a byte a second,
// must not hold an installation up for good.
const (
	window      = 15 * time.Second
	slowStrikes = 2
	slowTime    = slowStrikes * window
	slowBytes   = 1 << 10 * int64(window/time.Second)
)

// slowError says that an answer brought too little.
type slowError struct {
	host string
	n    int64 // bytes in slowTime
}

func (e *slowError) Error() string {
	if e.n == 0 {
		return fmt.Sprintf("%s: nothing came for %s", e.host, slowTime)
	}
	return fmt.Sprintf("%s: only %d bytes came in %s", e.host, e.n, slowTime)
}

// Code returns [diag.Remote].
func (e *slowError) Code() diag.Code { return diag.Remote }

// Hint says what to do.
func (e *slowError) Hint() string { return "check the network, then try again" }

// watcher is a transport that ends answers which bring too little.
type watcher struct{ next http.RoundTripper }

// RoundTrip sends a request and watches over the answer's body.
func (w *watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	resp, err := w.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	if resp.Body == http.NoBody {
		cancel()
		return resp, nil
	}
	resp.Body = watch(resp.Body, req.URL.Host, cancel)
	return resp, nil
}

// CloseIdleConnections closes what the transport below keeps open.
func (w *watcher) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// watched is a body that is read under watch. That its reader takes its time does not count: at the end of a window
// only a body that is being waited for is checked.
type watched struct {
	body    io.ReadCloser
	host    string
	cancel  context.CancelFunc
	timer   *time.Timer
	waiting atomic.Bool
	n       atomic.Int64
	last    int64 // n at the end of the last window that was not too slow
	strikes int   // windows since
	closed  atomic.Bool
	slow    atomic.Pointer[slowError]
}

func watch(body io.ReadCloser, host string, cancel context.CancelFunc) *watched {
	w := &watched{body: body, host: host, cancel: cancel}
	w.timer = time.AfterFunc(math.MaxInt64, w.endWindow)
	w.timer.Reset(window) // only now, because endWindow uses w.timer
	return w
}

// endWindow ends a window.
func (w *watched) endWindow() {
	if w.closed.Load() {
		return
	}
	n := w.n.Load()
	came := n - w.last
	if !w.waiting.Load() || came >= slowBytes*int64(w.strikes+1) {
		w.last, w.strikes = n, 0
	} else if w.strikes++; w.strikes == slowStrikes {
		w.slow.Store(&slowError{w.host, came})
		w.cancel()
		return
	}
	w.timer.Reset(window)
}

func (w *watched) Read(p []byte) (int, error) {
	w.waiting.Store(true)
	n, err := w.body.Read(p)
	w.waiting.Store(false)
	w.n.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		if slow := w.slow.Load(); slow != nil {
			return n, slow
		}
	}
	return n, err
}

// Close gives the connection up, or back.
func (w *watched) Close() error {
	w.closed.Store(true)
	w.timer.Stop()
	err := w.body.Close()
	w.cancel()
	return err
}
