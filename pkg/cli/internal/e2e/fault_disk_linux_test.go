//go:build slow

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const alone = "SKILLPM_TEST_ALONE" // re-executed in namespaces of its own: which test

// inNamespaces runs the test again, as root of a user namespace with its own further namespaces, and reports whether
// this is that second run.
func inNamespaces(t *testing.T, flags uintptr) bool {
	t.Helper()
	if os.Getenv(alone) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"="+t.Name(), "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | flags,
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
	return false
}

// mount mounts an in-memory file system on a directory.
func mount(t testing.TB, dir, options string) {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		skipUnsupported(t, "mounts are not private here: %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		skipUnsupported(t, "no tmpfs in a user namespace here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

func remount(t testing.TB, dir string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|flags, options); err != nil {
		t.Fatalf("remount: %v", err)
	}
}

// leave limits a file system to its content plus n blocks or inodes.
func leave(t testing.TB, dir, what string, n int) {
	t.Helper()
	var used unix.Statfs_t
	if err := unix.Statfs(dir, &used); err != nil {
		t.Fatal(err)
	}
	limit := map[string]uint64{"nr_blocks": used.Blocks - used.Bfree, "nr_inodes": used.Files - used.Ffree}[what] + uint64(n)
	remount(t, dir, 0, fmt.Sprint(what, "=", limit))
}

// TestFaultNoSpace fills the disk (blocks or inodes) of the project, the caches, or both, with a little more space each
// time: the old state stays and no files are left behind. With enough space, the same command succeeds.
func TestFaultNoSpace(t *testing.T) { // M2
	if !inNamespaces(t, unix.CLONE_NEWNS) {
		return
	}
	w := newServers(t)
	done := newMachine(t, w).fresh()
	for _, where := range []string{"project", ".cache", "."} {
		for _, what := range []string{"nr_blocks", "nr_inodes"} {
			t.Run(where+" "+what, func(t *testing.T) {
				failed := 0
				for n := 1; ; n *= 2 {
					m := newMachine(t, w)
					disk := filepath.Join(m.home, where)
					mount(t, disk, "")
					before := m.firstVersions()
					leave(t, disk, what, n)
					e := m.run(w.update()...)
					if e.code == 0 {
						same(t, fmt.Sprint(n), m.tree(), done)
						break
					}
					failed++
					m.check(e, 1, []string{"no space left on device", "hint: free space on the file system"})
					same(t, fmt.Sprint(n, " more"), m.tree(), before)
					remount(t, disk, 0, what+"=1000000")
					m.checkHealed(fmt.Sprint(n, " more"), before, done)
					m.updated(fmt.Sprint(n, " more"), done)
					unix.Unmount(disk, unix.MNT_DETACH)
					if t.Failed() || n > 1000 {
						t.Fatalf("with %d more", n)
					}
				}
				if failed < 3 {
					t.Errorf("it failed %d times only", failed)
				}
			})
		}
	}
}

// TestFaultReadOnly makes parts of the disk read-only: commands that only read succeed, and commands that write report
// what to do.
func TestFaultReadOnly(t *testing.T) { // M2
	if !inNamespaces(t, unix.CLONE_NEWNS) {
		return
	}
	w := newServers(t)
	done := newMachine(t, w).fresh()
	denied := []string{"read-only file system", "hint: grant yourself read and write access to the path"}
	t.Run("project", func(t *testing.T) {
		m := newMachine(t, w)
		mount(t, m.project, "")
		before := m.firstVersions()
		remount(t, m.project, unix.MS_RDONLY, "")
		m.fails(7, append(denied, "~/project"), w.update()...)
		same(t, "refused", m.tree(), before)
		m.ok("install")
		m.ok("install", "--frozen")
		m.ok("verify")
		m.ok("list")
		remount(t, m.project, 0, "")
		m.checkHealed("writable", before, done)
		m.updated("writable", done)
	})
	t.Run("store", func(t *testing.T) {
		m := newMachine(t, w)
		mount(t, filepath.Join(m.home, ".cache"), "")
		m.firstVersions()
		m.ok(w.update()...)
		lock := treeOf(t, m.project)
		remount(t, filepath.Join(m.home, ".cache"), unix.MS_RDONLY, "")
		// Everything is in the store.
		next := newMachineIn(t, w, filepath.Dir(m.home))
		next.project = filepath.Join(m.home, "other")
		for _, name := range []string{"skillpm.yaml", "skillpm.lock"} {
			_, text, _ := strings.Cut(lock[name], " ")
			next.write(filepath.Join(next.project, name), text)
		}
		next.ok("install", "--frozen", "--offline")
		same(t, "from a store that is read-only", next.tree(), done)
		next.ok("verify")
		// A pack is not.
		next.fails(7, append(denied, "~/.cache"), "install", w.registry.URL("acme/other")+":1.0.0")
		same(t, "not in a store that is read-only", next.tree(), done)
	})
	t.Run("all but the project", func(t *testing.T) {
		m := newMachine(t, w)
		m.project = t.TempDir()
		mount(t, m.home, "")
		m.firstVersions()
		m.ok(w.update()...)
		remount(t, m.home, unix.MS_RDONLY, "")
		if err := os.RemoveAll(filepath.Join(m.project, ".skillpm", "plugins")); err != nil {
			t.Fatal(err)
		}
		m.ok("install")
		same(t, "mended", m.tree(), done)
	})
}

// limited is the machine whose program runs under a limit of the shell.
func (m *machine) limited(limit string) *machine {
	l := *m
	l.below = []string{"sh", "-c", "ulimit " + limit + ` && exec "$0" "$@"`}
	return &l
}

// TestFaultFewFiles allows the program few open files, a few more each time.
func TestFaultFewFiles(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	failed := 0
	for n := 10; ; n += 2 {
		m := newMachine(t, w)
		before := m.firstVersions()
		e := m.limited(fmt.Sprint("-n ", n)).run(w.update()...)
		if e.code == 0 {
			same(t, fmt.Sprint(n), m.tree(), done)
			break
		}
		failed++
		what := fmt.Sprint(n, " files")
		m.check(e, 1, []string{"too many open files", "hint: raise the limit on open files"})
		m.checkHealed(what, before, done)
		m.updated(what, done)
		if t.Failed() || n > 200 {
			t.Fatal(what)
		}
	}
	if failed < 3 {
		t.Errorf("it failed %d times only", failed)
	}
}

// TestFaultFileSize limits the size of the program's files.
func TestFaultFileSize(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	for blocks := range 4 { // of 512 bytes; a skill's details and the state are larger
		m := newMachine(t, w)
		before := m.firstVersions()
		e := m.limited(fmt.Sprint("-f ", blocks)).run(w.update()...)
		what := fmt.Sprint(blocks, " blocks")
		m.check(e, 1, []string{"file too large", "hint: raise the limit on file sizes"})
		same(t, what, m.tree(), before)
		m.checkHealed(what, before, done)
		m.updated(what, done)
	}
}

// TestFaultForbidden runs the program as a user without permission to write or read the files that it needs.
func TestFaultForbidden(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	var below []string
	if os.Getuid() == 0 { // without the rights that root has over what is forbidden to all
		below = []string{"setpriv", "--inh-caps=-all", "--bounding-set=-all"}
		if out, err := exec.Command(below[0], append(below[1:], "true")...).CombinedOutput(); err != nil {
			skipUnsupported(t, "root can't give up its rights: %v: %s", err, out)
		}
	}
	for _, tt := range []struct {
		path string
		mode os.FileMode
		code int
	}{
		{"project", 0o555, 7},
		{"project/.skillpm", 0o555, 7},
		{"project/.skillpm/plugins/acme", 0o555, 7},
		{"project/.skillpm/plugins/acme/web", 0o555, 7},
		{"project/.skillpm/links", 0o555, 7},
		{"project/.claude/skills", 0o555, 7},
		{"project/skillpm.yaml", 0, 7},
		{"project/skillpm.lock", 0, 7},
		{"project/.skillpm/lock", 0, 7},
		{".cache/skillpm", 0o555, 0}, // what is in it can be written
		{".cache/skillpm/store", 0o555, 0},
		{".cache/skillpm/store/tmp", 0o555, 7},
		{".cache/skillpm/store/t1", 0o555, 7},
		{".cache/skillpm/git", 0, 7},
		{".cache/skillpm", 0, 7},
		{".local/state/skillpm", 0o555, 0},
		{".local/state/skillpm", 0, 0}, // then nothing is remembered
	} {
		t.Run(fmt.Sprintf("%s %o", strings.ReplaceAll(tt.path, "/", ":"), tt.mode), func(t *testing.T) {
			m := newMachine(t, w)
			m.below = below
			before := m.firstVersions()
			path := filepath.Join(m.home, tt.path)
			info, err := os.Stat(path)
			if err == nil {
				err = os.Chmod(path, tt.mode)
			}
			if err != nil {
				t.Fatal(err)
			}
			e := m.run(w.update()...)
			if err := os.Chmod(path, info.Mode()); err != nil {
				t.Fatal(err)
			}
			if tt.code == 0 && e.code == 0 {
				same(t, "updated", m.tree(), done)
				return
			}
			hint := "hint: grant yourself read and write access to the path"
			m.check(e, tt.code, []string{"permission denied", hint, "~/"})
			same(t, "refused", m.tree(), before)
			m.checkHealed("allowed", before, done)
			m.updated("allowed", done)
		})
	}
}

// TestFaultFullOutput makes all output fail: the command fails, and its changes are complete.
func TestFaultFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		skipUnsupported(t, "no full device: %v", err)
	}
	defer full.Close()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	m := newMachine(t, w)
	m.firstVersions()
	toFull := func(args ...string) ended {
		cmd := m.command(t.Context(), args...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = full, &stderr
		if err := cmd.Run(); err == nil {
			t.Errorf("%s succeeded", args)
		}
		return ended{args, cmd.ProcessState.ExitCode(), "", stderr.String()}
	}
	lost := "the command ended, but skillpm cannot write the output"
	m.check(toFull(w.update()...), 1, []string{"no space left on device", lost})
	same(t, "updated", m.tree(), done)
	for _, command := range []string{
		"list", "list --json", "verify", "verify --json", "install", "install --json", "info acme/web", "version", "help", "schema manifest",
		"cache path", "remove acme/web",
	} {
		m.check(toFull(strings.Fields(command)...), 1, []string{"no space left on device"})
	}
	m.ok("install")
	m.ok("verify")
}
