package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime"
)

// place is a home with a project whose skills are served.
type place struct {
	t       *testing.T
	root    string
	profile string
	env     map[string]string
	options mcpserver.Options
	client  *mcp.ClientOptions
	program mcp.Implementation // of the client
	version string             // of the client's protocol; "" for the newest
}

// skillText is a SKILL.md.
func skillText(name, front, body string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + " for somebody.\n" + front + "---\n" + body + "\n"
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, env: map[string]string{"PATH": os.Getenv("PATH")}}
	p.write("home/project/.git/HEAD", "")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p.write(name, files[name])
	}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) open(ctx context.Context, r mcpserver.Request) (*runtime.Host, error) {
	dir := filepath.Join(p.root, "home", "project")
	paths, err := scope.New(scope.Env{Home: filepath.Join(p.root, "home"), Dir: dir, OS: "linux"})
	if err != nil {
		return nil, err
	}
	paths.Enterprise = filepath.Join(p.root, "enterprise")
	return runtime.New(ctx, runtime.Options{
		Environment: environ.Environment{
			Paths: paths, Dir: dir, Now: time.Now, Getenv: func(name string) string { return p.env[name] },
			Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
		},
		Profile: p.profile, Session: r.Session, NoSession: r.Session == "", Trace: r.Trace, Host: r.Host,
		User: "ada", Self: []string{os.Args[0], "run-task"},
	})
}

func (p *place) server() *mcpserver.Server {
	p.t.Helper()
	o := p.options
	o.Open, o.Now, o.Version = p.open, time.Now, "1.2.3"
	s, err := mcpserver.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(s.Close)
	return s
}

// connect returns a client of a server of the place.
func (p *place) connect() *mcp.ClientSession { return p.connectTo(p.server()) }

func (p *place) connectTo(s *mcpserver.Server) *mcp.ClientSession {
	p.t.Helper()
	here, there := mcp.NewInMemoryTransports()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Run(context.WithoutCancel(p.t.Context()), there) // how it ends is the client's doing
	}()
	if p.program.Name == "" {
		p.program = mcp.Implementation{Name: "tester", Version: "1"}
	}
	client := mcp.NewClient(&p.program, p.client)
	for _, method := range []string{"skills/list", "skills/get", "resources/directory/read"} {
		if err := mcp.AddSendingCustomMethod[*resourceParams, *listed](client, method); err != nil {
			p.t.Fatal(err)
		}
	}
	c, err := client.Connect(p.t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: p.version})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = c.Close()
		<-over
	})
	return c
}

// call calls a tool, and returns the text that the model sees.
func call(t *testing.T, c *mcp.ClientSession, name string, args map[string]any) (*mcp.CallToolResult, string) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res, textOf(t, res)
}

func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	var b strings.Builder
	for _, c := range res.Content {
		text, ok := c.(*mcp.TextContent)
		if !ok {
			t.Fatalf("%T is no text", c)
		}
		b.WriteString(text.Text)
	}
	return b.String()
}

// structured returns the structured part of a result in its wire format, "" for none.
func structured(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if res.StructuredContent == nil {
		return ""
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// toolNames returns the names of the available tools.
func toolNames(t *testing.T, c *mcp.ClientSession) map[string]*mcp.Tool {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		out[tool.Name] = tool
	}
	return out
}

// records returns the audit log.
func (p *place) records() string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.root, "home", ".local", "state", "skillpm", "audit", "audit.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}
