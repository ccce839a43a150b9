//go:build slow

package txn_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const mountKind = "SKILLPM_TEST_MOUNT" // in a child with its own mount namespace: what to mount

// TestOtherFileSystems repeats the crashes with directories that cannot be renamed: agents' and packs' directories on
// other file systems, and a scope in the lower layer of an overlay.
func TestOtherFileSystems(t *testing.T) { // M2
	if kind := os.Getenv(mountKind); kind != "" {
		mounted(t, kind)
		return
	}
	for _, kind := range []string{"tmpfs", "overlay"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := memory(t)
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestOtherFileSystems$", "-test.v")
			cmd.Env = append(os.Environ(), mountKind+"="+kind, "TMPDIR="+dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Skipf("no user namespaces here: %v", err)
			}
			if err != nil {
				t.Fatalf("%s", out)
			}
			t.Logf("%s", out)
		})
	}
}

func mounted(t *testing.T, kind string) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts are not private here: %v", err)
	}
	base := t.TempDir()
	if err := unix.Mount("tmpfs", base, "tmpfs", 0, ""); err != nil {
		t.Skipf("no tmpfs in a user namespace here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(base, unix.MNT_DETACH) })
	var n atomic.Int64
	mount := map[string]func(testing.TB, string) string{"tmpfs": mountTmpfs, "overlay": mountOverlay}[kind]
	scope := func(t testing.TB) string {
		return mount(t, filepath.Join(base, strconv.FormatInt(n.Add(1), 10)))
	}
	// These file systems must force a copy.
	want := map[string]string{"tmpfs": "copied .claude/skills/alias", "overlay": "copied away .skillpm/plugins/acme/deploy"}[kind]
	if names := steps(t, scope(t)); !slices.Contains(names, want) {
		t.Errorf("nothing was copied: %q", names)
	}
	rollback(t, scope)
	crashTwice(t, 7, scope)
	interfere(t, 7, scope)
}

// mountTmpfs creates a scope with two directories on other file systems.
func mountTmpfs(t testing.TB, root string) string {
	t.Helper()
	for _, name := range []string{".claude/skills", ".skillpm/plugins/acme"} {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	}
	return root
}

// mountOverlay creates a scope whose initial files are in a lower layer, in which directories cannot be renamed.
func mountOverlay(t testing.TB, dir string) string {
	t.Helper()
	for _, name := range []string{"lower", "upper", "work", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "lower"), before)
	root := filepath.Join(dir, "root")
	options := "lowerdir=" + dir + "/lower,upperdir=" + dir + "/upper,workdir=" + dir + "/work,userxattr"
	if err := unix.Mount("overlay", root, "overlay", 0, options); err != nil {
		t.Skipf("no overlay in a user namespace here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(root, unix.MNT_DETACH) })
	return root
}
