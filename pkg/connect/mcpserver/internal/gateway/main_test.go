package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
	"github.com/skillpm/skillpm/pkg/internal/run"
)

// TestMain also runs the server behind the gateway, if the test binary is started as one.
func TestMain(m *testing.M) {
	if code, helper := run.Enter(os.Args); helper {
		os.Exit(code)
	}
	if os.Getenv("GATEWAY_TEST_SERVER") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("GATEWAY_TEST_HOLDER") != "" {
		hold()
	}
	if path := os.Getenv("GATEWAY_TEST_ONCE"); path != "" { // the first start fails
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			os.Exit(1)
		}
	}
	fmt.Fprintln(os.Stderr, "starting\x1b[31m")
	if path := os.Getenv("GATEWAY_TEST_LEAVES"); path != "" {
		script := cmp.Or(os.Getenv("GATEWAY_TEST_DETACHED"), `exec sleep 1000 >"$0"`)
		if err := exec.Command("sh", "-c", script, path).Start(); err != nil {
			panic(err)
		}
	}
	if os.Getenv("GATEWAY_TEST_STORM") != "" {
		storm()
		return
	}
	if os.Getenv("GATEWAY_TEST_FLOOD") != "" {
		flood(os.Stdin, os.Stdout)
		return
	}
	if os.Getenv("GATEWAY_TEST_NOISE") != "" {
		fmt.Print("[info] listening\n42\n{\"level\":\"info\"}\n\n[]\n")
	}
	if err := upstream().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// schema is a schema with more than the SDK's types express.
var schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","x-own":[1,2]}},"additionalProperties":true}`)

// upstream is a server with tools of all kinds.
func upstream() *mcp.Server {
	var o mcp.ServerOptions
	if version := os.Getenv("GATEWAY_TEST_VERSION"); version != "" {
		o.SupportedProtocolVersions = []string{version}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, &o)
	s.AddTool(&mcp.Tool{
		Name: "echo", Title: "Echo", Description: "Says it again.", InputSchema: schema, Meta: mcp.Meta{"own": "kept"},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Meta:    mcp.Meta{"own": "kept"},
			Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}, StructuredContent: map[string]any{"got": req.Params.Arguments},
		}, nil
	})
	s.AddTool(&mcp.Tool{Name: "end", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "fails", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it is broken"}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "slow", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "half"}); err != nil {
				return nil, err
			}
		}
		<-ctx.Done()
		if path := os.Getenv("GATEWAY_TEST_CANCELLED"); path != "" {
			_ = os.WriteFile(path, nil, 0o600) // its absence fails the test
		}
		return nil, ctx.Err()
	})
	s.AddTool(&mcp.Tool{Name: "more", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(&mcp.Tool{Name: "later", InputSchema: schema}, nil)
		s.RemoveTools("fails")
		return &mcp.CallToolResult{}, nil
	})
	s.AddTool(&mcp.Tool{Name: "asks", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		question := &mcp.ElicitParams{Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"it":{"type":"string"}}}`)}
		res, _ := req.Params.InputResponses["which"].(*mcp.ElicitResult)
		if res == nil && req.ProtocolVersion() >= "2026" {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"which": question}, RequestState: "state"}, nil
		}
		if res == nil {
			var err error
			if res, err = req.Session.Elicit(ctx, question); err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Action, " ", res.Content["it"], req.Params.RequestState)}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: strings.Repeat("long_", 12), InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "found"}}}, nil
	})
	return s
}

// storm is a server that, when it is called, reports changed tools a thousand times, and lists different ones each
// time.
func storm() {
	lists := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"storm","version":"1"}}`
		case "tools/list":
			lists++
			result = fmt.Sprintf(`{"tools":[{"name":"go","inputSchema":{"type":"object"}},{"name":"list%d","inputSchema":{"type":"object"}}]}`, lists)
		case "tools/call":
			for range 1000 {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			result = fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, lists)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// hold is a process with a gateway to a server. It does nothing until it is killed.
func hold() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	g, err := gateway.Open(gateway.Options{Environ: os.Environ(), Helper: []string{self}, Upstreams: []gateway.Upstream{
		{Name: "up", Command: []string{self}, Env: map[string]string{"GATEWAY_TEST_HOLDER": ""}},
	}})
	if err != nil {
		panic(err)
	}
	g.Start(context.Background())
	select {}
}
