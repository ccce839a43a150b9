package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// BenchmarkLoad measures a process that loads one of 1,000 skills: it opens everything again, with an existing index.
func BenchmarkLoad(b *testing.B) {
	home := b.TempDir()
	for i := range 1000 {
		path := filepath.Join(home, ".skillpm", "skills", fmt.Sprintf("skill-%04d", i), "SKILL.md")
		body := text(fmt.Sprintf("skill-%04d", i), "tags: [a, b]\n") + strings.Repeat("Text of the body. ", 100)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(body), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	paths, err := scope.New(scope.Env{Home: home, Dir: home, OS: "linux"})
	if err != nil {
		b.Fatal(err)
	}
	later := time.Now().Add(time.Hour) // so that the index is relied on
	for b.Loop() {
		h, err := runtime.New(b.Context(), runtime.Options{
			Environment: environ.Environment{Paths: paths, Dir: home, Now: func() time.Time { return later }},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.Load(b.Context(), "skill-0500", session.Activate{Arguments: "it"}); err != nil {
			b.Fatal(err)
		}
	}
}
