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

// A response must deliver a kilobyte a second while the client waits for it. If it delivers less in two successive
// windows, the request fails, so that a stalled server cannot block an installation forever.
const (
	window      = 15 * time.Second
	slowStrikes = 2
	slowTime    = slowStrikes * window
	slowBytes   = 1 << 10 * int64(window/time.Second)
)

// slowError reports that a response was too slow.
type slowError struct {
	host string
	n    int64 // bytes in slowTime
}

func (e *slowError) Error() string {
	if e.n == 0 {
		return fmt.Sprintf("%s sent no data for %s", e.host, slowTime)
	}
	return fmt.Sprintf("%s sent only %d bytes in %s", e.host, e.n, slowTime)
}

// Code returns [diag.Remote].
func (e *slowError) Code() diag.Code { return diag.Remote }

// Hint suggests what to do.
func (e *slowError) Hint() string { return "check the network connection, then try again" }

// watcher is a transport that ends responses that are too slow.
type watcher struct{ next http.RoundTripper }

// RoundTrip sends a request and monitors the speed of the response's body.
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

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (w *watcher) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// watched is a monitored body. The time that its reader takes does not count: at the end of a window, a body is checked
// only if a read is waiting.
type watched struct {
	body    io.ReadCloser
	host    string
	cancel  context.CancelFunc
	timer   *time.Timer
	waiting atomic.Bool
	n       atomic.Int64
	last    int64 // n at the end of the last window that was fast enough
	strikes int   // slow windows since then
	closed  atomic.Bool
	slow    atomic.Pointer[slowError]
}

func watch(body io.ReadCloser, host string, cancel context.CancelFunc) *watched {
	w := &watched{body: body, host: host, cancel: cancel}
	w.timer = time.AfterFunc(math.MaxInt64, w.endWindow)
	w.timer.Reset(window) // set last, because endWindow uses w.timer
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

// Close closes the body.
func (w *watched) Close() error {
	w.closed.Store(true)
	w.timer.Stop()
	err := w.body.Close()
	w.cancel()
	return err
}
