package budget_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/budget"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// TestFindWaste checks which parts of descriptions do not help a model.
func TestFindWaste(t *testing.T) {
	const shared = "Use when the user asks for it explicitly."
	n := tokens.Estimate(shared)
	long := strings.Repeat("more words ", 100)
	for _, test := range []struct {
		name         string
		descriptions []budget.Description
		want         budget.Waste // of the first one
	}{
		{"nothing", []budget.Description{{Skill: "a", Text: "Deploys. " + shared}, {Skill: "b", Text: "Rolls back."}}, budget.Waste{}},
		{"a sentence of others, in another form", []budget.Description{
			{Skill: "a", Text: "Deploys. " + shared}, {Skill: "b", Text: "use when the user asks for it - explicitly! Rolls back."}, {Skill: "c", Text: shared},
		}, budget.Waste{Repeated: n, Others: 2}},
		{"a sentence twice", []budget.Description{{Skill: "a", Text: shared + " " + shared}}, budget.Waste{Repeated: n}},
		{"short sentences", []budget.Description{{Skill: "a", Text: "Deploys it. Deploys it."}, {Skill: "b", Text: "Deploys it."}}, budget.Waste{}},
		{"abbreviations", []budget.Description{{Skill: "a", Text: "Reads config.yaml and a.b.c files."}, {Skill: "b", Text: "Reads config.toml and a.b.c files."}}, budget.Waste{}},
		{"the same skill for another agent", []budget.Description{{Skill: "a", Text: shared}, {Skill: "a", Text: shared}}, budget.Waste{}},
		{"ideographs", []budget.Description{{Skill: "a", Text: "部署服务。用户要求部署时使用。"}, {Skill: "b", Text: "回滚服务。用户要求部署时使用。"}}, budget.Waste{Repeated: 8, Others: 1}},
		{"cut", []budget.Description{{Skill: "a", Text: long, Cap: 100}}, budget.Waste{Cut: tokens.Estimate(long[100:])}},
		{"a repeated sentence in the cut part", []budget.Description{
			{Skill: "a", Text: long + ". " + shared, Cap: 100}, {Skill: "b", Text: shared},
		}, budget.Waste{Cut: tokens.Estimate((long + ". " + shared)[100:])}},
		{"short enough", []budget.Description{{Skill: "a", Text: "é", Cap: 1}}, budget.Waste{}},
	} {
		if got := budget.FindWaste(test.descriptions)[0]; got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestSkillCost checks that the instructions and the text files of a skill count, and that links, ignored files, and
// files that are not text do not.
func TestSkillCost(t *testing.T) {
	p, err := profile.Lookup("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.md")
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: a\ndescription: Does a.\n---\none two three\n", "references/guide.md": "four five", "scripts/run.sh": "six",
		"image.png": "\x89PNG\x00\x01", "latin1.txt": "\xe9t\xe9", ".git/config": "seven eight", "large.txt": strings.Repeat("word ", 1<<18),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.md")); err != nil {
		t.Skip(err)
	}
	got, err := budget.SkillCost(p, &catalog.Skill{Name: "a", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	instructions := tokens.Estimate("Base directory for this skill: " + dir + "\n\none two three\n")
	if want := (budget.Activation{Tokens: instructions, Files: 2, FileTokens: 3, Partial: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
