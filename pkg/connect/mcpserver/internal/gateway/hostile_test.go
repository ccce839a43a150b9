package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
)

// TestStorm checks that however often a server reports changed tools, they are listed once, and once more after the
// pause, and that shutdown does not wait for the pause.
func TestStorm(t *testing.T) {
	w := open(t, program(t, map[string]string{"GATEWAY_TEST_STORM": "1"}))
	w.call(t, "up__go", nil)
	eventually(t, "the new list", func() bool { return w.tools(t)["up__list2"] != nil })
	for range 3 {
		if got := text(w.call(t, "up__go", nil)); got != "2" {
			t.Fatalf("after thousands of changes the tools were listed %s times, want 2", got)
		}
	}
}

// TestNoise checks that program output that is not a message is shown to users, and ends nothing.
func TestNoise(t *testing.T) {
	w := open(t, program(t, map[string]string{"GATEWAY_TEST_NOISE": "1"}))
	if got := text(w.call(t, "up__echo", map[string]any{"text": "a"})); got != `{"text":"a"}` {
		t.Errorf("the tool returned %s", got)
	}
	if said := w.stderr.String(); !strings.Contains(said, "up: [info] listening\n") || !strings.Contains(said, "up: 42\n") {
		t.Errorf("people are told %q", said)
	}
}

// TestAgain checks that a server that does not start is tried again, because without its tools no call could restart
// it.
func TestAgain(t *testing.T) {
	w := open(t, program(t, map[string]string{"GATEWAY_TEST_ONCE": filepath.Join(t.TempDir(), "tried")}))
	eventually(t, "its tools", func() bool { return w.tools(t)["up__echo"] != nil })
	if said := w.stderr.String(); strings.Count(said, "skillpm: warning: upstream up is not available") != 1 {
		t.Errorf("people are told %q", said)
	}
}

// TestNames checks that names that models do not accept are converted, and stay distinct, and that tools without a name
// are left out.
func TestNames(t *testing.T) {
	var all []string
	for _, name := range []string{`a b`, `a_b`, `a\u00e9b`, `a\u001b[31m`, ``, `a\n`} {
		all = append(all, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
	}
	w := open(t, gateway.Upstream{Name: "odd", URL: serve(t, answering(t, strings.Join(all, ","))).URL})
	names := w.tools(t)
	if len(names) != 5 || names["odd__a_b"] == nil {
		t.Errorf("the tools are %v", names)
	}
	for name := range names {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("%q is no name for a model", name)
		}
	}
	if said := w.stderr.String(); !strings.Contains(said, "does not have a name") {
		t.Errorf("people are told %q", said)
	}
	w.refuse = "mcp__odd__a b"
	refused := 0
	for name := range names { // a check is asked about the name that the server knows
		if res, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{Name: name}); err == nil && strings.HasSuffix(text(res), "does not allow mcp__odd__a b") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d of them are known as mcp__odd__a b: %+v", refused, w.calls)
	}
}

// TestEndless checks that an endless answer or event is not read to its end.
func TestEndless(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		small := answering(t, `{"name":"much","inputSchema":{"type":"object"}}`)
		srv := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			data, _ := io.ReadAll(req.Body)
			if req.Body = io.NopCloser(bytes.NewReader(data)); !bytes.Contains(data, []byte(`"tools/call"`)) {
				small.ServeHTTP(rw, req)
				return
			}
			rw.Header().Set("Content-Type", kind)
			fmt.Fprint(rw, "data: ")
			part := []byte(strings.Repeat("a", 1<<20))
			for range 64 {
				if _, err := rw.Write(part); err != nil {
					return
				}
			}
			t.Errorf("%s: 64 MiB were read", kind)
		}))
		w := open(t, gateway.Upstream{Name: "web", URL: srv.URL})
		if res, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "web__much"}); err == nil && !res.IsError {
			t.Errorf("%s: %+v", kind, res)
		}
	}
}
