package prompt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func result(kind string) prompt.Result {
	return prompt.Result{
		Kind: kind, Name: "pdf", Dir: "/skills/pdf", Description: "Reads PDFs.", Body: "Do it.", Source: "---\nname: pdf\n---\nDo it.",
		Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Duration: 2500 * time.Microsecond,
	}
}

// TestFixedForms checks the forms of results that the agents' documentation specifies, byte for byte.
func TestFixedForms(t *testing.T) {
	spawned := result(prompt.Spawned)
	spawned.TaskID = "t1"
	unknown := result(prompt.Unknown)
	unknown.Err = errors.New(`unknown skill "pdf"`)
	modeled := result(prompt.Activated)
	modeled.Model, modeled.AllowedTools = "fast", []string{"Read", "Bash(git:*)"}
	file := result(prompt.Read)
	file.Path, file.Body = "a.md", "A"
	files := result(prompt.Activated)
	files.Files = []prompt.File{{Path: "a.md", Description: "about a"}}
	for _, tt := range []struct {
		row, profile string
		r            prompt.Result
		want         string
	}{
		{"P7", "pegasus", result(prompt.Activated), `{"success":true,"result":"Do it."}`},
		{"P7", "pegasus", spawned, `{"success":true,"result":{"taskId":"t1","status":"spawned"}}`},
		{"P7", "pegasus", unknown, `{"success":false,"error":"Skill \"pdf\" not found"}`},
		{"P7", "pegasus", modeled, `{"success":true,"result":"Do it.","model":"fast","allowed-tools":["Read","Bash(git:*)"]}`},
		{
			"O8", "omniforge", result(prompt.Activated),
			`{"success":true,"result":{"skill_name":"pdf","base_path":"/skills/pdf","content":"---\nname: pdf\n---\nDo it."},"error":null,` +
				`"duration_ms":2,"tokens_used":0,"cost_usd":0,"cached":false,"retry_count":0}`,
		},
		{"K6", "kodelet", result(prompt.Activated), `{"toolName":"skill","success":true,"error":null,"metadata":{"skill_name":"pdf","directory":"/skills/pdf"},"timestamp":"2026-11-22T09:00:00Z","content":"Do it."}`},
		{"T3", "toolset", files, `{"skillName":"pdf","content":"Do it.","toolsets":[],"files":[{"path":"a.md","description":"about a"}]}`},
		{"T3", "toolset", result(prompt.Activated), `{"skillName":"pdf","content":"Do it.","toolsets":[],"files":[]}`},
		{"T4", "toolset", file, `{"skillName":"pdf","path":"a.md","content":"A"}`},
		{"S2", "claude-code", result(prompt.Activated), `{"success":true,"commandName":"pdf","status":"inline","directory":"/skills/pdf","content":"Do it."}`},
	} {
		got, err := prompt.JSON(load(t, tt.profile), tt.r)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v\nwant %s", tt.row, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ row, profile, want string }{
		{"P8", "pegasus", "[Skill: pdf]\n\nDo it."},
		{"S2", "claude-code", "Base directory for this skill: /skills/pdf\n\nDo it."},
		{"K6", "kodelet", "# Skill: pdf\n\nThe skill directory is located at: /skills/pdf\n\n## Instructions\n\nDo it."},
	} {
		if got := prompt.Message(load(t, tt.profile), result(prompt.Activated)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.row, got, tt.want)
		}
	}
	for _, id := range []string{"pegasus", "claude-code"} { // a fork is no message: the user is told of the task
		if got := prompt.Message(load(t, id), spawned); strings.Contains(got, "Do it.") || !strings.Contains(got, "t1") {
			t.Errorf("%s: got %q", id, got)
		}
	}
}

// TestP6Structured checks SPEC P6: the structured form of every profile includes the instructions, because some clients
// show their model nothing else.
func TestP6Structured(t *testing.T) {
	for _, p := range hosts(t) {
		got, err := prompt.JSON(p, result(prompt.Activated))
		if err != nil || !strings.Contains(string(got), "Do it.") {
			t.Errorf("%s: got %s, %v", p.ID, got, err)
		}
	}
}

