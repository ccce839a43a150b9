package connect

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBlock proves O26: Claude Code's hooks have its own key that makes a failure deny, unless the user chooses
// otherwise, and install repairs the key.
func TestBlock(t *testing.T) {
	e := newEnv(t)
	o := options(t, Hook, "claude-code", Project)
	file := must(t, Install, e, o).File
	count := func() int { return strings.Count(read(t, file), `"onFailure": "block"`) }
	if r, err := Status(e, o); err != nil || !r.FailClosed || count() != 2 || strings.Contains(read(t, file), "exit 2") {
		t.Errorf("%d keys; %+v, %v", count(), r, err)
	}
	for from, to := range map[string]string{
		`"onFailure": "block"`: `"onFailure": "continue"`, ",\n            \"onFailure\": \"block\"": "",
	} {
		before := read(t, file)
		write(t, file, strings.Replace(before, from, to, 1))
		if r, err := Status(e, o); read(t, file) == before || err != nil || r.State != Stale || !strings.Contains(r.Reason, "onFailure") {
			t.Errorf("%q: %+v, %v", to, r, err)
		}
		if must(t, Install, e, o); count() != 2 {
			t.Errorf("%q: %d keys", to, count())
		}
	}
	no := false
	o.FailClosed = &no
	if r := must(t, Install, e, o); r.FailClosed || count() != 0 {
		t.Errorf("open: %d keys, %+v", count(), r)
	}
	o.FailClosed = nil
	if r := must(t, Install, e, o); r.Changed || r.FailClosed {
		t.Errorf("the choice does not stay: %+v", r)
	}
	o = options(t, Hook, "gemini", Project)
	if r := must(t, Install, e, o); r.FailClosed || strings.Contains(read(t, r.File), "onFailure") {
		t.Errorf("an agent without the key: %+v", r)
	}
}

// TestSyntax proves O26: skillpm reports a file that the agent's own parser refuses, as measured on the programs by
// TestAgentsParse.
func TestSyntax(t *testing.T) {
	const (
		line, block, comma, mark = "{ // x\n\"a\": 1}", "{\"a\": /* \n */ 1}", "{\"a\": [1, 2,\n]}", "\ufeff{\"a\": 1}"
		twice, plain, text       = `{"a": 1, "a": 2}`, `{"hooks": {"a": "// no, /* no */ ,}"}}`, `{"hooks": "\"//"}`
	)
	for _, test := range []struct {
		agent, data, want string
	}{
		{"claude-code", line, "line 1 contains a comment"},
		{"claude-code", block, "line 1 contains a comment"},
		{"claude-code", comma, "line 1 contains a comma"},
		{"claude-code", mark, ""},
		{"claude-code", twice, ""},
		{"claude-code", plain, ""},
		{"claude-code", text, ""},
		{"claude-code", "", ""},
		{"claude-code", "{\n\n  // x\n}", "line 3 contains a comment"},
		{"claude-code", "{\"a\": 1, // x\n}", "line 1 contains a comment"},
		{"codex", line, "line 1 contains a comment"},
		{"codex", comma, "line 1 contains a comma"},
		{"codex", mark, "byte order mark"},
		{"codex", twice, `the key "a" is unknown`},
		{"codex", `{"hooks": {}, "hooks": {}}`, `the key "hooks" is duplicated`},
		{"codex", `{"description": "x", "hooks": {}}`, ""},
		{"codex", plain, ""},
		{"copilot", block, "line 1 contains a comment"},
		{"copilot", mark, "byte order mark"},
		{"copilot", twice, ""},
		{"gemini", line, ""},
		{"gemini", block, ""},
		{"gemini", "{\"a\": 1, // x\n}", "line 1 contains a comma"},
		{"gemini", mark, "does not start"},
		{"cursor", comma, ""}, // not measured
	} {
		e := newEnv(t)
		p := planFor(t, Hook, test.agent)
		got := e.syntaxObstacles(p, []byte(test.data))
		if len(got) > 1 || (len(got) == 1) != (test.want != "") || test.want != "" && !strings.Contains(got[0].String(), test.want) {
			t.Errorf("%s, %q: %v, want %s", test.agent, test.data, got, test.want)
		}
	}
	e := newEnv(t)
	write(t, filepath.Join(e.Project, ".claude", "settings.json"), "{\n  // mine\n}\n")
	o := options(t, Hook, "claude-code", Project)
	o.Program = "skillpm"
	if r := must(t, Install, e, o); len(r.Obstacles) != 1 || !strings.Contains(r.Obstacles[0].Message, "line 2 contains a comment") {
		t.Errorf("connect: %+v", r.Obstacles)
	}
	if r, err := Status(e, o); err != nil || len(r.Obstacles) != 1 || !strings.HasPrefix(r.Obstacles[0].Message, "Claude Code ignores ") {
		t.Errorf("status: %+v, %v", r, err)
	}
}

// TestProbe proves O26: skillpm shows what Claude Code reports about the file, and does not run versions that cannot
// report it, nor any program for a file that it cannot read.
func TestProbe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	for _, test := range []struct {
		version, says, want string
	}{
		{"2.1.330 (Claude Code)", "- FILE › cleanupPeriodDays: Expected number", "Claude Code reports an error in FILE: cleanupPeriodDays: Expected number"},
		{"2.2.0 (Claude Code)", "- FILE: Invalid or malformed JSON", "Claude Code reports an error in FILE: Invalid or malformed JSON"},
		{"3.0", "- FILE.bak: x", ""},
		{"2.1.330", "No installation issues found.", ""},
		{"2.1.329", "- FILE: x", ""},
		{"1.9.999", "- FILE: x", ""},
		{"unknown", "- FILE: x", ""},
		{"", "- FILE: x", ""},
	} {
		e := newEnv(t)
		e.OS = runtime.GOOS
		getenv := e.Getenv
		bin := filepath.Join(t.TempDir(), "bin")
		e.Getenv = func(name string) string {
			if name == "PATH" {
				return "relative" + string(os.PathListSeparator) + bin
			}
			return getenv(name)
		}
		o := options(t, Hook, "claude-code", Project)
		o.Program = "skillpm"
		file := must(t, Install, e, o).File
		says := strings.ReplaceAll(test.says, "FILE", file)
		write(t, filepath.Join(bin, "claude"), "#!/bin/sh\n"+
			"[ \"$HOME $HTTPS_PROXY\" = '"+e.Home+" http://127.0.0.1:9' ] || exit 1\n"+
			"case $1 in --version) echo '"+test.version+"';; doctor) echo 'Invalid settings'; echo '"+says+"';; esac\n")
		if err := os.Chmod(filepath.Join(bin, "claude"), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := Status(e, o)
		var got string
		for _, o := range r.Obstacles {
			got += o.Message
		}
		if want := strings.ReplaceAll(test.want, "FILE", file); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", test.version, got, err, want)
		}
		o.DryRun = true
		o.Program = "/other/skillpm"
		if r := must(t, Install, e, o); len(r.Obstacles) > 0 {
			t.Errorf("%s: a preview runs the program: %v", test.version, r.Obstacles)
		}
	}
}
