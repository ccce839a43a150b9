package prompt_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
)

// TestO9Texts checks SPEC O9: two texts for any model, of about 400–600 and 800–1,000 tokens, with every fact of the
// row.
func TestO9Texts(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		least, most int
		facts       []string
	}{
		{"navigation", prompt.Navigation(), 400, 600, []string{
			"Links are read", "Commands are run", "`bash`", "joined to `base_path`", "absolute path (`/etc/hosts`) is used as it is written",
			"URL (`https://example.com/a`) is used as it is written", "forward slashes, on Windows as well", "A script is run and never opened",
			"skill_name", "content", "not before",
		}},
		{"tool calling", prompt.ToolCalling(), 800, 1000, []string{
			"`name`", "`description`", "`parameters`", "required", "`default`", "`string`", "`integer`", "`float`", "`boolean`", "`array`", "`object`",
			"`success`", "`result`", "`error`", "`duration_ms`", "`tokens_used`", "`cost_usd`", "`cached`", "`retry_count`", "When a call fails",
		}},
	} {
		if n := tokens.Estimate(tt.text); n < tt.least || n > tt.most {
			t.Errorf("%s: about %d tokens, want %d to %d", tt.name, n, tt.least, tt.most)
		}
		for _, fact := range tt.facts {
			if !strings.Contains(tt.text, fact) {
				t.Errorf("%s does not say %q", tt.name, fact)
			}
		}
		for _, vendor := range []string{"Claude", "OmniForge", "GPT", "Gemini", "skillpm"} { // SPEC O26
			if strings.Contains(tt.text, vendor) {
				t.Errorf("%s speaks of %s", tt.name, vendor)
			}
		}
	}
}
