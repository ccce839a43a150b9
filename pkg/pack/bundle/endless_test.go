package bundle_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// endless is an archive without an end: it repeats pieces on demand.
type endless struct {
	next   func(n int) []byte
	n      int
	rest   []byte
	handed atomic.Int64 // what was read
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.next(e.n)
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.handed.Add(int64(n))
	return n, nil
}

// squeezed compresses an endless archive, and counts the output bytes.
func squeezed(r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		zip, err := gzip.NewWriterLevel(pw, gzip.BestSpeed)
		if err == nil {
			_, err = io.Copy(zip, r)
		}
		pw.CloseWithError(err)
	}()
	return pr
}

// weigh is a sink that reads everything and keeps nothing, and reports the largest heap in use.
type weigh struct {
	files int
	peak  uint64
}

func (w *weigh) WriteFile(_, _ string, _ bool, _ int64, r io.Reader) error {
	if w.files++; w.files%10_000 == 0 {
		w.look()
	}
	_, err := io.Copy(io.Discard, r)
	return err
}

func (w *weigh) look() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	w.peak = max(w.peak, stats.HeapInuse)
}

// TestUnpackEndless proves that an endless archive is rejected after a bounded number of bytes, and is not kept in
// memory: bombs, a million entries, and wrong headers.
func TestUnpackEndless(t *testing.T) { // M2
	block := func(build func(*tarball) *tarball) []byte { return build(newTar(t)).b.Bytes() }
	start := block(func(a *tarball) *tarball { return a.skill("ok") })
	then := func(next func(n int) []byte) func(int) []byte {
		return func(n int) []byte {
			if n == 0 {
				return start
			}
			return next(n)
		}
	}
	zeros := make([]byte, 64<<10)
	huge := block(func(a *tarball) *tarball {
		return a.raw("ok/huge", "", func(h []byte) { copy(h[124:136], "77777777777\x00") }) // 8 GB
	})
	comment := block(func(a *tarball) *tarball { return a.pax('x', "comment", strings.Repeat("x", 1000)) })
	global := block(func(a *tarball) *tarball { return a.pax('g', "comment", strings.Repeat("x", 1000)) })
	litter := block(func(a *tarball) *tarball { return a.file("ok/.DS_Store", "") })
	tests := []struct {
		name string
		next func(n int) []byte
		opts bundle.UnpackOptions
		want string
		most int64 // bytes of tar
	}{
		{"a million files", then(func(n int) []byte {
			return block(func(a *tarball) *tarball { return a.file(fmt.Sprintf("ok/%d/%d", n/100, n), "") })
		}), bundle.UnpackOptions{}, "exceeds the limit of 100000 files and directories", 60 << 20},
		{"a million skills", func(n int) []byte {
			return block(func(a *tarball) *tarball { return a.skill(fmt.Sprint("s", n)) })
		}, bundle.UnpackOptions{}, "exceeds the limit of 100000 entries", 110 << 20},
		{"litter", then(func(int) []byte { return litter }), bundle.UnpackOptions{}, "exceeds the limit of 100000 entries", 60 << 20},
		{"extended headers", then(func(int) []byte { return comment }), bundle.UnpackOptions{Limits: small()}, "the unpacked archive is larger than 1132496 bytes", 4 << 20},
		{"global headers", then(func(int) []byte { return global }), bundle.UnpackOptions{Limits: small()}, "the unpacked archive is larger than 1132496 bytes", 4 << 20},
		{"a file of 8 GB", then(func(n int) []byte {
			if n == 1 {
				return huge
			}
			return zeros
		}), bundle.UnpackOptions{}, `entry "ok/huge" has 8589934591 bytes; the limit is 134217728`, 1 << 20},
		{"files of 100 MB", then(func(n int) []byte {
			if n%1600 == 1 {
				return block(func(a *tarball) *tarball {
					return a.raw(fmt.Sprint("ok/", n), "", func(h []byte) { copy(h[124:136], fmt.Sprintf("%011o\x00", 1599*len(zeros))) })
				})
			}
			return zeros
		}), bundle.UnpackOptions{Limits: bundle.Limits{TotalBytes: 250 << 20}}, "makes the skill larger than 262144000 bytes", 252 << 20},
		{"padding", then(func(n int) []byte { return zeros }), bundle.UnpackOptions{}, "data follows the last entry of the archive", 2 << 20},
		{"held in memory to be read twice", then(func(n int) []byte {
			return block(func(a *tarball) *tarball { return a.file(fmt.Sprint("ok/", n), "") })
		}), bundle.UnpackOptions{Layout: bundle.Auto, Skill: "x"}, "the archive is larger than 67108864 bytes", 65 << 20},
	}
	for _, tt := range tests {
		for _, zip := range []bool{false, true} {
			if zip && tt.opts.Layout == bundle.Auto {
				continue // compressed, there is room for all of it
			}
			t.Run(fmt.Sprintf("%s, compressed %v", tt.name, zip), func(t *testing.T) {
				r := &endless{next: tt.next}
				in, ahead := io.Reader(r), int64(1<<20) // what the tar's readers and buffers may have taken in advance
				if zip {
					in = squeezed(r)
					defer in.(io.Closer).Close()
					ahead = 40 << 20 // a thousandth of it is there when it is compressed
				}
				sink := &weigh{}
				runtime.GC()
				sink.look()
				before := sink.peak
				err := bundle.Unpack(in, tt.opts, sink)
				sink.look()
				if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if r.handed.Load() > tt.most+ahead {
					t.Errorf("%d bytes were read", r.handed.Load())
				}
				if grown := int64(sink.peak) - int64(before); grown > 300<<20 { // 64 MB, twice while it grows, and what waits for the collector
					t.Errorf("%d MB were held", grown>>20)
				}
			})
		}
	}
}

func small() bundle.Limits {
	return bundle.Limits{Files: 20, FileBytes: 1000, TotalBytes: 2000, PathBytes: 60, Depth: 4}
}

// TestUnpackModes proves that only one bit of a file's mode in an archive has an effect.
func TestUnpackModes(t *testing.T) {
	tests := []struct {
		header tar.Header
		want   bool
	}{
		{tar.Header{Mode: 0o777}, true},
		{tar.Header{Mode: 0o755}, true},
		{tar.Header{Mode: 0o700}, true},
		{tar.Header{Mode: 0o100}, true},
		{tar.Header{Mode: 0o666}, false},
		{tar.Header{Mode: 0o011}, false},
		{tar.Header{Mode: 0}, false},
		{tar.Header{Mode: 0o644, Uid: 4294967295, Gid: 1 << 40, Uname: "root", Gname: "wheel", Format: tar.FormatPAX}, false},
		{tar.Header{Mode: 0o755, PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x", "SCHILY.acl.access": "y"}, Format: tar.FormatPAX}, true},
	}
	for _, tt := range tests {
		h := tt.header
		h.Typeflag, h.Name = tar.TypeReg, "ok/file"
		sink := bundle.NewHasher(bundle.Limits{})
		if err := bundle.Unpack(bytes.NewReader(newTar(t).skill("ok").add(h, "x").end()), bundle.UnpackOptions{}, sink); err != nil {
			t.Fatal(err)
		}
		if e, ok := sink.Inventories()["ok"].Find("file"); !ok || e.Executable != tt.want {
			t.Errorf("mode %o: executable is %v, want %v", h.Mode, e.Executable, tt.want)
		}
	}
}
