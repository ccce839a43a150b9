package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/runtime/prompt"
)

// TestO7Size checks SPEC O7, O23: at any count, the description of the skill tool has less than 1 KB, as many names as
// fit, the guidance, and how to find the rest.
func TestO7Size(t *testing.T) {
	for _, find := range []string{"", "find_skills"} {
		for _, n := range []int{1, 3, 10, 30, 300, 1000} {
			for _, script := range []string{"skill", "技能"} {
				p := load(t, "omniforge")
				p.Trigger.Find.Name = find
				entries := manyEntries(n)
				for i := range entries {
					entries[i].Name = strings.Replace(entries[i].Name, "skill", script, 1)
				}
				tools, l, err := prompt.Tools(p, entries, prompt.Options{})
				if err != nil {
					t.Fatal(err)
				}
				text := tools[0].Description
				if len(text) > 1000 {
					t.Errorf("%d skills: %d bytes", n, len(text))
				}
				for _, want := range []string{"at once, before any other work", "Built-in commands", `{"skill_name": "code-review", "args": "pr-123"}`} {
					if !strings.Contains(text, want) {
						t.Errorf("%d skills: %q is missing: %s", n, want, text)
					}
				}
				if cut := len(l.Left)+len(l.Shortened) > 0; cut != strings.Contains(text, "To find a skill, ") {
					t.Errorf("%d skills, %d left out: %s", n, len(l.Left), text)
				}
				if n >= 100 && (len(l.Names) < 10 || !strings.Contains(text, fmt.Sprintf("Not listed: %d. ", n-len(l.Names))) ||
					find != "" && !strings.Contains(text, "call `find_skills` with the task")) {
					t.Errorf("%d skills, %d listed: %s", n, len(l.Names), text)
				}
			}
		}
	}
}

// TestNamesFirst checks that all names are listed before any description, and the skills that were used the most before
// those of the project and the others.
func TestNamesFirst(t *testing.T) {
	p := load(t, "claude-code")
	entries := manyEntries(400)
	for i := range entries {
		switch entries[i].Name {
		case "skill-00399":
			entries[i].Used = 7
		case "skill-00398":
			entries[i].Used = 2
		case "skill-00397":
			entries[i].Project = true
		}
	}
	l := list(t, p, entries, prompt.Options{Most: 2048})
	if n := utf8.RuneCountInString(l.Text); n > 2048 || len(l.Left) == 0 || len(l.Names)+len(l.Left) != 400 {
		t.Errorf("%d characters, %d names", n, len(l.Names))
	}
	if got := l.Names[:4]; !slices.Equal(got, []string{"skill-00399", "skill-00398", "skill-00397", "skill-00000"}) {
		t.Errorf("the first are %q", got)
	}
	if strings.Contains(l.Text, "Does the work") || !strings.Contains(l.Text, fmt.Sprintf("Skills that are not listed: %d. ", len(l.Left))) {
		t.Errorf("there is a description before all names, or the list does not say that it was cut:\n%s", l.Text)
	}
	l = list(t, p, entries[:100], prompt.Options{Most: 4096})
	if n := utf8.RuneCountInString(l.Text); n > 4096 || n < 4000 || len(l.Names) != 100 || !strings.Contains(l.Text, ": Does the work") {
		t.Errorf("%d characters, %d names:\n%s", n, len(l.Names), l.Text)
	}
}

// TestEnum checks that a schema names the values of an argument only if it can name all.
func TestEnum(t *testing.T) {
	p := load(t, "agentskills")
	for n, want := range map[int]bool{5: true, 200: false} {
		tools, l, err := prompt.Tools(p, manyEntries(n), prompt.Options{Most: 4000})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(tools[0].Schema), `"enum"`); got != want || want != (len(l.Left) == 0) {
			t.Errorf("%d skills, %d left out: %s", n, len(l.Left), tools[0].Schema)
		}
	}
}
