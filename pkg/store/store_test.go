package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// deploy has a file of every kind: small, empty, deep, executable, and too large for a buffer.
func deploy() bundle.Tree {
	return bundle.MapTree("deploy", map[string][]byte{
		"SKILL.md":          []byte("---\nname: deploy\ndescription: Deploy.\n---\n"),
		"empty":             {},
		"references/a/b.md": []byte("deep\n"),
		"references/c.md":   []byte("less deep\n"),
		"scripts/run.sh":    []byte("#!/bin/sh\n"),
		"assets/large.bin":  bytes.Repeat([]byte("0123456789abcdef"), 40<<10),
	}, func(p string) bool { return strings.HasSuffix(p, ".sh") })
}

func open(t testing.TB) (*store.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache", "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// put writes trees and returns their digests.
func put(t testing.TB, s *store.Store, trees ...bundle.Tree) map[string]string {
	t.Helper()
	w := writer(t, s, bundle.Limits{})
	for _, tree := range trees {
		send(t, w, tree)
	}
	digests, err := w.Commit(nil)
	if err != nil {
		t.Fatal(err)
	}
	return digests
}

func writer(t testing.TB, s *store.Store, limits bundle.Limits) *store.Writer {
	t.Helper()
	w, err := s.Writer(limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func send(t testing.TB, w *store.Writer, tree bundle.Tree) {
	t.Helper()
	for _, e := range tree.Inventory {
		r, err := tree.Open(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFile(tree.Name, e.Path, e.Executable, e.Size, r); err != nil {
			t.Fatal(err)
		}
	}
}

// entries returns the content of a store: names below t1 and tmp.
func entries(t testing.TB, dir string) (trees, rubbish []string) {
	t.Helper()
	trees, _ = filepath.Glob(filepath.Join(dir, "t1", "*", "*"))
	rubbish, _ = filepath.Glob(filepath.Join(dir, "tmp", "*"))
	return trees, rubbish
}

func TestRoundTrip(t *testing.T) { // M2
	s, dir := open(t)
	tree := deploy()
	want := tree.Inventory.Digest()
	if s.Has(want) {
		t.Error("an empty store has it")
	}
	if got := put(t, s, tree)["deploy"]; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if !s.Has(want) {
		t.Error("the store does not have it")
	}
	if trees, rubbish := entries(t, dir); len(trees) != 1 || len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
	if err := s.Verify(want); err != nil {
		t.Error(err)
	}
	inv, err := s.Inventory(want)
	if err != nil || inv.Digest() != want {
		t.Errorf("inventory %s, %v", inv.Digest(), err)
	}
	data, err := s.ReadFile(want, "references/a/b.md")
	if err != nil || string(data) != "deep\n" {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := s.ReadFile(want, "../inventory"); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("reading what is not in the inventory: %v", err)
	}
	again, err := s.Tree("deploy", want)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.WriteArchive(io.Discard, []bundle.Tree{again}); err != nil {
		t.Error(err)
	}
}

func TestMaterialize(t *testing.T) { // M2
	s, _ := open(t)
	digest := put(t, s, deploy())["deploy"]
	dst := filepath.Join(t.TempDir(), "deploy")
	if err := s.Materialize(context.Background(), digest, dst); err != nil {
		t.Fatal(err)
	}
	got, err := bundle.Sum(os.DirFS(dst), ".")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		got = got.WithModes(deploy().Inventory)
	}
	if err := deploy().Inventory.Check(got); err != nil {
		t.Error(err)
	}
	if err := s.Materialize(context.Background(), digest, dst); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("over an existing directory: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dst, "SKILL.md")); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	other := filepath.Join(t.TempDir(), "other")
	if err := s.Materialize(ctx, digest, other); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Lstat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a cancelled copy was left")
	}
	unknown := bundle.Inventory{}.Digest()
	if err := s.Materialize(context.Background(), unknown, other); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("unknown digest: %v", err)
	}
}

// TestRefused checks that nothing is added of a tree with another digest.
func TestRefused(t *testing.T) { // M2
	good := deploy().Inventory.Digest()
	other := bundle.Inventory{}.Digest()
	tests := []struct {
		name string
		want map[string]string
		code diag.Code
	}{
		{"as promised", map[string]string{"deploy": good}, diag.OK},
		{"other digest", map[string]string{"deploy": other}, diag.Integrity},
		{"a skill did not come", map[string]string{"deploy": good, "rollback": other}, diag.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			w := writer(t, s, bundle.Limits{})
			send(t, w, deploy())
			_, err := w.Commit(tt.want)
			if diag.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %v", err, tt.code)
			}
			var mismatch *bundle.MismatchError
			if tt.code == diag.Integrity && (!errors.As(err, &mismatch) || mismatch.Got != good || mismatch.Want != other) {
				t.Errorf("got %#v", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			trees, rubbish := entries(t, dir)
			if kept := len(trees) > 0; kept != (tt.code == diag.OK) || len(rubbish) > 0 {
				t.Errorf("the store has %q and left %q", trees, rubbish)
			}
		})
	}
}

func TestBadFiles(t *testing.T) { // M2
	boom := errors.New("boom")
	text := func(s string) io.Reader { return strings.NewReader(s) }
	tests := []struct {
		name string
		path string
		size int64
		r    io.Reader
		code diag.Code
	}{
		{"good", "a.md", 3, text("abc"), diag.OK},
		{"good, size unknown", "a.md", -1, text("abc"), diag.OK},
		{"good, large and size unknown", "a.md", -1, text(strings.Repeat("x", 300<<10)), diag.OK},
		{"good, byte by byte", "a.md", 3, iotest.OneByteReader(text("abc")), diag.OK},
		{"good, end with the data", "a.md", 3, iotest.DataErrReader(text("abc")), diag.OK},
		{"parent", "../a.md", 3, text("abc"), diag.Invalid},
		{"absolute", "/a.md", 3, text("abc"), diag.Invalid},
		{"backslash", `a\b.md`, 3, text("abc"), diag.Invalid},
		{"device", "aux.txt", 3, text("abc"), diag.Invalid},
		{"twice", "SKILL.md", 3, text("abc"), diag.Invalid},
		{"other case", "skill.md", 3, text("abc"), diag.Invalid},
		{"file as directory", "SKILL.md/x", 3, text("abc"), diag.Invalid},
		{"shorter than announced", "a.md", 4, text("abc"), diag.Invalid},
		{"longer than announced", "a.md", 2, text("abc"), diag.Invalid},
		{"large and shorter", "a.md", 200 << 10, text("abc"), diag.Invalid},
		{"large and longer", "a.md", 200 << 10, text(strings.Repeat("x", 200<<10+1)), diag.Invalid},
		{"over the file limit", "a.md", 500<<10 + 1, text("abc"), diag.Invalid},
		{"over the file limit, size unknown", "a.md", -1, text(strings.Repeat("x", 500<<10+1)), diag.Invalid},
		{"over the total limit, size unknown", "a.md", -1, text(strings.Repeat("x", 450<<10)), diag.Invalid},
		{"breaks", "a.md", 3, iotest.ErrReader(boom), diag.Internal},
		{"breaks, large", "a.md", 200 << 10, iotest.ErrReader(boom), diag.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			w := writer(t, s, bundle.Limits{FileBytes: 500 << 10, TotalBytes: 800 << 10})
			if err := w.WriteFile("x", "SKILL.md", false, 1, text("x")); err != nil {
				t.Fatal(err)
			}
			if err := w.WriteFile("x", "more", false, 400<<10, text(strings.Repeat("y", 400<<10))); err != nil {
				t.Fatal(err)
			}
			err := w.WriteFile("x", tt.path, false, tt.size, tt.r)
			if diag.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want %v", err, tt.code)
			}
			if err == nil {
				return
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if trees, rubbish := entries(t, dir); len(trees)+len(rubbish) > 0 {
				t.Errorf("the store has %q and left %q", trees, rubbish)
			}
		})
	}
}

// TestDamage checks that damage is detected at use, that the tree is removed, and that it can be added again.
func TestDamage(t *testing.T) { // M2
	edit := func(change func(b []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		file   string
		damage func(*testing.T, string)
	}{
		{"flipped bit", "tree/SKILL.md", edit(func(b []byte) []byte { b[3] ^= 1; return b })},
		{"flipped bit in a large file", "tree/assets/large.bin", edit(func(b []byte) []byte { b[300<<10] ^= 1; return b })},
		{"cut", "tree/references/c.md", edit(func(b []byte) []byte { return b[:2] })},
		{"emptied", "tree/references/c.md", edit(func([]byte) []byte { return nil })},
		{"longer", "tree/references/c.md", edit(func(b []byte) []byte { return append(b, 'x') })},
		{"gone", "tree/scripts/run.sh", func(t *testing.T, p string) { remove(t, p) }},
		{"directory gone", "tree/references", func(t *testing.T, p string) { remove(t, p) }},
		{"tree gone", "tree", func(t *testing.T, p string) { remove(t, p) }},
		{"inventory", "inventory", edit(func(b []byte) []byte { return bytes.Replace(b, []byte("644"), []byte("755"), 1) })},
		{"empty inventory", "inventory", edit(func([]byte) []byte { return nil })},
		{"link to the outside", "tree/references/c.md", func(t *testing.T, p string) {
			remove(t, p)
			outside := filepath.Join(t.TempDir(), "c.md")
			if err := errors.Join(os.WriteFile(outside, []byte("less deep\n"), 0o644), os.Symlink(outside, p)); err != nil {
				t.Skipf("symbolic links are needed: %v", err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			digest := put(t, s, deploy())["deploy"]
			trees, _ := entries(t, dir)
			tt.damage(t, filepath.Join(trees[0], filepath.FromSlash(tt.file)))
			if err := s.Verify(digest); err == nil {
				t.Error("verified")
			}
			dst := filepath.Join(t.TempDir(), "deploy")
			err := s.Materialize(context.Background(), digest, dst)
			if diag.CodeOf(err) != diag.Integrity {
				t.Errorf("got %v, want an integrity error", err)
			}
			if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a damaged copy was left")
			}
			if s.Has(digest) {
				t.Error("the damaged tree was left in the store")
			}
			put(t, s, deploy())
			if err := s.Materialize(context.Background(), digest, dst); err != nil {
				t.Errorf("after fetching again: %v", err)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// TestConcurrentWriters has many writers of the same and of other trees, and readers, at once.
func TestConcurrentWriters(t *testing.T) { // M2
	s, dir := open(t)
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			same := deploy()
			other := bundle.MapTree("other", map[string][]byte{"SKILL.md": {byte(i % 3)}}, nil)
			digests := put(t, s, same, other)
			dst := filepath.Join(t.TempDir(), "copy")
			if err := s.Materialize(context.Background(), digests["deploy"], dst); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if trees, rubbish := entries(t, dir); len(trees) != 4 || len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
}

// TestInterleaved writes files of several skills in turn, from several goroutines.
func TestInterleaved(t *testing.T) {
	s, _ := open(t)
	w := writer(t, s, bundle.Limits{})
	names := []string{"a", "b", "c", "d", "e"}
	var running sync.WaitGroup
	for _, name := range []string{"one.md", "x/two.md", "SKILL.md", "x/y/three.md"} {
		running.Go(func() {
			for _, skill := range names {
				if err := w.WriteFile(skill, name, false, -1, strings.NewReader(skill+name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	digests, err := w.Commit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, skill := range names {
		if err := s.Verify(digests[skill]); err != nil {
			t.Error(err)
		}
		inv, err := s.Inventory(digests[skill])
		if err != nil || len(inv) != 4 {
			t.Errorf("%s: %v, %v", skill, inv, err)
		}
	}
}

// TestLeftovers checks that files of a dead writer are removed and those of a live one stay.
func TestLeftovers(t *testing.T) {
	s, dir := open(t)
	dead := filepath.Join(dir, "tmp", "w-dead")
	if err := os.MkdirAll(filepath.Join(dead, "0", "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dead+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	living := writer(t, s, bundle.Limits{})
	send(t, living, deploy())
	if _, err := os.Lstat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a dead writer's files are still there")
	}
	put(t, s, deploy())
	if _, err := living.Commit(nil); err != nil {
		t.Errorf("a living writer was disturbed: %v", err)
	}
	if err := living.WriteFile("x", "SKILL.md", false, 0, strings.NewReader("")); err == nil {
		t.Error("a writer took a file after its end")
	}
}

// TestReadOnly checks that reading writes nothing.
func TestReadOnly(t *testing.T) {
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	chmod := func(mode fs.FileMode) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(path, mode)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Stat(dir)
	chmod(0o555)
	defer chmod(0o755)
	dst := filepath.Join(t.TempDir(), "deploy")
	if err := s.Materialize(context.Background(), digest, dst); err != nil {
		t.Error(err)
	}
	if err := s.Verify(digest); err != nil {
		t.Error(err)
	}
	if after, _ := os.Stat(dir); !after.ModTime().Equal(before.ModTime()) {
		t.Error("the store was written to")
	}
}

func TestBadDigest(t *testing.T) {
	s, _ := open(t)
	for _, digest := range []string{"", "sha256:abc", "t1:sha256:../../../etc", "t1:sha256:" + strings.Repeat("A", 64)} {
		if s.Has(digest) {
			t.Errorf("has %q", digest)
		}
		if _, err := s.Inventory(digest); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%q: %v", digest, err)
		}
	}
}
