package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// bigPack returns the archive of a pack of n skills: SKILL.md of 4 KB, three references of 8 KB and a script each.
func bigPack(b testing.TB, n int) []byte {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(size int) []byte {
		var t strings.Builder
		for t.Len() < size {
			fmt.Fprintf(&t, "word%d ", random.IntN(5000))
		}
		return []byte(t.String()[:size])
	}
	var trees []bundle.Tree
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		trees = append(trees, bundle.MapTree(name, map[string][]byte{
			"SKILL.md":             append([]byte("---\nname: "+name+"\ndescription: x\n---\n"), text(4<<10)...),
			"references/first.md":  text(8 << 10),
			"references/second.md": text(8 << 10),
			"references/third.md":  text(8 << 10),
			"scripts/run.sh":       []byte("#!/bin/sh\necho " + name + "\n"),
		}, func(p string) bool { return strings.HasSuffix(p, ".sh") }))
	}
	var out bytes.Buffer
	if _, err := bundle.WriteArchive(&out, trees); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// memoryDir returns a directory in memory if the system has one, for stable results.
func memoryDir(b *testing.B) string {
	b.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "skillpm-bench-"); err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return b.TempDir()
}

func fill(b testing.TB, dir string, data []byte) (*store.Store, map[string]string) {
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
	// Hides all methods but Read, like a network connection.
	if err := bundle.Unpack(io.MultiReader(bytes.NewReader(data)), bundle.UnpackOptions{}, w); err != nil {
		b.Fatal(err)
	}
	digests, err := w.Commit(nil)
	if err != nil {
		b.Fatal(err)
	}
	return s, digests
}

func BenchmarkFill1000(b *testing.B) {
	data := bigPack(b, 1000)
	dir := memoryDir(b)
	for i := 0; b.Loop(); i++ {
		fill(b, filepath.Join(dir, fmt.Sprint(i)), data)
		b.StopTimer()
		os.RemoveAll(filepath.Join(dir, fmt.Sprint(i)))
		b.StartTimer()
	}
}

func BenchmarkMaterialize1000(b *testing.B) {
	dir := memoryDir(b)
	s, digests := fill(b, filepath.Join(dir, "store"), bigPack(b, 1000))
	for i := 0; b.Loop(); i++ {
		out := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(out, 0o755); err != nil {
			b.Fatal(err)
		}
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(runtime.GOMAXPROCS(0))
		for name, digest := range digests {
			g.Go(func() error { return s.Materialize(ctx, digest, filepath.Join(out, name)) })
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(out)
		b.StartTimer()
	}
}

func BenchmarkUnpackOnly1000(b *testing.B) {
	data := bigPack(b, 1000)
	for b.Loop() {
		if err := bundle.Unpack(io.MultiReader(bytes.NewReader(data)), bundle.UnpackOptions{}, bundle.NewHasher(bundle.Limits{})); err != nil {
			b.Fatal(err)
		}
	}
}
