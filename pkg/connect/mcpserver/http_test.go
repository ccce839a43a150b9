package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

const token = "0123456789abcdef0123456789abcdef"

// streamable is a client's transport with the token.
func streamable(url string) *mcp.StreamableClientTransport {
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken{}}}
}

// withToken adds the token to requests.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}

// listen serves a place over HTTP with the token, and returns the address.
func (p *place) listen(o mcpserver.HTTPOptions) string {
	p.t.Helper()
	o.Token = token
	l, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	s := p.server()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	over := make(chan error, 1)
	go func() { over <- s.ServeHTTP(ctx, l, o) }()
	p.t.Cleanup(func() {
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			p.t.Errorf("it ended with %v", err)
		}
	})
	return "http://" + l.Addr().String() + mcpserver.Path
}

// post sends one message, and returns the answer's status and body.
func post(t *testing.T, url string, header map[string]string, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	for name, value := range header {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(data)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestDoor checks who may send requests: this machine, its pages and allowed ones, and with a token everyone who has
// it.
func TestDoor(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	open := p.listen(mcpserver.HTTPOptions{Origins: []string{"https://tools.example"}})
	closed := p.listen(mcpserver.HTTPOptions{})
	for i, tt := range []struct {
		url    string
		header map[string]string
		want   int
	}{
		{open, nil, 200},
		{open, map[string]string{"Host": "localhost:1"}, 200},
		{open, map[string]string{"Host": "[::1]:99"}, 200},
		{open, map[string]string{"Host": "evil.example"}, 403},
		{open, map[string]string{"Host": "127.0.0.1.evil.example"}, 403},
		{open, map[string]string{"Host": "localhost.evil.example:80"}, 403},
		{open, map[string]string{"Origin": "http://localhost:3000"}, 200},
		{open, map[string]string{"Origin": "http://127.0.0.1"}, 200},
		{open, map[string]string{"Origin": "https://tools.example"}, 200},
		{open, map[string]string{"Origin": "http://tools.example"}, 403},
		{open, map[string]string{"Origin": "https://tools.example.evil.example"}, 403},
		{open, map[string]string{"Origin": "http://evil.example"}, 403},
		{open, map[string]string{"Origin": "null"}, 403},
		{open, map[string]string{"Origin": "http://localhost@evil.example"}, 403},
		{open, map[string]string{"Content-Type": "text/plain"}, 415},
		{open, map[string]string{"Mcp-Session-Id": "none"}, 404},
		{closed, map[string]string{"Authorization": ""}, 401},
		{closed, map[string]string{"Authorization": "Bearer " + token}, 200},
		{closed, map[string]string{"Authorization": "bearer " + token}, 200},
		{closed, map[string]string{"Authorization": "Bearer " + token + "x"}, 401},
		{closed, map[string]string{"Authorization": "Bearer " + token[1:]}, 401},
		{closed, map[string]string{"Authorization": "Basic " + token}, 401},
		{closed, map[string]string{"Authorization": token}, 401},
		{closed, map[string]string{"Authorization": "Bearer"}, 401},
		{closed, map[string]string{"Authorization": "Bearer " + token, "Origin": "http://evil.example"}, 403},
	} {
		status, header, body := post(t, tt.url, tt.header, initialize)
		if status != tt.want {
			t.Errorf("%d %v: %d, want %d: %s", i, tt.header, status, tt.want, body)
		}
		if strings.Contains(body, token) {
			t.Errorf("%d: the token is in the answer", i)
		}
		if tt.want == 401 && header.Get("WWW-Authenticate") == "" {
			t.Errorf("%d: it is not said that a token is needed", i)
		}
	}
	if status, _, body := post(t, open, nil, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 5<<20)+`"}}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d %s", status, body)
	}
	if status, _, _ := post(t, strings.TrimSuffix(open, mcpserver.Path)+"/other", nil, initialize); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	for _, body := range []string{"", "{", "[]", "null", `"x"`, "\x00", strings.Repeat("[", 10_000)} {
		if status, _, _ := post(t, open, nil, body); status < 400 || status >= 500 {
			t.Errorf("%.20q: %d", body, status)
		}
	}
}

// TestHandler checks that an address that other machines can reach needs a token of a minimum length.
func TestHandler(t *testing.T) {
	s := newPlace(t, nil).server()
	others := &net.TCPAddr{IP: net.IPv4(0, 0, 0, 0), Port: 80}
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	for i, tt := range []struct {
		at   net.Addr
		o    mcpserver.HTTPOptions
		want bool
	}{
		{others, mcpserver.HTTPOptions{}, false},
		{&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, mcpserver.HTTPOptions{}, false},
		{others, mcpserver.HTTPOptions{Token: "short"}, false},
		{others, mcpserver.HTTPOptions{Token: token}, true},
		{here, mcpserver.HTTPOptions{Token: token}, true},
		{here, mcpserver.HTTPOptions{}, false},
		{here, mcpserver.HTTPOptions{Token: "short"}, false},
		{here, mcpserver.HTTPOptions{Token: token, Origins: []string{"tools.example"}}, false},
		{here, mcpserver.HTTPOptions{Token: token, Origins: []string{"https://tools.example/x"}}, false},
	} {
		if _, err := s.Handler(tt.at, tt.o); (err == nil) != tt.want || err != nil && diag.CodeOf(err) != diag.Usage {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestHTTPSessions checks that a client of an older protocol has its own session, and that one of the newest protocol
// names it.
func TestHTTPSessions(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "Do it.")})
	url := p.listen(mcpserver.HTTPOptions{})
	newest, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), streamable(url), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer newest.Close()
	if !strings.Contains(newest.InitializeResult().Instructions, "- a: Does a") {
		t.Errorf("%+v", newest.InitializeResult())
	}
	for range 2 { // nothing is kept for who names no session
		if res, text := call(t, newest, "skill", map[string]any{"name": "a"}); res.IsError {
			t.Error(text)
		}
	}
	if res, text := call(t, newest, "skill", map[string]any{"name": "a", "session": "my conversation"}); res.IsError {
		t.Error(text)
	}
	if res, text := call(t, newest, "skill", map[string]any{"name": "a", "session": "my conversation"}); res.IsError || !strings.Contains(text, "already active") {
		t.Errorf("%q", text)
	}
	if _, err := newest.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"name": "a", "session": strings.Repeat("x", 1000)}}); !invalidParams(err) {
		t.Errorf("%v", err)
	}
	if schema, _ := json.Marshal(toolNames(t, newest)["skill"].InputSchema); !strings.Contains(string(schema), `"session"`) {
		t.Errorf("%s", schema)
	}
	status, header, _ := post(t, url, nil, initialize)
	id := header.Get("Mcp-Session-Id")
	if status != 200 || id == "" {
		t.Fatalf("%d, %v", status, header)
	}
	ask := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"skill","arguments":{"name":"a"}}}`
	with := map[string]string{"Mcp-Session-Id": id}
	if _, _, body := post(t, url, with, ask); !strings.Contains(body, "Do it.") {
		t.Errorf("%s", body)
	}
	if _, _, body := post(t, url, with, ask); !strings.Contains(body, "already active") {
		t.Errorf("%s", body)
	}
}

// TestO10NoSessionNoGateway checks SPEC O10: if calls are checked against the active skills, every client needs a
// session.
func TestO10NoSessionNoGateway(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "allowed-tools: [Read]\n", "x")})
	p.options.Attach = func(to *mcp.Server, check func(context.Context, tool.Call) error) func() {
		to.AddTool(&mcp.Tool{Name: "other__write", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := check(ctx, tool.Call{Tool: "mcp__other__write"}); err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			return &mcp.CallToolResult{}, nil
		})
		return func() {}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(), streamable(p.listen(mcpserver.HTTPOptions{})), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.InitializeResult().ProtocolVersion; got >= "2026-07-28" {
		t.Errorf("the protocol is %s, which has no sessions", got)
	}
	call(t, c, "skill", map[string]any{"name": "a"})
	if res, text := call(t, c, "other__write", nil); !res.IsError {
		t.Errorf("%q", text)
	}
}

