package tool_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

func bash(line string) tool.Call {
	return tool.Call{Tool: "Bash", Input: map[string]any{"command": line}}
}

func TestZeroSet(t *testing.T) {
	var s tool.Set
	if v := s.Allow(bash("rm -rf / $(x)")); !v.Allowed || s.Restricts() || len(s.Entries()) > 0 {
		t.Errorf("the zero set restricts: %+v, %v", v, s.Entries())
	}
}

// TestO10Nested checks SPEC O10: nested skills have the intersection of their tools, and a refusal names the tool and
// the skill that refuses.
func TestO10Nested(t *testing.T) {
	s := tool.Set{}.And("outer", patterns(t, "Read, Bash(git:*)")).And("inner", patterns(t, "Bash(git log:*), Bash(npm:*), Write"))
	for _, test := range []struct {
		call  tool.Call
		skill string // whose list refuses, "" where it is allowed
		says  []string
	}{
		{bash("git log -1"), "", nil},
		{bash("git push"), "inner", []string{"inner", "Bash(git log:*)", `"git push"`}},
		{bash("npm test"), "outer", []string{"outer", `"npm test"`}},
		{tool.Call{Tool: "read_file"}, "inner", []string{"inner", "read_file", "Read"}},
		{tool.Call{Tool: "Write"}, "outer", []string{"outer", "Write"}},
		{tool.Call{Tool: "Glob"}, "outer", []string{"outer", "Glob"}},
		{tool.Call{Tool: "skill"}, "", nil},
	} {
		v := s.Allow(test.call)
		if v.Allowed != (test.skill == "") || v.Skill != test.skill || v.Tool != test.call.Tool {
			t.Errorf("%v: got %+v, want a refusal by %q", test.call, v, test.skill)
		}
		for _, want := range test.says {
			if !strings.Contains(v.Reason, want) {
				t.Errorf("%v: the reason %q does not say %q", test.call, v.Reason, want)
			}
		}
	}
	if got := strings.Join(s.Entries(), "|"); got != "Bash(git log:*)" {
		t.Errorf("in common are %s", got)
	}
}

func TestSetIsNotChanged(t *testing.T) {
	outer := tool.Of(patterns(t, "Bash, Read"))
	a := outer.And("a", patterns(t, "Bash"))
	b := outer.And("b", patterns(t, "Read"))
	if !a.Allow(bash("ls")).Allowed || b.Allow(bash("ls")).Allowed || !outer.Allow(bash("ls")).Allowed {
		t.Error("nesting one skill changed what another one may do")
	}
}

// TestOwnTools checks that every restriction allows skillpm's own tools.
func TestOwnTools(t *testing.T) {
	none := tool.Of(nil).Without("x", patterns(t, "*"))
	for _, own := range []string{
		"skill", "skill_file", "skill_run", "find_skills", "use_skill", "loadSkill", "loadSkillFile", "Skill", "activate_skill",
		"mcp__skillpm__skill", "mcp__skillpm__skill_file", "mcp_skillpm_skill", "skillpm-skill_run", "skillpm/find_skills",
	} {
		if v := none.Allow(tool.Call{Tool: own}); !v.Allowed {
			t.Errorf("%s is refused: %s", own, v.Reason)
		}
	}
	for _, other := range []string{"mcp__evil__skill", "mcp__skillpmx__skill", "mcp__skillpm__anything", "mcp__skillpm__evil__skill", "mcp_skillpm_bash", "skillpm-Bash", "skills", "Bash", ""} {
		if none.Allow(tool.Call{Tool: other}).Allowed {
			t.Errorf("%s is allowed by an empty list", other)
		}
	}
}

