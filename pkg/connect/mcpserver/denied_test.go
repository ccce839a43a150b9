package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// TestO14DeniedToModels checks with every profile that a denial takes effect in a running connection, that skills that
// are denied or need an approval are not listed, and that no result has the command that lifts the denial.
func TestO14DeniedToModels(t *testing.T) {
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range all {
		t.Run(id.ID, func(t *testing.T) {
			dir := ""
			for _, l := range id.Layers {
				for _, d := range l.On("linux") {
					if rest, ok := strings.CutPrefix(d, "./"); ok && dir == "" {
						dir = "home/project/" + rest
					}
				}
			}
			p := newPlace(t, map[string]string{
				dir + "/gone/SKILL.md":         skillText("gone", "", "Do it."),
				dir + "/risky/SKILL.md":        skillText("risky", "", "Run `scripts/go.sh`."),
				dir + "/risky/scripts/go.sh":   "#!/bin/sh\n",
				dir + "/harmless/SKILL.md":     skillText("harmless", "", "Do it."),
				dir + "/harmless/guide.md":     "Guide.",
				dir + "/gone/references/so.md": "So.",
			})
			p.profile, p.options.HostNames = id.ID, true
			c := p.connect()
			trigger := id.Trigger.Skill
			if trigger.Takes("skill") == "" {
				t.Skip("the agent's tool takes a line")
			}
			value := func(name string) map[string]any { return map[string]any{trigger.Takes("skill"): name} }
			if res, text := call(t, c, trigger.Name, value("gone")); res.IsError {
				t.Fatal(text)
			}
			p.write("home/.config/skillpm/policy.yaml", "version: 1\nskills: {deny: [gone]}\napprove: [scripts]\n")
			for _, name := range []string{"gone", "risky"} {
				res, text := call(t, c, trigger.Name, value(name))
				text += structured(t, res)
				if !strings.Contains(text, "denied by") && !strings.Contains(text, "requires approval") {
					t.Errorf("%s: %s", name, text)
				}
				for _, lifts := range []string{"--undo", "skillpm deny", "skillpm approve", "sudo"} {
					if strings.Contains(text, lifts) {
						t.Errorf("the model gets %q: %s", lifts, text)
					}
				}
			}
			for _, tool := range toolNames(t, c) {
				if strings.Contains(tool.Description, "Does gone") || strings.Contains(tool.Description, "Does risky") {
					t.Errorf("%s lists it: %s", tool.Name, tool.Description)
				}
			}
		})
	}
}
