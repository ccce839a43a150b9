package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
	"github.com/skillpm/skillpm/pkg/diag"
)

func TestParseFlag(t *testing.T) {
	for _, test := range []struct{ text, want, err string }{
		{"files=npx -y 'server files' .", "files [npx -y server files .] ", ""},
		{"web=https://mcp.example/v1", "web [] https://mcp.example/v1", ""},
		{"web=http://127.0.0.1:8080/mcp", "web [] http://127.0.0.1:8080/mcp", ""},
		{"web=http://[::1]:8080/mcp", "web [] http://[::1]:8080/mcp", ""},
		{"web=http://mcp.example/v1", "", "plain HTTP"},
		{"web=http://localhost.mcp.example/v1", "", "plain HTTP"},
		{"web=https://me:secret@mcp.example/v1", "", "contains a user"},
		{"web=https://", "", "invalid address"},
		{"npx server", "", "invalid upstream"},
		{"files=", "", "invalid upstream"},
		{"=npx server", "", "invalid upstream name"},
		{"a__b=npx", "", "invalid upstream name"},
		{"a_=npx", "", "invalid upstream name"},
		{"skillpm=npx", "", "an upstream cannot have the name skillpm"},
		{strings.Repeat("n", 33) + "=npx", "", "invalid upstream name"},
	} {
		u, err := gateway.ParseFlag(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || diag.CodeOf(err) != diag.Usage {
				t.Errorf("%s: the error is %v, want one with %q", test.text, err, test.err)
			}
			continue
		}
		if got := fmt.Sprintf("%s %v %s", u.Name, u.Command, u.URL); err != nil || got != test.want {
			t.Errorf("%s: %s (%v), want %s", test.text, got, err, test.want)
		}
	}
}

func TestParseConfig(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"TOKEN": "secret", "EMPTY": ""}[name] }
	for _, test := range []struct{ name, data, want, err string }{
		{
			"programs and addresses", `{
				// comments are fine
				"mcpServers": {
					"web": {"type": "http", "url": "https://mcp.example/${EMPTY:-v1}", "headers": {"Authorization": "Bearer ${TOKEN}"}},
					"files": {"command": "npx", "args": ["-y", "${TOKEN}"], "env": {"A": "${EMPTY:-}"}, "cwd": "/srv"},
					"skillpm": {"command": "skillpm", "args": ["mcp"]},
					"off": {"command": "off", "disabled": true},
				},
			}`,
			`[{files [npx -y secret] map[A:] /srv  map[]} {web [] map[] ` + ` https://mcp.example/v1 map[Authorization:Bearer secret]}]`, "",
		},
		{"Visual Studio Code's", `{"servers": {"files": {"type": "stdio", "command": "npx"}}}`, "[{files [npx] map[]   map[]}]", ""},
		{"nothing", `{}`, "[]", ""},
		{"a variable that is not set", `{"mcpServers": {"web": {"url": "https://mcp.example", "headers": {"A": "${NONE}"}}}}`, "", "NONE is not set"},
		{"both", `{"mcpServers": {"web": {"url": "https://mcp.example", "command": "npx"}}}`, "", "either a command or a url"},
		{"neither", `{"mcpServers": {"web": {}}}`, "", "either a command or a url"},
		{"another transport", `{"mcpServers": {"web": {"type": "sse", "url": "https://mcp.example"}}}`, "", `type "sse"`},
		{"a bad name", `{"mcpServers": {"a b": {"command": "npx"}}}`, "", "invalid upstream name"},
		{"no JSON", `{"mcpServers": `, "", "servers.json"},
		{"another shape", `{"mcpServers": []}`, "", "servers.json"},
	} {
		list, err := gateway.ParseConfig("servers.json", []byte(test.data), getenv)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), " servers.json: ") {
				t.Errorf("%s: the error is %v, want one with %q", test.name, err, test.err)
			}
			continue
		}
		if got := fmt.Sprint(list); err != nil || got != test.want {
			t.Errorf("%s: %s (%v), want %s", test.name, got, err, test.want)
		}
	}
}

// TestOpen checks that an invalid gateway configuration is rejected before any server starts.
func TestOpen(t *testing.T) {
	one := gateway.Upstream{Name: "one", Command: []string{"npx"}}
	for want, list := range map[string][]gateway.Upstream{
		"two upstreams have the name one":              {one, one},
		"does not have a command":                      {{Name: "one"}},
		"65 upstreams are configured; the limit is 64": make([]gateway.Upstream, 65),
	} {
		if _, err := gateway.Open(gateway.Options{Upstreams: list}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}
