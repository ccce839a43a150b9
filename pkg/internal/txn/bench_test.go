package txn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// BenchmarkCommit1000 commits a staged pack of 1,000 skills with links from two agents' directories.
func BenchmarkCommit1000(b *testing.B) {
	base, err := os.MkdirTemp("/dev/shm", "skillpm-bench-") // in memory, for stable results
	if err != nil {
		base = b.TempDir()
	}
	defer os.RemoveAll(base)
	for i := 0; b.Loop(); i++ {
		root := filepath.Join(base, fmt.Sprint(i))
		if err := os.Mkdir(root, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := commit1000(root); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(root)
		b.StartTimer()
	}
}

// BenchmarkUpdate1000 is the same with an older version of the pack in place, which has four files in each skill.
func BenchmarkUpdate1000(b *testing.B) {
	base, err := os.MkdirTemp("/dev/shm", "skillpm-bench-")
	if err != nil {
		base = b.TempDir()
	}
	defer os.RemoveAll(base)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		root := filepath.Join(base, fmt.Sprint(i))
		for n := range 4000 {
			dir := filepath.Join(root, ".skillpm/plugins/acme/big", fmt.Sprintf("skill-%04d", n/4))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n%4)), []byte("old"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := commit1000(root); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(root)
		b.StartTimer()
	}
}

func commit1000(root string) error {
	tx, err := txn.Begin(options(root, nil))
	if err != nil {
		return err
	}
	for i := range 1000 {
		name := fmt.Sprintf("skill-%04d", i)
		dir, err := tx.StageDir(".skillpm/plugins/acme/big/" + name)
		if err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for _, agent := range []string{".claude", ".agents"} {
			if err := tx.StageLink(agent+"/skills/"+name, "../../.skillpm/plugins/acme/big/"+name); err != nil {
				return err
			}
		}
	}
	if err := tx.StageFile("skillpm.lock", []byte("version: 1\n"), 0o644); err != nil {
		return err
	}
	return tx.Commit()
}
