package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/cli/internal/lsp"
)

// editor is a client that talks to a server in the same process, with files in a directory of its own.
type editor struct {
	t      testing.TB
	dir    string
	conn   jsonrpc2.Conn
	hangUp func()     // ends the stream to the server
	done   chan error // what Serve returned
	answer map[string]func(params []byte) any

	mu       sync.Mutex
	news     chan struct{} // closed when something came
	shown    map[protocol.DocumentURI]protocol.PublishDiagnosticsParams
	versions map[string]int32
	calls    []string // requests that the server made
	messages []string // what the server showed
}

// wire is one end of a connection.
type wire struct {
	io.Reader
	io.WriteCloser
}

// newEditor starts a server over files of a new directory and initializes it. capabilities and options are JSON.
func newEditor(t testing.TB, files map[string]string, capabilities, options string) *editor {
	t.Helper()
	e := connect(t, lsp.Options{OS: runtime.GOOS, Version: "1.2.3", Now: time.Now})
	for name, content := range files {
		e.write(name, content)
	}
	if capabilities == "" {
		capabilities = `{"textDocument": {"codeAction": {"codeActionLiteralSupport": {}}, "hover": {"contentFormat": ["markdown"]}}}`
	}
	e.initialize(capabilities, options)
	return e
}

// connectTo starts a server for a client that the test prepares before initialization.
func connectTo(t testing.TB, capabilities string, prepare func(*editor)) *editor {
	t.Helper()
	e := connect(t, lsp.Options{OS: runtime.GOOS, Now: time.Now})
	prepare(e)
	e.initialize(capabilities, "")
	return e
}

func (e *editor) initialize(capabilities, options string) {
	e.t.Helper()
	var c, o json.RawMessage = []byte(capabilities), []byte("null")
	if options != "" {
		o = []byte(options)
	}
	e.call(protocol.MethodInitialize, map[string]any{"rootUri": e.uri("."), "capabilities": c, "initializationOptions": o, "processId": nil}, nil)
	e.notify(protocol.MethodInitialized, map[string]any{})
}

// connect starts a server and does not initialize it.
func connect(t testing.TB, o lsp.Options) *editor {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{
		t: t, dir: dir, done: make(chan error, 1), answer: map[string]func([]byte) any{},
		shown: map[protocol.DocumentURI]protocol.PublishDiagnosticsParams{}, versions: map[string]int32{}, news: make(chan struct{}),
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go func() {
		e.done <- lsp.Serve(t.Context(), toServer, fromServer, o)
		fromServer.Close()
	}()
	e.hangUp = func() { fromClient.Close() }
	e.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(wire{toClient, fromClient}))
	e.conn.Go(context.Background(), e.handle)
	t.Cleanup(func() {
		fromClient.Close()
		toClient.Close()
	})
	return e
}

func (e *editor) handle(ctx context.Context, reply jsonrpc2.Replier, req jsonrpc2.Request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		close(e.news)
		e.news = make(chan struct{})
	}()
	switch req.Method() {
	case protocol.MethodTextDocumentPublishDiagnostics:
		var p protocol.PublishDiagnosticsParams
		if err := json.Unmarshal(req.Params(), &p); err != nil {
			e.t.Error(err)
		}
		e.shown[p.URI] = p
	case protocol.MethodWindowShowMessage, protocol.MethodWindowLogMessage:
		var p protocol.ShowMessageParams
		if err := json.Unmarshal(req.Params(), &p); err != nil {
			e.t.Error(err)
		}
		e.messages = append(e.messages, p.Message)
	default:
		e.calls = append(e.calls, req.Method())
		if f := e.answer[req.Method()]; f != nil {
			return reply(ctx, f(req.Params()), nil)
		}
	}
	return reply(ctx, nil, nil)
}

func (e *editor) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }

func (e *editor) uri(name string) protocol.DocumentURI {
	p := filepath.ToSlash(filepath.Clean(e.path(name)))
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return protocol.DocumentURI("file://" + strings.NewReplacer("%", "%25", " ", "%20", "#", "%23").Replace(p))
}

func (e *editor) write(name, content string) {
	e.t.Helper()
	if err := os.MkdirAll(filepath.Dir(e.path(name)), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(e.path(name), []byte(content), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// call sends a request and requires it to succeed.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.try(method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	_, err := e.conn.Call(ctx, method, params, result)
	return err
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(e.t.Context(), method, params); err != nil {
		e.t.Fatal(err)
	}
}

// open opens a file with a text, or changes the text of one that is open.
func (e *editor) open(name, content string) {
	e.t.Helper()
	e.mu.Lock()
	e.versions[name]++
	version := e.versions[name]
	e.mu.Unlock()
	if version == 1 {
		e.notify(protocol.MethodTextDocumentDidOpen, protocol.DidOpenTextDocumentParams{
			TextDocument: protocol.TextDocumentItem{URI: e.uri(name), Version: version, Text: content},
		})
		return
	}
	e.notify(protocol.MethodTextDocumentDidChange, map[string]any{
		"textDocument":   map[string]any{"uri": e.uri(name), "version": version},
		"contentChanges": []any{map[string]any{"text": content}},
	})
}

func (e *editor) close(name string) {
	e.notify(protocol.MethodTextDocumentDidClose, map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// wait waits until the client has received something that makes the condition true.
func (e *editor) wait(what string, ok func() bool) {
	e.t.Helper()
	late := time.After(time.Minute)
	for {
		e.mu.Lock()
		there, news := ok(), e.news
		e.mu.Unlock()
		if there {
			return
		}
		select {
		case <-news:
		case <-late:
			e.t.Fatalf("no %s", what)
		}
	}
}

// publish waits for the diagnostics of an open file's current version.
func (e *editor) publish(name string) protocol.PublishDiagnosticsParams {
	e.t.Helper()
	var p protocol.PublishDiagnosticsParams
	e.wait("diagnostics of "+name, func() bool {
		p = e.shown[e.uri(name)]
		return p.URI != "" && p.Version >= uint32(e.versions[name])
	})
	return p
}

// codes waits like publish, and returns the rules.
func (e *editor) codes(name string) []string {
	e.t.Helper()
	return codes(e.publish(name))
}

// lockedCodes returns the rules of a file's diagnostics, for the functions that wait calls.
func (e *editor) lockedCodes(name string) []string { return codes(e.shown[e.uri(name)]) }

func codes(p protocol.PublishDiagnosticsParams) []string {
	all := []string{}
	for _, d := range p.Diagnostics {
		all = append(all, fmt.Sprint(d.Code))
	}
	return all
}

// at writes a range as line:character-line:character, from 0.
func at(r protocol.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

const front = "---\nname: demo\ndescription: Shows a thing. Use it to see.\n---\n"

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
