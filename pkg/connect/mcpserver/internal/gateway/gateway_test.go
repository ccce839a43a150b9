package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// fixture is a gateway behind one of our servers, and a client of that server.
type fixture struct {
	client *mcp.ClientSession
	stderr *testkit.Buffer
	wire   *testkit.Buffer // what the client read and wrote

	mu       sync.Mutex
	calls    []tool.Call // that were asked about
	refuse   string      // the tool that must not be called
	progress chan *mcp.ProgressNotificationParams
	listed   chan struct{} // the list of tools has changed
}

// check records a call, and refuses one tool.
func (w *fixture) check(_ context.Context, c tool.Call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if c.Tool == w.refuse {
		return errors.New("skill deploy does not allow " + c.Tool)
	}
	return nil
}

// program is this test binary as a server.
func program(t *testing.T, env map[string]string) gateway.Upstream {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"GATEWAY_TEST_SERVER": "1"}
	maps.Copy(all, env)
	return gateway.Upstream{Name: "up", Command: []string{self}, Env: all}
}

func open(t *testing.T, upstreams ...gateway.Upstream) *fixture {
	t.Helper()
	return openFor(t, "2025-11-25", upstreams...)
}

func openFor(t *testing.T, version string, upstreams ...gateway.Upstream) *fixture {
	t.Helper()
	w := &fixture{stderr: &testkit.Buffer{}, wire: &testkit.Buffer{}, progress: make(chan *mcp.ProgressNotificationParams, 1), listed: make(chan struct{}, 100)}
	g, err := gateway.Open(gateway.Options{Upstreams: upstreams, Environ: os.Environ(), Stderr: w.stderr, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	g.SetPauses(time.Hour, time.Millisecond)
	ctx := t.Context()
	g.Start(ctx)
	t.Cleanup(g.Close)
	isUpstreamTool := mcp.NewServer(&mcp.Implementation{Name: "skillpm"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}})
	t.Cleanup(g.Attach(isUpstreamTool, w.check))
	front, back := mcp.NewInMemoryTransports()
	session, err := isUpstreamTool.Connect(ctx, back, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	client := mcp.NewClient(&mcp.Implementation{Name: "client"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { w.progress <- req.Params },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { w.listed <- struct{}{} },
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"it": "the " + req.Params.Message}}, nil
		},
	})
	if w.client, err = client.Connect(ctx, &mcp.LoggingTransport{Transport: front, Writer: w.wire}, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	return w
}

func (w *fixture) tools(t *testing.T) map[string]*mcp.Tool {
	t.Helper()
	res, err := w.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*mcp.Tool{}
	for _, one := range res.Tools {
		all[one.Name] = one
	}
	return all
}

func (w *fixture) call(t *testing.T, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	res, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if one, ok := c.(*mcp.TextContent); ok {
			all = append(all, one.Text)
		}
	}
	return strings.Join(all, "\n")
}

// TestO10PassThrough checks that a server's tools are listed unchanged, and that allowed calls reach it.
func TestO10PassThrough(t *testing.T) {
	w := open(t, program(t, nil))
	echo := w.tools(t)["up__echo"]
	if echo == nil {
		t.Fatalf("up__echo is not among %v", w.tools(t))
	}
	got, err := json.Marshal(echo)
	if err != nil {
		t.Fatal(err)
	}
	var is, want any
	definition := `{"_meta":{"own":"kept"},"annotations":{"idempotentHint":false,"readOnlyHint":true},"description":"Says it again.","inputSchema":` + string(schema) + `,"name":"up__echo","title":"Echo"}`
	if err := errors.Join(json.Unmarshal(got, &is), json.Unmarshal([]byte(definition), &want)); err != nil || fmt.Sprint(is) != fmt.Sprint(want) {
		t.Errorf("the definition is %s, want %s (%v)", got, definition, err)
	}
	res := w.call(t, "up__echo", map[string]any{"text": "hello", "n": json.Number("12345678901234567890")})
	if want := `{"n":12345678901234567890,"text":"hello"}`; text(res) != want {
		t.Errorf("the server got %s, want %s", text(res), want)
	}
	if res.Meta["own"] != "kept" || res.StructuredContent == nil {
		t.Errorf("the result lost what else it has: %+v", res)
	}
	if w.calls[0].Tool != "mcp__up__echo" || w.calls[0].Input["text"] != "hello" {
		t.Errorf("the check was asked about %+v", w.calls)
	}
	if res := w.call(t, "up__fails", nil); !res.IsError || text(res) != "it is broken" {
		t.Errorf("an error of a tool came back as %+v", res)
	}
	if said := w.stderr.String(); !strings.Contains(said, "up: starting[31m\n") {
		t.Errorf("of what the server says there is %q", said)
	}
}

