package enforce_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// BenchmarkOpenNone measures an evaluator without a policy.
func BenchmarkOpenNone(b *testing.B) {
	m := newMachine(b)
	for b.Loop() {
		if enforce.Open(m.o).CheckListed(tool) != nil {
			b.Fatal("refused")
		}
	}
}

// BenchmarkReload measures a reload that finds no changes.
func BenchmarkReload(b *testing.B) {
	m := newMachine(b)
	m.say(policy.MachineLevel, "skills: {deny: ['x@a/b']}")
	g := m.open()
	for b.Loop() {
		g.Reload()
	}
}

// BenchmarkListed1000 evaluates a thousand skills with a policy of names and sources.
func BenchmarkListed1000(b *testing.B) {
	m := newMachine(b)
	m.say(policy.MachineLevel, "skills: {deny: ['*@evil/*', 'x-*@a/b', worm]}\nsources: {allow: ['oci://registry.example/**'], deny: ['oci://registry.example/labs/**']}")
	skills := make([]enforce.Skill, 1000)
	for i := range skills {
		skills[i] = tool
		skills[i].Name, skills[i].Pack = fmt.Sprintf("skill-%d", i), fmt.Sprintf("acme/pack-%d", i/10)
	}
	g := m.open()
	for b.Loop() {
		for _, s := range skills {
			if err := g.CheckListed(s); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkUse30 measures the activation of a skill with 30 files, all of which are scanned.
func BenchmarkUse30(b *testing.B) {
	m := newMachine(b)
	m.say(policy.MachineLevel, "forbid: [hooks]\napprove: [scripts]\nlimits: {files: 100}")
	dir := b.TempDir()
	files := tree()
	if err := os.CopyFS(dir, files); err != nil {
		b.Fatal(err)
	}
	for i := range 28 {
		if err := os.WriteFile(fmt.Sprintf("%s/file-%d.md", dir, i), []byte(strings.Repeat("A line of text, as there are many.\n", 230)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	g := m.open()
	fsys := os.DirFS(dir)
	r, err := g.Review(b.Context(), tool, fsys)
	if err == nil {
		_, err = g.Approve(b.Context(), policy.MachineLevel, enforce.Approver{By: "ada", Reason: "r"}, r)
	}
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := g.Evaluate(b.Context(), tool, fsys); err != nil {
			b.Fatal(err)
		}
	}
}
