package txn_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

const (
	crashRoot = "SKILLPM_TEST_CRASH_ROOT" // re-executed: install there …
	crashStep = "SKILLPM_TEST_CRASH_STEP" // … and die at this failpoint …
	crashKey  = "SKILLPM_TEST_CRASH_KEY"  // … without a key if this is "none"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		os.Exit(child(root, os.Getenv(childDo)))
	}
	if root := os.Getenv(crashRoot); root != "" {
		os.Exit(die(root))
	}
	if path := os.Getenv(lockPath); path != "" {
		os.Exit(holdLock(path))
	}
	testkit.UseMemory()
	m.Run()
}

func die(root string) int {
	step, err := strconv.Atoi(os.Getenv(crashStep))
	if err != nil {
		return 2
	}
	o := options(root, func(string) error {
		if step--; step < 0 {
			killSelf()
		}
		return nil
	})
	if os.Getenv(crashKey) == "none" {
		o.Key = nil
	}
	err = install(o)
	fmt.Println("survived:", err)
	return 0
}

// killSelf kills the process without any cleanup.
func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// TestKill kills a process at every step of an install: after Recover the scope has the old or the new state.
func TestKill(t *testing.T) { // M2
	names := steps(t, memory(t))
	committed := -1
	for i, name := range names {
		if name == "committed" {
			committed = i
		}
	}
	for i, name := range names {
		t.Run(fmt.Sprintf("%02d %s", i, strings.ReplaceAll(name, "/", ":")), func(t *testing.T) {
			t.Parallel()
			root := memory(t)
			write(t, root, before)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), crashRoot+"="+root, crashStep+"="+strconv.Itoa(i))
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("it was not killed: %s", out)
			}
			recovered, err := txn.Recover(options(root, nil))
			if err != nil {
				t.Fatal(err)
			}
			want := before
			if i >= committed {
				want = after
			}
			if last := name == "journal removed"; recovered != (i >= committed && !last) {
				t.Errorf("recovered is %v", recovered)
			}
			same(t, "recovered", read(t, root), want)
			if err := install(options(root, nil)); err != nil {
				t.Fatal(err)
			}
			same(t, "installed again", read(t, root), after)
		})
	}
}

// errCrash is the panic value of a failpoint. On the disk it has the same effect as a kill.
var errCrash = errors.New("crash")

func crashing(o txn.Options, at func(n int, step string) bool) txn.Options {
	n := 0
	o.Fail = func(step string) error {
		if n++; at(n-1, step) {
			panic(errCrash)
		}
		return nil
	}
	return o
}

func survive(f func()) (crashed bool) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, errCrash) {
				panic(r)
			}
			crashed = true
		}
	}()
	f()
	return false
}

// crash crashes an install at the step with that name.
func crash(t testing.TB, o txn.Options, name string) {
	t.Helper()
	o = crashing(o, func(_ int, step string) bool { return step == name })
	if !survive(func() { _ = install(o) }) {
		t.Fatalf("no step %s", name)
	}
}

// TestCrashTwice also crashes the recovery at each of its steps, after a crash at each step.
func TestCrashTwice(t *testing.T) {
	crashTwice(t, 3, memory)
}

// crashTwice runs pairs of crashes in roots that scope creates: for each first crash, a second one at every stride-th
// step.
func crashTwice(t *testing.T, stride int, scope func(testing.TB) string) {
	root := scope(t)
	names := steps(t, root)
	for first, name := range names {
		t.Run(fmt.Sprintf("%02d %s twice", first, strings.ReplaceAll(name, "/", ":")), func(t *testing.T) {
			t.Parallel()
			for second := first % stride; crashPair(t, first, second, scope(t)); second += stride {
				if t.Failed() {
					t.Fatalf("at step %d of recovery", second)
				}
			}
		})
	}
}

// crashPair crashes an install at one step and its recovery at another. It reports whether the recovery has so many
// steps.
func crashPair(t *testing.T, first, second int, root string) (crashed bool) {
	t.Helper()
	write(t, root, before)
	o := options(root, nil)
	survive(func() { _ = install(crashing(o, func(n int, _ string) bool { return n == first })) })
	var err error
	crashed = survive(func() {
		_, err = txn.Recover(crashing(o, func(n int, _ string) bool { return n == second }))
	})
	if err != nil {
		t.Fatalf("step %d: %v", second, err)
	}
	if _, err := txn.Recover(o); err != nil {
		t.Fatalf("after step %d of recovery: %v", second, err)
	}
	got := read(t, root)
	if got["skillpm.lock"] == before["skillpm.lock"] {
		same(t, "old", got, before)
	} else {
		same(t, "new", got, after)
	}
	return crashed
}
