package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine restricts this process and the current thread before it starts the command.
func (h *helperProcess) confine() error {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"limits", limits},
		{"network namespace", h.network},
		{"file system namespace", h.mount},
		{"Landlock", h.landlock},
		{"dropping privileges", drop},
		{"system call filter", func() error { return filter(h.order.NoUnix) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// network brings up the namespace's loopback interface and listens there for the proxy.
func (h *helperProcess) network() error {
	if h.order.Network == networkAny {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	if h.order.Network != networkProxy {
		return unix.Close(fd)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	h.listener, h.port = fd, uint16(address.(*unix.SockaddrInet4).Port) //nolint:gosec // it is a port
	return nil
}

// landlock restricts all threads of this process with Landlock.
func (h *helperProcess) landlock() error {
	config, err := landlockConfig(Version(), h.order.Network)
	if err != nil {
		return err
	}
	rules := []landlock.Rule{
		landlock.PathAccess(ll.AccessFSReadDir, "/"), // the new root only has paths listed here
		landlock.RODirs("/proc", settings), landlock.RWDirs(tempDir, "/dev/shm").WithRefer(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full"), landlock.ROFiles("/dev/random", "/dev/urandom"),
	}
	for _, p := range h.order.Paths {
		switch {
		case p.isSetting():
		case p.Dir && p.Write:
			rules = append(rules, landlock.RWDirs(p.Path).WithRefer())
		case p.Dir:
			rules = append(rules, landlock.RODirs(p.Path))
		case p.Write:
			rules = append(rules, landlock.RWFiles(p.Path))
		default:
			rules = append(rules, landlock.ROFiles(p.Path))
		}
	}
	if h.order.Network == networkProxy && Version() >= portsABI {
		rules = append(rules, landlock.ConnectTCP(h.port))
	}
	if err := config.Restrict(rules...); err != nil {
		return openError("a path", err) // another command can move one away after it was mounted
	}
	return nil
}

// landlockConfig returns the Landlock features that a kernel supports. Namespaces replace the missing ones: see
// [Rules.check].
func landlockConfig(abi int, network string) (*landlock.Config, error) {
	files := landlock.AccessFSSet(1<<15 - 1) // all rights up to truncation
	if abi >= 5 {
		files |= ll.AccessFSIoctlDev
	}
	args := []any{files}
	if abi >= portsABI && network != networkAny {
		args = append(args, landlock.AccessNetSet(ll.AccessNetBindTCP|ll.AccessNetConnectTCP))
	}
	if abi >= scopedABI {
		args = append(args, landlock.ScopedSet(ll.ScopeAbstractUnixSocket|ll.ScopeSignal))
	}
	return landlock.NewConfig(args...)
}

// MaxProcesses returns the maximum number of processes and threads of a command. Builds start some for each processor,
// and a machine stays usable with so many for each that never wait.
func MaxProcesses() int { return max(512, 64*runtime.NumCPU()) }

// limits prevents the command from exhausting the system's tables and memory. The kernel does not limit the processes
// of the user root by RLIMIT_NPROC; see [builder.proc]. Of all programs, it ends the command's first if memory runs
// out.
func limits() error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644); err != nil {
		return err
	}
	for resource, most := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NPROC: uint64(MaxProcesses()), //nolint:gosec // positive
		unix.RLIMIT_DATA: info.Totalram * uint64(info.Unit) / 4 * 3,
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: min(most, now.Cur), Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// limitsPIDs reports whether each process namespace has its own kernel.pid_max, as it has since Linux 6.14. Before, the
// setting is that of the machine.
func limitsPIDs() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	n, _ := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return n == 2 && (major > 6 || major == 6 && minor >= 14)
}

// drop gives up this thread's privileges in the namespaces for good, for the command. The helper's other threads keep
// theirs; the command cannot trace them because it has fewer.
func drop() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// filter blocks system calls that could evade the sandbox and that no script needs, in all threads: sockets other than
// IP and Unix, such as those to the kernel or to a virtual machine's host; io_uring, which performs other calls; keys
// of the user's sessions; programs in the kernel, and its log.
func filter(noUnix bool) error {
	program, err := filterProgram(noUnix)
	if err != nil {
		return err
	}
	set := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // a few dozen
	const setModeFilter, flagSync = 1, 1
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, flagSync, uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return errno
	}
	return nil
}
