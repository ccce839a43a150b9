package store_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

const faultKind = "SKILLPM_TEST_FAULT" // set in a child process with its own limits and mounts

// again runs the test in a child process, and reports whether this is the child.
func again(t *testing.T, attr *syscall.SysProcAttr, wrapper ...string) bool {
	t.Helper()
	if os.Getenv(faultKind) == t.Name() {
		return true
	}
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil { // for other users
		t.Fatal(err)
	}
	args := append(wrapper, os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), faultKind+"="+t.Name(), "TMPDIR="+dir)
	cmd.SysProcAttr = attr
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

func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// mountTmpfs mounts a file system in memory and returns its directory.
func mountTmpfs(t *testing.T, options string) string {
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

// fails checks that an error has a hint and names a path.
func fails(t *testing.T, what string, err error, want error, code diag.Code, path string) {
	t.Helper()
	if !errors.Is(err, want) || diag.CodeOf(err) != code || diag.HintOf(err) == "" || !strings.Contains(err.Error(), path) {
		t.Errorf("%s: got %v (%v, hint %q), want %v that names %s", what, err, diag.CodeOf(err), diag.HintOf(err), want, path)
	}
}

// write writes trees and returns the error.
func write(s *store.Store, trees ...bundle.Tree) error {
	w, err := s.Writer(bundle.Limits{})
	if err != nil {
		return err
	}
	defer w.Close()
	for _, tree := range trees {
		for _, e := range tree.Inventory {
			r, err := tree.Open(e.Path)
			if err != nil {
				return err
			}
			if err := w.WriteFile(tree.Name, e.Path, e.Executable, e.Size, r); err != nil {
				return err
			}
		}
	}
	_, err = w.Commit(nil)
	return err
}

func TestNoSpace(t *testing.T) { // M2
	if !again(t, namespaces()) {
		return
	}
	tight, roomy := mountTmpfs(t, "size=400k"), t.TempDir()
	// The store is full.
	s, err := store.Open(filepath.Join(tight, "store"))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, "write", write(s, deploy()), syscall.ENOSPC, diag.Internal, tight)
	trees, rubbish := entries(t, filepath.Join(tight, "store"))
	if len(trees)+len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
	put(t, s, small(0)) // this tree fits
	// The project is full.
	s, err = store.Open(filepath.Join(roomy, "store"))
	if err != nil {
		t.Fatal(err)
	}
	digest := put(t, s, deploy())["deploy"]
	dst := filepath.Join(tight, "deploy")
	fails(t, "materialise", s.Materialize(t.Context(), digest, dst), syscall.ENOSPC, diag.Internal, dst)
	if _, err := os.Lstat(dst); err == nil {
		t.Error("half a tree was left")
	}
	if err := s.Verify(digest); err != nil {
		t.Errorf("the store was blamed: %v", err)
	}
}

// TestOutOfInodes checks the same for a file system without free inodes.
func TestOutOfInodes(t *testing.T) {
	if !again(t, namespaces()) {
		return
	}
	dir := mountTmpfs(t, "nr_inodes=8")
	s, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	fails(t, "write", write(s, deploy()), syscall.ENOSPC, diag.Internal, dir)
	if trees, rubbish := entries(t, filepath.Join(dir, "store")); len(trees)+len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
}

// TestReadOnlyFileSystem checks that a read-only store can be read.
func TestReadOnlyFileSystem(t *testing.T) { // M2
	if !again(t, namespaces()) {
		return
	}
	base := mountTmpfs(t, "")
	dir := filepath.Join(base, "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Track(func() time.Time { return noon.AddDate(1, 0, 0) }) // a use that cannot be recorded
	digests := put(t, s, deploy(), small(0))
	bad := filepath.Join(filepath.Dir(inventoryOf(dir, digests["s0"])), "tree", "a", "b.md")
	if err := os.WriteFile(bad, []byte("B"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", base, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("no remount here: %v", err)
	}
	digest := digests["deploy"]
	for name, read := range map[string]func() error{
		"materialise": func() error { return s.Materialize(t.Context(), digest, filepath.Join(t.TempDir(), "x")) },
		"link": func() error {
			_, err := s.Copy(t.Context(), digest, filepath.Join(t.TempDir(), "x"), store.CopyOptions{Link: true})
			return err
		}, // across file systems
		"read":   func() error { _, err := s.ReadFile(digest, "references/c.md"); return err },
		"verify": func() error { return s.Verify(digest) },
		"dry run": func() error {
			_, err := s.GC(t.Context(), store.GCOptions{All: true, Now: noon, DryRun: true})
			return err
		},
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := 0
	for _, err := range s.List() {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("listed %d, want 2", n)
	}
	fails(t, "write", write(s, small(1)), syscall.EROFS, diag.Denied, dir)
	fails(t, "discard", s.Discard(digest), syscall.EROFS, diag.Denied, dir)
	_, err = s.GC(t.Context(), store.GCOptions{All: true, Now: noon})
	fails(t, "gc", err, syscall.EROFS, diag.Denied, dir)
	if err := s.Materialize(t.Context(), digests["s0"], filepath.Join(t.TempDir(), "x")); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("what is damaged and can't be discarded: %v", err)
	}
}

// TestFileSizeLimit limits the size of files.
func TestFileSizeLimit(t *testing.T) {
	if !again(t, nil) {
		return
	}
	s, dir := open(t)
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100 << 10, Max: 100 << 10}); err != nil {
		t.Fatal(err)
	}
	fails(t, "write", write(s, deploy()), syscall.EFBIG, diag.Internal, "assets/large.bin")
	if trees, rubbish := entries(t, dir); len(trees)+len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
}

