package profile_test

import (
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

// A user adds a profile that says only what differs: mappings are merged, lists and texts replaced.
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
	if len(p.Layers) != 1 || p.Layers[0].On("windows")[0] != `D:\team` || p.Layers[0].On("linux")[0] != "./team/skills" {
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
		{"../x", `unknown profile "../x"`, "the profiles are agentskills, api-upload, claude-code, dispatch, kodelet, omniforge, pegasus, toolset, about, ours, pegasus, round", diag.Usage},
		{"pegasus", "pegasus is a profile of skillpm's own, and there is a file profiles/pegasus.yaml", "give the file another name, and write extends: pegasus in it", diag.Conflict},
		{"round", "profiles/round.yaml:1: extends: profiles/about.yaml:1: extends: profile round extends itself: round → about → round", "", diag.Invalid},
	} {
		_, err := profile.Resolve(tt.id, fsys)
		if err == nil || err.Error() != tt.want || diag.HintOf(err) != tt.hint || diag.CodeOf(err) != tt.code {
			t.Errorf("%s: got %v, hint %q, code %v", tt.id, err, diag.HintOf(err), diag.CodeOf(err))
		}
	}
}

// What is wrong with a profile is said with its line, and what was perhaps meant.
func TestParseErrors(t *testing.T) {
	deep := "extends: kodelet\nactivation: {failed: {json: " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "}}\n"
	for _, tt := range []struct{ name, text, want, hint string }{
		{"empty", "", "p.yaml is empty", "write extends: omniforge, and what is to be different"},
		{"no YAML", "extends: [\n", "p.yaml:1: not valid YAML: did not find expected node content", ""},
		{"list", "- a\n", "p.yaml:1: a mapping is wanted here, with a key on each line", ""},
		{"unknown", "extends: kodelet\nstage1:\n  headings: x\n", `p.yaml:3: unknown field "headings" in stage1`, "did you mean heading?"},
		{"unknown at the top", "extends: kodelet\nlayer: []\n", `p.yaml:2: unknown field "layer" in the profile`, "did you mean layers?"},
		{"twice", "extends: kodelet\ntitle: a\ntitle: b\n", `p.yaml:3: "title" is there twice, first on line 2`, ""},
		{"no value", "extends: kodelet\nqualify:\n", "p.yaml:2: qualify has no value", `leave it out, or write "" for none`},
		{"number for text", "extends: kodelet\ntitle: 12\n", "p.yaml:2: title is 12, and should be a text", "write it in quotes"},
		{"text for number", "extends: kodelet\nstage1: {cap: many}\n", "p.yaml:2: stage1.cap is a text, and should be a whole number", ""},
		{"text for list", "extends: kodelet\nreserved: help\n", "p.yaml:2: reserved is a text, and should be a list", ""},
		{"text for truth", "extends: kodelet\ntrusted-projects: often\n", "p.yaml:2: trusted-projects is a text, and should be true or false", ""},
		{"alias", "extends: &a kodelet\ntitle: *a\n", "p.yaml:1: &a is an anchor, which is not used here", "write the value itself, in quotes"},
		{"extends nothing", "extends: kodlet\n", `p.yaml:1: extends: unknown profile "kodlet"`, "did you mean kodelet?"},
		{"itself", "extends: p\n", "p.yaml:1: extends: unknown profile \"p\"", "the profiles are agentskills, api-upload, claude-code, dispatch, kodelet, omniforge, pegasus, toolset"},
		{"other id", "extends: kodelet\nid: q\n", `p.yaml:2: the id is "q", and the file's name says "p"`, "leave id out, or rename the file q.yaml"},
		{"no base", "title: x\n", "p.yaml:1: there is no schema", "write extends: omniforge, or schema"},
		{"schema", "extends: kodelet\nschema: skill.omniforg\n", `p.yaml:2: schema: "skill.omniforg" is not known`, "did you mean skill.omniforge?"},
		{"choice", "extends: kodelet\nscripts: run\n", `p.yaml:2: scripts: "run" is not known`, "use read, run-only"},
		{"over", "extends: kodelet\nstage1:\n  budget:\n    over: dropp\n", `p.yaml:4: stage1.budget.over: "dropp" is not known`, "did you mean drop?"},
		{"share", "extends: kodelet\nstage1: {budget: {share: 200}}\n", "p.yaml:2: stage1.budget.share is 200; it is a percentage of the context window", ""},
		{"negative", "extends: kodelet\nstage1:\n  cap: -1\n", "p.yaml:3: stage1.cap is -1, and cannot be negative", ""},
		{"value", "extends: kodelet\nstage1:\n  entry: \"{nam}\"\n", "p.yaml:3: stage1.entry: there is no value {nam} here", "did you mean {name}?"},
		{"filter", "extends: kodelet\nstage1: {entry: \"{name|big}\"}\n", "p.yaml:2: stage1.entry: there is no {name|big}", "use {name}, {name|quoted} or {name|trimmed}"},
		{"section", "extends: kodelet\nstage1: {entry: \"[[{name}\"}\n", "p.yaml:2: stage1.entry: [[ is not closed by ]]", ""},
		{"nested section", "extends: kodelet\nstage1: {entry: \"[[a [[b]] ]]\"}\n", "p.yaml:2: stage1.entry: [[ stands inside another [[", ""},
		{"value in JSON", "extends: kodelet\nactivation:\n  failed:\n    json:\n      why: \"{eror}\"\n", "p.yaml:5: activation.failed.json: there is no value {eror} here", "did you mean {error}?"},
		{"no values", "extends: kodelet\nstage1: {separator: \"{name}\"}\n", "p.yaml:2: stage1.separator: there is no value {name} here", "it is a plain text; {{ stands for a brace that is meant"},
		{"place", "extends: kodelet\nlayers:\n  - {name: a, dirs: [~/a]}\n  - {name: b, dirs: [skills]}\n", `p.yaml:4: "skills" is no directory of a layer`, "start it with ~/ for the home directory, ./ for the project, / for the machine or {enterprise}/, or write {plugins}"},
		{"outside", "extends: kodelet\nlayers:\n  - {name: a, dirs: [./../a]}\n", `p.yaml:3: "./../a" is no directory of a layer`, "start it with ~/ for the home directory, ./ for the project, / for the machine or {enterprise}/, or write {plugins}"},
		{"depth", "extends: kodelet\nlayers:\n  - {name: a, dirs: [./a], depth: 7}\n", "p.yaml:3: layer a: depth is 7, and is from 1 to 6", ""},
		{"no dirs", "extends: kodelet\nlayers: [{name: a}]\n", "p.yaml:2: layer a has no dirs", ""},
		{"no layers", "extends: kodelet\nlayers: []\n", "p.yaml:2: there are no layers", "write extends: omniforge, or layers"},
		{"no entry", "extends: kodelet\nstage1: {entry: \"\"}\n", "p.yaml:2: there is no stage1.entry", "write extends: omniforge, or stage1.entry"},
		{"no text", "schema: skill.kodelet\nlayers: [{name: a, dirs: [~/a]}]\nstage1: {entry: x}\nactivation: {activated: {text: x}}\n", "p.yaml:4: there is no activation.spawned.text", "write extends: omniforge, or activation.spawned.text"},
		{"deep", deep, "p.yaml:2: activation.failed.json is nested more than 16 deep", ""},
		{"large", "title: " + strings.Repeat("x", 300<<10), "p.yaml has more than 262144 bytes", ""},
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

// No text makes the reader of profiles panic, and what it accepts it accepts again.
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

// What is shown of a profile says the same as its files.
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
