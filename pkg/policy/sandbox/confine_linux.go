package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine restricts this process, and the thread that it is called on, before a command is started by it.
func (h *helperProcess) confine() error {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"its own network", h.network},
		{"its own file system", h.mount},
		{"Landlock", h.landlock},
		{"limits", limits},
		{"giving up privileges", drop},
		{"a filter of system calls", filter},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// network brings up the loopback of the namespace, and listens there for the proxy.
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

// landlock restricts all threads of this process by what the kernel has of Landlock.
func (h *helperProcess) landlock() error {
	config, err := landlockConfig(Version(), h.order.Network)
	if err != nil {
		return err
	}
	rules := []landlock.Rule{
		landlock.PathAccess(ll.AccessFSReadDir, "/"), // there is nothing in it that is not named below
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
	return config.Restrict(rules...)
}

// landlockConfig returns what of Landlock is used on a kernel. What it can't do yet, the namespaces do: see
// [Rules.check].
func landlockConfig(abi int, network string) (*landlock.Config, error) {
	files := landlock.AccessFSSet(1<<15 - 1) // up to cutting off
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

// limits keeps the command from filling tables of the system.
func limits() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return err
	}
	most := min(maxProcesses, now.Max)
	return unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: min(most, now.Cur), Max: most})
}

// maxProcesses is how many processes and threads a command may have at a time. They are counted within its namespace.
const maxProcesses = 4096

// drop gives up, for the command, what this process may do to its namespaces: nothing brings it back. The other threads
// of the helper keep it, and what the command has less it cannot trace.
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

// filter forbids all threads system calls by which what is confined could get around it, and which no script needs:
// sockets of other kinds than IP, Unix and netlink, as those to the host of a virtual machine; io_uring, which does
// what other calls do without being them; keys of the user's sessions; programs in the kernel.
func filter() error {
	program, err := filterProgram()
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
