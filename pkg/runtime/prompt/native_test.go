package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

func native(t *testing.T, id string) *profile.Native {
	t.Helper()
	a, err := agent.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	n, err := profile.NativeOf(a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// described returns n skills with descriptions of so many characters.
func described(n, characters int) (entries []prompt.Entry) {
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		entries = append(entries, prompt.Entry{
			Name: name, Description: strings.Repeat("x", characters), Layer: "project", Location: "/p/" + name + "/SKILL.md",
		})
	}
	return entries
}

// TestNative checks what agents cut of their own lists, as measured on the programs: 200 descriptions of 300 characters,
// 800 of 100, and two of 3,000.
func TestNative(t *testing.T) {
	for _, test := range []struct {
		agent           string
		skills, length  int
		left, shortened int
	}{
		{"claude-code", 3, 300, 0, 0},
		{"claude-code", 200, 300, 0, 200},
		{"claude-code", 800, 100, 0, 800},
		{"claude-code", 2, 3000, 0, 2},
		{"codex", 3, 300, 0, 0},
		{"codex", 200, 300, 0, 200},
		{"codex", 800, 100, 355, 445},
		{"codex", 2, 3000, 0, 2},
		{"copilot", 3, 300, 0, 0},
		{"copilot", 200, 300, 0, 163},
		{"copilot", 800, 100, 315, 412},
		{"gemini", 800, 100, 0, 0},
		{"opencode", 800, 100, 0, 0},
		{"cursor", 800, 100, 0, 0},
	} {
		n := native(t, test.agent)
		entries := described(test.skills, test.length)
		c, err := prompt.Native(n, entries, prompt.Options{ContextWindow: n.Window})
		if err != nil {
			t.Fatal(err)
		}
		const some = 5 // skills, for lists whose limit counts bytes or tokens
		if len(c.Left) < test.left-some || len(c.Left) > test.left+some || len(c.Shortened) < test.shortened-some ||
			len(c.Shortened) > test.shortened+some {
			t.Errorf("%s, %d of %d characters: %d left out, %d shortened, want %d, %d", test.agent, test.skills, test.length,
				len(c.Left), len(c.Shortened), test.left, test.shortened)
		}
		if cut := len(c.Left)+len(c.Shortened) > 0; cut && c.Tokens > c.Uncut || !cut && c.Tokens != c.Uncut || c.Tokens == 0 {
			t.Errorf("%s: %d tokens, %d without the limit", test.agent, c.Tokens, c.Uncut)
		}
		slices.Reverse(entries)
		if again, err := prompt.Native(n, entries, prompt.Options{ContextWindow: n.Window}); err != nil || again.Tokens != c.Tokens {
			t.Errorf("%s: the order of skills matters: %+v, %v", test.agent, again, err)
		}
	}
}

// TestNativeLimit checks how the context window and the agent's variable change a limit.
func TestNativeLimit(t *testing.T) {
	n := native(t, "claude-code")
	for _, test := range []struct {
		o     prompt.Options
		limit int
	}{
		{prompt.Options{}, 8000 - 6077},
		{prompt.Options{ContextWindow: 200_000}, 8000 - 6077},
		{prompt.Options{ContextWindow: 1_000_000}, 40_000 - 6077},
		{prompt.Options{ContextWindow: 1_000_000, Budget: 10_000}, 10_000 - 6077},
		{prompt.Options{Budget: 100}, 1},
	} {
		c, err := prompt.Native(n, described(1, 10), test.o)
		if err != nil || c.Limit != test.limit {
			t.Errorf("%+v: the limit is %d, want %d; %v", test.o, c.Limit, test.limit, err)
		}
	}
	if c, err := prompt.Native(n, nil, prompt.Options{}); err != nil || c.Tokens != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCostOf checks that all texts with a listing count.
func TestCostOf(t *testing.T) {
	c := prompt.CostOf(prompt.Listing{Limit: 9, Left: []string{"a"}}, "one two", "drei é")
	if c.Tokens != tokens.Estimate("one two")+tokens.Estimate("drei é") || c.Characters != 13 || c.Limit != 9 || len(c.Left) != 1 {
		t.Errorf("%+v", c)
	}
}