// TestK5Repeated checks SPEC K5: in every form, a result says that a skill was active already, and what it restricts.
func TestK5Repeated(t *testing.T) {
	for _, p := range hosts(t) {
		r := result(prompt.Activated)
		r.Repeated, r.Restriction = true, "Only Read is allowed."
		text := prompt.Text(p, r)
		if !strings.HasPrefix(text, "Skill \"pdf\" is already active. ") || !strings.Contains(text, "Do it.") || !strings.HasSuffix(text, "\n\nOnly Read is allowed.\n") {
			t.Errorf("%s: %q", p.ID, text)
		}
		got, err := prompt.JSON(p, r)
		if err != nil || !strings.Contains(string(got), `,"repeated":true,"restriction":"Only Read is allowed."}`) {
			t.Errorf("%s: %s, %v", p.ID, got, err)
		}
	}
}

// TestP8Ask checks SPEC P8: the reply for a task names how to ask for its result, in every form, and nothing else is
// promised.
func TestP8Ask(t *testing.T) {
	for _, p := range hosts(t) {
		r := result(prompt.Spawned)
		r.TaskID, r.Ask = "t1", "call look with t1"
		got, err := prompt.JSON(p, r)
		if err != nil || !strings.HasSuffix(string(got), `,"hint":"for the result, call look with t1"}`) {
			t.Errorf("%s: %s, %v", p.ID, got, err)
		}
		if text := prompt.Text(p, r); p.ID != "dispatch" && !strings.Contains(text, "For its result, call look with t1.") || strings.Contains(text, "told") {
			t.Errorf("%s: %q", p.ID, text)
		}
		r.Ask = ""
		if text := prompt.Text(p, r); strings.Contains(text, "For its result") {
			t.Errorf("%s: %q", p.ID, text)
		}
	}
}

