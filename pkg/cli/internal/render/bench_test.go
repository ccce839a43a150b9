package render

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// BenchmarkRender writes a report on a thousand skills with three findings each.
func BenchmarkRender(b *testing.B) {
	fsys := fstest.MapFS{}
	for i := range 1000 {
		fsys[fmt.Sprintf("skills/s%04d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"---\nname: s%04d\ndescription: Does the thing number %d. Use when it is to be done.\nargument-hint: x\n---\n\n%s[a](no.md) and `scripts/no.sh`\n",
			i, i, strings.Repeat("word ", 40))}
	}
	profiles, err := profile.Agents()
	if err != nil {
		b.Fatal(err)
	}
	r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{Edits: true, Profiles: profiles[:2]})
	if err != nil || len(r.Findings) < 3000 {
		b.Fatalf("%d findings, %v", len(r.Findings), err)
	}
	o := Outcome{Report: r, Version: "1.2.3", Dir: b.TempDir()}
	for _, f := range formats() {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				if err := f.render(&console.App{Environment: environ.Environment{Getenv: func(string) string { return "" }}}, io.Discard, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
