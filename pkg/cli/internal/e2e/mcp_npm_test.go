//go:build slow

package e2e

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mcpProject is a project with skills whose files the official programs read, and the environment to serve it.
func mcpProject(t *testing.T) (dir string, environ []string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD":                                  "ref: refs/heads/main\n",
		".skillpm/skills/deploy/SKILL.md":            "---\nname: deploy\ndescription: Deploys a service.\nargument-hint: \"<service>\"\nmetadata: {version: \"1.0\"}\n---\n\nDeploy $0, as [the guide](references/guide.md) says.\n",
		".skillpm/skills/deploy/references/guide.md": "The guide.\n",
		".skillpm/skills/deploy/scripts/check.sh":    "#!/bin/sh\necho checked\n",
		".skillpm/skills/notes/SKILL.md":             "---\nname: notes\ndescription: Writes release notes.\n---\n\nWrite them.\n",
		".skillpm/skills/notes/assets/logo.png":      "\x89PNG\r\n\x1a\n\x00\x01",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	environ = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "NO_COLOR=1", enterpriseDir+"="+filepath.Join(home, "enterprise"))
	return dir, environ
}

// serveHTTP starts skillpm mcp over HTTP, and returns its address.
func serveHTTP(t *testing.T, dir string, environ []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), self(t), append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env = dir, environ
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "Serving "); ok {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return url
		}
	}
	t.Fatal("it does not say where it serves")
	return ""
}

// conformance lists the scenarios of the official suite that cover what skillpm serves. It leaves out tools that only
// the suite's own server has.
var conformance = []string{
	"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list", "resources-list", "resources-subscribe",
	"resources-unsubscribe", "prompts-list", "completion-complete", "dns-rebinding-protection", "caching", "http-header-validation",
	"server-sse-multiple-streams", "sep-2164-resource-not-found", "sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory",
}

// TestMCPConformance runs the official conformance suite against the server.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_MCP_CONFORMANCE")
	dir, environ := mcpProject(t)
	url := serveHTTP(t, dir, environ)
	for _, scenario := range conformance {
		out := execute(t, dir, append(program, "server", "--url", url, "--scenario", scenario)...)
		if !regexp.MustCompile(`Passed: ([1-9]\d*)/\d+, 0 failed`).MatchString(out) {
			t.Errorf("%s:\n%s", scenario, out)
		}
	}
}

// untestable lists the checks of server-stateless that need a tool of the suite's own server.
var untestable = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

// TestMCPStateless runs the suite without a session, like the newest protocol.
func TestMCPStateless(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_MCP_CONFORMANCE")
	dir, environ := mcpProject(t)
	cmd := exec.CommandContext(t.Context(), program[0], append(program[1:], "server", "--url", serveHTTP(t, dir, environ), "--scenario", "server-stateless")...)
	out, _ := cmd.CombinedOutput() // that checks fail is in what it prints
	checks := regexp.MustCompile(`\[(sep-[a-z0-9-]+) *\][^\n]*(SUCCESS|FAILURE)`).FindAllStringSubmatch(string(out), -1)
	passed := 0
	for _, c := range checks {
		switch {
		case c[2] == "SUCCESS":
			passed++
		case !strings.Contains(strings.Join(untestable, " "), c[1]):
			t.Errorf("%s failed", c[1])
		}
	}
	if passed < 20 || t.Failed() {
		t.Errorf("%d checks passed:\n%s", passed, out)
	}
}

// TestMCPInspector verifies every skill with the official inspector, over both transports. All files are listed, and all
// but the script, which the default profile lets nobody read, have the digest and the size of their entry.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_MCP_INSPECTOR")
	dir, environ := mcpProject(t)
	for _, target := range [][]string{{serveHTTP(t, dir, environ)}, {self(t), "mcp"}} {
		cmd := exec.CommandContext(t.Context(), program[0], append(append(program[1:], target...), "--method", "skills/list", "--verify", "--require-digests")...)
		cmd.Dir, cmd.Env = dir, environ
		out, _ := cmd.CombinedOutput() // that it cannot read the script is in what it prints
		for want, n := range map[string]int{
			`"conformance":[]`: 2, `"frontmatter":[]`: 2, `"status":"verified"`: 4, `"status":"read-error","reason":"cannot read scripts/check.sh`: 1,
			"0 digest/size mismatch across 5 files": 2,
		} {
			if strings.Count(string(out), want) != n {
				t.Errorf("%v: %d of %q, want %d\n%s", target, strings.Count(string(out), want), want, n, out)
			}
		}
		cmd = exec.CommandContext(t.Context(), program[0], append(append(program[1:], target...), "--method", "tools/list", "--strict")...)
		cmd.Dir, cmd.Env = dir, environ
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"skill_run"`) {
			t.Errorf("%v: %v\n%s", target, err, out)
		}
	}
}
