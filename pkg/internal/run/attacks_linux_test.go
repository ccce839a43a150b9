package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// attack is something that no confined script can do. It returns an error if it fails.
type attack struct {
	name string
	do   func() error
	// harmless attacks are also tried unconfined, where most must succeed: otherwise the table would prove nothing.
	harmless bool
}

// call returns an attack that makes a system call, and closes the file that it returns.
func call(name string, harmless bool, number uintptr, args ...uintptr) attack {
	return attack{name, func() error {
		var a [6]uintptr
		copy(a[:], args)
		r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		if errno != 0 {
			return errno
		}
		_ = unix.Close(int(r)) // EBADF for what is not a file
		return nil
	}, harmless}
}

// text returns the address of a string for a system call.
func text(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

var kept []*byte // so that the strings of text live

// reads returns an attack that reads a file that is not empty.
func reads(path string, harmless bool) attack {
	return attack{"read " + path, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if n, err := f.Read(make([]byte, 64)); n == 0 {
			return fmt.Errorf("it is empty: %w", err)
		}
		return nil
	}, harmless}
}

// writes returns an attack that writes to a file.
func writes(path, value string) attack {
	return attack{"write " + path, func() error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(value)
		return err
	}, false}
}

// begins returns an attack that starts a process in new namespaces.
func begins(flag uintptr) attack {
	return attack{fmt.Sprintf("clone %#x", flag), func() error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flag}
		return cmd.Run()
	}, true}
}

