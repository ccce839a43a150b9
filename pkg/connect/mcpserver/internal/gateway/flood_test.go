package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
)

// forgedKeys are keys of _meta that only skillpm may use, in several spellings.
var forgedKeys = []string{
	"skillpm/status", "skillpm/skill", "skillpm/session", "Skillpm/status", "com.skillpm/x", "skillpm.dev/x",
	"io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/subscriptionId", "io.modelcontextprotocol/related-task",
	"io.modelcontextprotocol/protocolVersion", "IO.ModelContextProtocol/x", "org.modelcontextprotocol.api/x", "dev.mcp/x", "mcp.dev/x", "com.mcp.tools/x",
}

// forged is a _meta with every forged key, also in objects and lists, and one that belongs to the server.
func forged() string {
	all := map[string]any{"example.com/own": "KEPT"}
	for _, key := range forgedKeys {
		all[key] = "FORGED"
	}
	all["example.com/object"] = map[string]any{"_meta": map[string]any{forgedKeys[0]: "FORGED"}, "list": []any{[]any{map[string]any{forgedKeys[6]: "FORGED"}}}}
	data, _ := json.Marshal(all)
	return string(data)
}

// forgedResult has the forged _meta in every part of a result.
func forgedResult() string {
	m := `,"_meta":` + forged() + `}`
	return `{"content":[{"type":"text","text":"a"` + m + `,{"type":"image","mimeType":"image/png","data":"AAAA"` + m +
		`,{"type":"audio","mimeType":"audio/wav","data":"AAAA"` + m + `,{"type":"resource_link","uri":"a:b","name":"a"` + m +
		`,{"type":"resource","resource":{"uri":"a:b","text":"a"` + m + m + `]` + m
}

// flood is a server whose tool sends the messages of a kind many times, and then its result.
func flood(in io.Reader, out io.Writer) {
	w := bufio.NewWriterSize(out, 1<<16)
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct {
					Kind  string
					Count int
				}
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		answer := `"error":{"code":-32601,"message":"unknown"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"flood","version":"1"}}`
		case "ping":
			answer = `"result":{}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"go","inputSchema":{"type":"object"},"_meta":` + forged() + `}]}`
		case "tools/call":
			for i := range m.Params.Arguments.Count {
				fmt.Fprintln(w, floodMessage(m.Params.Arguments.Kind, string(m.Params.Meta.ProgressToken), i))
				if w.Available() < 1<<14 {
					_ = w.Flush() // at the end of a message
				}
			}
			answer = `"result":` + forgedResult()
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
		_ = w.Flush()
	}
}

