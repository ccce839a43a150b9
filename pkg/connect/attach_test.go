package connect

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillpm/skillpm/pkg/diag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// newEnv returns a test's home directory, project, and machine.
func newEnv(t *testing.T) Env {
	t.Helper()
	root := t.TempDir()
	e := Env{
		Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project"), Machine: filepath.Join(root, "machine"),
		State: filepath.Join(root, "state"), OS: "linux", Getenv: func(string) string { return "" },
	}
	for _, dir := range []string{e.Home, e.Project, e.Machine} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func options(t *testing.T, kind Kind, host string, in Scope) Options {
	t.Helper()
	h, err := Find(host, kind)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Kind: kind, Agent: h, Scope: in, Program: "/opt/skillpm"}
}

func must(t *testing.T, do func(context.Context, Env, Options) (*Result, error), e Env, o Options) *Result {
	t.Helper()
	r, err := do(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func state(t *testing.T, e Env, o Options) State {
	t.Helper()
	r, err := Status(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.State
}

// tree lists the files below a directory, except skillpm's own state.
func tree(t *testing.T, e Env) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range []string{e.Home, e.Project, e.Machine} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && path != dir {
				fmt.Fprintln(&b, path)
				if d.Type().IsRegular() {
					b.WriteString(read(t, path))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestEveryHost proves O26: it installs for each agent, kind, and scope, twice, and removes again: nothing is left, not
// even a directory.
func TestEveryHost(t *testing.T) {
	for _, kind := range []Kind{Hook, MCP} {
		for _, h := range Agents() {
			for _, in := range h.Scopes(kind) {
				t.Run(fmt.Sprint(kind, " ", h.ID, " ", in), func(t *testing.T) {
					e := newEnv(t)
					o := options(t, kind, h.ID, in)
					if s := state(t, e, o); s != Missing {
						t.Errorf("at first: %s", s)
					}
					before := tree(t, e)
					if r := must(t, Install, e, o); !r.Changed || r.State != Installed {
						t.Errorf("installed: %+v", r)
					}
					if s := state(t, e, o); s != Installed {
						t.Errorf("installed: %s", s)
					}
					after := tree(t, e)
					if r := must(t, Install, e, o); r.Changed || tree(t, e) != after {
						t.Errorf("the second time something changed: %+v", r)
					}
					o.Program = "/new place/skillpm"
					if s := state(t, e, o); s != Stale {
						t.Errorf("for a moved program: %s", s)
					}
					must(t, Install, e, o)
					if s := state(t, e, o); s != Installed || strings.Contains(tree(t, e), "/opt/skillpm") {
						t.Errorf("for a moved program, installed: %s\n%s", s, tree(t, e))
					}
					must(t, Remove, e, o)
					if got := tree(t, e); got != before {
						t.Errorf("removed:\n%s", got)
					}
					if left, _ := filepath.Glob(filepath.Join(e.State, "attached.json")); left != nil {
						t.Error("the record of what was done is still there")
					}
					if r := must(t, Remove, e, o); r.Changed {
						t.Error("removed twice")
					}
				})
			}
		}
	}
}

// TestExact proves that removal restores a file exactly if it is unchanged since install, even in details without
// meaning.
func TestExact(t *testing.T) {
	for _, before := range []string{
		"", "\n", "{}", "{}\n", "{ }", "{\n}", "{\n\n}\n", `{"hooks":{}}`, `{"hooks": { } }`, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
		"{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  },\n}\n", "{ // nothing\n}", "\xef\xbb\xbf", "\xef\xbb\xbf{}",
	} {
		t.Run(fmt.Sprintf("%q", before), func(t *testing.T) {
			e := newEnv(t)
			o := options(t, Hook, "claude-code", Project)
			file := filepath.Join(e.Project, ".claude", "settings.json")
			write(t, file, before)
			must(t, Install, e, o)
			o.Program = "/elsewhere"
			must(t, Install, e, o)
			must(t, Remove, e, o)
			if got := read(t, file); got != before {
				t.Errorf("it is %q", got)
			}
		})
	}
}

// TestEditedSince proves that later edits by others stay, whichever of hooks and servers is removed first.
func TestEditedSince(t *testing.T) {
	for _, order := range [][]Kind{{Hook, MCP}, {MCP, Hook}} {
		e := newEnv(t)
		file := filepath.Join(e.Home, ".gemini", "settings.json")
		before := "{\n  \"theme\": \"x\"\n}\n"
		write(t, file, before)
		for _, kind := range []Kind{Hook, MCP} {
			must(t, Install, e, options(t, kind, "gemini", User))
		}
		edited := strings.Replace(read(t, file), `"x"`, `"y", // mine`, 1)
		edited = strings.Replace(edited, `"y", // mine,`, `"y", // mine`, 1)
		write(t, file, edited)
		for _, kind := range order {
			must(t, Remove, e, options(t, kind, "gemini", User))
		}
		if got, want := read(t, file), "{\n  \"theme\": \"y\" // mine\n}\n"; got != want {
			t.Errorf("it is\n%s\nnot\n%s", got, want)
		}
	}
}

// TestBothKinds proves that hooks and servers in one file are independent.
func TestBothKinds(t *testing.T) {
	for _, order := range [][]Kind{{Hook, MCP}, {MCP, Hook}} {
		e := newEnv(t)
		before := tree(t, e)
		for _, kind := range []Kind{Hook, MCP} {
			must(t, Install, e, options(t, kind, "gemini", User))
			must(t, Install, e, options(t, kind, "codex", User))
		}
		for _, kind := range order {
			must(t, Remove, e, options(t, kind, "gemini", User))
			must(t, Remove, e, options(t, kind, "codex", User))
		}
		if got := tree(t, e); got != before {
			t.Errorf("%v: left:\n%s", order, got)
		}
	}
}

// TestRepairs proves that install repairs incomplete entries: missing events, unused events, and duplicates.
func TestRepairs(t *testing.T) {
	const other = `{"type": "command", "command": "./mine.sh"}`
	for _, c := range []struct{ name, before string }{
		{"an event", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "skillpm hook Stop --agent claude-code"}]}]}}`},
		{"an old event", `{"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "skillpm hook Notification --agent claude-code"}]}]}}`},
		{"twice", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "skillpm hook Stop --agent claude-code"}, ` + other + `]}, {"hooks": [{"type": "command", "command": "'/a b/skillpm' hook Stop --agent claude-code"}]}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			o := options(t, Hook, "claude-code", Project)
			file := filepath.Join(e.Project, ".claude", "settings.json")
			write(t, file, c.before)
			if s := state(t, e, o); s != Stale {
				t.Errorf("before: %s", s)
			}
			must(t, Install, e, o)
			if s := state(t, e, o); s != Installed {
				t.Errorf("after: %s\n%s", s, read(t, file))
			}
			if strings.Contains(c.before, other) != strings.Contains(read(t, file), other) {
				t.Error("another's hook is not there any more")
			}
			must(t, Remove, e, o)
			if strings.Contains(read(t, file), "skillpm") {
				t.Errorf("removed:\n%s", read(t, file))
			}
		})
	}
}

