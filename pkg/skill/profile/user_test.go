package profile_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func user(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestResolveExtends checks that a user's profile needs only the differences: mappings are merged, lists and texts
// replaced.
func TestResolveExtends(t *testing.T) {
	fsys := user(map[string]string{
		"ours.yaml": `extends: kodelet
title: Our agent
layers:
  - {name: team, dirs: [./team/skills], os: {windows: ['D:\team']}}
trigger:
  skill: {name: open_skill}
stage1:
  budget: {fallback: 500}
activation:
  activated:
    json: {skill: "{name}"}
`,
		"nearly.yaml": "extends: ours\nstage1: {heading: \"Here:\\n\"}\n",
		"notes.txt":   "no profile",
		"Bad.yaml":    "no id",
	})
	if got := strings.Join(profile.UserIDs(fsys), " "); got != "nearly ours" {
		t.Errorf("UserIDs = %q", got)
	}
	base, err := profile.Lookup("kodelet")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Resolve("nearly", fsys)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != "nearly" || p.Title != "nearly" || !p.User || p.Schema != base.Schema {
		t.Errorf("got %q, %q, %v, %q", p.ID, p.Title, p.User, p.Schema)
	}
	if len(p.Layers) != 2 || p.Layers[1].On("windows")[0] != `D:\team` || p.Layers[1].On("linux")[0] != "./team/skills" {
		t.Errorf("layers: %+v", p.Layers)
	}
	if s := p.Trigger.Skill; s.Name != "open_skill" || s.Takes("skill") != "skill_name" || s.Takes("path") != "" {
		t.Errorf("tool: %+v", s)
	}
	if b := p.Stage1.Budget; b.Fallback != 500 || b.Share != base.Stage1.Budget.Share {
		t.Errorf("budget: %+v", b)
	}
	if p.Stage1.Heading != "Here:\n" || p.Stage1.Entry != base.Stage1.Entry {
		t.Errorf("heading %q, entry %q", p.Stage1.Heading, p.Stage1.Entry)
	}
	if n := p.Activation.Activated.JSON; len(n.Content) != 2 || n.Content[0].Value != "skill" {
		t.Errorf("json is merged and not replaced: %d nodes", len(n.Content))
	}
	if p.Activation.Failed.Text != base.Activation.Failed.Text {
		t.Error("what is not given is not kept")
	}
	if again, _ := profile.Lookup("kodelet"); again.Trigger.Skill.Name != "skill" {
		t.Error("the built-in profile was changed")
	}
}

func TestResolveBuiltIn(t *testing.T) {
	for _, fsys := range []fstest.MapFS{nil, user(nil)} {
		p, err := profile.Resolve(profile.Runtime, fsys)
		if err != nil || p.ID != "omniforge" || p.User {
			t.Errorf("got %v, %v", p, err)
		}
	}
	if p, err := profile.Resolve("pegasus", nil); err != nil || p.ID != "pegasus" {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestResolveErrors(t *testing.T) {
	fsys := user(map[string]string{
		"pegasus.yaml": "extends: kodelet\n",
		"round.yaml":   "extends: about\n",
		"about.yaml":   "extends: round\n",
		"ours.yaml":    "extends: kodelet\n",
	})
	for _, tt := range []struct {
		id, want, hint string
		code           diag.Code
	}{
		{"our", `unknown profile "our"`, "did you mean ours?", diag.Usage},
		{"../x", `unknown profile "../x"`, "use one of agentskills, api-upload, claude-code, dispatch, kodelet, omniforge, pegasus, toolset, about, ours, pegasus, or round", diag.Usage},
		{"pegasus", "pegasus is a built-in profile, but the file profiles/pegasus.yaml exists", "rename the file, and add extends: pegasus to it", diag.Conflict},
		{"round", "profiles/round.yaml:1: extends: profiles/about.yaml:1: extends: profile round extends itself: round → about → round", "remove extends from one of these profiles", diag.Invalid},
	} {
		_, err := profile.Resolve(tt.id, fsys)
		if err == nil || err.Error() != tt.want || diag.HintOf(err) != tt.hint || diag.CodeOf(err) != tt.code {
			t.Errorf("%s: got %v, hint %q, code %v", tt.id, err, diag.HintOf(err), diag.CodeOf(err))
		}
	}
}

// TestParseErrors checks that errors in a profile have a line, and suggest similar names.
func TestParseErrors(t *testing.T) {
	deep := "extends: kodelet\nactivation: {failed: {json: " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "}}\n"
	for _, tt := range []struct{ name, text, want, hint string }{
		{"empty", "", "p.yaml is empty", "add extends: omniforge and the fields that differ"},
		{"no YAML", "extends: [\n", "p.yaml:1: invalid YAML: did not find expected node content", ""},
		{"list", "- a\n", "p.yaml:1: expected a mapping, with a key on each line", ""},
		{"unknown", "extends: kodelet\nstage1:\n  headings: x\n", `p.yaml:3: unknown key "headings" in stage1`, "did you mean heading?"},
		{"unknown at the top", "extends: kodelet\nlayer: []\n", `p.yaml:2: unknown key "layer" in the profile`, "did you mean layers?"},
		{"twice", "extends: kodelet\ntitle: a\ntitle: b\n", `p.yaml:3: the key "title" is duplicated; it first appears on line 2`, ""},
		{"no value", "extends: kodelet\nqualify:\n", "p.yaml:2: qualify does not have a value", `remove the key, or set it to ""`},
		{"number for text", "extends: kodelet\ntitle: 12\n", "p.yaml:2: title must be text, not 12", "write the value in quotes"},
		{"text for number", "extends: kodelet\nstage1: {cap: many}\n", "p.yaml:2: stage1.cap must be a whole number, not text", ""},
		{"text for list", "extends: kodelet\nreserved: help\n", "p.yaml:2: reserved must be a list, not text", ""},
		{"text for truth", "extends: kodelet\ntrusted-projects: often\n", "p.yaml:2: trusted-projects must be true or false, not text", ""},
		{"alias", "extends: &a kodelet\ntitle: *a\n", "p.yaml:1: the YAML anchor &a is not allowed here", "write the value itself in quotes"},
		{"extends nothing", "extends: kodlet\n", `p.yaml:1: extends: unknown profile "kodlet"`, "did you mean kodelet?"},
		{"itself", "extends: p\n", "p.yaml:1: extends: unknown profile \"p\"", "use one of agentskills, api-upload, claude-code, dispatch, kodelet, omniforge, pegasus, or toolset"},
		{"other id", "extends: kodelet\nid: q\n", `p.yaml:2: the id is "q", but the name of the file is "p"`, "omit id, or rename the file q.yaml"},
		{"no base", "title: x\n", "p.yaml:1: schema is missing", "add extends: omniforge, or the field schema"},
		{"schema", "extends: kodelet\nschema: skill.omniforg\n", `p.yaml:2: unknown value "skill.omniforg" in schema`, "did you mean skill.omniforge?"},
		{"choice", "extends: kodelet\nscripts: run\n", `p.yaml:2: unknown value "run" in scripts`, "use read or run-only"},
		{"over", "extends: kodelet\nstage1:\n  budget:\n    over: dropp\n", `p.yaml:4: unknown value "dropp" in stage1.budget.over`, "did you mean drop?"},
		{"share", "extends: kodelet\nstage1: {budget: {share: 200}}\n", "p.yaml:2: stage1.budget.share is 200, but must be a percentage from 0 to 100", ""},
		{"negative", "extends: kodelet\nstage1:\n  cap: -1\n", "p.yaml:3: stage1.cap is -1, but must not be negative", ""},
		{"value", "extends: kodelet\nstage1:\n  entry: \"{nam}\"\n", "p.yaml:3: stage1.entry: unknown value {nam}", "did you mean {name}?"},
		{"filter", "extends: kodelet\nstage1: {entry: \"{name|big}\"}\n", "p.yaml:2: stage1.entry: unknown {name|big}", "use {name}, {name|quoted}, or {name|trimmed}"},
		{"section", "extends: kodelet\nstage1: {entry: \"[[{name}\"}\n", "p.yaml:2: stage1.entry: [[ does not have a closing ]]", ""},
		{"nested section", "extends: kodelet\nstage1: {entry: \"[[a [[b]] ]]\"}\n", "p.yaml:2: stage1.entry: [[ is inside another [[", ""},
		{"value in JSON", "extends: kodelet\nactivation:\n  failed:\n    json:\n      why: \"{eror}\"\n", "p.yaml:5: activation.failed.json: unknown value {eror}", "did you mean {error}?"},
		{"no values", "extends: kodelet\nstage1: {separator: \"{name}\"}\n", "p.yaml:2: stage1.separator: unknown value {name}", "use plain text; write a literal brace as {{"},
		{"place", "extends: kodelet\nlayers:\n  - {name: a, dirs: [~/a]}\n  - {name: b, dirs: [skills]}\n", `p.yaml:4: "skills" is not a valid directory of a layer`, "start the directory with ~/ for the home directory, ./ for the project, or / or {enterprise}/ for the machine, or use {plugins}"},
		{"outside", "extends: kodelet\nlayers:\n  - {name: a, dirs: [./../a]}\n", `p.yaml:3: "./../a" is not a valid directory of a layer`, "start the directory with ~/ for the home directory, ./ for the project, or / or {enterprise}/ for the machine, or use {plugins}"},
		{"depth", "extends: kodelet\nlayers:\n  - {name: a, dirs: [./a], depth: 7}\n", "p.yaml:3: layer a: depth is 7, but must be from 1 to 6", ""},
		{"no dirs", "extends: kodelet\nlayers: [{name: a}]\n", "p.yaml:2: dirs is missing in layer a", ""},
		{"no layers", "extends: kodelet\nlayers: []\n", "p.yaml:2: layers is missing", "add extends: omniforge, or the field layers"},
		{"no entry", "extends: kodelet\nstage1: {entry: \"\"}\n", "p.yaml:2: stage1.entry is missing", "add extends: omniforge, or the field stage1.entry"},
		{"no text", "schema: skill.kodelet\nlayers: [{name: a, dirs: [~/a]}]\nstage1: {entry: x}\nactivation: {activated: {text: x}}\n", "p.yaml:4: activation.spawned.text is missing", "add extends: omniforge, or the field activation.spawned.text"},
		{"deep", deep, "p.yaml:2: activation.failed.json is nested more than 16 levels deep", ""},
		{"large", "title: " + strings.Repeat("x", 300<<10), "p.yaml has 307207 bytes; the limit is 262144", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := profile.Parse("p.yaml", "p", []byte(tt.text), nil)
			if err == nil || err.Error() != tt.want || diag.HintOf(err) != tt.hint {
				t.Errorf("got  %v\nhint %q\nwant %s\nhint %q", err, diag.HintOf(err), tt.want, tt.hint)
			}
			if diag.CodeOf(err) != diag.Invalid {
				t.Errorf("code %v", diag.CodeOf(err))
			}
		})
	}
}

// FuzzParse checks that parsing profiles never panics, and that an accepted profile is accepted again.
func FuzzParse(f *testing.F) {
	f.Add("extends: kodelet\n")
	f.Add("extends: kodelet\nstage1: {entry: \"{{[[{name|quoted}]]\", budget: {share: 1.5}}\n")
	f.Add("schema: skill.kodelet\nlayers: [{name: a, dirs: [~/a]}]\nactivation: {failed: {json: [1, null, {a: b}]}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := profile.Parse("p.yaml", "p", []byte(text), nil)
		if err != nil {
			if diag.CodeOf(err) != diag.Invalid {
				t.Errorf("code %v: %v", diag.CodeOf(err), err)
			}
			return
		}
		again, err := profile.Parse("p.yaml", "p", []byte(text), nil)
		if err != nil || again.Stage1.Entry != p.Stage1.Entry {
			t.Errorf("got %v", err)
		}
	})
}

// TestText checks that the printed form of a profile has the same content as its files.
func TestText(t *testing.T) {
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		extending, err := profile.Parse("ours.yaml", "ours", []byte("extends: "+p.ID+"\ntitle: Ours\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := extending.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := profile.Parse("ours.yaml", "ours", text, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again.Stage1.Separator != p.Stage1.Separator || again.Stage1.Heading != p.Stage1.Heading || again.Activation.Activated.Text != p.Activation.Activated.Text {
			t.Errorf("%s: %q, %q, %q", p.ID, again.Stage1.Separator, again.Stage1.Heading, again.Activation.Activated.Text)
		}
		second, err := again.Text()
		if err != nil || string(second) != string(text) {
			t.Errorf("%s: %v\n%s\nis not\n%s", p.ID, err, second, text)
		}
		own, err := p.Text()
		if err != nil || !strings.Contains(string(own), "id: "+p.ID+"\n") {
			t.Errorf("%s: %v", p.ID, err)
		}
	}
}

// TestEnterpriseFirst: O5: no profile of a user drops the machine's layer or puts it below another one.
func TestEnterpriseFirst(t *testing.T) {
	layers := "extends: kodelet\nlayers:\n" +
		"  - {name: team, dirs: [./team/skills, \"{enterprise}/skills\"]}\n" +
		"  - {name: late, dirs: [\"{enterprise}/plugins\"]}\n"
	own := user(map[string]string{"team.yaml": layers})
	for _, id := range append(profile.IDs(), "team", "codex", "gemini", "copilot", "cursor", "opencode", "goose") {
		p, err := profile.Resolve(id, own)
		if err != nil {
			t.Fatal(err)
		}
		if p.Preset {
			continue
		}
		var dirs []string
		for _, l := range p.Layers {
			dirs = append(dirs, l.On("linux")...)
		}
		if p.Layers[0].Name != profile.Enterprise || dirs[0] != "{enterprise}/skills" ||
			dirs[1] != "{enterprise}/plugins" || slices.Contains(dirs[2:], "{enterprise}/skills") {
			t.Errorf("%s reads %q", id, dirs)
		}
	}
}

// TestAgentOrder: the orders were measured on Gemini CLI 0.61.0, Copilot CLI 1.0.102, Codex 0.169.0, and
// Claude Code 2.1.330.
func TestAgentOrder(t *testing.T) {
	for id, want := range map[string]string{
		"gemini":      "./.agents/skills ./.gemini/skills ~/.agents/skills ~/.gemini/skills",
		"copilot":     "./.github/skills ./.agents/skills ./.claude/skills ~/.copilot/skills ~/.agents/skills",
		"codex":       "./.agents/skills ./.codex/skills ~/.agents/skills ~/.codex/skills",
		"claude-code": "~/.claude/skills ./.claude/skills",
	} {
		p, err := profile.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		var dirs []string
		for _, l := range p.Layers {
			for _, dir := range l.On("linux") {
				if dir[0] == '.' || dir[0] == '~' {
					dirs = append(dirs, dir)
				}
			}
		}
		if got := strings.Join(dirs, " "); got != want {
			t.Errorf("%s reads %s, want %s", id, got, want)
		}
	}
}
