package audit_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

const alone = "SKILLPM_TEST_ALONE" // re-executed, so that a mount is nobody else's

// mounted runs the test again with a private in-memory file system, and returns its directory in that run, or "" in the
// first one.
func mounted(t *testing.T, options string) string {
	t.Helper()
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		_, ended := errors.AsType[*exec.ExitError](err)
		switch {
		case err != nil && !ended:
			skipUnsupported(t, "no user namespaces here: %v", err)
		case err != nil:
			t.Fatalf("%s", out)
		case strings.Contains(string(out), "--- SKIP"):
			t.Skipf("%s", out)
		}
		return ""
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		skipUnsupported(t, "mounts are not private here: %v", err)
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		skipUnsupported(t, "no tmpfs in a user namespace here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// skipUnsupported skips a test that lacks a requirement, unless the environment demands it.
func skipUnsupported(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("SKILLPM_REQUIRE_FAULTS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// TestNoSpace checks that the writer gets an error if a disk is full or read-only, that existing records stay, and that
// with space the chain continues.
func TestNoSpace(t *testing.T) {
	dir := mounted(t, "nr_blocks=3")
	if dir == "" {
		return
	}
	path := filepath.Join(dir, audit.Name)
	l := audit.Open(path, audit.Options{User: "u", Required: true})
	r := audit.Record{Action: audit.Run, Result: audit.OK, Reason: strings.Repeat("words ", 100)}
	wrote := 0
	var err error
	for err == nil && wrote < 1000 {
		if err = l.Write(r); err == nil {
			wrote++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || diag.HintOf(err) == "" || wrote < 3 {
		t.Fatalf("after %d records: %v (hint %q)", wrote, err, diag.HintOf(err))
	}
	if _, err := l.Intend(r); err == nil {
		t.Error("an intent was recorded on a full disk")
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "nr_blocks=100"); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(r); !errors.Is(err, syscall.EROFS) || diag.CodeOf(err) != diag.Denied || diag.HintOf(err) == "" {
		t.Errorf("read-only: %v (hint %q)", err, diag.HintOf(err))
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "nr_blocks=100"); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(r); err != nil {
		t.Fatal(err)
	}
	if v := verify(t, path, audit.VerifyOptions{}); v.Err() != nil || v.Records != int64(wrote+1) {
		t.Errorf("%+v, want %d records", v, wrote+1)
	}
}

// TestFIFO checks that special files are not written to, and that nothing waits for the reader of a FIFO.
func TestFIFO(t *testing.T) {
	for _, name := range []string{audit.Name, audit.Name + ".lock"} {
		dir := t.TempDir()
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, audit.Name)
		if err := audit.Open(path, audit.Options{}).Write(audit.Record{Action: audit.Run}); diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, audit.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := audit.Open(filepath.Join(dir, audit.Name), audit.Options{}).Write(audit.Record{Action: audit.Run}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("a directory: %v", err)
	}
}

// writeAs writes a record as another user, in a separate process.
func writeAs(t *testing.T, uid uint32, path string) (string, error) {
	t.Helper()
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(shareable(t), "writer")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+path, "AUDIT_TEST_RECORDS=2", "AUDIT_TEST_NAME=w", "AUDIT_TEST_USER="+strconv.Itoa(int(uid)))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shareable returns a directory that other users can reach.
func shareable(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be several users")
	}
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSharedFile checks that a log that an administrator created for all users is one chain. A log that is writable but
// not readable is rejected, and so is a private log.
func TestSharedFile(t *testing.T) {
	dir := shareable(t)
	path := filepath.Join(dir, audit.Name)
	for _, name := range []string{path, path + ".lock"} {
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, uid := range []uint32{65534, 65533, 0} {
		if out, err := writeAs(t, uid, path); err != nil {
			t.Fatalf("%d: %v: %s", uid, err, out)
		}
	}
	if v := verify(t, path, audit.VerifyOptions{}); v.Err() != nil || v.Records != 6 {
		t.Errorf("%+v", v)
	}
	for _, mode := range []os.FileMode{0o662, 0o600, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if out, err := writeAs(t, 65534, path); err == nil || !strings.Contains(out, "cannot write the audit log") || !strings.Contains(out, "permission denied") {
			t.Errorf("%o: %v: %s", mode, err, out)
		}
	}
}

// TestSharedDirectory checks that in a directory that an administrator created for all users, each user has a log, and
// cannot find, remove, or change the others' logs.
func TestSharedDirectory(t *testing.T) {
	dir := filepath.Join(shareable(t), "audit")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o733|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, uid := range []uint32{65534, 65533} {
			if out, err := writeAs(t, uid, dir); err != nil {
				t.Fatalf("%d: %v: %s", uid, err, out)
			}
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "user-*.jsonl"))
	if err != nil || len(logs) != 2 {
		t.Fatal(logs, err)
	}
	for _, log := range logs {
		if v := verify(t, log, audit.VerifyOptions{}); v.Err() != nil || v.Records != 4 {
			t.Errorf("%s: %+v", log, v)
		}
		if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", log, info.Mode(), err)
		}
	}
}