// attacks returns the table. Host is a process outside of the sandbox.
func attacks(host string) []attack {
	const treeClone, ringSize = 1, 1024
	ring := make([]byte, ringSize)
	perf := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	all := []attack{
		call("io_uring", true, unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&ring[0]))),
		call("keyctl", true, unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 1),
		call("add_key", true, unix.SYS_ADD_KEY, text("user"), text("skillpm-test"), text("x"), 1, ^uintptr(0)),
		call("request_key", false, unix.SYS_REQUEST_KEY, text("user"), text("skillpm-test"), 0, ^uintptr(0)),
		call("bpf", false, unix.SYS_BPF, unix.BPF_PROG_GET_NEXT_ID, uintptr(unsafe.Pointer(&ring[0])), 16),
		call("perf_event_open", true, unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&perf)), 0, ^uintptr(0), ^uintptr(0), 0),
		call("userfaultfd", true, unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1),
		call("the kernel's log", true, unix.SYS_SYSLOG, 3, uintptr(unsafe.Pointer(&ring[0])), ringSize),
		call("fsopen", true, unix.SYS_FSOPEN, text("tmpfs"), 0),
		call("open_tree", true, unix.SYS_OPEN_TREE, ^uintptr(99), text("/"), treeClone),
		call("mount", false, unix.SYS_MOUNT, text("none"), text("/tmp"), text("tmpfs"), 0, 0),
		call("remount", false, unix.SYS_MOUNT, text("none"), text("/usr"), 0, unix.MS_REMOUNT|unix.MS_BIND, 0),
		call("mount_setattr", false, unix.SYS_MOUNT_SETATTR, ^uintptr(99), text("/usr"), 0, uintptr(unsafe.Pointer(&unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})), 32),
		call("umount", false, unix.SYS_UMOUNT2, text("/usr"), unix.MNT_DETACH),
		call("unmount a mask", false, unix.SYS_UMOUNT2, text("/proc/keys"), unix.MNT_DETACH),
		call("pivot_root", false, unix.SYS_PIVOT_ROOT, text("/tmp"), text("/tmp")),
		call("chroot", false, unix.SYS_CHROOT, text("/tmp")),
		call("sethostname", false, unix.SYS_SETHOSTNAME, text("x"), 1),
		call("settimeofday", false, unix.SYS_SETTIMEOFDAY, uintptr(unsafe.Pointer(&unix.Timeval{Sec: 1})), 0),
		call("reboot", false, unix.SYS_REBOOT, unix.LINUX_REBOOT_MAGIC1, unix.LINUX_REBOOT_MAGIC2, unix.LINUX_REBOOT_CMD_CAD_OFF, 0),
		call("swapoff", false, unix.SYS_SWAPOFF, text("/tmp")),
		call("init_module", false, unix.SYS_INIT_MODULE, uintptr(unsafe.Pointer(&ring[0])), ringSize, text("")),
		call("kexec", false, unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
		call("a device", false, unix.SYS_MKNODAT, ^uintptr(99), text("/tmp/null"), unix.S_IFCHR|0o666, 0x103),
		call("open_by_handle_at", false, unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(99), uintptr(unsafe.Pointer(&ring[0])), 0),
		call("a raw socket", false, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		call("setns", false, unix.SYS_SETNS, 0, 0),
		{"all namespaces of the helper", func() error { return enterNamespaces("/proc/1/ns") }, false},
		{"trace the helper", func() error { return unix.PtraceAttach(1) }, false},
		{"memory of the helper", func() error { return opened("/proc/1/mem") }, false},
		{"a file of the helper", func() error {
			fd, err := unix.PidfdOpen(1, 0)
			if err != nil {
				return err
			}
			for i := range 16 {
				if _, err = unix.PidfdGetfd(fd, i, 0); err == nil {
					return nil
				}
			}
			return err
		}, false},
		{"privileges", func() error {
			head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			caps := [2]unix.CapUserData{{Effective: 1 << unix.CAP_NET_RAW, Permitted: 1 << unix.CAP_NET_RAW}}
			return unix.Capset(&head, &caps[0])
		}, false},
		{"more processes", func() error { return raise(unix.RLIMIT_NPROC) }, false},
		{"more memory", func() error { return raise(unix.RLIMIT_DATA) }, false},
		{"a terminal", func() error { return unix.IoctlSetPointerInt(0, unix.TIOCSTI, 'x') }, false},
		reads("/proc/kallsyms", true), reads("/proc/key-users", true), reads("/proc/keys", false), reads("/proc/kcore", false),
		reads("/proc/timer_list", false), reads("/proc/"+host+"/environ", true), reads("/proc/"+host+"/cmdline", true),
		reads("/proc/1/environ", false), reads("/proc/1/root/etc/shadow", false), reads("/proc/1/maps", false), reads("/etc/shadow", false),
		reads("/sys/kernel/profiling", false), reads("/dev/mem", false), reads("/proc/self/root/root/.bashrc", false),
		writes("/proc/sysrq-trigger", ""), writes("/proc/sys/kernel/pid_max", "4000000"), writes("/proc/sys/vm/drop_caches", "0"),
		writes("/proc/self/oom_score_adj", "0"), writes("/proc/self/uid_map", "0 0 1"), writes("/proc/sys/kernel/core_pattern", "core"),
		writes("/sys/kernel/uevent_helper", ""), writes("/dev/kmsg", "x"),
	}
	for family := range uintptr(unix.AF_MAX) {
		if !slices.Contains([]uintptr{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}, family) {
			for _, kind := range []uintptr{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
				all = append(all, call(fmt.Sprintf("socket %d %d", family, kind), true, unix.SYS_SOCKET, family, kind, 0))
			}
		}
	}
	for protocol := range uintptr(23) {
		all = append(all, call(fmt.Sprintf("netlink %d", protocol), true, unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, protocol))
	}
	for _, flag := range []uintptr{
		unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP,
		unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
	} {
		all = append(all, begins(flag))
	}
	return all
}

// raise raises a limit of this process.
func raise(resource int) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: now.Max + 1, Max: now.Max + 1})
}

func opened(path string) error {
	f, err := os.Open(path)
	if err == nil {
		err = f.Close()
	}
	return err
}

