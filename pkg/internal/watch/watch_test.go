package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/skillpm/skillpm/pkg/diag"
)

// maxWait is how long a test waits for an expected event.
const maxWait = 30 * time.Second

// site is a directory with files, and a watcher.
type site struct {
	*testing.T
	dir      string
	watcher  *Watcher
	reported map[string]bool // all reported paths
}

func newSite(t *testing.T, files ...string) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, dir: dir, reported: make(map[string]bool)}
	for _, name := range files {
		s.write(name, "")
	}
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *site) do(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) write(name, text string) {
	s.Helper()
	s.do(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.do(os.WriteFile(s.path(name), []byte(text), 0o644))
}

// watch starts a watcher and closes it when the test ends.
func (s *site) watch(o Options, roots ...string) {
	s.Helper()
	for i := range roots {
		roots[i] = s.path(roots[i])
	}
	w, err := New(roots, o)
	if err != nil {
		s.Fatal(err)
	}
	s.watcher = w
	s.Cleanup(w.Close)
}

// next returns the next batch, with paths relative to the directory.
func (s *site) next() []string {
	s.Helper()
	select {
	case batch, ok := <-s.watcher.Events():
		if !ok {
			s.Fatalf("the channel is closed: %v", s.watcher.Err())
		}
		for i, name := range batch {
			rel, err := filepath.Rel(s.dir, name)
			s.do(err)
			batch[i] = filepath.ToSlash(rel)
		}
		if !slices.IsSorted(batch) || len(slices.Compact(slices.Clone(batch))) != len(batch) {
			s.Errorf("not sorted, or twice the same: %q", batch)
		}
		return batch
	case <-time.After(maxWait):
		s.Fatal("nothing is reported")
	}
	return nil
}

// until receives batches until they include all of these paths, and returns everything reported.
func (s *site) until(paths ...string) []string {
	s.Helper()
	var reported []string
	for slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(reported, p) }) {
		reported = append(reported, s.next()...)
	}
	for _, name := range reported {
		s.reported[name] = true
	}
	slices.Sort(reported)
	return slices.Compact(reported)
}

// silent writes one more file, and fails if a path that was never reported before is reported until then. Earlier paths
// may be reported again, because one change can be several events.
func (s *site) silent(name string) {
	s.Helper()
	before := maps.Clone(s.reported)
	s.write(name, fmt.Sprint(len(before)))
	for _, reported := range s.until(name) {
		if reported != name && !strings.HasPrefix(name, reported+"/") && !before[reported] {
			s.Errorf("%s is reported", reported)
		}
	}
}

func TestChanges(t *testing.T) {
	s := newSite(t, "root/a/SKILL.md", "root/b/SKILL.md", "outside")
	s.watch(Options{}, "root")
	s.write("root/a/SKILL.md", "x")
	if got := s.until("root/a/SKILL.md"); !slices.Equal(got, []string{"root/a/SKILL.md"}) {
		t.Errorf("written: %q", got)
	}
	s.do(os.Chmod(s.path("root/b/SKILL.md"), 0o755))
	s.until("root/b/SKILL.md")
	s.do(os.Remove(s.path("root/b/SKILL.md")))
	s.until("root/b/SKILL.md")
	s.write("root/new", "")
	s.until("root/new")
	s.do(os.Symlink("new", s.path("root/link")))
	s.until("root/link")
	s.write("outside", "x")
	s.silent("root/last")
}