// TestWithout checks SPEC S2: disallowed-tools removes tools.
func TestWithout(t *testing.T) {
	for _, test := range []struct {
		list string
		call tool.Call
		want bool
	}{
		{"Write", tool.Call{Tool: "Write"}, false},
		{"Write", tool.Call{Tool: "write_file"}, false},
		{"Write", tool.Call{Tool: "Read"}, true},
		{"mcp__github", tool.Call{Tool: "mcp__github__x"}, false},
		{"mcp__github", tool.Call{Tool: "mcp__github__x__y"}, false},
		{"mcp__github__*", tool.Call{Tool: "mcp__github__x__y"}, false},
		{"mcp__github__get_*", tool.Call{Tool: "mcp__github__get___x"}, false},
		{"mcp__github__get", tool.Call{Tool: "mcp__github__get_all"}, true},
		{"mcp__git", tool.Call{Tool: "mcp__github__x"}, true},
		{"mcp__github", tool.Call{Tool: "github_x"}, false},
		{"mcp__github", tool.Call{Tool: "mcp_github_x"}, false},
		{"mcp__github", tool.Call{Tool: "github-x"}, false},
		{"mcp__github", tool.Call{Tool: "github/x"}, false},
		{"mcp__github__x", tool.Call{Tool: "github-x"}, false},
		{"mcp__github__x", tool.Call{Tool: "github-x_all"}, true},
		{"mcp__my-server", tool.Call{Tool: "my_server_x"}, false},
		{"mcp__git", tool.Call{Tool: "github_x"}, true},
		{"mcp__github", tool.Call{Tool: "MCP:x"}, false},
		{"mcp__github__x", tool.Call{Tool: "MCP:x"}, false},
		{"mcp__github__x", tool.Call{Tool: "MCP:github__x"}, false},
		{"mcp__github__x", tool.Call{Tool: "MCP:y"}, true},
		{"mcp__*", tool.Call{Tool: "github_x"}, false},
		{"mcp__*", tool.Call{Tool: "web_search"}, true},
		{"github", tool.Call{Tool: "github_x"}, true},
		{"mcp__*", tool.Call{Tool: "mcp__skillpm__skill"}, true},
		{"Bash(rm:*)", bash("ls"), true},
		{"Bash(rm:*)", bash("A=b ls"), true},
		{"Bash(rm:*)", tool.Call{Tool: "write_stdin", Input: map[string]any{"chars": "rm -rf /"}}, false},
		{"Bash(rm:*)", tool.Call{Tool: "BashOutput"}, true},
		{"Bash(rm:*)", tool.Call{Tool: "KillShell"}, true},
		{"Bash", tool.Call{Tool: "write_stdin"}, false},
		{"Bash", tool.Call{Tool: "BashOutput"}, false},
		{"Read", tool.Call{Tool: "write_stdin"}, true},
		{"Bash(rm:*)", bash("rm x"), false},
		{"Bash(rm:*)", bash("ls; rm x"), false},
		{"Bash(rm:*)", bash("/bin/rm x"), false},
		{"Bash(rm:*)", bash("/bin/r? x"), false},
		{"Bash(rm:*)", bash("sudo /bin/[r]m x"), false},
		{"Bash(rm:*)", bash("ls *.go [a-c]?"), true},
		{"Bash(rm:*)", bash("sudo rm x"), false},
		{"Bash(rm:*)", bash("X=1 rm x"), false},
		{"Bash(rm:*)", bash("bash -c 'rm x'"), false},
		{"Bash(rm:*)", bash("$X x"), false},
		{"Bash(rm:*)", bash("ls $(rm x)"), false},
		{"Bash(rm:*)", bash("git commit -m 'a b'"), true},
		{"Bash(git push:*)", bash("git push"), false},
		{"Bash(git push:*)", bash("git log"), true},
		{"Read(secret/**)", tool.Call{Tool: "Read", Input: map[string]any{"file_path": "/p/secret/a"}, Project: "/p"}, false},
		{"Read(secret/**)", tool.Call{Tool: "Read", Input: map[string]any{"file_path": "a/../secret/a"}, Project: "/p"}, false},
		{"Read(secret/**)", tool.Call{Tool: "Read", Input: map[string]any{"file_path": "Secret/a"}, Project: "/p"}, false},
		{"Read(secret/**)", tool.Call{Tool: "Read", Input: map[string]any{"file_path": "a"}, Project: "/p"}, true},
		{"Read(secret/**)", tool.Call{Tool: "Read", Input: map[string]any{"file_path": "file:///p/secret"}, Project: "/p"}, false},
		{"Read(secret/**)", tool.Call{Tool: "read_many_files", Input: map[string]any{"paths": []any{"**/*.md"}}, Project: "/p"}, false},
		{"Read(secret/**)", tool.Call{Tool: "read_many_files", Input: map[string]any{"paths": []any{"docs/*.md"}}, Project: "/p"}, true},
		{"Grep(secret/**)", tool.Call{Tool: "Grep", Input: map[string]any{"pattern": "x"}, Project: "/p"}, false},
		{"Grep(secret/**)", tool.Call{Tool: "Grep", Input: map[string]any{"pattern": "x", "path": ".."}, Project: "/p"}, false},
		{"Grep(secret/**)", tool.Call{Tool: "Grep", Input: map[string]any{"pattern": "x", "path": "docs"}, Project: "/p"}, true},
		{"Grep(a/*/b)", tool.Call{Tool: "Grep", Input: map[string]any{"pattern": "x", "path": "a/c"}, Project: "/p"}, false},
		{"Grep(secret/**)", tool.Call{Tool: "Bash", Input: map[string]any{"command": "rg x"}, Project: "/p"}, false},
		{"Grep(secret/**)", tool.Call{Tool: "Bash", Input: map[string]any{"command": "grep x docs/a"}, Project: "/p"}, true},
		{"WebFetch(domain:a.b)", tool.Call{Tool: "WebFetch", Input: map[string]any{"url": "https://a.b"}}, false},
		{"WebFetch(domain:a.b)", tool.Call{Tool: "WebFetch", Input: map[string]any{"url": "https://a.c"}}, true},
		{"Task(x)", tool.Call{Tool: "Task", Input: map[string]any{"subagent_type": "x"}}, false},
		{"custom(x)", tool.Call{Tool: "custom"}, false},
	} {
		v := tool.Set{}.Without("s", patterns(t, test.list)).Allow(test.call)
		if v.Allowed != test.want || !v.Allowed && v.Skill != "s" {
			t.Errorf("without %s, %v: got %+v, want %v", test.list, test.call, v, test.want)
		}
	}
}

