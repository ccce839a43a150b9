//go:build slow

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// changingCalls are the system calls that change files, and the maximum number of each that the test tries.
var changingCalls = map[string]int{
	"renameat2": 99, "renameat": 6, "symlinkat": 3, "fsync": 99, "syncfs": 99, "linkat": 99, "mkdirat": 4, "unlinkat": 6, "write": 4,
}

func needStrace(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(path, "-qq", "-o", os.DevNull, "true").Run()
	}
	if err != nil {
		skipUnsupported(t, "strace is needed, and may trace: %v", err)
	}
	return path
}

// straced is the machine whose program runs under strace: only its main goroutine, unless all threads are followed.
func (m *machine) straced(follow bool, options ...string) *machine {
	m.tb.Helper()
	s := *m
	s.below = []string{needStrace(m.tb), "-qq"}
	if follow {
		s.below = append(s.below, "-f")
	}
	s.below = append(s.below, options...)
	s.env = append(slices.Clone(m.env), onOneThread+"=1")
	return &s
}

// callsOf counts the changing system calls of a successful run: for each kind, those of the thread with the most.
func (m *machine) callsOf(follow bool, args ...string) map[string]int {
	m.tb.Helper()
	log := filepath.Join(m.tb.TempDir(), "calls")
	names := strings.Join(slices.Sorted(maps.Keys(changingCalls)), ",")
	m.straced(follow, "-o", log, "-e", "trace="+names).ok(args...)
	data, err := os.ReadFile(log)
	if err != nil {
		m.tb.Fatal(err)
	}
	type call struct{ thread, name string }
	each, most := map[call]int{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		thread := ""
		if follow {
			thread, line, _ = strings.Cut(line, " ")
		}
		if name, _, ok := strings.Cut(strings.TrimSpace(line), "("); ok {
			c := call{thread, name}
			each[c]++
			most[name] = max(most[name], each[c])
		}
	}
	return most
}

// sampled returns at most that many of the numbers from 1 to count, evenly spaced, with the first and the last.
func sampled(count, most int) []int {
	if count <= most {
		most = count
	}
	var list []int
	for i := range most {
		list = append(list, 1+i*(count-1)/max(1, most-1))
	}
	return list
}

// killStory is an operation during which a process is killed.
type killStory struct {
	name    string
	follow  bool                                        // count in all threads, each for itself
	prepare func(m *machine) (before map[string]string) // the state that the command starts from
	args    []string
	least   map[string]int // how many calls there have to be, or the story is not the one that is meant
}

// killStories are the first installation on a machine, an update that fetches, and the same update from the store.
func killStories(w *servers, warm string) []killStory {
	first := func(m *machine) map[string]string {
		m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
		return m.tree()
	}
	return []killStory{
		{"first", false, first, []string{"install"}, map[string]int{"linkat": 1, "symlinkat": 6, "renameat": 2}},
		{"fetch", true, (*machine).firstVersions, w.update(), map[string]int{"renameat": 10, "mkdirat": 5, "unlinkat": 50}},
		{"update", false, func(m *machine) map[string]string {
			m.cache = warm
			return m.firstVersions()
		}, w.update(), map[string]int{"renameat2": 4, "renameat": 10, "symlinkat": 4, "fsync": 4, "unlinkat": 50}},
	}
}

// TestFaultKilled kills the program at each system call of each kind that changes files. Afterwards the old or the new
// state is installed, skillpm recognizes an interrupted installation, and the next plain install repairs it.
func TestFaultKilled(t *testing.T) { // M2
	t.Parallel()
	needStrace(t)
	w := newServers(t)
	good := newMachine(t, w)
	done := good.fresh()
	for _, story := range killStories(w, filepath.Join(good.home, ".cache")) {
		m := newMachine(t, w)
		story.prepare(m)
		counts := m.callsOf(story.follow, story.args...)
		for name, least := range story.least {
			if counts[name] < least {
				t.Fatalf("%s: there have to be %d of %s: %v", story.name, least, name, counts)
			}
		}
		after := m.tree()
		if story.name != "first" {
			same(t, story.name, after, done)
		}
		for _, name := range slices.Sorted(maps.Keys(changingCalls)) {
			points := sampled(counts[name], changingCalls[name])
			var hits atomic.Int32
			for _, n := range points {
				t.Run(fmt.Sprintf("%s/%s %d", story.name, name, n), func(t *testing.T) {
					t.Parallel()
					if killed(t, w, story, name, n, after, done) {
						hits.Add(1)
					}
				})
			}
			t.Cleanup(func() { // when all of them have ended
				if most := (len(points) + 1) / 2; !story.follow && name != "write" && int(hits.Load()) < most {
					t.Errorf("%s/%s: it was killed at %d points of %d", story.name, name, hits.Load(), len(points))
				}
			})
		}
	}
}

