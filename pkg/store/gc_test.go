package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

const day = 24 * time.Hour

// noon is the time of the tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// small returns a tree that is different for each number.
func small(n int) bundle.Tree {
	return bundle.MapTree(fmt.Sprint("s", n), map[string][]byte{"SKILL.md": fmt.Append(nil, "skill ", n), "a/b.md": []byte("b")}, nil)
}

// inventoryOf returns the inventory file, whose modification time is the last use.
func inventoryOf(dir, digest string) string {
	hexed := digest[len("t1:sha256:"):]
	return filepath.Join(dir, "t1", hexed[:2], hexed[2:], "inventory")
}

func setUsed(t testing.TB, dir, digest string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(inventoryOf(dir, digest), at, at); err != nil {
		t.Fatal(err)
	}
}

func usedAt(t testing.TB, dir, digest string) time.Time {
	t.Helper()
	info, err := os.Stat(inventoryOf(dir, digest))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestUse checks that a use is recorded once a day, also after the clock was changed.
func TestUse(t *testing.T) {
	tests := []struct {
		name      string
		mark, now time.Time
		want      time.Time
	}{
		{"a minute ago", noon, noon.Add(time.Minute), noon},
		{"yesterday", noon, noon.Add(day), noon.Add(day)},
		{"mark of 1970", time.Unix(0, 0), noon, noon},
		{"mark of 2100", noon.AddDate(74, 0, 0), noon, noon},
		{"clock of 1970", noon, time.Unix(60, 0), time.Unix(60, 0)},
		{"clock a little backwards", noon, noon.Add(-time.Hour), noon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			digest := put(t, s, small(0))["s0"]
			s.Track(func() time.Time { return tt.now })
			for name, use := range map[string]func() error{
				"materialise": func() error { return s.Materialize(t.Context(), digest, filepath.Join(t.TempDir(), "x")) },
				"link": func() error {
					_, err := s.Copy(t.Context(), digest, filepath.Join(t.TempDir(), "x"), store.CopyOptions{Link: true})
					return err
				},
				"read":  func() error { _, err := s.ReadFile(digest, "a/b.md"); return err },
				"tree":  func() error { _, err := s.Tree("x", digest); return err },
				"write": func() error { put(t, s, small(0)); return nil },
			} {
				setUsed(t, dir, digest, tt.mark)
				if err := use(); err != nil {
					t.Fatal(err)
				}
				if got := usedAt(t, dir, digest); !got.Equal(tt.want) {
					t.Errorf("%s: the mark is %v, want %v", name, got, tt.want)
				}
			}
			setUsed(t, dir, digest, tt.mark)
			if err := s.Verify(digest); err != nil {
				t.Fatal(err)
			}
			for range s.List() {
			}
			if got := usedAt(t, dir, digest); !got.Equal(tt.mark) {
				t.Errorf("looking at it counts as a use: %v", got)
			}
		})
	}
}

func TestList(t *testing.T) {
	s, dir := open(t)
	for e, err := range s.List() {
		t.Errorf("a store that is not there has %v, %v", e, err)
	}
	digests := put(t, s, small(0), small(1), deploy())
	setUsed(t, dir, digests["s0"], noon)
	if err := os.WriteFile(inventoryOf(dir, digests["s1"]), []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"t1/README", "t1/zz/x", "t1/00/short"} {
		if err := os.MkdirAll(filepath.Join(dir, other), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]store.Entry)
	var order []string
	for e, err := range s.List() {
		if wantErr := e.Digest == digests["s1"]; wantErr != (diag.CodeOf(err) == diag.Integrity) || !wantErr && err != nil {
			t.Errorf("%s: %v", e.Digest, err)
		}
		got[e.Digest] = e
		order = append(order, e.Digest)
	}
	if len(got) != 3 || !slices.IsSorted(order) {
		t.Errorf("got %q", order)
	}
	if e := got[digests["s0"]]; e.Files != 2 || e.Bytes != 8 || !e.Used.Equal(noon) {
		t.Errorf("got %+v", e)
	}
}

