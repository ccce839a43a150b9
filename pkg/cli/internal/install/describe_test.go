package install

import (
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestTestsText checks how results of tests are shown, with texts that try to control the terminal.
func TestTestsText(t *testing.T) {
	rate := func(passed int) *skillpm.TestRate { return &skillpm.TestRate{Passed: passed, Runs: 50} }
	for _, tt := range []struct {
		tests        skillpm.Tests
		text, origin string
	}{
		{skillpm.Tests{Passed: 14, Skillpm: "1.2.0"}, "14 passed", "skillpm 1.2.0, not signed"},
		{
			skillpm.Tests{Passed: 1, Warned: 2, Failed: 3, Signed: true},
			"1 passed, 2 passed in some runs, 3 failed", "signature not verified",
		},
		{
			skillpm.Tests{
				Agent: "claude-code", Model: "model-1", With: rate(46), Without: rate(30), Queries: rate(50),
				Time: time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC), Signed: true, Verified: true, Signer: "identity:me",
			},
			"claude-code 92% with, 60% without, 100% of trigger queries", "model-1, 2026-11-29, signed by me",
		},
		{
			skillpm.Tests{Agent: "a\x1b[31mb\nc", Model: "\x1b]0;x\a", Skillpm: "1\u202e2"},
			`a\u001b[31mb c 0 passed`, `skillpm 1\u202e2, \u001b]0;x\u0007, not signed`,
		},
	} {
		text, origin := testsText(tt.tests), testsOrigin(tt.tests)
		if text != tt.text || origin != tt.origin {
			t.Errorf("got %q (%q), want %q (%q)", text, origin, tt.text, tt.origin)
		}
		if strings.ContainsAny(text+origin, "\x1b\n\a\u202e") {
			t.Errorf("%q (%q) contains control characters", text, origin)
		}
	}
}