// TestRefused proves that a file that cannot be edited is an error of the right kind, and stays as it is.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, host string
		kind       Kind
		file, text string
		code       diag.Code
	}{
		{"no JSON", "claude-code", Hook, ".claude/settings.json", "{", diag.Invalid},
		{"a list", "claude-code", Hook, ".claude/settings.json", "[]", diag.Invalid},
		{"a key twice", "claude-code", Hook, ".claude/settings.json", `{"model": 1, "model": 2}`, diag.Invalid},
		{"a key twice, deep", "claude-code", Hook, ".claude/settings.json", `{"a": [{"b": {"c": 1, "c": 1}}]}`, diag.Invalid},
		{"a key twice, in other letters", "claude-code", Hook, ".claude/settings.json", `{"hooks": {}, "\u0068ooks": {}}`, diag.Invalid},
		{"hooks are a text", "claude-code", Hook, ".claude/settings.json", `{"hooks": "none"}`, diag.Invalid},
		{"an event is an object", "claude-code", Hook, ".claude/settings.json", `{"hooks": {"Stop": {}}}`, diag.Invalid},
		{"servers are a list", "claude-code", MCP, ".mcp.json", `{"mcpServers": []}`, diag.Invalid},
		{"another server of the name", "claude-code", MCP, ".mcp.json", `{"mcpServers": {"skillpm": {"command": "npx", "args": ["skillpm"]}}}`, diag.Conflict},
		{"no TOML", "codex", MCP, ".codex/config.toml", "[mcp_servers", diag.Invalid},
		{"a TOML key twice", "codex", MCP, ".codex/config.toml", "a = 1\na = 2\n", diag.Invalid},
		{"an inline table", "codex", MCP, ".codex/config.toml", "mcp_servers = { a = { command = \"a\" } }\n", diag.Invalid},
		{"ours in an inline table", "codex", MCP, ".codex/config.toml", "mcp_servers = { skillpm = { command = \"skillpm\", args = [\"mcp\"] } }\n", diag.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			o := options(t, c.kind, c.host, Project)
			file := filepath.Join(e.Project, filepath.FromSlash(c.file))
			write(t, file, c.text)
			_, err := Install(t.Context(), e, o)
			if diag.CodeOf(err) != c.code || diag.HintOf(err) == "" {
				t.Errorf("code %v, hint %q: %v", diag.CodeOf(err), diag.HintOf(err), err)
			}
			if got := read(t, file); got != c.text {
				t.Errorf("the file is %q", got)
			}
			if s := state(t, e, o); s == Installed {
				t.Errorf("its state is %s", s)
			}
		})
	}
}

