package txn_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// BenchmarkWarm1000 installs a pack of 1,000 skills with five files each, and links, from a full store into an empty
// project. It alternates with cp -r of the same tree and reports the ratio. Both write 28 MB in memory.
func BenchmarkWarm1000(b *testing.B) {
	base, err := os.MkdirTemp("/dev/shm", "skillpm-bench-")
	if err != nil {
		b.Skip("a file system in memory is needed")
	}
	defer os.RemoveAll(base)
	s, digests := fullStore(b, filepath.Join(base, "store"))
	tree := filepath.Join(base, "tree")
	if err := installFrom(s, digests, tree); err != nil {
		b.Fatal(err)
	}
	var copying, installing time.Duration
	for b.Loop() {
		copied, installed := filepath.Join(base, "copied"), filepath.Join(base, "installed")
		start := time.Now()
		if out, err := exec.Command("cp", "-r", tree, copied).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		copying += time.Since(start)
		start = time.Now()
		if err := installFrom(s, digests, installed); err != nil {
			b.Fatal(err)
		}
		installing += time.Since(start)
		if err := os.RemoveAll(copied); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(installed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(copying.Milliseconds())/float64(b.N), "ms/cp")
	b.ReportMetric(float64(installing.Milliseconds())/float64(b.N), "ms/install")
	b.ReportMetric(float64(installing)/float64(copying), "ratio")
}

// fullStore returns a store with 1,000 skills, and their digests.
func fullStore(b *testing.B, dir string) (*store.Store, []string) {
	b.Helper()
	s, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	w, err := s.Writer(bundle.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for i := range 1000 {
		for name, size := range map[string]int{"SKILL.md": 4 << 10, "references/a.md": 8 << 10, "references/b.md": 8 << 10, "references/c.md": 8 << 10, "scripts/run.sh": 40} {
			data := bytes.Repeat([]byte(fmt.Sprint(i, name, " ")), size/10)
			if err := w.WriteFile(fmt.Sprint(i), name, name == "scripts/run.sh", int64(len(data)), bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	}
	got, err := w.Commit(nil)
	if err != nil {
		b.Fatal(err)
	}
	var digests []string
	for i := range 1000 {
		digests = append(digests, got[fmt.Sprint(i)])
	}
	return s, digests
}

func installFrom(s *store.Store, digests []string, root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	tx, err := txn.Begin(options(root, nil))
	if err != nil {
		return err
	}
	defer tx.Abort()
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, digest := range digests {
		name := fmt.Sprintf("skill-%04d", i)
		dir, err := tx.StageDir(".skillpm/plugins/acme/big/" + name)
		if err != nil {
			return err
		}
		group.Go(func() error { return s.Materialize(ctx, digest, dir) })
		if err := tx.StageLink(".agents/skills/"+name, "../../.skillpm/plugins/acme/big/"+name); err != nil {
			return err
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := tx.StageFile("skillpm.lock", []byte("version: 1\n"), 0o644); err != nil {
		return err
	}
	return tx.Commit()
}
