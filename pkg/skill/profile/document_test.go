package profile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// TestDocument checks that the document covers each agent's tools and layers, and that its example is a valid profile.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("no example")
	}
	if _, err := profile.Parse("ours.yaml", "ours", []byte(example), nil); err != nil {
		t.Error(err)
	}
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		var rows string
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| `"+p.ID+"` |") {
				rows += line
			}
		}
		wanted := []string{"`" + p.Trigger.Skill.Name}
		for _, l := range p.Layers {
			wanted = append(wanted, l.Name)
		}
		for _, want := range wanted {
			if !strings.Contains(rows, want) {
				t.Errorf("%s: the document does not have %s", p.ID, want)
			}
		}
	}
	_, results := profile.Values()
	for _, name := range results {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the document does not have the value %s", name)
		}
	}
}