// TestO10Refused checks that a refused call does not reach the server, and that the model gets the reason.
func TestO10Refused(t *testing.T) {
	w := open(t, program(t, nil))
	w.refuse = "mcp__up__end" // would end the server
	res := w.call(t, "up__end", nil)
	if !res.IsError || text(res) != "skill deploy does not allow mcp__up__end" {
		t.Errorf("the model is told %q", text(res))
	}
	if res := w.call(t, "up__echo", map[string]any{"text": "alive"}); res.IsError {
		t.Errorf("the server was called: %s", text(res))
	}
}

// TestO10SameArguments checks that a server gets exactly the arguments that were checked, however the call was written.
func TestO10SameArguments(t *testing.T) {
	w := open(t, program(t, nil))
	for input, want := range map[string]string{
		`{"text":"harmless","text":"other"}`: "other",
		`{"text":"\u0061"}`:                  "a",
	} {
		w.calls = nil
		got := text(w.call(t, "up__echo", json.RawMessage(input)))
		if w.calls[0].Input["text"] != want || got != `{"text":"`+want+`"}` {
			t.Errorf("%s: the check saw %v, the server %s", input, w.calls[0].Input, got)
		}
	}
	for _, bad := range []string{`[1]`, `"text"`} {
		if res, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "up__echo", Arguments: json.RawMessage(bad)}); err == nil && !res.IsError {
			t.Errorf("%s was passed on", bad)
		}
	}
}

// TestEnds checks that if a server ends, only its own call fails, and the next call restarts it.
func TestEnds(t *testing.T) {
	w := open(t, program(t, nil))
	if res := w.call(t, "up__end", nil); !res.IsError || !strings.Contains(text(res), "upstream up exited") {
		t.Errorf("the model is told %q", text(res))
	}
	if res := w.call(t, "up__echo", map[string]any{"text": "again"}); res.IsError {
		t.Errorf("it was not started anew: %s", text(res))
	}
}

// TestUnreached checks that a server that cannot start is reported, and does not affect the others.
func TestUnreached(t *testing.T) {
	w := open(t, program(t, nil), gateway.Upstream{Name: "gone", Command: []string{filepath.Join(t.TempDir(), "nothing")}})
	if res := w.call(t, "up__echo", nil); res.IsError {
		t.Errorf("the other cannot be called: %s", text(res))
	}
	if !strings.Contains(w.stderr.String(), "skillpm: warning: upstream gone is not available: ") {
		t.Errorf("nobody is told: %q", w.stderr.String())
	}
}