// TestFewFiles checks that few files are open at a time, and that a lower limit is a clear error.
func TestFewFiles(t *testing.T) {
	if !again(t, nil) {
		return
	}
	limit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: 4096}); err != nil {
			t.Skipf("no limit here: %v", err)
		}
	}
	s, dir := open(t)
	deep := make(map[string][]byte)
	for n := range 20 {
		deep[strings.Repeat("d/", n%14)+fmt.Sprint("f", n)] = fmt.Append(nil, n)
	}
	var trees []bundle.Tree
	for n := range 12 {
		deep["SKILL.md"] = fmt.Append(nil, n)
		trees = append(trees, bundle.MapTree(fmt.Sprint("s", n), maps.Clone(deep), nil))
	}
	limit(uint64(20 + 40*runtime.GOMAXPROCS(0)))
	if err := write(s, trees...); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, tree := range trees {
		group.Go(func() error {
			return s.Materialize(t.Context(), tree.Inventory.Digest(), filepath.Join(out, tree.Name))
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	open := 0
	for used := uint64(3); ; used++ { // allow only a few files
		limit(used)
		if f, err := os.Open(os.DevNull); err == nil {
			f.Close()
			if open++; open == 3 {
				break
			}
		}
	}
	dst := filepath.Join(out, "none")
	err := s.Materialize(t.Context(), trees[0].Inventory.Digest(), dst)
	errWrite := write(s, small(0))
	limit(4096)
	fails(t, "materialise", err, syscall.EMFILE, diag.Internal, "")
	fails(t, "write", errWrite, syscall.EMFILE, diag.Internal, dir)
	if _, err := os.Lstat(dst); err == nil {
		t.Error("half a tree was left")
	}
	if err := s.Verify(trees[0].Inventory.Digest()); err != nil {
		t.Errorf("the store was blamed: %v", err)
	}
}

// TestForbidden uses a store as a user who may not read or write all of it.
func TestForbidden(t *testing.T) {
	if !again(t, nil) {
		return
	}
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			t.Skipf("no other user here: %v", err)
		}
	}
	s, dir := open(t)
	digests := put(t, s, deploy(), small(0))
	file := filepath.Join(filepath.Dir(inventoryOf(dir, digests["deploy"])), "tree", "SKILL.md")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	fails(t, "read", s.Materialize(t.Context(), digests["deploy"], filepath.Join(out, "x")), syscall.EACCES, diag.Denied, file)
	if !s.Has(digests["deploy"]) {
		t.Error("what may not be read was taken for damaged")
	}
	if err := os.Chmod(out, 0o555); err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(out, "y")
	fails(t, "materialise", s.Materialize(t.Context(), digests["s0"], dst), syscall.EACCES, diag.Denied, dst)
	if err := os.Chmod(filepath.Join(dir, "tmp"), 0o555); err != nil {
		t.Fatal(err)
	}
	fails(t, "write", write(s, small(1)), syscall.EACCES, diag.Denied, dir)
	if err := errors.Join(os.Chmod(out, 0o755), os.Chmod(filepath.Join(dir, "tmp"), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// faultStore is the environment variable with the store of the child process.
const faultStore = "SKILLPM_TEST_FAULT_STORE"

// TestUnreadableBlocks makes the disk fail inside a tree. That counts as damage, which a new fetch repairs.
func TestUnreadableBlocks(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("SKILLPM_REQUIRE_STRACE") != "" {
			t.Fatal(err)
		}
		t.Skip("strace is needed")
	}
	dir := filepath.Join(t.TempDir(), "store")
	if os.Getenv(faultKind) == t.Name() {
		dir = os.Getenv(faultStore)
	}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	digest := deploy().Inventory.Digest()
	if os.Getenv(faultKind) != t.Name() {
		put(t, s, deploy())
		t.Setenv(faultStore, dir)
	}
	file := filepath.Join(filepath.Dir(inventoryOf(dir, digest)), "tree", "references", "c.md")
	if !again(t, nil, strace, "-f", "-qq", "-o", os.DevNull, "-P", file, "-e", "trace=read", "-e", "inject=read:error=EIO") {
		return
	}
	dst := filepath.Join(t.TempDir(), "x")
	if err := s.Materialize(t.Context(), digest, dst); diag.CodeOf(err) != diag.Integrity || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("got %v", err)
	}
	if s.Has(digest) {
		t.Error("the damaged tree was left in the store")
	}
	put(t, s, deploy())
}