// TestVerifyAll checks that all damaged trees are reported, and that they can be added again after Discard.
func TestVerifyAll(t *testing.T) {
	s, dir := open(t)
	var trees []bundle.Tree
	for n := range 10 {
		trees = append(trees, small(n))
	}
	digests := put(t, s, trees...)
	if err := os.WriteFile(filepath.Join(filepath.Dir(inventoryOf(dir, digests["s3"])), "tree", "a", "b.md"), []byte("B"), 0o644); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(filepath.Dir(inventoryOf(dir, digests["s5"])), "tree"))
	if err := os.WriteFile(inventoryOf(dir, digests["s7"]), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	bad := make(map[string]error)
	good := 0
	verify := func() {
		good = 0
		clear(bad)
		err := s.VerifyAll(t.Context(), func(e store.Entry, err error) {
			if err != nil {
				bad[e.Digest] = err
			} else {
				good++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	verify()
	if len(bad) != 3 || bad[digests["s3"]] == nil || bad[digests["s5"]] == nil || bad[digests["s7"]] == nil || good != 7 {
		t.Errorf("%d are good, damaged are %v", good, bad)
	}
	for digest := range bad {
		if err := s.Discard(digest); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, trees...)
	if verify(); len(bad) != 0 || good != 10 {
		t.Errorf("healed: %d are good, damaged are %v", good, bad)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.VerifyAll(ctx, func(store.Entry, error) {}); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("cancelled: %v", err)
	}
}

func TestGC(t *testing.T) {
	old, fresh, future, unset := noon.Add(-100*day), noon.Add(-day), noon.Add(400*day), time.Unix(1000, 0)
	tests := []struct {
		name  string
		marks []time.Time
		o     store.GCOptions
		kept  []int // of marks
		bad   bool
	}{
		{"by age", []time.Time{old, fresh, noon}, store.GCOptions{Unused: 30 * day, Now: noon}, []int{1, 2}, false},
		{"just old enough", []time.Time{old, noon}, store.GCOptions{Unused: 100 * day, Now: noon}, []int{1}, false},
		{"not quite", []time.Time{old, noon}, store.GCOptions{Unused: 101 * day, Now: noon}, []int{0, 1}, false},
		{"less than a day", []time.Time{noon.Add(-2 * time.Hour), noon}, store.GCOptions{Now: noon}, []int{0, 1}, false},
		{"all", []time.Time{old, fresh, future, unset}, store.GCOptions{All: true, Now: noon}, nil, false},
		{"dry run", []time.Time{old, fresh}, store.GCOptions{Unused: 30 * day, Now: noon, DryRun: true}, []int{0, 1}, false},
		{"mark in the future", []time.Time{old, future}, store.GCOptions{Unused: 30 * day, Now: noon}, []int{1}, false},
		{"mark of 1970", []time.Time{unset, noon}, store.GCOptions{Unused: 30 * day, Now: noon}, []int{0, 1}, false},
		{"clock of 1970", []time.Time{old, noon}, store.GCOptions{Unused: 30 * day, Now: unset}, []int{0, 1}, true},
		{"clock of 2100", []time.Time{old, noon}, store.GCOptions{Unused: 30 * day, Now: noon.AddDate(74, 0, 0)}, []int{0, 1}, true},
		{"clock backwards", []time.Time{old, noon}, store.GCOptions{Unused: 30 * day, Now: noon.Add(-50 * day)}, []int{1}, false},
		{"empty", nil, store.GCOptions{Now: unset}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			digests := make([]string, len(tt.marks))
			for i, mark := range tt.marks {
				digests[i] = put(t, s, small(i))[fmt.Sprint("s", i)]
				setUsed(t, dir, digests[i], mark)
			}
			report, err := s.GC(t.Context(), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			var kept []int
			for i, digest := range digests {
				if s.Has(digest) {
					kept = append(kept, i)
				}
			}
			if !slices.Equal(kept, tt.kept) || report.BadClock != tt.bad {
				t.Errorf("kept %v, want %v; clock %v", kept, tt.kept, report.BadClock)
			}
			want := len(tt.marks) - len(tt.kept)
			if tt.o.DryRun {
				want = 1
			}
			if len(report.Removed) != want || report.Bytes != int64(8*want) || report.Kept != len(tt.marks)-want || report.KeptBytes != int64(8*report.Kept) {
				t.Errorf("got %+v", report)
			}
			if _, rubbish := entries(t, dir); len(rubbish) != 0 {
				t.Errorf("it left %q", rubbish)
			}
			if again, err := s.GC(t.Context(), tt.o); err != nil || !tt.o.DryRun && len(again.Removed) != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// TestGCAges checks that a tree with an implausible last use is removed eventually.
func TestGCAges(t *testing.T) {
	for _, mark := range []time.Time{time.Unix(0, 0), noon.AddDate(74, 0, 0)} {
		s, dir := open(t)
		digests := put(t, s, small(0), small(1))
		setUsed(t, dir, digests["s0"], mark)
		setUsed(t, dir, digests["s1"], noon.Add(40*day))
		for _, now := range []time.Time{noon, noon.Add(40 * day)} {
			if _, err := s.GC(t.Context(), store.GCOptions{Unused: 30 * day, Now: now}); err != nil {
				t.Fatal(err)
			}
			if now.Equal(noon) != s.Has(digests["s0"]) {
				t.Errorf("mark %v: at %v the store has it: %v", mark, now, s.Has(digests["s0"]))
			}
		}
	}
}

// TestGCLeftovers checks that scratch directories of dead processes are removed and those of live ones stay.
func TestGCLeftovers(t *testing.T) {
	s, dir := open(t)
	living := writer(t, s, bundle.Limits{})
	send(t, living, small(0))
	leave := func(name string, lock bool, at time.Time) string {
		path := filepath.Join(dir, "tmp", name)
		if err := os.MkdirAll(filepath.Join(path, "0", "tree"), 0o755); err != nil {
			t.Fatal(err)
		}
		if lock {
			if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dead := leave("w-dead", true, noon)
	early := leave("w-early", false, noon.Add(-2*day))
	starting := leave("w-starting", false, noon.Add(-time.Minute))
	foreign := leave("somebody's", false, noon.Add(-100*day))
	damaged := put(t, s, small(1))["s1"] // removes scratch directories of dead processes
	dead = leave(filepath.Base(dead), true, noon)
	if err := os.WriteFile(inventoryOf(dir, damaged), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		report, err := s.GC(t.Context(), store.GCOptions{Unused: 30 * day, Now: noon, DryRun: dry})
		if err != nil || len(report.Removed) != 1 || report.Removed[0].Digest != damaged {
			t.Errorf("dry %v: %+v, %v", dry, report, err)
		}
		if dry && report.Leftovers != 2 {
			t.Errorf("leftovers %d, want 2", report.Leftovers)
		}
		for path, want := range map[string]bool{dead: dry, early: dry, starting: true, foreign: true} {
			if _, err := os.Lstat(path); (err == nil) != want {
				t.Errorf("dry %v: %s: %v", dry, path, err)
			}
		}
	}
	if _, err := living.Commit(nil); err != nil {
		t.Errorf("a living writer was disturbed: %v", err)
	}
}

// TestGCWhileInstalling installs while another process repeatedly collects everything: an install gets a complete tree
// or the error to fetch again.
func TestGCWhileInstalling(t *testing.T) { // M2
	s, dir := open(t)
	put(t, s, deploy(), small(0))
	collector := exec.Command(os.Args[0])
	collector.Env = append(os.Environ(), gcDir+"="+dir)
	collector.Stderr = os.Stderr
	stop, err := collector.StdinPipe()
	if err == nil {
		err = collector.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	want := deploy().Inventory
	out := t.TempDir()
	whole, fetched := 0, 0
	for whole < 20 {
		dst := filepath.Join(out, fmt.Sprint(whole))
		err := s.Materialize(t.Context(), want.Digest(), dst)
		if code := diag.CodeOf(err); code == diag.NotFound || code == diag.Integrity {
			if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
				t.Fatal("half a tree was left")
			}
			put(t, s, deploy(), small(0))
			fetched++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := bundle.Sum(os.DirFS(dst), ".")
		if err != nil || want.Check(got) != nil {
			t.Fatalf("half a tree: %v, %v", want.Check(got), err)
		}
		whole++
	}
	if err := stop.Close(); err != nil {
		t.Fatal(err)
	}
	if err := collector.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("fetched again %d times", fetched)
}

// gcDir tells the child process to collect the whole store until its standard input ends, as it does when the test
// dies.
const gcDir = "SKILLPM_TEST_GC"

func collect(dir string) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the end of input
		stop()
	}()
	for ctx.Err() == nil {
		if _, err := s.GC(context.Background(), store.GCOptions{All: true, Now: noon}); err != nil {
			return err
		}
	}
	return nil
}

// TestGCConcurrentUse checks that a tree whose use began during GC is kept.
func TestGCConcurrentUse(t *testing.T) {
	s, dir := open(t)
	digests := put(t, s, small(0), small(1), small(2))
	for _, digest := range digests {
		setUsed(t, dir, digest, noon.Add(-100*day))
	}
	setUsed(t, dir, digests["s2"], noon)
	used := &onDone{Context: t.Context(), after: 4, do: func() { setUsed(t, dir, digests["s0"], noon); setUsed(t, dir, digests["s1"], noon) }}
	report, err := s.GC(used, store.GCOptions{Unused: 30 * day, Now: noon})
	if err != nil || len(report.Removed) != 0 || report.Kept != 3 {
		t.Errorf("got %+v, %v", report, err)
	}
	if !s.Has(digests["s0"]) || !s.Has(digests["s1"]) {
		t.Error("what was used meanwhile is gone")
	}
}

// onDone is a context that calls a function at the after-th call of Err, when GC has scanned all trees.
type onDone struct {
	context.Context
	after int
	do    func()
}

func (c *onDone) Err() error {
	if c.after--; c.after == 0 {
		c.do()
	}
	return c.Context.Err()
}
