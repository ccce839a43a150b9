package run

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// TestBombs checks that a script that starts processes as fast as it can, ignores SIGTERM, and leaves its group, its
// session, or its parents, ends soon after its limit, with all of them (O13, D5).
func TestBombs(t *testing.T) {
	var name unix.Utsname
	_ = unix.Uname(&name)
	root, old := os.Getuid() == 0, unix.ByteSliceToString(name.Release[:]) < "6.14"
	for _, bomb := range []struct {
		name, text string
		confined   bool
	}{
		{"pairs", `bomb() { bomb | bomb & }; bomb; sleep 100`, true},
		{"orphans", `while :; do ( "$0" & ); done`, true},
		{"sessions", `while :; do setsid "$0" & done`, true},
		{"a group", `while :; do "$0" & done`, false},
	} {
		if root && (!bomb.confined || old) {
			t.Logf("%s: nothing limits the processes of root", bomb.name)
			continue
		}
		h := newHouse(t)
		file := filepath.Join(h.project, "bomb."+strconv.Itoa(os.Getpid()))
		h.program(file, "trap '' TERM HUP\n"+bomb.text)
		var rules *sandbox.Rules
		if bomb.confined {
			rules = h.rules
		}
		const limit = time.Second
		began := time.Now()
		res, err := Run(t.Context(), Command{
			Argv: []string{file}, Dir: h.project, Env: []string{"PATH=" + os.Getenv("PATH")}, Sandbox: rules, Helper: self(t), Limit: limit,
		})
		if err != nil || !res.TimedOut && res.ExitCode == 0 {
			t.Errorf("%s: %v %+v", bomb.name, err, res)
		}
		t.Logf("%s: it took %s", bomb.name, time.Since(began))
		if left := living(t, file); len(left) > 0 {
			t.Errorf("%s: %d live", bomb.name, len(left))
		}
	}
}

// TestMemoryBomb checks that a confined script cannot use all memory of the machine.
func TestMemoryBomb(t *testing.T) {
	h := newHouse(t)
	if res := h.run(`"$PROBE" memory`, h.rules); res.ExitCode == 0 {
		t.Error("it got all memory")
	}
}
