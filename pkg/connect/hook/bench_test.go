package hook_test

import (
	"fmt"
	"testing"
)

// BenchmarkAnswer measures one event in process: the most common tool call, and a call while a skill is active in a
// project of a thousand.
func BenchmarkAnswer(b *testing.B) {
	w := newFixture(b)
	for i := range 1000 {
		w.file(fmt.Sprintf("project/.claude/skills/s%d/SKILL.md", i), fmt.Sprintf("---\nname: s%d\ndescription: Does %d.\n---\nx\n", i, i))
	}
	silent(b, w.call("active", "Skill", `{"skill":"reader"}`))
	for name, ask := range map[string]func() string{
		"nothing-active": func() string { return w.call("none", "Bash", `{"command":"ls"}`) },
		"allowed":        func() string { return w.call("active", "Read", `{"file_path":"x"}`) },
		"activation": func() string {
			silent(b, w.call("fresh", "Skill", `{"skill":"s500"}`))
			return w.claude("SessionEnd", "fresh", "")
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				silent(b, ask())
			}
		})
	}
}
