package skill_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// TestRequirements reads the metadata that tools define in their own ways.
func TestRequirements(t *testing.T) {
	jq := skill.InstallHint{Bins: []string{"jq"}, Command: "brew install jq"}
	for _, tt := range []struct {
		name, front string
		want        skill.Requirements
	}{
		{"none", "metadata: {author: ada}", skill.Requirements{}},
		{"text", "metadata: openclaw", skill.Requirements{}},
		{
			"blocks", `
metadata:
  openclaw:
    os: [macos, linux, win32, macos]
    requires:
      bins:
        - jq
        - kubectl
      anyBins: [podman, docker]
      env: [PAGER_TOKEN]
      config: [browser.enabled]
    install:
      - {kind: brew, formula: jq, bins: [jq]}
      - {kind: uv, package: "ruff", os: [linux]}`,
			skill.Requirements{
				OS: []string{"darwin", "linux", "windows"}, Bins: []string{"jq", "kubectl"},
				AnyBins: []string{"podman", "docker"}, Env: []string{"PAGER_TOKEN"},
				Install: []skill.InstallHint{jq, {OS: []string{"linux"}, Command: "uv tool install ruff"}},
			},
		},
		{
			"JSON", `metadata: {"clawdbot": {"requires": {"bins": ["jq"]}, "install": [{"id": "b", "kind": "brew", ` +
				`"formula": "jq", "bins": ["jq"], "label": "jq"}]}}`,
			skill.Requirements{Bins: []string{"jq"}, Install: []skill.InstallHint{jq}},
		},
		{
			"the newest name counts", "metadata: {clawdis: {os: [linux]}, openclaw: {os: [darwin]}}",
			skill.Requirements{OS: []string{"darwin"}},
		},
		{
			"always", "metadata: {openclaw: {always: true, os: [linux], requires: {bins: [jq]}}}",
			skill.Requirements{OS: []string{"linux"}},
		},
		{"Claude", "metadata:\n  mcp-server: tracker", skill.Requirements{MCP: []string{"tracker"}}},
		{
			"hostile", `metadata: {mcp-server: "a\e[31m", openclaw: {os: [1, "../x"], requires: {bins: [../sh, "a b", "-x",` +
				` "", {a: b}, ok], env: ["A=B", 'A$', OK]}, install: [{kind: brew, formula: "x; rm -rf ~"},` +
				` {kind: go, module: -exec}, {kind: sh, package: x}, x]}}`,
			skill.Requirements{Bins: []string{"ok"}, Env: []string{"OK"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := []byte("---\nname: x\n" + tt.front + "\n---\n")
			doc, _ := skill.Parse(data)
			got := doc.Requirements()
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if !reflect.DeepEqual(got, skill.Requirements{}) && !skill.MayRequire(data) {
				t.Error("MayRequire is false")
			}
		})
	}
}

func TestRequirementsLimit(t *testing.T) {
	var bins []string
	for i := range 200 {
		bins = append(bins, "b"+strings.Repeat("x", i%60)+string(rune('a'+i/60)))
	}
	doc, _ := skill.Parse([]byte("---\nmetadata: {openclaw: {requires: {bins: [" + strings.Join(bins, ", ") + "]}}}\n---\n"))
	if got := doc.Requirements().Bins; len(got) != 32 {
		t.Errorf("%d programs", len(got))
	}
}

func TestMissing(t *testing.T) {
	needs := skill.Requirements{
		Bins: []string{"git", "jq"}, AnyBins: []string{"podman", "docker"}, Env: []string{"HOME", "PAGER_TOKEN"},
		MCP: []string{"tracker"}, OS: []string{"darwin", "windows"},
		Install: []skill.InstallHint{
			{Bins: []string{"jq"}, OS: []string{"darwin"}, Command: "brew install jq"},
			{Bins: []string{"jq"}, Command: "uv tool install jq"},
		},
	}
	has := func(names ...string) func(string) bool {
		return func(s string) bool { return slices.Contains(names, s) }
	}
	got := needs.Missing(skill.Machine{OS: "linux", Program: has("git"), Variable: has("HOME")})
	want := []skill.Missing{
		{"bin", "jq", "install jq, and make sure that it is in PATH; the skill suggests: uv tool install jq"},
		{"bin", "podman or docker", "install podman or docker, and make sure that it is in PATH"},
		{"env", "PAGER_TOKEN", "set the environment variable PAGER_TOKEN"},
		{"os", "darwin or windows", "use a machine with darwin or windows"},
		{"mcp", "tracker", "check that your agent has the MCP server tracker"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	names, _ := skill.DescribeMissing(got[3:])
	if names != "darwin or windows and the MCP server tracker" {
		t.Errorf("names: %s", names)
	}
	met := skill.Machine{OS: "darwin", Program: has("git", "jq", "docker"), Variable: has("HOME", "PAGER_TOKEN")}
	if got := needs.Unmet(met); len(got) > 0 {
		t.Errorf("unmet: %v", got)
	}
}

// TestRequirementTable checks that the requirements of a pack survive as text, and that invalid text of others is
// ignored.
func TestRequirementTable(t *testing.T) {
	want := skill.Requirements{
		Bins: []string{"kubectl", "helm"}, Env: []string{"TOKEN"}, MCP: []string{"tracker"}, OS: []string{"linux"},
	}
	if got := skill.ParseRequirements(want.Table()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if table := (skill.Requirements{}).Table(); table != nil {
		t.Errorf("no requirements have the table %v", table)
	}
	got := skill.ParseRequirements(map[string]string{
		"bins": "ok ../sh a;b \x1b[31m ok " + strings.Repeat("many ", 99), "os": "macos", "gpu": "1",
	})
	if want := (skill.Requirements{Bins: []string{"ok", "many"}, OS: []string{"darwin"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