// killed kills the program at the n-th call of a name, and reports whether that call happened. Concurrent operations
// are spread over threads differently in each run, so the watched thread may end before that call.
func killed(t *testing.T, w *servers, story killStory, name string, n int, after, done map[string]string) bool {
	m := newMachine(t, w)
	before := story.prepare(m)
	inject := fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, n)
	e := m.straced(story.follow, "-o", os.DevNull, "-e", "trace="+name, "-e", inject).run(story.args...)
	found := m.tree()
	if e.code == 0 {
		same(t, "not killed", found, after)
		return false
	}
	if e.code != -1 && !story.follow && name != "write" { // Go's runtime writes when it wakes a thread
		t.Fatalf("it was not killed: %v", e)
	}
	if _, interrupted := found[".skillpm/journal"]; !interrupted {
		want := before
		if found["skillpm.lock"] == after["skillpm.lock"] {
			want = after
		}
		same(t, "killed", found, want)
	} else if e := m.run("verify"); !strings.Contains(e.out+e.err, "interrupted") && found["skillpm.lock"] != "" {
		t.Errorf("an interrupted installation is taken for one: %v", e)
	}
	if isNew := m.checkHealed("killed", before, after); story.name == "first" && !isNew {
		t.Error("nothing was installed")
	}
	m.updated("killed", done)
	return e.code == -1
}

// TestFaultCalls makes system calls fail, one at a time or all of a kind: an error leaves the old state, success the
// new one.
func TestFaultCalls(t *testing.T) { // M2
	t.Parallel()
	needStrace(t)
	w := newServers(t)
	good := newMachine(t, w)
	done := good.fresh()
	warm := filepath.Join(good.home, ".cache")
	probe := newMachine(t, w)
	probe.cache = warm
	probe.firstVersions()
	counts := probe.callsOf(false, w.update()...)
	for _, tt := range []struct {
		call, err string
		most      int    // so many of the calls fail, each in a run of its own; 0: all fail, in one run
		says      string // if it fails: what the error says
		survives  bool   // it must not fail
	}{
		{"fsync", "EIO", 6, "input/output error", false},
		{"fsync", "EIO", 0, "input/output error", false},
		{"syncfs", "EIO", 1, "input/output error", false},
		{"renameat2", "EXDEV", 0, "", true},
		{"renameat2", "EINVAL", 0, "", true},
		{"renameat2", "ENOSYS", 0, "", true},
		{"renameat2", "EIO", 3, "input/output error", false},
		{"renameat", "EXDEV", 3, "invalid cross-device link", false},
		{"renameat", "ENOSPC", 3, "no space left on device", false},
		{"mkdirat", "EACCES", 3, "permission denied", false},
		{"symlinkat", "EROFS", 3, "read-only file system", false},
		{"unlinkat", "EIO", 5, "input/output error", false},
	} {
		when := sampled(counts[tt.call], tt.most)
		if tt.most == 0 {
			when = []int{0}
		}
		for _, n := range when {
			inject := fmt.Sprintf("inject=%s:error=%s", tt.call, tt.err)
			if n > 0 {
				inject += fmt.Sprint(":when=", n)
			}
			t.Run(strings.TrimPrefix(inject, "inject="), func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, w)
				m.cache = warm
				before := m.firstVersions()
				e := m.straced(n == 0, "-o", os.DevNull, "-e", "trace="+tt.call, "-e", inject).run(w.update()...)
				want := done
				if e.code != 0 {
					want = before
					if tt.survives {
						t.Error(e)
					}
					m.check(e, e.code, []string{tt.says})
				}
				isNew := m.checkHealed("failed", before, done)
				if isNew != (e.code == 0) {
					t.Errorf("new state: %v, after %v", isNew, e)
				}
				same(t, "healed", m.tree(), want)
				m.updated("failed", done)
			})
		}
	}
}

