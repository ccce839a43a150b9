package e2e

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMCPToken checks that `skillpm mcp --http` without further flags answers only requests with a token, which it
// creates for the user and keeps, and neither prints to a log nor has in its arguments.
func TestMCPToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server is ended by a signal")
	}
	home := t.TempDir()
	file := filepath.Join(home, ".local", "state", "skillpm", "mcp-token")
	var first string
	for range 2 {
		cmd := exec.Command(self(t), "mcp", "--http", "127.0.0.1:0")
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "SKILLPM_MCP_TOKEN=")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "Serving ") {
			t.Fatalf("it prints %q", lines.Text())
		}
		url := strings.TrimPrefix(lines.Text(), "Serving ")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		token := strings.TrimSpace(string(data))
		if first == "" {
			first = token
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || token != first || len(token) < 20 {
			t.Errorf("%v %v: %q, before %q", info.Mode(), err, token, first)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), file) || strings.Contains(lines.Text(), token) {
			t.Errorf("it prints %q", lines.Text())
		}
		for header, want := range map[string]int{"": 401, "Bearer x" + token: 401, "Bearer " + token: 200} {
			body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Authorization", header)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%q: %d, want %d", header, res.StatusCode, want)
			}
		}
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
}
