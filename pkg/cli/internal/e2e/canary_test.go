package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// canary has everything that a text of others must not carry into output: workflow commands of CI systems at the start
// of a line, service messages, control sequences in C0 and C1, and characters that reorder or hide text.
const canary = "a\n::set-output name=tag::pwned\r##[error]b\x1b[31m\u009b31m\u202e\u2066\u200b\U000e0041\u2028" +
	"##vso[task.setvariable variable=a]b\n\u00a0::add-mask::c\n##teamcity[x]\x07"

// canaryName is a file name of this kind.
const canaryName = "a\n::set-output name=tag::pwned\r##[error]b\x1b[31m\u009b31m\u202e.md"

// endless are the commands that the test does not run, and why.
var endless = map[string]string{
	"mcp": "a protocol, whose messages are JSON", "lsp": "a protocol, whose messages are JSON",
	"hook": "a protocol, whose messages are JSON", "index serve": "serves until it is interrupted",
	"dispatch": "a protocol, whose messages are JSON", "self-update": "replaces the program",
	"try": "starts a command", "completion": "prints a program",
}

// verbatim commands print files or the output of programs, in which only what CI systems execute is escaped.
var verbatim = []string{"load", "read", "run", "prompt", "diff", "task output", "task wait", "schema", "expand", "message"}

// canaryProject writes a project, a home directory, and a log whose texts are canaries.
func canaryProject(t *testing.T, dir, registry string) (project, home string) {
	t.Helper()
	project, home = filepath.Join(dir, "home", "project"), filepath.Join(dir, "home")
	quoted, err := json.Marshal(canary) // also a string in YAML
	if err != nil {
		t.Fatal(err)
	}
	q := string(quoted)
	files := map[string]string{
		"project/.agents/skills/plain/SKILL.md": "---\nname: plain\ndescription: " + q + "\nallowed-tools: Read\n" +
			"metadata: {author: " + q + ", " + q + ": b}\nlicense: " + q + "\n---\n# A\n\n" + canary + "\n",
		"project/.agents/skills/bad/SKILL.md": "---\nname: " + q + "\ndescription: " + q + "\nallowed-tools: [" + q +
			"]\n" + q + ": 1\n---\n[l](../missing%0a::set-output%20name=tag::pwned) [m](x%0d##[error]%1b[31m%e2%80%ae)\n\n" +
			"Run `scripts/" + strings.ReplaceAll(canary, "\n", " ") + "`.\n",
		"project/.agents/skills/plain/" + canaryName:         "x",
		"project/.agents/skills/plain/evals/evals.json":      `{"skill_name": ` + q + `, "evals": [{"id": ` + q + `, "prompt": ` + q + `}]}`,
		"project/.agents/skills/plain/scripts/run.sh":        "#!/bin/sh\nprintf '%s\\n' " + shellQuote(canary) + "\n",
		"project/.agents/skills/" + canaryName + "/SKILL.md": "---\nname: x\n---\n",
		"project/skillpm.yaml": "name: acme/p\nversion: 1.0.0\ndescription: " + q + "\ndependencies: {acme/web: ^1.0.0}\n" +
			"namespaces: {acme: \"oci://" + registry + "/acme\"}\n",
		"skills/unsafe/SKILL.md": "---\nname: unsafe\ndescription: " + q + "\n: " + canary + "\n---\n",
		"manifest/skillpm.yaml":  "name: " + q + "\nversion: " + q + "\n" + q + ": " + q + "\n",
		"manifest/skillpm.lock":  "version: 1\n" + q + ": " + q + "\n",
		"policy.yaml":            "version: 1\n" + q + ": " + q + "\nskills: {denied: [" + q + "]}\n",
		"audit/log.jsonl": `{"seq":1,"ts":"2026-01-02T03:04:05Z","machine":` + q + `,"user":` + q + `,"action":"run","result":"failed",` +
			`"skill":` + q + `,"pack":` + q + `,"version":` + q + `,"session":` + q + `,"script":` + q + `,"command":[` + q + `],"reason":` +
			q + `,"stdout":` + q + `,"stderr":` + q + `,"tool":` + q + `,"host":` + q + `}` + "\n",
	}
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Skip("the file system does not store the names of this test: ", err)
		}
	}
	return project, home
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// runnable returns the names of all commands that do something.
func runnable() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() && c.HasParent() {
			all[strings.TrimPrefix(c.CommandPath(), "skillpm ")] = c
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(cli.Command(environ.Environment{}))
	return all
}

var (
	lineCommand    = regexp.MustCompile(`(?m)^[\s\p{Z}]*::`)
	serviceMessage = regexp.MustCompile(`(?i)##(vso|teamcity)?\[`)
	annotation     = regexp.MustCompile(`(?m)^::(error|warning|notice) (file|title)=[^\n]*$`)
)

// wrongOutput returns why an output is unsafe, or "".
func wrongOutput(out string, content bool) string {
	if at := lineCommand.FindString(out); at != "" {
		return fmt.Sprintf("a workflow command: %q", around(out, lineCommand.FindStringIndex(out)[0]))
	}
	if i := serviceMessage.FindStringIndex(out); i != nil {
		return fmt.Sprintf("a service message: %q", around(out, i[0]))
	}
	if content {
		return ""
	}
	return wrongCharacter(out)
}