func TestEntries(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"Read, Bash", "bash, Read", "Bash|Read"},
		{"Bash", "Bash(git:*)", "Bash(git:*)"},
		{"Bash(git:*)", "Bash(git status)", "Bash(git status)"},
		{"Bash(git:*)", "Bash(npm:*)", ""},
		{"Bash(git * main)", "Bash(git push *)", "Bash(git * main) and Bash(git push *)"},
		{"Read(docs/**)", "Read(*.md)", "Read(docs/**) and Read(*.md)"},
		{"*", "Read", "Read"},
		{"mcp__a", "mcp__a__b", "mcp__a__b"},
		{"Read", "Write", ""},
		{"Bash(echo this and that)", "Bash(echo *)", "Bash(echo this and that)"},
	} {
		got := strings.Join(tool.Of(patterns(t, test.a)).And("x", patterns(t, test.b)).Entries(), "|")
		if got != test.want {
			t.Errorf("%s and %s have in common %s, want %s", test.a, test.b, got, test.want)
		}
	}
	if got := tool.Of(patterns(t, "Read")).Without("x", patterns(t, "Bash")).Entries(); strings.Join(got, " ") != "Read -Bash" {
		t.Errorf("got %v", got)
	}
}

func TestSetJSON(t *testing.T) {
	data, err := json.Marshal(tool.Set{}.And("a", patterns(t, "Read Bash(git:*)")).And("b", nil).Without("c", patterns(t, "Write")))
	want := `{"allow":[{"skill":"a","tools":["Read","Bash(git:*)"]},{"skill":"b","tools":[]}],"deny":[{"skill":"c","tools":["Write"]}]}`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	for _, bad := range []string{`[]`, `{"allow":[{"tools":["Bash("]}]}`, `{"allow":3}`, ``} {
		s := tool.Of(nil)
		if err := json.Unmarshal([]byte(bad), &s); err == nil || !s.Restricts() {
			t.Errorf("%s: got %v and %v", bad, err, s.Entries())
		}
	}
}