// TestForce replaces a server with our name that skillpm did not configure.
func TestForce(t *testing.T) {
	e := newEnv(t)
	o := options(t, MCP, "claude-code", Project)
	write(t, filepath.Join(e.Project, ".mcp.json"), `{"mcpServers": {"skillpm": {"command": "npx", "args": ["x"], "env": {"A": "b"}}}}`)
	o.Force = true
	must(t, Install, e, o)
	if s := state(t, e, o); s != Installed {
		t.Error(s)
	}
}

// TestYAMLRefused is TestRefused for Goose, which has only the user scope.
func TestYAMLRefused(t *testing.T) {
	for _, text := range []string{"a: [", "- a\n", "a: 1\na: 2\n", "extensions: [a]\n", "{extensions: {}}\n", "extensions: {x: {enabled: true}}\n", "a: 1\n---\nb: 2\n", "t: |\n  text", "extensions: text\n"} {
		e := newEnv(t)
		file := filepath.Join(e.Home, ".config", "goose", "config.yaml")
		write(t, file, text)
		if _, err := Install(t.Context(), e, options(t, MCP, "goose", User)); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%q: %v", text, err)
		}
		if got := read(t, file); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestLinks proves which links are followed.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	e := newEnv(t)
	dotfiles := filepath.Join(e.Home, "dotfiles", "claude.json")
	write(t, dotfiles, "{}")
	link := filepath.Join(e.Home, ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, link); err != nil {
		t.Fatal(err)
	}
	o := options(t, Hook, "claude-code", User)
	must(t, Install, e, o)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(read(t, dotfiles), "skillpm") {
		t.Error("the link was replaced, or not followed")
	}
	must(t, Remove, e, o)
	if got := read(t, dotfiles); got != "{}" {
		t.Errorf("removed: %q", got)
	}

	outside := filepath.Join(filepath.Dir(e.Home), "outside.json")
	write(t, outside, "{}")
	for _, c := range []struct {
		name string
		in   Scope
		at   string
		to   string
	}{
		{"a project's file in the home directory", Project, filepath.Join(e.Project, ".claude", "settings.json"), dotfiles},
		{"the user's outside", User, link, outside},
		{"nowhere", User, link, filepath.Join(e.Home, "nowhere")},
	} {
		if err := os.MkdirAll(filepath.Dir(c.at), 0o755); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(c.at) // the one before
		if err := os.Symlink(c.to, c.at); err != nil {
			t.Fatal(err)
		}
		if _, err := Install(t.Context(), e, options(t, Hook, "claude-code", c.in)); diag.CodeOf(err) != diag.Conflict {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if read(t, outside) != "{}" || read(t, dotfiles) != "{}" {
		t.Error("something was written")
	}
}

// TestMode proves that a file keeps its permissions.
func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has none")
	}
	e := newEnv(t)
	file := filepath.Join(e.Home, ".claude.json")
	write(t, file, "{}\n")
	o := options(t, MCP, "claude-code", User)
	for _, do := range []func(context.Context, Env, Options) (*Result, error){Install, Remove} {
		must(t, do, e, o)
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

// TestDryRun proves that a dry run reports the changes and makes none.
func TestDryRun(t *testing.T) {
	e := newEnv(t)
	o := options(t, MCP, "codex", User)
	o.DryRun = true
	r := must(t, Install, e, o)
	if !r.Changed || !strings.Contains(r.Diff, "+[mcp_servers.skillpm]\n") {
		t.Errorf("%+v", r)
	}
	if got := tree(t, e); got != "" {
		t.Errorf("there is:\n%s", got)
	}
	if _, err := os.Stat(e.State); err == nil {
		t.Error("state was written")
	}
}

// TestVariables proves which variables move the agents' configuration.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		kind                 Kind
		host, variable, want string
	}{
		{Hook, "claude-code", "CLAUDE_CONFIG_DIR", "moved/settings.json"},
		{MCP, "claude-code", "CLAUDE_CONFIG_DIR", "moved/.claude.json"},
		{Hook, "codex", "CODEX_HOME", "moved/hooks.json"},
		{MCP, "codex", "CODEX_HOME", "moved/config.toml"},
		{MCP, "gemini", "GEMINI_CLI_HOME", "moved/.gemini/settings.json"},
		{MCP, "copilot", "COPILOT_HOME", "moved/mcp-config.json"},
		{MCP, "opencode", "XDG_CONFIG_HOME", "moved/opencode/opencode.json"},
		{MCP, "goose", "XDG_CONFIG_HOME", "moved/goose/config.yaml"},
		{MCP, "vscode", "XDG_CONFIG_HOME", "moved/Code/User/mcp.json"},
	} {
		e := newEnv(t)
		root := filepath.Dir(e.Home)
		e.Getenv = func(name string) string {
			if name == c.variable {
				return filepath.Join(root, "moved")
			}
			return ""
		}
		must(t, Install, e, options(t, c.kind, c.host, User))
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(c.want))); err != nil {
			t.Errorf("%s of %s: %v", c.kind, c.host, err)
		}
	}
}