// wrongCharacter returns the unsafe character of a text, or "".
func wrongCharacter(out string) string {
	unsafe := func(r rune) bool { return r != '\n' && r != '\t' && r != '\ufffd' && textx.Unsafe(r) }
	if i := strings.IndexFunc(out, unsafe); i >= 0 {
		return fmt.Sprintf("an unsafe character: %q", around(out, i))
	}
	return ""
}

func around(s string, i int) string { return s[max(0, i-60):min(len(s), i+60)] }

// TestCanary runs every command in every format on content, names, logs, settings, and answers of a registry that try
// to control what reads the output, as in CI. A new command is run too.
func TestCanary(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader([]int{404, 500, 403}[len(r.URL.Path)%3])
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"code": canary, "message": canary}}})
	}))
	t.Cleanup(server.Close)
	registry := strings.TrimPrefix(server.URL, "http://")
	formats := []string{"text", "json", "ndjson", "csv", "otlp", "sarif", "github", "junit", "markdown", "html", "patch", "tree", "mermaid", "dot"}
	for name, cmd := range runnable() {
		if endless[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, home := canaryProject(t, t.TempDir(), registry)
			log := filepath.Join(home, "audit", "log.jsonl")
			var lines [][]string
			for _, args := range [][]string{
				nil,
				{canary},
				{canary, canary},
				{"plain"},
				{"bad"},
				{"plain", canary},
				{"plain", canaryName},
				{"plain", "scripts/run.sh"},
				{"acme/web"},
				{"."},
				{".agents/skills/plain"},
				{".agents/skills/bad"},
				{".agents/skills"},
				{"../manifest"},
				{"../policy.yaml"},
				{log},
				{"--" + canary},
				{"-C", canary},
				{"-C", "../manifest"},
			} {
				lines = append(lines, args)
				if cmd.Flags().Lookup("format") == nil {
					continue
				}
				for _, f := range formats {
					lines = append(lines, append([]string{"--format", f}, args...))
				}
			}
			for _, args := range lines {
				for _, extra := range [][]string{nil, {"--json"}, {"--color=always"}} {
					if slices.Contains(args, "--format") && extra != nil {
						continue
					}
					runCanary(t, project, home, name, slices.Concat(strings.Fields(name), extra, args))
				}
			}
		})
	}
}

func runCanary(t *testing.T, project, home, name string, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	summary := filepath.Join(home, "summary")
	variables := map[string]string{
		"HOME": home, "CI": "true", "GITHUB_STEP_SUMMARY": summary, "USER": canary, "PATH": os.Getenv("PATH"),
		"SKILLPM_SESSION": canary, "SKILLPM_AGENT": canary,
	}
	var out, stderr bytes.Buffer
	executeSkillpm(ctx, environ.Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Dir: project,
		Getenv:  func(name string) string { return variables[name] },
		Environ: func() []string { return nil },
	}, args)
	content := slices.Contains(verbatim, name)
	text := out.String()
	if slices.Contains(args, "github") {
		text = annotation.ReplaceAllStringFunc(text, func(line string) string { return strings.ReplaceAll(line[2:], "##[", "") })
	}
	if slices.Contains(args, "--color=always") {
		text = palette.ReplaceAllString(text, "")
	}
	if why := wrongOutput(text, content); why != "" {
		t.Errorf("skillpm %q prints %s", args, why)
	}
	if why := wrongOutput(palette.ReplaceAllString(stderr.String(), ""), content); why != "" {
		t.Errorf("skillpm %q prints on standard error %s", args, why)
	}
	if data, err := os.ReadFile(summary); err == nil {
		if why := wrongCharacter(string(data)); why != "" {
			t.Errorf("skillpm %q writes into the job summary %s", args, why)
		}
		_ = os.Remove(summary)
	}
}

var palette = regexp.MustCompile(`\x1b\[[0-9]+m`)

// TestCanaryFiles exports a log and reports to files, which other programs show.
func TestCanaryFiles(t *testing.T) {
	t.Parallel()
	project, home := canaryProject(t, t.TempDir(), "127.0.0.1:1")
	var lines [][]string
	for _, f := range []string{"json", "ndjson", "csv", "otlp"} {
		lines = append(lines, []string{"log", "export", filepath.Join(home, "audit", "log.jsonl"), "--format", f, "--output"})
	}
	for _, f := range []string{"text", "json", "sarif", "github", "junit"} {
		lines = append(lines, []string{"validate", "--format", f, "--output"})
	}
	lines = append(lines, []string{"log", "stats", filepath.Join(home, "audit", "log.jsonl"), "--html"})
	for _, args := range lines {
		file := filepath.Join(t.TempDir(), "out.html")
		runCanary(t, project, home, "", append(args, file))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("skillpm %q: %v", args, err)
		}
		if why := wrongCharacter(string(data)); why != "" {
			t.Errorf("skillpm %q writes %s", args, why)
		}
		if !strings.Contains(string(data), "set-output") {
			t.Errorf("skillpm %q does not write the texts: %s", args, data)
		}
	}
}
