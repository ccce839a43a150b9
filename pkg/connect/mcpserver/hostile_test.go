package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
)

// TestHostileCalls checks that wrong or malicious calls get a helpful error, and have no effect.
func TestHostileCalls(t *testing.T) {
	p := library(t)
	c := p.connect()
	for i, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"skill", map[string]any{}, "needs the argument name"},
		{"skill", nil, "needs the argument name"},
		{"skill", map[string]any{"name": ""}, "needs the argument name"},
		{"skill", map[string]any{"name": 3}, "not a string"},
		{"skill", map[string]any{"name": []string{"pdf"}}, "not a string"},
		{"skill", []string{"pdf"}, "not a JSON object"},
		{"skill", "pdf", "not a JSON object"},
		{"skill", map[string]any{"name": "pdf", "more": 1}, `not have an argument "more" (use only these arguments: name, arguments)`},
		{"skill", map[string]any{"name": "pdf", "arguments": strings.Repeat("x", 2<<20)}, "the limit is"},
		{"skill", map[string]any{"name": "../pdf"}, "unknown skill"},
		{"skill", map[string]any{"name": "pdf\x00"}, "unknown skill"},
		{"skill", map[string]any{"name": "pdf@none/none"}, "unknown skill"},
		{"skill", map[string]any{"name": strings.Repeat("a", 100_000)}, "unknown skill"},
		{"skill_file", map[string]any{"skill": "pdf"}, "needs the argument path"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "../../../secret"}, "not a path inside"},
		{"skill_file", map[string]any{"skill": "pdf", "path": p.root + "/secret"}, "not a path inside"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "a\x00b"}, "not a path inside"},
		{"skill_file", map[string]any{"skill": "pdf", "path": `..\..\secret`}, "not a path inside"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "%2e%2e/secret"}, "does not contain the file"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "link.md"}, "leads out"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "scripts/run.sh"}, "call skill_run to run the script"},
		{"skill_file", map[string]any{"skill": "pdf", "path": "guide.md"}, "did you mean references/guide.md"},
		{"find_skills", map[string]any{"query": ""}, "needs the argument query"},
		{"skill_end", map[string]any{}, ""},
	} {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if text := textOf(t, res); !res.IsError || !strings.Contains(text, tt.want) || strings.Contains(text, "SECRET") {
			t.Errorf("%d: %.300q, want %q", i, text, tt.want)
		}
	}
	for _, name := range []string{"none", "", "Skill", "skillpm-marker", "use_skill"} {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name}); !invalidParams(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if res, text := call(t, c, "skill_file", map[string]any{"skill": "pdf", "path": "references/guide.md"}); res.IsError || text != "The guide.\n" {
		t.Errorf("%q", text)
	}
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill_file", Arguments: map[string]any{"skill": "pdf", "path": "logo.png"}})
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := res.Content[0].(*mcp.EmbeddedResource); !ok || len(r.Resource.Blob) != 9 {
		t.Errorf("%+v", res.Content[0])
	}
}

// TestFind checks that the matching skills are listed, or the closest ones if none matches.
func TestFind(t *testing.T) {
	p := newPlace(t, map[string]string{
		project + "deploy/SKILL.md": skillText("deploy", "", "x"), project + "pdf/SKILL.md": skillText("pdf", "", "Fill forms."),
		project + "slide-deck/SKILL.md": skillText("slide-deck", "", "x"),
		project + "hidden/SKILL.md":     skillText("hidden", "disable-model-invocation: true\n", "Fill forms."),
	})
	c := p.connect()
	for task, want := range map[string]string{"fill the forms": "pdf", "make a powerpoint": "slide-deck"} {
		if _, text := call(t, c, "find_skills", map[string]any{"query": task}); text != "- "+want+": Does "+want+" for somebody." {
			t.Errorf("%s: %q", task, text)
		}
	}
	if _, text := call(t, c, "find_skills", map[string]any{"query": "deploy the shop"}); text != "- deploy: Does deploy for somebody." {
		t.Errorf("%q", text)
	}
	if _, text := call(t, c, "find_skills", map[string]any{"query": "quantum"}); !strings.HasPrefix(text, "None of the 3 skills") {
		t.Errorf("%q", text)
	}
	records := p.records()
	if strings.Count(records, `"action":"find"`) != 3 || !strings.Contains(records, `"found":["pdf"]`) ||
		strings.Contains(records, "forms") {
		t.Errorf("searches are recorded as %s", records)
	}
}

