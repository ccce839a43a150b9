package lsp_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/cli/internal/lsp"
	"github.com/skillpm/skillpm/pkg/diag"
)

// ended waits for the server's end and returns its error.
func (e *editor) ended() error {
	e.t.Helper()
	select {
	case err := <-e.done:
		return err
	case <-time.After(time.Minute):
		e.t.Fatal("the server goes on")
		return nil
	}
}

func codeList(err error) jsonrpc2.Code {
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return e.Code
	}
	return 0
}

func TestInitialize(t *testing.T) {
	e := connect(t, lsp.Options{OS: runtime.GOOS, Version: "1.2.3", Now: time.Now})
	var r struct {
		protocol.InitializeResult
		Capabilities struct {
			protocol.ServerCapabilities
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	e.call(protocol.MethodInitialize, map[string]any{"rootUri": nil, "rootPath": 7, "workspaceFolders": nil, "capabilities": map[string]any{}}, &r)
	if r.ServerInfo == nil || r.ServerInfo.Name != "skillpm" || r.ServerInfo.Version != "1.2.3" {
		t.Errorf("got %+v", r.ServerInfo)
	}
	c := r.Capabilities
	if c.PositionEncoding != "utf-16" || c.HoverProvider != true || c.DocumentLinkProvider == nil || c.CompletionProvider == nil || c.CodeActionProvider == nil {
		t.Errorf("got %+v", c)
	}
}

// TestOrder checks that the server rejects messages at the wrong time, and continues.
func TestOrder(t *testing.T) {
	e := connect(t, lsp.Options{OS: runtime.GOOS, Now: time.Now})
	hover := protocol.HoverParams{TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: "file:///x"}}}
	if err := e.try(protocol.MethodTextDocumentHover, hover, nil); codeList(err) != jsonrpc2.ServerNotInitialized {
		t.Errorf("before initialize: got %v", err)
	}
	if err := e.try(protocol.MethodShutdown, nil, nil); codeList(err) != jsonrpc2.ServerNotInitialized {
		t.Errorf("shutdown before initialize: got %v", err)
	}
	e.open(demo, "dropped, for the server is not initialized")
	e.initialize(`{}`, "")
	if err := e.try(protocol.MethodInitialize, map[string]any{"capabilities": map[string]any{}}, nil); codeList(err) != jsonrpc2.InvalidRequest {
		t.Errorf("initialize again: got %v", err)
	}
	if err := e.try("textDocument/unknown", map[string]any{}, nil); codeList(err) != jsonrpc2.MethodNotFound {
		t.Errorf("unknown: got %v", err)
	}
	e.notify("$/unknown", map[string]any{})
	for _, params := range []any{nil, 7, []int{1}, map[string]any{"textDocument": 7}, map[string]any{"position": map[string]any{"line": -1}}} {
		if err := e.try(protocol.MethodTextDocumentHover, params, nil); codeList(err) != jsonrpc2.InvalidParams {
			t.Errorf("%v: got %v", params, err)
		}
		e.notify(protocol.MethodTextDocumentDidOpen, params)
		e.notify(protocol.MethodTextDocumentDidChange, params)
	}
	for _, uri := range []protocol.DocumentURI{"", "x", "file:", "file:///%zz", "untitled:1", "file:///none"} {
		hover.TextDocument.URI = uri
		if err := e.try(protocol.MethodTextDocumentHover, hover, nil); err != nil {
			t.Errorf("%q: got %v", uri, err)
		}
	}
	e.call(protocol.MethodShutdown, nil, nil)
	if err := e.try(protocol.MethodTextDocumentHover, hover, nil); codeList(err) != jsonrpc2.InvalidRequest {
		t.Errorf("after shutdown: got %v", err)
	}
	e.notify(protocol.MethodExit, nil)
	if err := e.ended(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*editor)
		code diag.Code
	}{
		{"shutdown and exit", func(e *editor) { e.call(protocol.MethodShutdown, nil, nil); e.notify(protocol.MethodExit, nil) }, diag.OK},
		{"with parameters", func(e *editor) {
			e.call(protocol.MethodShutdown, map[string]any{}, nil)
			e.notify(protocol.MethodExit, map[string]any{})
		}, diag.OK},
		{"shutdown, and the stream ends", func(e *editor) { e.call(protocol.MethodShutdown, nil, nil); e.hangUp() }, diag.OK},
		{"exit alone", func(e *editor) { e.notify(protocol.MethodExit, nil) }, diag.Internal},
		{"the stream ends", func(e *editor) { e.hangUp() }, diag.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEditor(t, nil, "", "")
			e.open(demo, broken) // something is going on
			tt.end(e)
			if got := diag.CodeOf(e.ended()); got != tt.code {
				t.Errorf("got %v, want %v", got, tt.code)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	done := make(chan error)
	go func() { done <- lsp.Serve(ctx, r, io.Discard, lsp.Options{OS: runtime.GOOS, Now: time.Now}) }()
	cancel()
	if err := <-done; diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("got %v", err)
	}
}

// TestCancel checks that a cancelled request receives a cancellation error, or its result if that was quicker, and that
// the server continues.
func TestCancel(t *testing.T) {
	e := newEditor(t, nil, "", "")
	e.open(demo, broken+strings.Repeat("\n[x](gone.md)\n", 5000))
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() {
		_, err := e.conn.Call(ctx, protocol.MethodTextDocumentCodeAction, protocol.CodeActionParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: e.uri(demo)}, Range: everything(), Context: protocol.CodeActionContext{},
		}, nil)
		answered <- err
	}()
	for id := range int32(10) { // one of them is the request's
		e.notify(protocol.MethodCancelRequest, map[string]any{"id": id})
	}
	e.notify(protocol.MethodCancelRequest, map[string]any{"id": "none"})
	e.notify(protocol.MethodCancelRequest, map[string]any{"id": []int{}})
	if err := <-answered; err != nil && codeList(err) != protocol.CodeRequestCancelled {
		t.Errorf("got %v", err)
	}
	cancel()
	if h := e.hover(demo, "---\nna‸me: x\n---\n"); h == nil {
		t.Error("no hover")
	}
}

