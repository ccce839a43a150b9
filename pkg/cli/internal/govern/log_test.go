package govern

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// TestRecordOnTerminal checks that a reason is complete at 80 columns, below its record.
func TestRecordOnTerminal(t *testing.T) {
	var out bytes.Buffer
	app := &app{&console.App{}}
	app.Stdout = &out
	p := recordPrinter{a: app, width: 80}
	reason := "Write is not in allowed-tools of changelog@acme/tools, which is active in this session since two minutes"
	if err := p.print(audit.Record{
		Time: "2026-11-22T10:00:00Z", User: "ada", Action: audit.Refuse, Result: audit.Denied, Skill: "changelog",
		Pack: "acme/tools", Tool: "Write", Session: strings.Repeat("s", 60), Reason: reason,
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines {
		if n := console.Cells([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got := strings.Join(strings.Fields(strings.Join(lines[1:], " ")), " "); got != reason {
		t.Errorf("below the record: %q, want %q", got, reason)
	}
}

// TestUndoneDenial checks that a lifted denial differs from the denial in the output.
func TestUndoneDenial(t *testing.T) {
	denial := actionText(audit.Record{Action: audit.Deny, Verdict: audit.Forbidden})
	undone := actionText(audit.Record{Action: audit.Deny, Verdict: audit.Allowed})
	if denial != "deny" || undone != "deny (undone)" {
		t.Errorf("got %q and %q", denial, undone)
	}
}

// TestNarrowed checks that a table drops its least important columns if a terminal is too narrow, and none if the
// output is not a terminal.
func TestNarrowed(t *testing.T) {
	rows := [][]string{{"SKILL", "PACK", "RUNS", "TOTAL", "MEAN"}, {"deploy", "acme/deploy", "12", "41.20s", "4.58s"}}
	for _, tt := range []struct {
		width int
		want  []string
	}{
		{0, rows[0]},
		{80, rows[0]},
		{40, rows[0]},
		{39, []string{"SKILL", "PACK", "RUNS", "MEAN"}},
		{32, []string{"SKILL", "PACK", "RUNS", "MEAN"}},
		{31, []string{"SKILL", "PACK", "RUNS"}},
		{5, []string{"SKILL", "PACK", "RUNS"}},
	} {
		got := dropColumns(rows, tt.width, "TOTAL", "MEAN")
		if !slices.Equal(got[0], tt.want) || len(got[1]) != len(tt.want) || got[1][2] != "12" {
			t.Errorf("%d columns: %v, want %v", tt.width, got, tt.want)
		}
	}
	if rows[0][3] != "TOTAL" || rows[1][3] != "41.20s" {
		t.Errorf("the table was changed: %v", rows)
	}
}