// enterNamespaces enters one of a process's namespaces.
func enterNamespaces(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var fd int
		if fd, err = unix.Open(filepath.Join(dir, e.Name()), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			continue
		}
		if err = unix.Setns(fd, 0); err == nil {
			return nil
		}
	}
	return errors.Join(err, errors.New("none"))
}

// attackAll tries the attacks, and prints how many there were and the names of those that succeeded.
func attackAll(host string, confined bool) {
	tried := 0
	for _, a := range attacks(host) {
		if !a.harmless && !confined {
			continue
		}
		tried++
		if a.do() == nil {
			fmt.Println("done:", a.name)
		}
	}
	fmt.Println("tried:", tried)
}

// TestNoAttack tries system calls and files of /proc by which a script could leave its sandbox, learn about the machine,
// or reach its kernel (O13, O22): all socket families and netlink protocols, all namespaces, mounts, keys, tracing.
func TestNoAttack(t *testing.T) {
	h := newHouse(t)
	if os.Getuid() == 0 { // so that there is a key to see
		_, _ = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	}
	line := `"$PROBE" attack "$HOST" `
	free := strings.Count(string(h.run(line+"free", nil).Stdout), "done: ")
	if free < 5 {
		skipUnsupported(t, "only %d attacks succeed", free)
	}
	open := *h.rules
	open.Network.Any = true
	for _, rules := range []*struct {
		name string
		run  *Result
	}{{"no network", h.run(line+"confined", h.rules)}, {"any network", h.run(line+"confined", &open)}} {
		out := string(rules.run.Stdout)
		if _, tried, _ := strings.Cut(out, "tried: "); strings.Contains(out, "done: ") || len(tried) < 3 {
			t.Errorf("%s: %s%s", rules.name, out, rules.run.Stderr)
		}
	}
	t.Logf("%d attacks succeed unconfined", free)
}

// TestOldCalls checks that a 64-bit script cannot make 32-bit system calls, whose numbers the filter does not know.
func TestOldCalls(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil || architectureName() != "amd64" {
		t.Skip("it needs gcc and amd64")
	}
	h := newHouse(t)
	source, program := filepath.Join(h.project, "old.c"), filepath.Join(h.project, "old")
	h.file(source, `#include <unistd.h>
#include <sys/syscall.h>
int main(int n, char **v) {
	long r = 0;
	if (n > 1) r = syscall(0x40000000 | 39); /* getpid of x32 */
	else __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); /* getpid of i386 */
	return r > 0 ? 0 : 1;
}
`)
	if out, err := exec.Command(gcc, "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v %s", err, out)
	}
	for _, line := range []string{"./old", "./old x32"} {
		if res := h.run(line, nil); res.ExitCode != 0 {
			t.Logf("%s: not even unconfined", line)
		}
		if res := h.run(line, h.rules); res.ExitCode == 0 {
			t.Errorf("%s: it made the call", line)
		}
	}
}

func architectureName() string {
	var name unix.Utsname
	_ = unix.Uname(&name)
	return strings.Replace(unix.ByteSliceToString(name.Machine[:]), "x86_64", "amd64", 1)
}

// TestLimitsInside checks the limits of a confined command.
func TestLimitsInside(t *testing.T) {
	h := newHouse(t)
	res := h.run(`sed -n 's/^Max \(processes\|data size\|core file size\) *\([0-9]*\) .*/\2/p' /proc/self/limits; cat /proc/self/oom_score_adj`, h.rules)
	lines := strings.Fields(string(res.Stdout))
	if len(lines) != 4 || lines[1] != "0" || lines[2] != strconv.Itoa(sandbox.MaxProcesses()) || lines[3] != "1000" {
		t.Fatalf("%q %s", lines, res.Stderr)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	bytes, err := strconv.ParseUint(lines[0], 10, 64)
	if total := info.Totalram * uint64(info.Unit); err != nil || bytes > total*3/4 || bytes < total/2 {
		t.Errorf("%d bytes of %d: %v", bytes, total, err)
	}
}