// TestSave checks that a save by an editor is one batch.
func TestSave(t *testing.T) {
	s := newSite(t, "root/a/SKILL.md")
	s.watch(Options{Quiet: 2 * time.Second}, "root")
	s.write("root/a/.SKILL.md.swp", "new")
	s.write("root/a/4913", "")
	s.do(os.Remove(s.path("root/a/4913")))
	s.do(os.Rename(s.path("root/a/SKILL.md"), s.path("root/a/SKILL.md~")))
	s.do(os.Rename(s.path("root/a/.SKILL.md.swp"), s.path("root/a/SKILL.md")))
	s.do(os.Remove(s.path("root/a/SKILL.md~")))
	if got, want := s.next(), []string{"root/a/.SKILL.md.swp", "root/a/4913", "root/a/SKILL.md", "root/a/SKILL.md~"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewDirectories(t *testing.T) {
	s := newSite(t, "root/x", "outside/deep/er/file", "outside/file")
	s.watch(Options{}, "root")
	s.write("root/one/two/three/file", "")
	s.until("root/one/two/three/file")
	s.write("root/one/two/three/file", "again")
	s.until("root/one/two/three/file")
	s.write("root/one/two/other", "")
	s.until("root/one/two/other")

	s.do(os.Rename(s.path("outside"), s.path("root/in"))) // its content exists before it can be watched
	if got, want := s.until("root/in/deep/er/file", "root/in/file"), []string{"root/in", "root/in/deep", "root/in/deep/er", "root/in/deep/er/file", "root/in/file"}; !slices.Equal(got, want) {
		t.Errorf("moved in: %q", got)
	}
	s.write("root/in/deep/er/new", "")
	s.until("root/in/deep/er/new")
	for i := range 50 { // many at once
		s.write(fmt.Sprintf("root/many/%d/%d", i%10, i), "")
	}
	want := make([]string, 50)
	for i := range want {
		want[i] = fmt.Sprintf("root/many/%d/%d", i%10, i)
	}
	s.until(want...)
}

func TestRenamedDirectories(t *testing.T) {
	s := newSite(t, "root/a/deep/file", "root/b/file")
	s.watch(Options{}, "root")
	s.do(os.Rename(s.path("root/a"), s.path("root/c")))
	s.until("root/a", "root/c", "root/c/deep/file")
	s.silent("root/c/deep/fresh")
	s.do(os.Rename(s.path("root/c/deep"), s.path("root/b/deep"))) // from one watched directory to another
	s.until("root/c/deep", "root/b/deep/file")
	s.write("root/b/deep/file", "y")
	s.until("root/b/deep/file")
	s.do(os.Rename(s.path("root/b"), s.path("gone")))
	s.until("root/b")
	s.write("gone/deep/fresh", "z")
	s.silent("root/last")
}

func TestRemovedDirectories(t *testing.T) {
	s := newSite(t, "root/a/deep/file", "root/x")
	s.watch(Options{}, "root")
	for range 3 {
		s.do(os.RemoveAll(s.path("root/a")))
		s.until("root/a")
		s.write("root/a/deep/file", "")
		s.until("root/a/deep/file")
		s.write("root/a/deep/file", "x")
		s.until("root/a/deep/file")
	}
}

// TestRootReplaced checks that a root may be removed and created again, or replaced.
func TestRootReplaced(t *testing.T) {
	if opensFiles() {
		t.Skip("the directory above is not watched on this system")
	}
	s := newSite(t, "root/a/file", "other/a/file")
	s.watch(Options{}, "root")
	s.do(os.RemoveAll(s.path("root")))
	s.until("root")
	s.write("beside", "")
	s.write("root/a/file", "")
	s.until("root", "root/a/file")
	s.write("root/a/file", "x")
	s.until("root/a/file")
	s.do(os.Rename(s.path("root"), s.path("away")))
	s.until("root")
	s.do(os.Rename(s.path("other"), s.path("root")))
	s.until("root", "root/a/file")
	s.write("away/a/fresh", "")
	s.silent("root/a/last")
}

func TestFileRoot(t *testing.T) {
	s := newSite(t, "dir/SKILL.md", "dir/other")
	s.watch(Options{}, "dir/SKILL.md")
	s.write("dir/other", "x")
	s.write("dir/SKILL.md", "x")
	if got := s.until("dir/SKILL.md"); !slices.Equal(got, []string{"dir/SKILL.md"}) {
		t.Errorf("got %q", got)
	}
	for range 2 { // replaced by renaming, twice
		s.write("dir/new", "y")
		s.do(os.Rename(s.path("dir/new"), s.path("dir/SKILL.md")))
		s.until("dir/SKILL.md")
	}
	s.do(os.Remove(s.path("dir/SKILL.md")))
	s.until("dir/SKILL.md")
	s.silent("dir/SKILL.md")
}

// TestLinkedRoot checks that a root that is a link is reported by the link's name.
func TestLinkedRoot(t *testing.T) {
	s := newSite(t, "real/a/file", "second/a/file", "linked.md")
	s.do(os.Symlink("real", s.path("link")))
	s.do(os.Symlink("linked.md", s.path("README.md")))
	s.watch(Options{}, "link", "README.md", "real")
	s.write("real/a/file", "x")
	if got := s.until("link/a/file"); !slices.Equal(got, []string{"link/a/file", "real/a/file"}) {
		t.Errorf("got %q", got)
	}
	s.write("linked.md", "x")
	s.until("README.md")
	s.do(os.Symlink("second", s.path("new")))
	s.do(os.Rename(s.path("new"), s.path("link")))
	s.until("link", "link/a/file")
	s.write("second/a/file", "x")
	s.until("link/a/file")
	s.silent("real/a/fresh") // still a root of its own
}

// TestLinksInside checks that links inside a root are reported like files.
func TestLinksInside(t *testing.T) {
	s := newSite(t, "outside/file", "root/x")
	s.do(os.Symlink("../outside", s.path("root/link")))
	s.do(os.Symlink(".", s.path("root/loop")))
	s.watch(Options{}, "root")
	s.write("outside/file", "x")
	s.silent("root/last")
}

func TestOverlappingRoots(t *testing.T) {
	s := newSite(t, "root/a/file", "root/b/file")
	s.watch(Options{}, "root", "root/a", "root/a/file")
	s.write("root/a/file", "x")
	s.until("root/a/file")
	s.do(os.RemoveAll(s.path("root/a")))
	s.until("root/a")
	s.write("root/a/file", "")
	s.until("root/a/file")
	s.write("root/a/new", "")
	s.until("root/a/new")
	s.silent("root/b/last")
}

func TestSkip(t *testing.T) {
	s := newSite(t, "root/.git/index", "root/a/node_modules/x/y", "root/.hidden")
	skip := func(dir string) bool {
		name := filepath.Base(dir)
		return strings.HasPrefix(name, ".") || name == "node_modules"
	}
	s.do(os.Rename(s.path("root"), s.path(".root"))) // Skip is not called for roots
	s.watch(Options{Skip: skip}, ".root")
	s.write(".root/.git/index", "x")
	s.write(".root/a/node_modules/x/y", "x")
	s.write(".root/.cache/x", "") // new, and skipped
	s.do(os.RemoveAll(s.path(".root/a/node_modules")))
	s.silent(".root/a/last")
	s.do(os.Remove(s.path(".root/.hidden"))) // a file
	s.until(".root/.hidden")
	s.write(".root/b/node_modules/y", "")
	s.write(".root/b/z", "")
	if got := s.until(".root/b/z"); slices.Contains(got, ".root/b/node_modules") {
		t.Errorf("got %q", got)
	}
}

// TestOverflow checks that if the system loses events, all roots are reported, and watching continues.
func TestOverflow(t *testing.T) {
	s := newSite(t, "one/a/file", "two/file")
	s.watch(Options{}, "one", "two/file")
	s.watcher.fs.Errors <- fsnotify.ErrEventOverflow
	if got := s.next(); !slices.Equal(got, []string{"one", "two/file"}) {
		t.Errorf("got %q", got)
	}
	s.write("one/a/file", "x")
	s.until("one/a/file")
	s.write("two/file", "x")
	s.until("two/file")
}

// TestErrors checks that errors of single watches do not stop the watcher. Others do, and have a hint.
func TestErrors(t *testing.T) {
	s := newSite(t, "root/file")
	s.watch(Options{}, "root")
	s.watcher.fs.Errors <- os.NewSyscallError("inotify_rm_watch", syscall.EINVAL)
	s.silent("root/last")
	s.watcher.fs.Errors <- fmt.Errorf("x: %w", syscall.ENOSPC)
	select {
	case batch, ok := <-s.watcher.Events():
		if ok {
			t.Errorf("got %q", batch)
		}
	case <-time.After(maxWait):
		t.Fatal("the channel is not closed")
	}
	if err := s.watcher.Err(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(diag.HintOf(err), "max_user_watches") {
		t.Errorf("got %v (%s)", err, diag.HintOf(err))
	}
	for _, tt := range []struct {
		err   error
		fatal bool
	}{
		{nil, false},
		{&os.PathError{Op: "x", Err: syscall.ENOSPC}, true},
		{fmt.Errorf("x: %w", syscall.EMFILE), true},
		{syscall.ENOENT, false},
		{syscall.EACCES, false},
		{syscall.ENOTDIR, false},
	} {
		if got := isFatal(tt.err); got != tt.fatal {
			t.Errorf("%v is fatal: %t", tt.err, got)
		}
	}
	for _, err := range []error{syscall.ENOSPC, syscall.EMFILE} {
		if e := explain(err); diag.CodeOf(e) != diag.Internal || diag.HintOf(e) == "" {
			t.Errorf("%v becomes %v (%s)", err, e, diag.HintOf(e))
		}
	}
}

func TestNewErrors(t *testing.T) {
	s := newSite(t, "root/file")
	for _, name := range []string{"none", "root/none", "root/file/none"} {
		if _, err := New([]string{s.path("root"), s.path(name)}, Options{}); err == nil {
			t.Errorf("%s is watched", name)
		}
	}
	_, err := New([]string{s.path("none")}, Options{})
	if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "none does not exist") {
		t.Errorf("got %v", err)
	}
}

// TestNeverQuiet checks that continuous changes are reported with a delay.
func TestNeverQuiet(t *testing.T) {
	s := newSite(t, "root/file")
	s.watch(Options{Quiet: 100 * time.Millisecond}, "root")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(s.path("root/file"), []byte(fmt.Sprint(i)), 0o644)
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	s.until("root/file")
}

// TestSlowReceiver checks that a slow receiver gets all changes and does not block the watcher.
func TestSlowReceiver(t *testing.T) {
	s := newSite(t, "root/file")
	s.watch(Options{Quiet: time.Millisecond}, "root")
	var want []string
	for i := range 2000 {
		name := fmt.Sprintf("root/%d/%d", i%20, i)
		s.write(name, "")
		want = append(want, name)
	}
	s.until(want...)
}

// TestRelativeRoot checks that a relative root is reported by its relative name.
func TestRelativeRoot(t *testing.T) {
	s := newSite(t, "a/file")
	t.Chdir(s.dir)
	w, err := New([]string{".", "./a/"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s.write("a/file", "x")
	select {
	case got := <-w.Events():
		if want := []string{filepath.Join("a", "file")}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	case <-time.After(maxWait):
		t.Fatal("nothing is reported")
	}
}

// TestClose checks that Close stops the watcher in any state and can be called several times.
func TestClose(t *testing.T) {
	s := newSite(t, "root/file")
	for i := range 20 {
		w, err := New([]string{s.path("root")}, Options{Quiet: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		s.write(fmt.Sprintf("root/%d/file", i), "")
		if i%2 == 0 {
			w.Close()
		}
		go w.Close()
		w.Close()
		for range w.Events() { // batches before Close
		}
		if err := w.Err(); err != nil {
			t.Error(err)
		}
	}
	// The goroutines may need a moment to end.
	deadline := time.Now().Add(maxWait)
	for {
		var b strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "fsnotify") && !strings.Contains(b.String(), "(*Watcher)") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines are left:\n%s", b.String())
		}
	}
}

// BenchmarkNew watches a tree of 5,000 directories.
func BenchmarkNew(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		for _, sub := range []string{"references", "scripts", "assets", "assets/img"} {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i), sub), 0o755); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		w, err := New([]string{dir}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}