// TestHostileBytes checks that a line that is not a message gets an error, and that later messages work normally.
func TestHostileBytes(t *testing.T) {
	begin := `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":"first","method":"ping"}` + "\n"
	for name, test := range map[string]struct {
		bytes, id string
		code      int
	}{
		"no JSON": {"hello", "null", -32700}, "an array": {"[1,2]", "null", -32600}, "a batch": {"[]", "null", -32600}, "a number": {"42", "null", -32600},
		"no version": {`{"id":1}`, "1", -32600}, "deep": {strings.Repeat("[", 100_000), "null", -32700}, "half": {`{"jsonrpc":"2.0","id":1,"me`, "null", -32700},
		"a version": {`{"jsonrpc":"1.0","id":"v","method":"ping"}`, `"v"`, -32600}, "a null": {"null", "null", -32600},
		"an answer": {`{"jsonrpc":"2.0","id":7,"result":{}}`, "", 0}, "an id": {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		"zero": {"\x00", "null", -32700}, "much": {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", 17<<20) + `"}`, "null", -32700},
		"no method": {`{"jsonrpc":"2.0","id":1,"method":"none"}`, "1", -32601}, "a batch of some": {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
			got := answers(t, p.server(), begin+test.bytes+"\n"+`{"jsonrpc":"2.0","id":"after","method":"tools/call","params":{"name":"skill","arguments":{"name":"a"}}}`)
			if !strings.Contains(string(got[`"after"`].Result), "# Skill: a") {
				t.Errorf("what came afterwards was not answered: %v", got)
			}
			if a := got[test.id]; test.code != 0 && (a.Error == nil || a.Error.Code != test.code) {
				t.Errorf("%v, want %d for %s", got, test.code, test.id)
			}
		})
	}
}

// TestEarly checks that requests before initialize get an error.
func TestEarly(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	got := answers(t, p.server(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill","arguments":{"name":"a"}}}`)
	if a := got["1"]; a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("%v", got)
	}
}

type discardCloser struct{ io.Writer }

func (discardCloser) Close() error { return nil }

// TestPipe checks that requests that were written into a pipe are answered before the server ends.
func TestPipe(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	var in, out strings.Builder
	for i, r := range []string{
		`"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
		`"method":"tools/list"`, `"method":"tools/call","params":{"name":"skill","arguments":{"name":"a"}}`,
	} {
		fmt.Fprintf(&in, "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}\n", i+1, r)
	}
	if err := p.server().Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(in.String())), Writer: discardCloser{&out}}); err != nil {
		t.Error(err)
	}
	answered := map[int]bool{}
	for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		answered[m.ID] = m.Result != nil
	}
	if !answered[1] || !answered[2] || !answered[3] {
		t.Errorf("%v: %s", answered, out.String())
	}
}

// TestAlone checks that a second initialize, or a panic, is an error of that request alone, and does not affect others.
func TestAlone(t *testing.T) {
	p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	in := begin + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + strings.Replace(begin, `"id":1`, `"id":2`, 1) + `{"jsonrpc":"2.0","id":3,"method":"tools/list"}` + "\n"
	got := answers(t, p.server(), in)
	if got["1"].Result == nil || got["2"].Error == nil || got["3"].Result == nil {
		t.Errorf("%v", got)
	}
	s := p.server()
	s.Panics()
	if got := answers(t, s, begin+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n"); got["1"].Result == nil || got["2"].Error == nil || got["2"].Error.Code != -32603 {
		t.Errorf("%v", got)
	}
}

// answer is the response to one request.
type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// answers returns a server's responses to an input, by request id.
func answers(t *testing.T, s *mcpserver.Server, in string) map[string]answer {
	t.Helper()
	var out strings.Builder
	if err := s.Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(in)), Writer: discardCloser{&out}}); err != nil {
		t.Error(err)
	}
	all := map[string]answer{}
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all[string(a.ID)] = a
	}
	return all
}

// endless is an input that begins with some lines, goes on with requests without end, and counts them.
type endless struct {
	begin string
	n     atomic.Int64
	end   chan struct{}
}

func (e *endless) Read(p []byte) (int, error) {
	if e.begin != "" {
		n := copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	if e.n.Add(1) > 100_000 {
		<-e.end
		return 0, io.EOF
	}
	return copy(p, fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", e.n.Load())), nil
}

func (e *endless) Close() error { return nil }

// stuck is an output that nobody reads.
type stuck struct{ end chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.end
	return 0, io.ErrClosedPipe
}

func (s stuck) Close() error { return nil }

// TestNeverReads checks that the server stops to read requests of a client that never reads its answers, so that its
// memory stays bounded.
func TestNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, map[string]string{project + "a/SKILL.md": skillText("a", "", "x")})
		end := make(chan struct{})
		in := &endless{begin: initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", end: end}
		s, over := p.server(), make(chan error, 1)
		go func() { over <- s.Run(t.Context(), &mcp.IOTransport{Reader: in, Writer: stuck{end}}) }()
		synctest.Wait()
		if n := in.n.Load(); n > 200 {
			t.Errorf("%d unanswered requests were read", n)
		}
		close(end)
		<-over
	})
}

// TestCancelled checks that a cancelled request gets no answer, and others do.
func TestCancelled(t *testing.T) {
	p := newPlace(t, map[string]string{
		project + "wait/SKILL.md": skillText("wait", "", "x"), project + "wait/scripts/wait.sh": "#!/bin/sh\nexec sleep 100\n",
	})
	if goruntime.GOOS == "windows" {
		t.Skip("the script is one of a Unix shell")
	}
	got := answers(t, p.server(), initialize+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"skill_run","arguments":{"skill":"wait","script":"scripts/wait.sh"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"never mind"}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}`+"\n"+
		`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\n")
	if _, ok := got[`"slow"`]; ok || got[`"after"`].Result == nil {
		t.Errorf("%v", got)
	}
}
