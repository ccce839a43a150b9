package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/lint"
)

// writeSkills writes n skills of about 4 KB of SKILL.md with two references and a script each.
func writeSkills(tb testing.TB, dir string, n int) {
	tb.Helper()
	paragraph := strings.Repeat("Check the [reference](references/one.md#usage) before you run `scripts/run.sh`, and *read* what it says. ", 3)
	for i := range n {
		root := filepath.Join(dir, fmt.Sprintf("skill-%04d", i))
		body := strings.Repeat("## Step\n\n"+paragraph+"\n\n```bash\n./scripts/run.sh --dry-run | tee out.log\n```\n\n- one\n- two with `code`\n\n", 8)
		files := map[string]string{
			"SKILL.md": fmt.Sprintf("---\nname: skill-%04d\ndescription: Does number %d. Use it when somebody asks for number %d.\nlicense: Apache-2.0\n"+
				"metadata:\n  author: somebody\n  version: \"1.0\"\n---\n# Skill\n\nSee [two](references/two.md).\n\n%s", i, i, i, body),
			"references/one.md": "# One\n\n## Usage\n\n" + strings.Repeat("Some words. ", 40) + "\n",
			"references/two.md": "# Two\n\n[back](../SKILL.md)\n",
			"scripts/run.sh":    "#!/usr/bin/env bash\necho ok\n",
		}
		for name, text := range files {
			full := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				tb.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// BenchmarkRun reports the number of skills that are checked per second, from disk.
func BenchmarkRun(b *testing.B) {
	const n = 1000
	dir := b.TempDir()
	writeSkills(b, dir, n)
	fsys := os.DirFS(dir)
	b.ReportAllocs()
	for b.Loop() {
		r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{})
		if err != nil || len(r.Skills) != n || len(r.Findings) != 0 {
			b.Fatalf("%d skills, %v, %v", len(r.Skills), r.Findings, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "skills/s")
}

// BenchmarkCorpus checks all skills below the directory that SKILLPM_CORPUS names.
func BenchmarkCorpus(b *testing.B) {
	dir := os.Getenv("SKILLPM_CORPUS")
	if dir == "" {
		b.Skip("SKILLPM_CORPUS names no directory")
	}
	b.ReportAllocs()
	skills := 0
	for b.Loop() {
		r, err := lint.Run(context.Background(), os.DirFS(dir), []string{"."}, lint.Options{})
		if err != nil {
			b.Fatal(err)
		}
		skills += len(r.Skills)
	}
	b.ReportMetric(float64(skills)/b.Elapsed().Seconds(), "skills/s")
}