// TestProgress checks that progress uses the caller's token, and that cancellation reaches the server.
func TestProgress(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "cancelled")
	w := open(t, program(t, map[string]string{"GATEWAY_TEST_CANCELLED": mark}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	params := &mcp.CallToolParams{Name: "up__slow"}
	params.SetProgressToken("mine")
	ended := make(chan error, 1)
	go func() {
		_, err := w.client.CallTool(ctx, params)
		ended <- err
	}()
	progress := <-w.progress
	if progress.ProgressToken != "mine" || progress.Message != "half" {
		t.Errorf("progress is %+v", progress)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	eventually(t, "the server to be told", func() bool { _, err := os.Stat(mark); return err == nil })
}

// eventually waits for an effect of another process.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestListChanged checks that added and removed tools are added and removed here, too.
func TestListChanged(t *testing.T) {
	w := open(t, program(t, nil))
	if w.tools(t)["up__fails"] == nil {
		t.Fatal("up__fails is not there")
	}
	for len(w.listed) > 0 {
		<-w.listed
	}
	w.call(t, "up__more", nil)
	<-w.listed
	eventually(t, "the new list", func() bool { now := w.tools(t); return now["up__later"] != nil && now["up__fails"] == nil })
}

// TestAsks checks that a server's questions for the user go to the caller, in the protocol version of each side.
func TestAsks(t *testing.T) {
	for _, test := range []struct{ client, server, want string }{
		{"2025-11-25", "2025-11-25", "accept the up asks: Which?"},
		{"2025-11-25", "2026-07-28", "accept the up asks: Which?state"},
		{"2026-07-28", "2026-07-28", "accept the up asks: Which?state"},
	} {
		w := openFor(t, test.client, program(t, map[string]string{"GATEWAY_TEST_VERSION": test.server}))
		if got := text(w.call(t, "up__asks", nil)); got != test.want {
			t.Errorf("%s before %s: the server was answered %q, want %q", test.client, test.server, got, test.want)
		}
		w.mu.Lock()
		for _, c := range w.calls {
			if c.Tool != "mcp__up__asks" {
				t.Errorf("the check was asked about %s", c.Tool)
			}
		}
		w.mu.Unlock()
	}
}

// TestLongNames checks that a name that is too long for models is truncated, and still calls its tool.
func TestLongNames(t *testing.T) {
	w := open(t, program(t, nil))
	var long string
	for name := range w.tools(t) {
		if len("mcp__skillpm__"+name) > 64 {
			t.Errorf("%s is too long", name)
		}
		if strings.HasPrefix(name, "up__long_") {
			long = name
		}
	}
	if res := w.call(t, long, nil); text(res) != "found" {
		t.Errorf("%s returned %+v", long, res)
	}
	if want := "mcp__up__" + strings.Repeat("long_", 12); w.calls[0].Tool != want {
		t.Errorf("the check was asked about %s, want %s", w.calls[0].Tool, want)
	}
}

// TestHostileDefinitions checks that invalid tool definitions are left out, and the others stay.
func TestHostileDefinitions(t *testing.T) {
	tools := `{"name":"text","inputSchema":{"type":"string"}},{"name":"none"},{"name":"good","inputSchema":{"type":"object"}},{"name":"good","inputSchema":{"type":"object"}},` +
		`{"name":"nul","inputSchema":null},{"name":"list","inputSchema":[]}`
	srv := serve(t, answering(t, tools))
	w := open(t, gateway.Upstream{Name: "bad", URL: srv.URL})
	var names []string
	for name := range w.tools(t) {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"bad__good"}) {
		t.Errorf("the tools are %v, want bad__good alone; said: %s", names, w.stderr.String())
	}
}

// answering is a server that lists the given tools.
func answering(t *testing.T, tools string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		var in struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if req.Method != http.MethodPost || json.NewDecoder(req.Body).Decode(&in) != nil {
			rw.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`,
			"tools/list": `{"tools":[` + tools + `]}`,
		}[in.Method]
		switch {
		case len(in.ID) == 0:
			rw.WriteHeader(http.StatusAccepted)
		case result == "":
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, in.ID)
		default:
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, in.ID, result)
		}
	})
}

// serve starts a server that outlives the gateway.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// TestManyTools checks that a server with more tools than the limit gets none.
func TestManyTools(t *testing.T) {
	var all strings.Builder
	for i := range 1001 {
		if i > 0 {
			all.WriteByte(',')
		}
		fmt.Fprintf(&all, `{"name":"t%d","inputSchema":{"type":"object"}}`, i)
	}
	srv := serve(t, answering(t, all.String()))
	w := open(t, gateway.Upstream{Name: "many", URL: srv.URL})
	if n := len(w.tools(t)); n != 0 || !strings.Contains(w.stderr.String(), "more than 1000 tools") {
		t.Errorf("there are %d tools; said: %s", n, w.stderr.String())
	}
}

// TestHeadersStay checks that the headers of a server reach it, and no server that it redirects to.
func TestHeadersStay(t *testing.T) {
	var mu sync.Mutex
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere++
	}))
	defer other.Close()
	var seen []string
	real := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return upstream() }, nil)
	srv := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		mu.Lock()
		seen = append(seen, req.Header.Get("Authorization"))
		mu.Unlock()
		if req.URL.Path == "/away" {
			http.Redirect(rw, req, other.URL, http.StatusTemporaryRedirect)
			return
		}
		real.ServeHTTP(rw, req)
	}))
	headers := map[string]string{"Authorization": "Bearer mine"}
	w := open(t, gateway.Upstream{Name: "good", URL: srv.URL + "/", Headers: headers}, gateway.Upstream{Name: "away", URL: srv.URL + "/away", Headers: headers})
	if res := w.call(t, "good__echo", map[string]any{"text": "hello"}); text(res) != `{"text":"hello"}` {
		t.Errorf("over HTTP the server got %+v", res)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) == 0 || slices.ContainsFunc(seen, func(s string) bool { return s != "Bearer mine" }) {
		t.Errorf("the server saw %q", seen)
	}
	if elsewhere != 0 {
		t.Errorf("%d requests went to the other host", elsewhere)
	}
	if !strings.Contains(w.stderr.String(), "which skillpm does not allow") {
		t.Errorf("nobody is told: %s", w.stderr.String())
	}
}