// TestHTTPListChanged checks that clients over HTTP are notified of changed lists, too.
func TestHTTPListChanged(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	changed := make(chan struct{}, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	c, err := client.Connect(t.Context(), streamable(p.listen(mcpserver.HTTPOptions{})), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	toolNames(t, c)
	p.write(project+"b/SKILL.md", skillText("b", "", "x"))
	<-changed
	if toolNames(t, c)["skill"] == nil {
		t.Error("the tool is gone")
	}
}

// TestHTTPCancelled checks that a cancelled request gets no answer over HTTP, either.
func TestHTTPCancelled(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("the script is one of a Unix shell")
	}
	p := newPlace(t, map[string]string{
		project + "wait/SKILL.md": skillText("wait", "", "x"), project + "wait/scripts/wait.sh": "#!/bin/sh\nexec sleep 100\n",
	})
	s := p.server()
	s.SetPatience(time.Minute, time.Millisecond)
	h, err := s.Handler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, mcpserver.HTTPOptions{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	url := server.URL + mcpserver.Path
	_, header, _ := post(t, url, nil, initialize)
	session := map[string]string{"Mcp-Session-Id": header.Get("Mcp-Session-Id")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":`+
		`{"name":"skill_run","arguments":{"skill":"wait","script":"scripts/wait.sh"},"_meta":{"progressToken":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session["Mcp-Session-Id"], "Authorization": "Bearer " + token} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "notifications/progress") {
	}
	if status, _, body := post(t, url, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`); status >= 300 {
		t.Fatalf("%d %s", status, body)
	}
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"id":"slow"`) {
			t.Errorf("it is answered: %s", lines.Text())
		}
	}
	if _, _, body := post(t, url, session, `{"jsonrpc":"2.0","id":"slow","method":"ping"}`); !strings.Contains(body, `"result"`) {
		t.Errorf("the next request is not answered: %s", body)
	}
}
