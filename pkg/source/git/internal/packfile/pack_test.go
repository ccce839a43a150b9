package packfile

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
)

// makePack returns a pack of a repository with similar files, for which git creates chains of deltas, and git's list of
// its objects. Each file has lines lines.
func makePack(tb testing.TB, lines int, options ...string) (pack []byte, index []string, r *gittest.Repo) {
	tb.Helper()
	r = gittest.New(tb, tb.TempDir(), "r.git")
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]string, lines)
	for i := range text {
		text[i] = fmt.Sprintf("line %08d\n", random.IntN(100_000_000))
	}
	files := gittest.Text(map[string]string{"empty": "", "SKILL.md": gittest.Skill("x", "X.")})
	for i := range 30 {
		text[3*i] = fmt.Sprintf("changed %05d\n", i)
		files[fmt.Sprintf("dir%d/file", i)] = gittest.File{Data: strings.Join(text, "")}
	}
	id := r.Commit(files)
	r.AnnotatedTag("v1.0.0", id)
	return packOf(tb, r, options...)
}

// packOf returns a pack of all objects of v1.0.0.
func packOf(tb testing.TB, r *gittest.Repo, options ...string) (pack []byte, index []string, _ *gittest.Repo) {
	tb.Helper()
	objects := r.Run("rev-list", "--objects", "--no-object-names", "v1.0.0")
	data := r.Pipe([]byte(objects+"\n"), append([]string{"pack-objects", "--stdout", "--window=5"}, options...)...)
	if !strings.HasPrefix(data, "PACK") {
		tb.Fatalf("not a pack: %.20q", data)
	}
	return []byte(data), showIndex(tb, r, []byte(data)), r
}