// floodMessage is one message of a kind.
func floodMessage(kind, token string, i int) string {
	call := func(id int, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	}
	notify := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":%s}`, method, params)
	}
	switch kind {
	case "progress":
		return notify("progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"message":"m","_meta":%s}`, token, i+1, forged()))
	case "unknown progress":
		tokens := []string{`"x"`, "0", "-1", "1.5", "9007199254740993", "1e400", "null", "{}", "[1]", `"` + token + `"`}
		return notify("progress", `{"progressToken":`+tokens[i%len(tokens)]+`,"progress":1}`)
	case "log":
		return notify("message", `{"level":"emergency","data":"x"}`)
	case "list":
		return notify("tools/list_changed", `{}`)
	case "other":
		names := []string{"resources/updated", "resources/list_changed", "prompts/list_changed", "elicitation/complete", "unknown", "initialized"}
		return notify(names[i%len(names)], `{"uri":"skill://x"}`)
	case "cancelled":
		return notify("cancelled", `{"requestId":1}`)
	case "ping":
		return call(i+1000, "ping", `{}`)
	case "one id":
		return call(1, "ping", `{}`)
	case "question":
		return call(i+1000, "elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":`+forged()+`}`)
	case "request":
		return call(i+1000, []string{"sampling/createMessage", "roots/list", "unknown"}[i%3], `{}`)
	case "answer":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 1<<40+i)
	}
	return kind // not a message
}

// withoutForged reports an error if a message has a forged key, or none of the server's own.
func withoutForged(t *testing.T, what string, message any) {
	t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "FORGED") {
		t.Errorf("%s has forged keys: %s", what, data)
	}
	if !strings.Contains(string(data), "KEPT") {
		t.Errorf("%s does not have the server's own key: %s", what, data)
	}
}

// TestForgedMeta checks that a server cannot set what clients take for skillpm's or the protocol's, in any part of what
// it sends.
func TestForgedMeta(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		w := openFor(t, version, program(t, map[string]string{"GATEWAY_TEST_FLOOD": "1"}))
		withoutForged(t, version+": a tool", w.tools(t)["up__go"])
		params := &mcp.CallToolParams{Name: "up__go", Arguments: map[string]any{"kind": "progress", "count": 1}}
		params.SetProgressToken("mine")
		res, err := w.client.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		withoutForged(t, version+": a result", res)
		if len(res.Content) != 5 {
			t.Errorf("%s: %d parts", version, len(res.Content))
		}
		for _, c := range res.Content {
			withoutForged(t, fmt.Sprintf("%s: %T", version, c), c)
		}
		withoutForged(t, version+": progress", <-w.progress)
	}
}

// TestFlood checks that thousands of messages of each kind end in a few messages to the client, and neither
// stop the gateway nor use up memory.
func TestFlood(t *testing.T) {
	w := open(t, program(t, map[string]string{"GATEWAY_TEST_FLOOD": "1"}))
	const count = 2_000
	go func() {
		for range w.progress {
		}
	}()
	for _, kind := range []string{"progress", "unknown progress", "log", "list", "other", "cancelled", "ping", "one id", "question", "request", "answer", "{}", "[]", "null", "x"} {
		params := &mcp.CallToolParams{Name: "up__go", Arguments: map[string]any{"kind": kind, "count": count}}
		params.SetProgressToken(kind)
		ctx, cancel := context.WithCancel(t.Context())
		var watcher sync.WaitGroup
		before, began, peak := len(w.wire.String()), time.Now(), uint64(0)
		watcher.Go(func() {
			for ctx.Err() == nil {
				var m goruntime.MemStats
				goruntime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse+m.StackInuse)
				time.Sleep(5 * time.Millisecond)
			}
		})
		if _, err := w.client.CallTool(t.Context(), params); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		cancel()
		watcher.Wait()
		took := time.Since(began)
		t.Logf("%s: %s, %d MiB", kind, took, peak>>20)
		got, last := reports(w.wire.String()[before:])
		if most := int(took/(100*time.Millisecond)) + 2; got > most {
			t.Errorf("%s: %d reports of progress in %s", kind, got, took)
		}
		if kind == "progress" && !strings.Contains(last, fmt.Sprintf(`"progress":%d`, count)) {
			t.Errorf("the last progress before the result is %s", last)
		}
		if peak > 200<<20 {
			t.Errorf("%s: %d MiB are in use", kind, peak>>20)
		}
	}
	if w.tools(t)["up__go"] == nil {
		t.Error("the tool is gone")
	}
}

// reports counts the reports of progress that a client read before the result of its call, and returns the last one.
func reports(wire string) (count int, last string) {
	for line := range strings.Lines(wire) {
		switch {
		case !strings.HasPrefix(line, "read: "):
		case strings.Contains(line, `"result":`):
			return count, last
		case strings.Contains(line, `"notifications/progress"`):
			count, last = count+1, line
		}
	}
	return count, "missing, like the result"
}

// TestFloodHTTP is TestFlood for a server behind a URL.
func TestFloodHTTP(t *testing.T) {
	for _, kind := range []string{"progress", "log", "list", "ping", "question"} {
		srv := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			line, err := io.ReadAll(req.Body)
			if err != nil || req.Method != http.MethodPost {
				rw.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			if !strings.Contains(string(line), `"method"`) || strings.Contains(string(line), `"notifications/`) {
				rw.WriteHeader(http.StatusAccepted)
				return
			}
			rw.Header().Set("Content-Type", "text/event-stream")
			flood(strings.NewReader(string(line)+"\n"), events{rw})
		}))
		w := open(t, gateway.Upstream{Name: "up", URL: srv.URL})
		go func() {
			for range w.progress {
			}
		}()
		params := &mcp.CallToolParams{Name: "up__go", Arguments: map[string]any{"kind": kind, "count": 2000}}
		params.SetProgressToken(kind)
		if res, err := w.client.CallTool(t.Context(), params); err != nil || len(res.Content) != 5 {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// events writes each line of JSON as an event.
type events struct{ io.Writer }

func (e events) Write(p []byte) (int, error) {
	text := strings.ReplaceAll(string(p), "\n", "\n\n")
	_, err := io.WriteString(e.Writer, strings.ReplaceAll(text, `{"jsonrpc"`, `data: {"jsonrpc"`))
	return len(p), err
}