// TestObstacles proves that skillpm reports settings that keep an agent from using its configuration.
func TestObstacles(t *testing.T) {
	for _, c := range []struct {
		name, host string
		kind       Kind
		in         Scope
		file, text string // in the home directory or, with a leading slash, the machine's
		want       string
	}{
		{"hooks off", "claude-code", Hook, Project, ".claude/settings.json", `{"disableAllHooks": true}`, "does not run hooks"},
		{"only the administrator's", "claude-code", Hook, User, "/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`, "runs only the hooks of the machine scope"},
		{"a server that is off", "claude-code", MCP, Project, ".claude/settings.json", `{"disabledMcpjsonServers": ["skillpm"]}`, "disabledMcpjsonServers"},
		{"the administrator's servers", "claude-code", MCP, User, "/claude-code/managed-mcp.json", `{}`, "starts only the MCP servers in"},
		{"untrusted hooks", "codex", Hook, User, ".codex/config.toml", "", "skips 8 of 8 hooks"},
		{"hooks as a feature", "codex", Hook, User, ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks is false"},
		{"an untrusted project", "codex", MCP, Project, ".codex/config.toml", "", "only in trusted projects"},
		{"hooks off", "gemini", Hook, Project, ".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "does not run hooks"},
		{"hooks off", "copilot", Hook, User, ".copilot/config.json", `{"disableAllHooks": true}`, "does not run hooks"},
		{"an untrusted folder", "copilot", Hook, Project, ".copilot/config.json", `{"trustedFolders": ["/elsewhere"]}`, "runs hooks only in trusted directories"},
		{"an untrusted folder", "copilot", MCP, Project, ".copilot/config.json", `{}`, "starts MCP servers only in trusted directories"},
		{"an untrusted folder", "gemini", Hook, Project, ".gemini/trustedFolders.json", `{"/elsewhere": "TRUST_FOLDER"}`, "runs hooks only in trusted directories"},
		{"an untrusted folder", "gemini", MCP, User, ".gemini/settings.json", `{}`, "starts MCP servers only in trusted directories"},
	} {
		t.Run(c.host+", "+c.name, func(t *testing.T) {
			e := newEnv(t)
			if name, machine := strings.CutPrefix(c.file, "/"); machine {
				write(t, filepath.Join(e.Machine, filepath.FromSlash(name)), c.text)
			} else {
				write(t, filepath.Join(e.Home, filepath.FromSlash(c.file)), c.text)
			}
			o := options(t, c.kind, c.host, c.in)
			o.Program = "skillpm"
			if r := must(t, Install, e, o); !strings.Contains(fmt.Sprint(r.Obstacles), c.want) {
				t.Errorf("installed: %q", r.Obstacles)
			}
			if r, err := Status(e, o); err != nil || !strings.Contains(fmt.Sprint(r.Obstacles), c.want) {
				t.Errorf("status: %q, %v", r.Obstacles, err)
			}
		})
	}
}

// TestCodexTrust compares the digests that Codex 0.169 stores for hooks with those that skillpm computes.
func TestCodexTrust(t *testing.T) {
	want := map[string]string{ // what its method hooks/list answered for hooks with a limit of 10 seconds
		"PreToolUse":       "sha256:bf4296a672436b253ed5a8a5b070e9eaabe001a80f7a0002c04b543e453d0d91",
		"SessionEnd":       "sha256:94f3bd39edd1edc8017b98319ed139fd741853518e2a539c825321e7bb90b954",
		"UserPromptSubmit": "sha256:77e445abbd1215ee6fbc07ece6c11eb9a45ba7c9f26fca8c8b2f2e5843650720",
		"SubagentStop":     "sha256:a9ecd390e0dfe950a6fbf0ae3807dd68b3c92b91034c9b4d94f65bd81a2f6b85",
		"Interrupt":        "sha256:cd2aafd5b243c1374d1d76c4872986d3559bc6ae6617a03058e94e366dc7a928",
		"Stop":             "sha256:904b2efceac59b996809029d96592e75a928976d91a27bc9add1ab66d781e5fb",
	}
	p := planFor(t, Hook, "codex")
	p.program, p.agent.timeout = "/opt/skillpm", 10 // as they were when it was asked
	d, err := newJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.install(d); err != nil {
		t.Fatal(err)
	}
	values, err := d.values()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range p.find(values) {
		key, sum := codexTrust("/h/hooks.json", f, values)
		if want[f.event] == "" {
			continue
		}
		seen++
		if sum != want[f.event] || key != "/h/hooks.json:"+snake(f.event)+":0:0" {
			t.Errorf("%s: %s", key, sum)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d events", seen, len(want))
	}
}

// TestAnyProgram proves that the state is available without naming the expected program.
func TestAnyProgram(t *testing.T) {
	for _, host := range []string{"claude-code", "opencode", "goose", "codex"} {
		for _, kind := range []Kind{Hook, MCP} {
			if h, err := Find(host, kind); err != nil || len(h.Scopes(kind)) == 0 {
				continue
			}
			e := newEnv(t)
			o := options(t, kind, host, User)
			o.Program = filepath.Join(e.Home, "it's here", "skillpm")
			must(t, Install, e, o)
			want := o.Program
			o.Program = ""
			r, err := Status(e, o)
			if err != nil || r.State != Installed || r.Program != want {
				t.Errorf("%s of %s: %+v, %v", kind, host, r, err)
			} else if !strings.Contains(fmt.Sprint(r.Obstacles), `which does not exist: run "skillpm connect `+host+` --scope user"`) {
				t.Errorf("%s of %s: %q", kind, host, r.Obstacles)
			}
		}
	}
}

// TestConcurrent proves that concurrent installs and removals do not undo each other's changes.
func TestConcurrent(t *testing.T) {
	e := newEnv(t)
	file := filepath.Join(e.Home, ".gemini", "settings.json")
	write(t, file, "{\n  \"a\": 1\n}\n")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			o := options(t, []Kind{Hook, MCP}[i%2], "gemini", User)
			o.Program = fmt.Sprint("/opt/", i)
			if _, err := Install(t.Context(), e, o); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, kind := range []Kind{Hook, MCP} {
		if s := state(t, e, options(t, kind, "gemini", User)); s != Stale { // for another program
			t.Errorf("%s: %s\n%s", kind, s, read(t, file))
		}
		must(t, Remove, e, options(t, kind, "gemini", User))
	}
	if got := read(t, file); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("removed:\n%s", got)
	}
}

// TestGolden compares the changes to existing files of agents with golden files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/attach/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			host, kind, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "_")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before := string(archive.Files[0].Data)
			installed, removed := roundTrip(t, planFor(t, Kind(kind), host), before)
			if removed != before {
				t.Errorf("removed:\n%s", removed)
			}
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "after", Data: []byte(installed)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got := string(archive.Files[1].Data); got != installed {
				t.Errorf("installed:\n%s\nwant:\n%s", installed, got)
			}
		})
	}
}