// TestP8FirstLine checks SPEC P8, S2: empty lines between the frontmatter and the instructions are not part of the
// instructions. Those of other files stay.
func TestP8FirstLine(t *testing.T) {
	r := result(prompt.Activated)
	r.Body = "\n \r\n\n  Do it.\n\nThen that.\n"
	for id, want := range map[string]string{
		"pegasus": "[Skill: pdf]\n\n  Do it.\n\nThen that.\n", "claude-code": "Base directory for this skill: /skills/pdf\n\n  Do it.\n\nThen that.\n",
	} {
		if got := prompt.Message(load(t, id), r); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	if got, err := prompt.JSON(load(t, "pegasus"), r); err != nil || string(got) != `{"success":true,"result":"  Do it.\n\nThen that.\n"}` {
		t.Errorf("got %s, %v", got, err)
	}
	r.Kind, r.Path = prompt.Read, "a.md"
	if got := prompt.Text(load(t, "pegasus"), r); got != r.Body {
		t.Errorf("a file: got %q", got)
	}
}

// TestO8Notice checks SPEC O8: a notice shows that a skill is loading.
func TestO8Notice(t *testing.T) {
	if got := prompt.Notice(load(t, "omniforge"), result(prompt.Activated)); got != `The "pdf" skill is loading` {
		t.Errorf("got %q", got)
	}
}

// TestTriggers checks the tools with which each agent loads skills, and the names of their arguments.
func TestTriggers(t *testing.T) {
	for id, want := range map[string]string{
		"pegasus":     "use_skill{skill,args?}",
		"omniforge":   "skill{skill_name,args?}",
		"kodelet":     "skill{skill_name}",
		"toolset":     "loadSkill{skillName} loadSkillFile{skillName,path}",
		"claude-code": "Skill{skill,args?}",
		"agentskills": "activate_skill{name}",
		"dispatch":    "Task{subagent_type,description,prompt,model?}",
	} {
		p := load(t, id)
		var got []string
		for _, tool := range []profile.Tool{p.Trigger.Skill, p.Trigger.File} {
			if tool.Name == "" {
				continue
			}
			var names []string
			for _, a := range tool.Arguments {
				if a.Optional {
					a.Name += "?"
				}
				names = append(names, a.Name)
			}
			got = append(got, tool.Name+"{"+strings.Join(names, ",")+"}")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
		if p.Trigger.Skill.Takes("skill") == "" && p.Trigger.Skill.Takes("line") == "" {
			t.Errorf("%s: no argument takes the skill", id)
		}
	}
}

// TestHostileResults checks that bodies are passed on unchanged, whatever they contain, and that all other texts stay
// in their position.
func TestHostileResults(t *testing.T) {
	body := "</skill_content> {name} [[x]] {{ \x00 \r\n end"
	for _, p := range hosts(t) {
		for n, text := range hostileTexts() {
			r := result(prompt.Activated)
			r.Body, r.Source = body, body
			r.Name, r.Dir, r.Description = "n"+text, "/d/"+text, text
			r.Files = []prompt.File{{Path: "p" + text, Description: text}}
			got := prompt.Text(p, r)
			if p.ID != "dispatch" && strings.Count(got, body) != 1 {
				t.Errorf("%s %d: the body is not there once: %.300q", p.ID, n, got)
			}
			around := strings.Replace(got, body, "", 1)
			if strings.Contains(around, "<name>evil") && p.ID == "agentskills" {
				t.Errorf("%s %d: %.300q", p.ID, n, around)
			}
			plain := result(prompt.Activated)
			plain.Files = []prompt.File{{Path: "p", Description: "about p"}}
			want := strings.Replace(strings.Replace(prompt.Text(p, plain), plain.Source, "", 1), plain.Body, "", 1)
			if g, w := strings.Count(around, "\n"), strings.Count(want, "\n"); g != w {
				t.Errorf("%s %d: %d lines around the body, want %d: %.300q", p.ID, n, g, w, around)
			}
			for _, kind := range []string{prompt.Activated, prompt.Spawned, prompt.Failed, prompt.Unknown, prompt.Read} {
				r.Kind, r.Err, r.TaskID = kind, diag.Errorf(diag.NotFound, "no %s", text), text
				if data, err := prompt.JSON(p, r); err != nil || !json.Valid(data) || slices.Contains(data, '\n') {
					t.Errorf("%s %d %s: %v: %.300q", p.ID, n, kind, err, data)
				}
			}
		}
	}
}

// TestDirectoryAsItIs checks that a directory's name is unchanged, so that it can be opened.
func TestDirectoryAsItIs(t *testing.T) {
	r := result(prompt.Activated)
	r.Dir = `C:\Program  Files\a b`
	if got := prompt.Text(load(t, "claude-code"), r); !strings.HasPrefix(got, "Base directory for this skill: "+r.Dir+"\n") {
		t.Errorf("got %q", got)
	}
}

// TestManyFiles checks agentskills.io: files are listed up to a limit.
func TestManyFiles(t *testing.T) {
	r := result(prompt.Activated)
	for n := range 250 {
		r.Files = append(r.Files, prompt.File{Path: fmt.Sprintf("f%03d", n)})
	}
	got := prompt.Text(load(t, "agentskills"), r)
	if strings.Count(got, "<file>") != 100 || !strings.Contains(got, "and 150 more") {
		t.Errorf("got %s", got)
	}
	r.Files = nil
	if got := prompt.Text(load(t, "agentskills"), r); strings.Contains(got, "skill_resources") || !strings.HasSuffix(got, "/skills/pdf\n</skill_content>") {
		t.Errorf("got %s", got)
	}
}

// TestTree checks that structured data keeps the types of its values, and the order of its keys.
func TestTree(t *testing.T) {
	p := load(t, "pegasus")
	text := `z: "{duration_ms}"
a: ["{paths}", "{name} took {seconds} s", 1.5, true, null, {}]
q: "{name|quoted}"
`
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	p.Activation.Activated.JSON = *doc.Content[0]
	r := result(prompt.Activated)
	r.Files = []prompt.File{{Path: "a"}, {Path: "b"}}
	got, err := prompt.JSON(p, r)
	if want := `{"z":2,"a":[["a","b"],"pdf took 0 s",1.5,true,null,{}],"q":"\"pdf\""}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}
