package ocitest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// Pipe returns a transport that carries every request, whatever its host, to handler over connections in memory; HTTPS
// is taken for granted. In a bubble of testing/synctest no time passes while it waits.
func Pipe(t testing.TB, handler http.Handler) *http.Transport {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	transport := httpx.NewTransport()
	transport.Proxy = nil
	transport.DialContext = l.dial
	transport.DialTLSContext = l.dial
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return transport
}

// pipes is a listener on connections in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }
