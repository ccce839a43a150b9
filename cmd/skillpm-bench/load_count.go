package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// counter passes requests on to a server, and counts them and the bytes on the connections.
type counter struct {
	host string
	stop func()

	mu       sync.Mutex
	requests int
	current  int // answers with 304
	received atomic.Int64
	sent     atomic.Int64 // by clients
}

func newCounter(target string) (*counter, error) {
	c := &counter{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: target})
			r.Out.Host = r.In.Host // registries put it into locations
		},
		ModifyResponse: func(r *http.Response) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.requests++
			if r.StatusCode == http.StatusNotModified {
				c.current++
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.host = listener.Addr().String()
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(&countedListener{listener, c}) }() // until it is closed
	c.stop = func() { _ = server.Close() }
	return c, nil
}

// take returns the counts since the last call.
func (c *counter) take() (requests, current int, received, sent int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, current = c.requests, c.current
	c.requests, c.current = 0, 0
	return requests, current, c.received.Swap(0), c.sent.Swap(0)
}

type countedListener struct {
	net.Listener
	counter *counter
}

func (l *countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{conn, l.counter}, nil
}

type countedConn struct {
	net.Conn
	counter *counter
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.counter.sent.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.counter.received.Add(int64(n))
	return n, err
}

// commandLoad is what a command asks servers for.
type commandLoad struct {
	Command  string   `json:"command"`
	Index    exchange `json:"index"`
	Registry exchange `json:"registry"`
}

// exchange is what a client and a server exchanged.
type exchange struct {
	Requests    int   `json:"requests"`
	NotModified int   `json:"not_modified"`
	Received    int64 `json:"received_bytes"`
	Sent        int64 `json:"sent_bytes"`
}

// serveIndex starts "skillpm index serve".
func (l *load) serveIndex(ctx context.Context) (*server, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	host := "127.0.0.1:" + ports[0]
	cmd := exec.CommandContext(ctx, l.tools.skillpm.path, "index", "serve", l.index, "--listen", host, "--quiet")
	cmd.Env = l.environ("server")
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l.stops = append(l.stops, func() { _ = cmd.Cancel(); _ = cmd.Wait() })
	return &server{name: "skillpm index serve", host: host, pid: cmd.Process.Pid}, waitFor(ctx, host)
}

// countCommands runs skillpm's commands, and counts what they ask for.
func (l *load) countCommands(ctx context.Context) error {
	l.note("counting the requests of commands")
	project, home := l.project("ours"), l.home("ours")
	manifest := fmt.Sprintf("registries:\n  - {name: all, url: \"http://%s\"}\n", l.indexCounter.host)
	name := owner + "/main"
	start := func(dirs ...string) error {
		err := l.fresh(dirs...)
		if err == nil {
			err = os.WriteFile(filepath.Join(project, "skillpm.yaml"), []byte(manifest), 0o644)
		}
		return err
	}
	frozen := func() error { // as after a clone
		return prune(project, "skillpm.yaml", "skillpm.lock")
	}
	search := []string{"search", "bench", "main"}
	for _, step := range []struct {
		title  string
		before func() error
		args   []string
	}{
		{"install, empty caches", func() error { return start(home, project) }, []string{"install", name}},
		{"install again, nothing to do", nil, []string{"install"}},
		{"outdated", nil, []string{"outdated"}},
		{"install in another project, full caches", func() error { return start(project) }, []string{"install", name}},
		{"install --frozen, empty caches (CI)", func() error {
			return errors.Join(frozen(), l.fresh(home))
		}, []string{"install", "--frozen"}},
		{"install --frozen, full caches", frozen, []string{"install", "--frozen"}},
		{"search, first", nil, search},
		{"search, again", nil, search},
		{"search, after a change of the index", func() error { return l.changeIndex(ctx, 0) }, search},
	} {
		if step.before != nil {
			if err := step.before(); err != nil {
				return err
			}
		}
		l.takeCounts()
		if _, err := output(ctx, project, l.environ("ours"), l.tools.skillpm.path,
			step.args...); err != nil {
			return err
		}
		row := l.takeCounts()
		row.Command = step.title
		l.report.Commands = append(l.report.Commands, row)
	}
	return nil
}

// takeCounts returns the counts of both servers since the last call.
func (l *load) takeCounts() (c commandLoad) {
	for counter, e := range map[*counter]*exchange{l.indexCounter: &c.Index, l.registryCounter: &c.Registry} {
		e.Requests, e.NotModified, e.Received, e.Sent = counter.take()
	}
	return c
}