func genPattern() *rapid.Generator[tool.Pattern] {
	return rapid.Custom(func(t *rapid.T) tool.Pattern {
		text := rapid.SampledFrom([]string{
			"*", "Bash", "shell", "Bash(git:*)", "Bash(git log:*)", "Bash(git * main)", "Bash(npm run *)", "Bash(a (b) c)", "Read", "Read(docs/**)",
			"Read(*.md)", "Edit(src/*.go)", "Write", "mcp__a", "mcp__a__b*", "WebFetch(domain:a.b)", "Task(x)", "Bash(*)", "odd",
		}).Draw(t, "pattern")
		p, err := tool.ParseList([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		return p[0]
	})
}

func genCall() *rapid.Generator[tool.Call] {
	return rapid.Custom(func(t *rapid.T) tool.Call {
		c := tool.Call{Tool: rapid.SampledFrom([]string{
			"Bash", "run_shell_command", "Read", "read_file", "Edit", "Write", "mcp__a__b", "mcp__a__c", "WebFetch", "Task", "odd", "skill", "Other",
		}).Draw(t, "tool"), Project: "/p"}
		c.Input = map[string]any{
			"command": rapid.SampledFrom([]string{
				"git", "git log", "git log main", "git push origin main", "npm run a", "git log; npm run a", "rm", "git $(x)", "a b",
			}).Draw(t, "command"),
			"file_path":     rapid.SampledFrom([]string{"docs/a.md", "src/a.go", "/etc/x", "../x"}).Draw(t, "path"),
			"url":           rapid.SampledFrom([]string{"https://a.b", "https://c.d"}).Draw(t, "url"),
			"subagent_type": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "agent"),
		}
		return c
	})
}

// TestO10Algebra checks SPEC O10: And is commutative in what it allows, a nested skill never allows more, and a stored
// set stays the same.
func TestO10Algebra(t *testing.T) {
	lists := rapid.SliceOfN(genPattern(), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := lists.Draw(t, "a"), lists.Draw(t, "b"), lists.Draw(t, "c")
		call := genCall().Draw(t, "call")
		ab, ba := tool.Set{}.And("a", a).And("b", b), tool.Set{}.And("b", b).And("a", a)
		allowed := ab.Allow(call).Allowed
		if allowed != ba.Allow(call).Allowed {
			t.Fatalf("the order of %v and %v matters for %v", a, b, call)
		}
		if both := tool.Of(a).Allow(call).Allowed && tool.Of(b).Allow(call).Allowed; allowed != both {
			t.Fatalf("%v and %v together: %v, each: %v", a, b, allowed, both)
		}
		for _, more := range []tool.Set{ab.And("c", c), ab.Without("c", c)} {
			if more.Allow(call).Allowed && !allowed {
				t.Fatalf("%v allows what %v does not: %v", more.Entries(), ab.Entries(), call)
			}
		}
		if len(ab.Entries()) == 0 && allowed && !tool.Own(call.Tool) {
			t.Fatalf("%v and %v have nothing in common, and allow %v", a, b, call)
		}
		stored := ab.Without("c", c)
		data, err := json.Marshal(stored)
		if err != nil {
			t.Fatal(err)
		}
		var back tool.Set
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); string(again) != string(data) {
			t.Fatalf("stored as %s, again as %s", data, again)
		}
		if got, want := back.Allow(call), stored.Allow(call); !reflect.DeepEqual(got, want) {
			t.Fatalf("stored and read it says %+v, before %+v", got, want)
		}
	})
}

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"run_shell_command": "Bash", "shell": "Bash", "exec_command": "Bash", "bash_exec": "Bash", "file_read": "Read", "read_file": "Read",
		"glob_tool": "Glob", "replace": "Edit", "write_file": "Write", "Agent": "Task", "spawn_subagent": "Task", "odd": "odd", "": "",
	} {
		if got := tool.Canonical(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestTable checks that each name belongs to one tool, because otherwise the wrong rules would apply to calls.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, row := range tool.Table() {
		for _, n := range append([]string{row.Name}, row.Names...) {
			if other, twice := seen[n]; twice {
				t.Errorf("%s is both %s and %s", n, other, row.Name)
			}
			seen[n] = row.Name
		}
		if row.With != "" && tool.Canonical(row.With) != row.With {
			t.Errorf("%s belongs to %s, which is no tool", row.Name, row.With)
		}
		if (row.Kind != "") != (len(row.Fields) > 0) {
			t.Errorf("%s is of kind %q and has the fields %v", row.Name, row.Kind, row.Fields)
		}
	}
}

func BenchmarkAllow(b *testing.B) {
	set := tool.Set{}.And("outer", patterns(b, "Read, Grep, Glob, Bash(git:*), Bash(npm run *), Bash(go test:*), WebFetch(domain:example.com)")).
		And("inner", patterns(b, "Read(docs/**), Bash(git log:*), Bash(git status)"))
	for name, call := range map[string]tool.Call{
		"plain":   {Tool: "Write"},
		"command": bash("git log --oneline -20 && git status 2>&1"),
		"refused": bash("git log; rm -rf /"),
		"file":    {Tool: "Read", Input: map[string]any{"file_path": "/home/u/project/docs/guide/start.md"}, Project: "/home/u/project"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.Allow(call)
			}
		})
	}
	b.Run("ten skills", func(b *testing.B) {
		ten := set
		for i := range 8 {
			ten = ten.And(fmt.Sprint(i), patterns(b, "Read, Bash(git:*), Write, Grep"))
		}
		for b.Loop() {
			ten.Allow(bash("git log --oneline -20 && git status 2>&1"))
		}
	})
}