// TestFaultSignalled sends a signal at each kind of system call that changes files: the program ends as interrupted
// with the old state, or finishes its commit. Either way no recovery is needed.
func TestFaultSignalled(t *testing.T) { // M2
	t.Parallel()
	needStrace(t)
	w := newServers(t)
	good := newMachine(t, w)
	done := good.fresh()
	probe := newMachine(t, w)
	probe.firstVersions()
	counts := probe.callsOf(false, w.update()...)
	tried, gaveUp := 0, 0
	for _, name := range []string{"unlinkat", "mkdirat", "fsync", "symlinkat", "renameat", "renameat2"} {
		for i, n := range sampled(counts[name], 4) {
			sig := []string{"INT", "TERM"}[i%2]
			m := newMachine(t, w)
			before := m.firstVersions()
			inject := fmt.Sprintf("inject=%s:signal=%s:when=%d", name, sig, n)
			e := m.straced(false, "-o", os.DevNull, "-e", "trace="+name, "-e", inject).run(w.update()...)
			what := fmt.Sprintf("%s at %s %d", sig, name, n)
			tried++
			switch e.code {
			case 0:
				same(t, what, m.tree(), done)
			case 130:
				gaveUp++
				m.check(e, 130, []string{"interrupted"})
				same(t, what, m.tree(), before)
			default:
				t.Errorf("%s: %v", what, e)
			}
			m.leftNothing()
			m.checkHealed(what, before, done)
			m.updated(what, done)
		}
	}
	if gaveUp == 0 || gaveUp == tried {
		t.Errorf("%d of %d gave up", gaveUp, tried)
	}
}

// TestFaultKilledHolder kills a process during its changes, while it has the project lock that others wait for: they
// finish its transaction, and then make their own changes.
func TestFaultKilledHolder(t *testing.T) { // M2
	t.Parallel()
	needStrace(t)
	w := newServers(t)
	done := newMachine(t, w).fresh()
	m := newMachine(t, w)
	m.firstVersions()
	holder := m.straced(false, "-o", os.DevNull, "-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=600s:when=2").begin(w.update()...)
	journal := filepath.Join(m.project, ".skillpm", "journal", "journal")
	await(t, "a journal", func() bool {
		_, err := os.Lstat(journal)
		return err == nil
	})
	tries := opens(t, filepath.Join(m.project, ".skillpm", "lock"))
	var waiting []*begun
	for range 20 {
		waiting = append(waiting, m.begin(w.update()...))
	}
	await(t, "the others wait", func() bool { return tries() >= 100 })
	if err := syscall.Kill(-holder.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := holder.end(); e.code != -1 {
		t.Errorf("it was not killed: %v", e)
	}
	for _, b := range waiting {
		if e := b.end(); e.code != 0 {
			t.Error(e)
		}
	}
	same(t, "updated", m.tree(), done)
	m.leftNothing()
	m.ok("verify")
}

// TestFaultNothingRuns checks that skillpm starts no programs while it fetches, installs, and updates packs with
// scripts.
func TestFaultNothingRuns(t *testing.T) { // M2
	t.Parallel()
	needStrace(t)
	w := newServers(t)
	m := newMachine(t, w)
	m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
	log := filepath.Join(t.TempDir(), "started")
	for _, args := range [][]string{{"install"}, w.update(), {"verify"}, {"remove", "acme/web"}} {
		m.straced(true, "-o", log, "-e", "trace=execve,execveat").ok(args...)
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "execve"); n != 1 { // that of skillpm itself
			t.Errorf("skillpm %s started something:\n%s", strings.Join(args, " "), data)
		}
	}
}
