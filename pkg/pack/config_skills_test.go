package pack_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

const runtimeText = `profile: claude-code
skills:
  enabled: false
  allowed: [deploy, review@acme/tools]
  hide-unmet: true
  recommended: 50
  max-depth: 3
  trusted-projects: true
  dynamic-shell: true
  agent-type: coder
  tenant: acme-eu
  environment: production
  script-limit: 45s
runners:
  general:
    command: [./bin/agent, -p, -p]
    limit: 1h30m
    env: [API_KEY, "LEVEL=warn, or so"]
    directory: project
    notify: {command: [notify-send], file: tasks.jsonl}
  code.review-2: {command: [claude, -p]}
trusted-folders: [/home/ada/work]
`

// TestK4ConfigRuntime checks SPEC K4: skills.enabled and skills.allowed are settings, like all other run-time settings
// of skills.
func TestK4ConfigRuntime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	c, err := pack.ParseConfig(path, []byte(runtimeText))
	if err != nil {
		t.Fatal(err)
	}
	off := false
	want := pack.SkillSettings{
		Enabled: &off, Allowed: []string{"deploy", "review@acme/tools"}, HideUnmet: true, Recommended: 50, MaxDepth: 3,
		TrustedProjects: true, DynamicShell: true,
		AgentType: "coder", Tenant: "acme-eu", Environment: "production", ScriptLimit: 45 * time.Second,
	}
	if c.Profile != "claude-code" || !reflect.DeepEqual(c.Skills, want) || c.Skills.On() || !reflect.DeepEqual(c.TrustedFolders, []string{"/home/ada/work"}) {
		t.Errorf("%+v", c)
	}
	r, err := c.Runner("")
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Dir(path)
	if !reflect.DeepEqual(r, pack.Runner{
		Command: []string{filepath.Join(beside, "bin", "agent"), "-p", "-p"}, Limit: 90 * time.Minute, Env: []string{"API_KEY", "LEVEL=warn, or so"},
		Project: true, Notify: pack.Notify{Command: []string{"notify-send"}, File: filepath.Join(beside, "tasks.jsonl")},
	}) {
		t.Errorf("%+v", r)
	}
	if r, err := c.Runner("code.review-2"); err != nil || r.Command[0] != "claude" || r.Project {
		t.Errorf("%+v, %v", r, err)
	}
	checkSchema(t, "config", []byte(runtimeText), true)

	// SPEC K4: both have defaults
	c, err = pack.ParseConfig("config.yaml", []byte("profile:\nskills:\nrunners:\n"))
	if err != nil || !c.Skills.On() || c.Skills.Allowed != nil || c.Runners != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestRunnerMissing checks that a missing runner is an error that shows the lines to add.
func TestRunnerMissing(t *testing.T) {
	for _, c := range []*pack.Config{nil, {Path: "config.yaml"}} {
		_, err := c.Runner("review")
		if diag.CodeOf(err) != diag.NotFound || !strings.Contains(diag.HintOf(err), "runners:\n  review:\n    command: [") {
			t.Errorf("%v; %s", err, diag.HintOf(err))
		}
	}
}

func TestConfigRuntimeRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want, hint string }{
		{"profile: Claude Code", `config.yaml:1:10: invalid profile ID "Claude Code"`, "skillpm profile"},
		{"skills: [deploy]", "config.yaml:1:9: skills must be a mapping", ""},
		{"skills: {enable: false}", `config.yaml:1:10: unknown key "enable" in skills`, "did you mean enabled?"},
		{"skills: {enabled: no}", "skills.enabled must be true or false", ""},
		{"skills: {allowed: deploy}", "skills.allowed must be a list", ""},
		{"skills: {allowed: ['a b']}", `invalid skill name "a b"`, "deploy@acme/deploy"},
		{"skills: {allowed: ['a@']}", `invalid skill name "a@"`, ""},
		{"skills: {max-depth: 0}", "skills.max-depth must be a number from 1 to 64", ""},
		{"skills: {max-depth: 65}", "skills.max-depth must be a number from 1 to 64", ""},
		{"skills: {max-depth: '5'}", "skills.max-depth must be a number", ""},
		{"skills: {recommended: 2.5}", "skills.recommended must be a number", ""},
		{"skills: {tenant: 'a b'}", `invalid skills.tenant "a b"`, ""},
		{"skills: {script-limit: 90}", `invalid skills.script-limit "90"`, "90s"},
		{"skills: {script-limit: -5s}", `invalid skills.script-limit "-5s"`, ""},
		{"runners: [general]", "runners must be a mapping", ""},
		{"runners: {a/b: {command: [x]}}", `invalid runner name "a/b"`, "general"},
		{"runners: {general: claude}", "runners.general must be a mapping", ""},
		{"runners: {general: {}}", "config.yaml:1:20: runners.general does not have a command", "claude"},
		{"runners: {general: {comand: [x]}}", `unknown key "comand"`, "did you mean command?"},
		{"runners: {general: {command: claude -p}}", "runners.general.command must be a list", "write [claude, -p]"},
		{"runners: {general: {command: []}}", "runners.general.command does not contain a program", ""},
		{"runners: {general: {command: [~/x]}}", "must not start with ~", "use an absolute path"},
		{"runners: {general: {command: [x], directory: here}}", `unknown runners.general.directory "here"`, "own"},
		{"runners: {general: {command: [x], env: ['A B']}}", `invalid variable "A B"`, "NAME=VALUE"},
		{"runners: {general: {command: [x], env: [SKILLPM_SESSION]}}", "SKILLPM_SESSION is reserved for skillpm", ""},
		{"runners: {general: {command: [x], env: [skillpm_session=1]}}", "is reserved for skillpm", ""},
		{"runners: {general: {command: [x], notify: {mail: a}}}", `unknown key "mail"`, "command or file"},
		{"runners: {general: {command: [x], notify: {file: ~/x}}}", `invalid file path "~/x"`, ""},
		{"trusted-folders: [work]", `"work" is not the absolute path of a directory`, "use an absolute path"},
	} {
		_, err := pack.ParseConfig("config.yaml", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) {
			t.Errorf("%s: %v (%s), want %s (%s)", tt.text, err, diag.HintOf(err), tt.want, tt.hint)
		}
		if diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: code %v", tt.text, diag.CodeOf(err))
		}
		checkSchema(t, "config", []byte(tt.text), false)
	}
	// Cases that the schema cannot express.
	for _, text := range []string{"skills: {script-limit: 25h}", "runners: {general: {command: [''], limit: 1h}}"} {
		if _, err := pack.ParseConfig("config.yaml", []byte(text)); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
