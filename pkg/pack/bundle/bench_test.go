package bundle_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// bigPack is a pack of n skills: a SKILL.md of 4 KB, three references of 8 KB, and a script each.
func bigPack(n int) []bundle.Tree {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(size int) []byte {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "word%d ", random.IntN(5000))
		}
		return []byte(b.String()[:size])
	}
	trees := make([]bundle.Tree, n)
	for i := range trees {
		trees[i] = bundle.MapTree(fmt.Sprintf("skill-%04d", i), map[string][]byte{
			"SKILL.md": text(4 << 10), "references/first.md": text(8 << 10), "references/second.md": text(8 << 10),
			"references/third.md": text(8 << 10), "scripts/run.sh": []byte("#!/bin/sh\n"),
		}, nil)
	}
	return trees
}

func BenchmarkWriteArchive100(b *testing.B) {
	trees := bigPack(100)
	for b.Loop() {
		if _, err := bundle.WriteArchive(io.Discard, trees); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpack100(b *testing.B) {
	data, _ := archive(b, bigPack(100))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := bundle.Unpack(io.MultiReader(bytes.NewReader(data)), bundle.UnpackOptions{}, bundle.NewHasher(bundle.Limits{})); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSum100(b *testing.B) {
	dir := b.TempDir()
	trees := bigPack(100)
	for _, tree := range trees {
		for _, e := range tree.Inventory {
			path := filepath.Join(dir, tree.Name, filepath.FromSlash(e.Path))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, make([]byte, e.Size), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	fsys := os.DirFS(dir)
	for b.Loop() {
		for _, tree := range trees {
			if _, err := bundle.Sum(fsys, tree.Name); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCheckPath(b *testing.B) {
	for b.Loop() {
		if err := bundle.CheckPath("references/deployment-guide/step-one.md"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseInventory(b *testing.B) {
	data := bigPack(1)[0].Inventory.Encode()
	for b.Loop() {
		if _, err := bundle.ParseInventory(data); err != nil {
			b.Fatal(err)
		}
	}
}
