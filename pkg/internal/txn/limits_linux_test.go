package txn_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

const alone = "SKILLPM_TEST_ALONE" // set in a child process with its own limits and mounts

// again runs the test in a child process, and reports whether this is the child.
func again(t *testing.T, namespaces bool) bool {
	t.Helper()
	if os.Getenv(alone) != "" {
		return true
	}
	dir := memory(t)
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil { // for other users
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=1", "TMPDIR="+dir)
	if namespaces {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("no such process here: %v", err)
	case err != nil:
		t.Fatalf("%s", out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// limited mounts a file system in memory and returns its directory.
func limited(t *testing.T, options string) string {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts are not private here: %v", err)
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no tmpfs in a user namespace here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|flags, options); err != nil {
		t.Fatalf("remount: %v", err)
	}
}

// checkExplained checks that an error is of the operating system and has a hint.
func checkExplained(t *testing.T, what string, err, want error, code diag.Code) {
	t.Helper()
	if errors.Is(err, want) && strings.Contains(err.Error(), "/stage/") {
		return // the test itself wrote there
	}
	if !errors.Is(err, want) || diag.CodeOf(err) != code || diag.HintOf(err) == "" {
		t.Errorf("%s: got %v (%v, hint %q), want %v", what, err, diag.CodeOf(err), diag.HintOf(err), want)
	}
}

// TestNoSpace installs with increasing free space. Whichever limit is reached first, the old state stays.
func TestNoSpace(t *testing.T) { // M2
	if !again(t, true) {
		return
	}
	for option, most := range map[string]int{"nr_blocks": 60, "nr_inodes": 90} {
		failed := 0
		for n := 1; ; n++ {
			if n > most {
				t.Errorf("%s: %d are not enough", option, n)
				break
			}
			root := limited(t, "")
			write(t, root, before)
			// Blocks and inodes already in use are added.
			var used unix.Statfs_t
			if err := unix.Statfs(root, &used); err != nil {
				t.Fatal(err)
			}
			blocks, inodes := used.Blocks-used.Bfree, used.Files-used.Ffree
			limit := map[string]uint64{"nr_blocks": blocks, "nr_inodes": inodes}[option] + uint64(n)
			remount(t, root, 0, fmt.Sprint(option, "=", limit))
			err := install(options(root, nil))
			if err == nil {
				same(t, "installed", read(t, root), after)
				break
			}
			failed++
			checkExplained(t, fmt.Sprint(option, " ", n), err, syscall.ENOSPC, diag.Internal)
			same(t, "failed", read(t, root), before)
			unix.Unmount(root, unix.MNT_DETACH)
			if t.Failed() {
				return
			}
		}
		if failed < 5 {
			t.Errorf("%s: it failed %d times only", option, failed)
		}
	}
}

// TestReadOnly makes the file system read-only before an install and at each of its steps.
func TestReadOnly(t *testing.T) { // M2
	if !again(t, true) {
		return
	}
	names := steps(t, t.TempDir())
	for n, name := range names {
		root := limited(t, "")
		write(t, root, before)
		at := 0
		err := install(options(root, func(string) error {
			if at++; at == n+1 {
				remount(t, root, unix.MS_RDONLY, "")
			}
			return nil
		}))
		last := name == "journal removed"
		if !last {
			checkExplained(t, name, err, syscall.EROFS, diag.Denied)
		} else if err != nil {
			t.Errorf("all was done: %v", err)
		}
		if n == 0 {
			_, err := txn.Begin(options(root, nil))
			checkExplained(t, "begin", err, syscall.EROFS, diag.Denied)
		}
		remount(t, root, 0, "")
		if isNew := checkSettled(t, root, name); last && !isNew {
			t.Error("what was done is gone")
		}
		unix.Unmount(root, unix.MNT_DETACH)
		if t.Failed() {
			t.Fatalf("at %d %s", n, name)
		}
	}
}

// TestFileSizeLimit limits the size of files, and so of journals.
func TestFileSizeLimit(t *testing.T) {
	if !again(t, false) {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	root := oldScope(t)
	limit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 40}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []uint64{0, 5, 20, 500} {
		limit(n)
		err := install(options(root, nil))
		limit(1 << 40)
		checkExplained(t, fmt.Sprint(n), err, syscall.EFBIG, diag.Internal)
		same(t, fmt.Sprint(n), read(t, root), before)
	}
	if err := install(options(root, nil)); err != nil {
		t.Error(err)
	}
}

// TestFewFiles limits the number of open files. An install needs at most a dozen, however many packs there are. With
// fewer, the old state stays.
func TestFewFiles(t *testing.T) {
	if !again(t, false) {
		return
	}
	limit := func(n int) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: 4096}); err != nil {
			t.Skipf("no limit here: %v", err)
		}
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	first := int(f.Fd()) // the first free descriptor
	f.Close()
	failed := 0
	for n := 1; ; n++ {
		root := oldScope(t)
		limit(first + n)
		err := install(options(root, nil))
		limit(4096)
		if err == nil {
			same(t, "installed", read(t, root), after)
			break
		}
		failed++
		checkExplained(t, fmt.Sprint(n), err, syscall.EMFILE, diag.Internal)
		checkSettled(t, root, fmt.Sprint(n, " files"))
		if n == 40 {
			t.Fatalf("with %d more files: %v", n, err)
		}
	}
	if failed < 3 {
		t.Errorf("it failed %d times only", failed)
	}
	root := t.TempDir()
	limit(first + 40)
	err = commit1000(root)
	limit(4096)
	if err != nil {
		t.Errorf("a large pack: %v", err)
	}
}

// TestForbidden installs as a user who may not write everywhere.
func TestForbidden(t *testing.T) {
	if !again(t, false) {
		return
	}
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			t.Skipf("no other user here: %v", err)
		}
	}
	for _, dir := range []string{".", ".skillpm", ".skillpm/plugins/acme", ".skillpm/plugins/gone", ".claude/skills", ".claude"} {
		root := oldScope(t)
		at := filepath.Join(root, filepath.FromSlash(dir))
		if err := os.Chmod(at, 0o555); err != nil {
			t.Fatal(err)
		}
		err := install(options(root, nil))
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == ".claude" { // the install writes nothing in it
			if err != nil {
				t.Errorf("%s: %v", dir, err)
			}
			continue
		}
		checkExplained(t, dir, err, syscall.EACCES, diag.Denied)
		if !strings.Contains(err.Error(), root) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s is not named: %v", dir, err)
		}
		same(t, dir, read(t, root), before)
	}
}

// oldScope returns a scope with a finished installation.
func oldScope(t testing.TB) string {
	t.Helper()
	root := memory(t)
	write(t, root, before)
	return root
}
