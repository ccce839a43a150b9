//go:build slow

package e2e

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSyncKilled kills a sync at each kind of system call that changes files: the next sync leaves the layer, the
// policy, and the audit log in the same state as an undisturbed sync (O15).
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	needStrace(t)
	f := newFleet(t)
	good, layer := f.machine(t)
	good.ok("enterprise", "sync")
	f.publish("1.1.0")
	counts := good.callsOf(true, "enterprise", "sync")
	done := without(layerOf(t, layer), "config.yaml")
	if counts["fsync"] < 3 || counts["unlinkat"] < 3 {
		t.Fatalf("this is not the sync that is meant: %v", counts)
	}
	for _, name := range slices.Sorted(maps.Keys(changingCalls)) {
		for _, n := range sampled(counts[name], min(3, changingCalls[name])) {
			m, layer := f.machine(t)
			f.untag("1.1.0")
			m.ok("enterprise", "sync")
			f.publish("1.1.0")
			m.straced(true, "-o", os.DevNull, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, n)).run("enterprise", "sync")
			what := fmt.Sprintf("%s %d", name, n)
			if e := m.run("enterprise", "sync"); e.code != 0 {
				t.Errorf("%s: %v", what, e)
				continue
			}
			got := without(layerOf(t, layer), "config.yaml")
			maps.DeleteFunc(got, func(at, _ string) bool { return strings.Contains(at, ".tmp-") })
			same(t, what, got, done)
			m.ok("enterprise", "sync", "--check")
		}
	}
}

// TestSyncUnprivileged checks that users other than the administrator can read the layer but not change it (O15).
func TestSyncUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		skipUnsupported(t, "only root can be somebody else")
	}
	f := newFleet(t)
	m, layer := f.machine(t)
	m.ok("enterprise", "sync")
	before := layerOf(t, layer)
	bin := filepath.Join(t.TempDir(), "skillpm")
	copyProgram(t, bin)
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, filepath.Dir(bin), filepath.Dir(layer), filepath.Dir(filepath.Dir(layer)), filepath.Dir(filepath.Dir(home)), filepath.Dir(filepath.Dir(bin))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "NO_COLOR=1", enterpriseDir + "=" + layer, adminUser + "=0", "PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := run("enterprise", "sync"); code != 7 || !strings.Contains(out, "sudo skillpm enterprise sync") {
		t.Errorf("%d\n%s", code, out)
	}
	if code, out := run("enterprise", "sync", "--check"); code != 0 || !strings.Contains(out, "Up to date with") {
		t.Errorf("%d\n%s", code, out)
	}
	same(t, "after somebody else looked", layerOf(t, layer), before)
	if err := os.WriteFile(filepath.Join(layer, "plugins", "acme", "web", "deploy", "SKILL.md"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out := run("enterprise", "sync", "--check"); code != 3 || !strings.Contains(out, "out of date") {
		t.Errorf("%d\n%s", code, out)
	}
}

// copyProgram copies the test's program to a location where everyone can run it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := exec.LookPath("skillpm")
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