// showIndex returns git's own index of a pack: offset and id of each object.
func showIndex(tb testing.TB, r *gittest.Repo, pack []byte) []string {
	tb.Helper()
	id := strings.TrimPrefix(r.Pipe(pack, "index-pack", "--stdin", "--fix-thin"), "pack\t")
	data, err := os.ReadFile(r.Dir + "/objects/pack/pack-" + id + ".idx")
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(r.Pipe(data, "show-index"), "\n") {
		line, _, _ = strings.Cut(line, " (")
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// receivePack writes a pack to a directory of its own.
func receivePack(tb testing.TB, data []byte, l Limits) (*Pack, error) {
	tb.Helper()
	p, err := Write(bytes.NewReader(data), tb.TempDir(), l)
	if err == nil {
		tb.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

// checkPack compares a pack with git's view of it: offsets, ids, and contents.
func checkPack(t *testing.T, p *Pack, want []string, r *gittest.Repo) {
	t.Helper()
	var got, ids []string
	for _, e := range p.entries {
		ids = append(ids, e.id.String())
	}
	kinds := strings.Split(r.Pipe([]byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype)"), "\n")
	for i, e := range p.entries {
		got = append(got, fmt.Sprintf("%d %s", e.offset, e.id))
		reader, err := p.stream(int32(i))
		if err != nil && e.size >= LargeObject {
			t.Fatal(err)
		}
		var data []byte
		if e.size >= LargeObject {
			data, err = io.ReadAll(reader)
			_ = reader.Close()
		} else {
			data, err = p.content(int32(i))
		}
		if err != nil || plumbing.ComputeHash(e.kind, data) != e.id || kinds[i] != e.kind.String() {
			t.Errorf("the content of %s %s is wrong: %v", e.kind, e.id, err)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d objects, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
}

// TestPack checks that a pack has the objects that git finds in it, with both kinds of deltas, when it is received and
// when it is opened again.
func TestPack(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{{"--delta-base-offset"}, {}, {"--depth=1"}, {"--depth=0"}} {
		data, want, r := makePack(t, 100, options...)
		p, err := receivePack(t, data, DefaultLimits())
		if err != nil {
			t.Fatalf("%v: %v", options, err)
		}
		checkPack(t, p, want, r)
		dir := t.TempDir()
		if err := p.MoveTo(dir); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSet(dir, DefaultLimits())
		if err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
		checkPack(t, s[0], want, r)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPackOfLargeObjects checks that large objects are never in memory as a whole. Large deltas, and small deltas on
// large objects, become files.
func TestPackOfLargeObjects(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, t.TempDir(), "r.git")
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 3*LargeObject/2 {
		fmt.Fprintf(&text, "line %08d\n", random.IntN(100_000_000))
	}
	large := text.String()
	files := gittest.Text(map[string]string{
		"a": large, "b": large + "one more\n", "c": "first\n" + large, "d": large[:LargeObject/2], "e": large[:LargeObject/2] + "x",
	})
	r.AnnotatedTag("v1.0.0", r.Commit(files))
	for _, options := range [][]string{{"--delta-base-offset"}, {}} {
		data, want, _ := packOf(t, r, options...)
		p, err := receivePack(t, data, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		checkPack(t, p, want, r)
		deltas := 0
		for _, e := range p.entries {
			if e.base != notDelta {
				deltas++
			}
		}
		if deltas < 3 {
			t.Errorf("git made %d deltas; the test needs some", deltas)
		}
		dir := t.TempDir()
		if err := p.MoveTo(dir); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSet(dir, DefaultLimits())
		if err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
		checkPack(t, s[0], want, r)
		_ = s.Close()
		l := DefaultLimits()
		l.Files = LargeObject
		if _, err := receivePack(t, data, l); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("more large files than allowed: %v", err)
		}
	}
}

// TestPackWithLittleMemory checks that chains of deltas that exceed the memory limit are resolved.
func TestPackWithLittleMemory(t *testing.T) {
	t.Parallel()
	data, want, r := makePack(t, 2000, "--delta-base-offset")
	l := DefaultLimits()
	l.Chain = 30_000
	p, err := indexPack(bytes.NewReader(data), &memFile{}, t.TempDir(), "x", l)
	if err != nil {
		t.Fatal(err)
	}
	p.cache = nil
	checkPack(t, p, want, r)
}

// TestPackLimits checks that too large objects are rejected before they are inflated. A truncated pack is an error.
func TestPackLimits(t *testing.T) {
	t.Parallel()
	data, _, _ := makePack(t, 100, "--delta-base-offset")
	for name, change := range map[string]func(*Limits){
		"objects": func(l *Limits) { l.Objects = 10 },
		"object":  func(l *Limits) { l.Object = 1000 },
		"total":   func(l *Limits) { l.Total = 10_000 },
	} {
		l := DefaultLimits()
		change(&l)
		if _, err := receivePack(t, data, l); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: error %v, want that it is too large", name, err)
		}
	}
	for n := range data {
		if n%97 != 0 {
			continue
		}
		if _, err := receivePack(t, data[:n], DefaultLimits()); err == nil {
			t.Errorf("a pack cut off at %d of %d bytes has an index", n, len(data))
		}
	}
	if _, err := receivePack(t, append(data, 'x'), DefaultLimits()); err == nil {
		t.Error("a pack with something behind it has an index")
	}
}

// memFile is a file in memory.
type memFile struct{ bytes.Buffer }

func (m *memFile) ReadAt(p []byte, off int64) (int, error) { return bytesAt(m.Bytes()).ReadAt(p, off) }

// FuzzIndexPack checks that any bytes give an index or an error, within the limits.
func FuzzIndexPack(f *testing.F) {
	f.Add(smallPack(false))
	f.Add(smallPack(true))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\x30x\x9c\x03\x00\x00\x00\x00\x01"))
	small := Limits{Objects: 1000, Object: 1 << 16, Total: 1 << 20, Chain: 1 << 12, Files: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := indexPack(bytes.NewReader(signed(data)), &memFile{}, t.TempDir(), "x", small)
		if err != nil {
			return
		}
		for i, e := range p.entries {
			content, err := p.content(int32(i))
			if err != nil || plumbing.ComputeHash(e.kind, content) != e.id {
				t.Errorf("the content of %s is wrong: %v", e.id, err)
			}
		}
	})
}

// signed replaces the last bytes of a pack with its checksum.
func signed(data []byte) []byte {
	data = data[:max(0, len(data)-sha1.Size)]
	sum := sha1.Sum(data)
	return append(slices.Clip(data), sum[:]...)
}

// smallPack returns a pack of a blob and a chain of two deltas on it, which name their bases by offset or by id.
func smallPack(byID bool) []byte {
	b := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x03")
	content := []byte("a base of some bytes")
	start := len(b)
	b = appendPacked(b, 3, nil, content)
	for range 2 {
		// copy 10 bytes from offset 0, insert "xy", copy 8 bytes from offset 10
		delta := []byte{20, 20, 0x90, 10, 2, 'x', 'y', 0x91, 10, 8}
		id := plumbing.ComputeHash(plumbing.BlobObject, content)
		next := len(b)
		if byID {
			b = appendPacked(b, 7, id[:], delta)
		} else {
			b = appendPacked(b, 6, []byte{byte(next - start)}, delta)
		}
		content = slices.Concat(content[:10], []byte("xy"), content[10:18])
		start = next
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// appendPacked appends an object of at most 2047 bytes to a pack.
func appendPacked(b []byte, kind byte, base, content []byte) []byte {
	return appendDeflated(b, kind, base, content, zlib.NewWriter(nil))
}

// appendDeflated is appendPacked with a writer that can be reused for many objects, because creating one is slow.
func appendDeflated(b []byte, kind byte, base, content []byte, w *zlib.Writer) []byte {
	b = append(b, 0x80|kind<<4|byte(len(content)&0x0f), byte(len(content)>>4))
	z := bytes.NewBuffer(append(b, base...))
	w.Reset(z)
	_, _ = w.Write(content)
	_ = w.Close()
	return z.Bytes()
}

func TestSmallPack(t *testing.T) {
	for _, byID := range []bool{false, true} {
		p, err := receivePack(t, smallPack(byID), DefaultLimits())
		if err != nil {
			t.Fatalf("by id %v: %v", byID, err)
		}
		if _, ok := p.find(plumbing.ComputeHash(plumbing.BlobObject, []byte("a base of xyxysome b"))); !ok {
			t.Errorf("by id %v: the last object is not there", byID)
		}
	}
}

// TestCloseTwice checks that a second Close of an objectReader does not release an inflater that another one uses.
func TestCloseTwice(t *testing.T) {
	p, err := receivePack(t, smallPack(false), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	closed, err := p.inflate(&p.entries[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := closed.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("what is closed reads %d bytes, %v", n, err)
	}
	inUse := make(map[*inflater]bool)
	for range 4 {
		r, err := p.inflate(&p.entries[0])
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if inUse[r.inflater] {
			t.Error("two have the same inflater")
		}
		inUse[r.inflater] = true
	}
}

func BenchmarkIndexPack(b *testing.B) {
	data, _, _ := makePack(b, 1000, "--delta-base-offset")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := indexPack(bytes.NewReader(data), &memFile{}, b.TempDir(), "x", DefaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
}
