package tool_test

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// FuzzParseList checks that a parsed list is parsed the same after writing.
func FuzzParseList(f *testing.F) {
	for _, s := range []string{"Read, Bash(git:*)", `Bash(a \( b)`, "mcp__a__*", "Bash(", "a)b(", `Read(C:\x\**)`, `"Read"`, `""0""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := tool.ParseList([]string{text})
		if err != nil {
			return
		}
		var texts []string
		for _, p := range got {
			texts = append(texts, p.String())
		}
		again, err := tool.ParseList(texts)
		if err != nil || len(again) != len(got) {
			t.Fatalf("%q is read as %q, and that as %q, %v", text, texts, again, err)
		}
		for i := range got {
			if got[i] != again[i] {
				t.Fatalf("%q is read as %#v and then as %#v", text, got[i], again[i])
			}
		}
		tool.Of(got).Allow(tool.Call{Tool: "Bash", Input: map[string]any{"command": text}})
	})
}

// FuzzAllow checks that a line that a pattern for git allows runs nothing else, with a real shell that has only a
// function git.
func FuzzAllow(f *testing.F) {
	for _, s := range []string{
		"git log", "git log; rm", `git "a; b" 'c'`, "git a\\\nb", "git $X ${Y}", "git 2>&1", "git a | git b", "git #x", "git {a,b}", "git a\\ b", "git >/dev/null &",
	} {
		f.Add(s)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash")
	}
	if !runsOther(f, bash, "git log; rm x") || !runsOther(f, bash, "git $(echo x)") || runsOther(f, bash, "git log & git x") {
		f.Fatal("the shell does not tell what it runs")
	}
	set := tool.Of(patterns(f, "Bash(git:*)"))
	f.Fuzz(func(t *testing.T, line string) {
		call := tool.Call{Tool: "Bash", Input: map[string]any{"command": line}}
		if set.Allow(call).Allowed && runsOther(t, bash, line) {
			t.Fatalf("%q is allowed, and a shell runs something else", line)
		}
	})
}

// runsOther reports whether a shell runs anything but git for a line, or writes a file.
func runsOther(t testing.TB, bash, line string) bool {
	t.Helper()
	return runsOtherThan(t, bash, line, []string{"git"})
}

// FuzzCall checks for any tool call that there is a decision, that a refusal has a reason, and that the smaller list
// allows no more.
func FuzzCall(f *testing.F) {
	f.Add("Read", `{"file_path": "docs/../a", "paths": ["b"]}`, "Read(docs/**)")
	f.Add("shell", `{"command": ["bash", "-lc", "git log"]}`, "Bash(git:*)")
	f.Add("apply_patch", `{"input": "*** Begin Patch\n*** Add File: a\n"}`, "Write(*)")
	f.Add("web_fetch", `{"prompt": "https://a.b"}`, "WebFetch(domain:a.b)")
	f.Add("Glob", `{"pattern": "a/**", "path": "b"}`, "Glob(b/**), *")
	f.Fuzz(func(t *testing.T, name, input, list string) {
		c := tool.Call{Tool: name, Project: "/p", Home: "/home/u"}
		patterns, err := tool.ParseList([]string{list})
		if json.Unmarshal([]byte(input), &c.Input) != nil || err != nil {
			return
		}
		set := tool.Of(patterns)
		v := set.Allow(c)
		if !v.Allowed && v.Reason == "" {
			t.Fatal("no reason")
		}
		if less := set.And("x", patterns[:len(patterns)/2]).Allow(c); less.Allowed && !v.Allowed {
			t.Fatalf("nested it is allowed: %s", v.Reason)
		}
		set.Without("y", patterns).Allow(c)
		set.And("x", patterns).Entries()
	})
}