// TestSlowClient checks that the server does not block on a client that does not read while it writes.
func TestSlowClient(t *testing.T) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- lsp.Serve(t.Context(), toServer, fromServer, lsp.Options{OS: runtime.GOOS, Now: time.Now})
	}()
	conn := jsonrpc2.NewStream(wire{toClient, fromClient})
	send := func(msg jsonrpc2.Message, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	send(jsonrpc2.NewCall(jsonrpc2.NewNumberID(1), protocol.MethodInitialize, map[string]any{"capabilities": map[string]any{}}))
	for range 1000 {
		send(jsonrpc2.NewCall(jsonrpc2.NewNumberID(2), "unknown", nil))
	}
	send(jsonrpc2.NewCall(jsonrpc2.NewNumberID(3), protocol.MethodShutdown, nil))
	send(jsonrpc2.NewNotification(protocol.MethodExit, nil))
	answers := 0
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			break
		}
		if answers++; answers == 1002 {
			break
		}
	}
	if err := <-done; err != nil || answers != 1002 {
		t.Errorf("got %d answers, %v", answers, err)
	}
}

// TestLarge opens large and unusual documents.
func TestLarge(t *testing.T) {
	e := newEditor(t, nil, "", "")
	for _, text := range []string{
		strings.Repeat("[x](gone.md)\n", 20_000),
		strings.Repeat("x", 1<<18),
		front + strings.Repeat("- ", 20_000),
		"---\n" + strings.Repeat("a: b\n", 20_000),
		"---\n" + strings.Repeat("- ", 20_000),
		strings.Repeat("\r", 20_000),
		"---\n\x00\u2028\uFEFF: \u202E\n",
		"",
	} {
		e.open(demo, text)
		if n := len(e.publish(demo).Diagnostics); n > 500 {
			t.Errorf("%d findings of one file", n)
		}
		for _, method := range []string{protocol.MethodTextDocumentHover, protocol.MethodTextDocumentCompletion, protocol.MethodTextDocumentDocumentLink} {
			for _, line := range []uint32{0, 1, 5, 1 << 31} {
				e.call(method, map[string]any{
					"textDocument": map[string]any{"uri": e.uri(demo)}, "position": protocol.Position{Line: line, Character: 1 << 30},
				}, nil)
			}
		}
		e.actions(demo, protocol.Range{End: protocol.Position{Line: 1}})
	}
	if slices.ContainsFunc(e.messages, func(m string) bool { return strings.Contains(m, "defect") }) {
		t.Errorf("got %q", e.messages)
	}
}
