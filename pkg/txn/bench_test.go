package txn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/txn"
)

// BenchmarkCommit1000 is the transaction of a pack of 1,000 skills that two agents' directories link to: what is left of
// an installation when the pack is staged.
func BenchmarkCommit1000(b *testing.B) {
	base, err := os.MkdirTemp("/dev/shm", "skillpm-bench-") // in memory, so that the disk's moods are not measured
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
