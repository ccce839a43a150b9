package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestIncreaseLines checks that many capabilities of one kind do not hide those of another kind, that one fact is one
// line, also in many skills, that a long path does not hide what follows it, and that names of files and hosts cannot
// control a terminal.
func TestIncreaseLines(t *testing.T) {
	add := func(i *skillpm.Increase, c policy.Capability, path, why string) {
		i.Capabilities = append(i.Capabilities, skillpm.CapabilityChange{
			Skill: "tool", Evidence: capability.Evidence{Capability: c, Name: path, Path: path, Why: why},
		})
	}
	flood := skillpm.Increase{Pack: "acme/tool", From: "1.0.0", To: "1.1.0"}
	for n := range MaxNotes + 2 {
		add(&flood, policy.Scripts, fmt.Sprintf("%d.sh", n), "is a script")
	}
	add(&flood, policy.FileWrite, "SKILL.md", "allows Write")
	add(&flood, policy.Tools, "SKILL.md", "allows Write")
	for n := range MaxNotes + 1 {
		add(&flood, policy.Secrets, "a.sh", "reads TOKEN")
		flood.Capabilities[len(flood.Capabilities)-1].Skill = fmt.Sprint("skill", n)
	}
	add(&flood, policy.Secrets, "b.sh", "reads OTHER")
	hostile := skillpm.Increase{Pack: "acme/base", To: "1.0.0"}
	add(&hostile, policy.Scripts, "a\x1b[2J\nb.sh", "is a script")
	add(&hostile, policy.NetworkTools, "a.rake", "is a script that skillpm does not analyze")
	add(&hostile, policy.FileWrite, "a.rake", "is a script that skillpm does not analyze")
	add(&hostile, policy.Secrets, strings.Repeat("x/", 200)+"a.sh", "reads ACME_TOKEN")
	lines := IncreaseLines([]skillpm.Increase{flood, hostile})
	want := []string{
		"acme/tool 1.1.0 in place of 1.0.0 adds capabilities:", "  ! scripts     tool/0.sh is a script",
		"  ! scripts     … and 2 more; show all with --json", "  ! file-write  tool/SKILL.md allows Write",
		"  ! secrets     skill0/a.sh reads TOKEN, and 20 more locations", "  ! secrets     tool/b.sh reads OTHER",
		"acme/base 1.0.0 adds capabilities:", "  ! scripts        tool/a<U+001B>[2J b.sh is a script",
		"  ! network-tools  tool/a.rake is a script that skillpm does not analyze",
		"  ! file-write     tool/a.rake is a script that skillpm does not analyze",
		"  ! secrets        tool/" + strings.Repeat("x/", 60) + "… reads ACME_TOKEN",
	}
	if len(lines) != MaxNotes+10 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, line := range want {
		if !strings.Contains("\n"+strings.Join(lines, "\n")+"\n", "\n"+line+"\n") {
			t.Errorf("%q is missing in %q", line, lines)
		}
	}
}
