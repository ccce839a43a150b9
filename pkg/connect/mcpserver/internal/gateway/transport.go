package gateway

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/stdio"
)

// maxRedirects limits the redirects of one request to an upstream.
const maxRedirects = 4

// transport returns the transport of a server, and a function to call after its end.
func (s *server) transport() (mcp.Transport, func(), error) {
	if s.URL != "" {
		return s.remote()
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	if cmd.Dir = s.Dir; !filepath.IsAbs(s.Dir) {
		cmd.Dir = filepath.Join(s.gateway.options.Dir, s.Dir)
	}
	cmd.Env = slices.Clone(s.gateway.options.Environ)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		cmd.Env = append(cmd.Env, name+"="+s.Env[name])
	}
	stderr := &lines{out: cmp.Or(s.gateway.options.Stderr, io.Discard), name: s.Name}
	cmd.Stderr, cmd.WaitDelay = stderr, endLimit
	// there is no other way to report it
	p := &program{cmd: cmd, helper: s.gateway.options.Helper, wanted: s.isWanted, say: func(text string) {
		_, _ = io.WriteString(stderr,
			strings.TrimSuffix(text, "\n")+"\n")
	}}
	return p, func() {
		if cmd.Process != nil {
			p.close()
		}
	}, nil
}

// remote returns the transport of a URL. Redirects must stay on the same host, because the headers may contain a
// credential.
func (s *server) remote() (mcp.Transport, func(), error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, err
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{
		Transport: &headers{base: base, endpoint: endpoint, values: s.Headers},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case req.URL.Host != endpoint.Host || req.URL.Scheme != endpoint.Scheme:
				return fmt.Errorf("%s redirects to %s://%s, which skillpm does not allow", endpoint.Host,
					req.URL.Scheme, req.URL.Host)
			case len(via) > maxRedirects:
				return fmt.Errorf("%s redirects more than %d times", endpoint.Host, maxRedirects)
			}
			return nil
		},
	}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: stdio.MaxMessage},
		base.CloseIdleConnections, nil
}

// headers adds the headers of a server to requests to its host, and bounds the answers.
type headers struct {
	base     http.RoundTripper
	endpoint *url.URL
	values   map[string]string
}

// RoundTrip sends a request.
func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == h.endpoint.Host && req.URL.Scheme == h.endpoint.Scheme {
		req = req.Clone(req.Context())
		for name, value := range h.values {
			req.Header.Set(name, value)
		}
	}
	res, err := h.base.RoundTrip(req)
	// its events are bounded instead
	if err == nil && !strings.HasPrefix(strings.ToLower(res.Header.Get("Content-Type")), "text/event-stream") {
		res.Body = &bounded{ReadCloser: res.Body, remaining: stdio.MaxMessage}
	}
	return res, err
}

// bounded is the body of an answer. Reading fails after a maximum number of bytes.
type bounded struct {
	io.ReadCloser
	remaining int
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining+1)])
	if b.remaining -= n; b.remaining < 0 {
		return 0, fmt.Errorf("the response is larger than %d bytes", stdio.MaxMessage)
	}
	return n, err
}

// lines writes lines with the name of the server before each, and without terminal control characters.
type lines struct {
	out  io.Writer
	name string

	mu   sync.Mutex
	rest []byte
}

// maxLine is the maximum length of a line that is not split.
const maxLine = 8 << 10

// Write writes complete lines.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 && len(l.rest) <= maxLine {
			return len(p), nil
		}
		if end < 0 || end > maxLine {
			end = maxLine
		}
		line := bytes.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, l.rest[:end])
		if _, err := fmt.Fprintf(l.out, "%s: %s\n", l.name, line); err != nil {
			return len(p), nil // a failed write must not end the server
		}
		l.rest = append([]byte(nil), bytes.TrimPrefix(l.rest[end:], []byte("\n"))...)
	}
}
