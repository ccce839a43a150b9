//go:build slow

package e2e

import (
	"bufio"
	"context"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	cmd.Dir, cmd.Env = dir, append(slices.Clone(environ), "SKILLPM_MCP_TOKEN="+token)
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
		if _, address, ok := strings.Cut(lines.Text(), "Serving "); ok {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return withBearer(t, address)
		}
	}
	t.Fatal("it does not say where it serves")
	return ""
}

// token is the token of the servers.
const token = "0123456789abcdef0123456789abcdef"

// withBearer returns the URL of a proxy that adds the token to requests, which the official programs cannot do.
func withBearer(t *testing.T, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = u.Scheme, u.Host, r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	t.Cleanup(proxy.CloseClientConnections)
	return proxy.URL + u.Path
}

// Reasons for which a scenario of the official suite does not apply to skillpm.
const (
	ownFixture = "needs a tool, prompt, or resource of the suite's own server"
	noTasks    = "skillpm does not have the tasks extension"
	noInput    = "skillpm never asks the client for input during a call"
)

// conformance has every server scenario of the official suite: "" if it applies, or why it does not. A scenario of
// which only some checks apply has the others in [untestable].
var conformance = map[string]string{
	"server-initialize": "", "server-session-lifecycle": "", "server-stateless": "", "logging-set-level": "", "ping": "",
	"completion-complete": "", "tools-list": "", "server-sse-multiple-streams": "", "resources-list": "",
	"resources-subscribe": "", "resources-unsubscribe": "", "sep-2164-resource-not-found": "",
	"sep-2640-skills-directory": "", "sep-2640-skills-enumeration": "", "sep-2640-skills-manifest": "",
	"prompts-list": "", "dns-rebinding-protection": "", "caching": "",
	"http-header-validation": "", "input-required-result-unsupported-methods": "",
	"input-required-result-validate-input": "",

	"tools-call-simple-text": ownFixture, "tools-call-image": ownFixture, "tools-call-audio": ownFixture,
	"tools-call-embedded-resource": ownFixture, "tools-call-mixed-content": ownFixture, "tools-call-error": ownFixture,
	"tools-call-with-logging": ownFixture, "tools-call-with-progress": ownFixture, "tools-call-sampling": ownFixture,
	"tools-call-elicitation": ownFixture, "json-schema-2020-12": ownFixture, "elicitation-sep1034-defaults": ownFixture,
	"elicitation-sep1330-enums": ownFixture, "server-sse-polling": ownFixture, "resources-read-text": ownFixture,
	"resources-read-binary": ownFixture, "resources-templates-read": ownFixture, "prompts-get-with-args": ownFixture,
	"prompts-get-simple":            ownFixture,
	"prompts-get-embedded-resource": ownFixture, "prompts-get-with-image": ownFixture,
	"http-custom-header-server-validation": ownFixture,

	"tasks-lifecycle": noTasks, "tasks-capability-negotiation": noTasks, "tasks-wire-fields": noTasks,
	"tasks-request-state-removal": noTasks, "tasks-mrtr-input": noTasks, "tasks-request-headers": noTasks,
	"tasks-dispatch-and-envelope": noTasks, "tasks-status-notifications": noTasks,
	"tasks-required-task-error": noTasks, "tasks-mrtr-composition": noTasks,

	"input-required-result-basic-elicitation": noInput, "input-required-result-basic-sampling": noInput,
	"input-required-result-basic-list-roots": noInput, "input-required-result-request-state": noInput,
	"input-required-result-multiple-input-requests": noInput, "input-required-result-multi-round": noInput,
	"input-required-result-missing-input-response": noInput, "input-required-result-non-tool-request": noInput,
	"input-required-result-result-type": noInput, "input-required-result-tampered-state": noInput,
	"input-required-result-capability-check": noInput, "input-required-result-ignore-extra-params": noInput,
}

// untestable lists the checks of scenarios that apply which need a tool of the suite's own server.
var untestable = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

// schemaCheck is the check that every scenario makes of each message of the server.
const schemaCheck = "wire-schema-valid"

// TestMCPConformance runs all server scenarios of the official suite. Each one that applies passes, and in the others,
// too, every message is valid. A scenario that the table does not have, or that starts to pass, needs a row.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	program := npmProgram(t, "SKILLPM_MCP_CONFORMANCE")
	dir, environ := mcpProject(t)
	url := serveHTTP(t, dir, environ)
	listed := regexp.MustCompile(`(?m)^  - (\S+)`).FindAllStringSubmatch(execute(t, dir, append(program, "list", "--server")...), -1)
	if len(listed) != len(conformance) {
		t.Errorf("the suite has %d scenarios, the table %d", len(listed), len(conformance))
	}
	for _, match := range listed {
		scenario := match[1]
		reason, known := conformance[scenario]
		if !known {
			t.Errorf("the table does not have %s", scenario)
			continue
		}
		line := append(slices.Clone(program), "server", "--url", url, "--scenario", scenario)
		out, _ := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput() // failures are in the output
		passed, failed, others := conformanceChecks(string(out))
		switch {
		case slices.Contains(failed, schemaCheck):
			t.Errorf("%s: the server sent an invalid message:\n%s", scenario, out)
		case reason != "" && passed > 0 && len(failed)+others == 0:
			t.Errorf("%s passes now, remove the reason %q", scenario, reason)
		case reason == "" && (passed == 0 || len(failed) > 0):
			t.Errorf("%s: %d checks pass, but not %v:\n%s", scenario, passed, failed, out)
		}
	}
}

// conformanceChecks reads the output of the suite: how many checks but that of the schema passed, which failed, and how
// many ended in a warning or were skipped. It leaves out the checks that cannot be made.
func conformanceChecks(out string) (passed int, failed []string, others int) {
	for _, c := range regexp.MustCompile(`\[([a-z][a-z0-9-]+) *\][^\n]*?(SUCCESS|FAILURE|WARNING|SKIPPED)`).FindAllStringSubmatch(out, -1) {
		switch {
		case slices.Contains(untestable, c[1]):
		case c[2] == "FAILURE":
			failed = append(failed, c[1])
		case c[2] != "SUCCESS":
			others++
		case c[1] != schemaCheck:
			passed++
		}
	}
	return passed, failed, others
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
