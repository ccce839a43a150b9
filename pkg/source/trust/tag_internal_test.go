package trust

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzParseTag checks for any tag object that an accepted one names its target and its own name, each exactly once.
func FuzzParseTag(f *testing.F) {
	f.Add([]byte("object " + strings.Repeat("a", 40) + "\ntype commit\ntag v1.0.0\ntagger A <a@example.com> 1700000000 +0000\n\nnotes\n"))
	f.Add([]byte("object x\nobject y\ntype commit\ntag v1\n\n"))
	f.Add([]byte("object x\ntype commit\ntag v1\ntagger > 9999999999999999999 +0000\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseTag(data)
		if err != nil {
			return
		}
		head, _, _ := strings.Cut(string(data), "\n\n")
		for _, line := range []string{"object " + got.object, "type " + got.kind, "tag " + got.name} {
			if strings.Count("\n"+head+"\n", "\n"+line+"\n") != 1 {
				t.Errorf("%q is not once in %q", line, head)
			}
		}
	})
}

// TestPrune checks that the cache stays bounded: the oldest entries of each directory are removed.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range maxPerShard + 10 {
		file := filepath.Join(dir, strconv.Itoa(i)+".json")
		if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		at := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != maxPerShard {
		t.Errorf("%d entries are left, %v", len(left), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "9.json")); err == nil {
		t.Error("an old entry is left")
	}
	if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(maxPerShard+9)+".json")); err != nil {
		t.Error("the newest entry is gone")
	}
}
