package resolve_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

var update = flag.Bool("update", false, "write the explanations of the conflicts in testdata")

// TestExplanations compares the explanation for each registry in testdata/conflict with the expected one below it.
func TestExplanations(t *testing.T) {
	files, err := filepath.Glob("testdata/conflict/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d registries, %v", len(files), err)
	}
	const mark = "\n--\n"
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			registry, want, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), mark)
			_, err = parseRegistry(t, registry).resolve(t.Context())
			var conflict *resolve.ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("%v, want a conflict", err)
			}
			got := fmt.Sprintf("error: %s\nhint: %s\ncode: %s\n", conflict, conflict.Hint(), conflict.Code())
			if *update {
				if err := os.WriteFile(file, []byte(registry+mark+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
