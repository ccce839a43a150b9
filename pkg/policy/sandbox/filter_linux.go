package sandbox

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// architectures are those that system calls are filtered on, as seccomp names them.
func architecture(goarch string) uint32 {
	switch goarch {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	case "riscv64":
		return unix.AUDIT_ARCH_RISCV64
	}
	return 0
}

// filters reports whether system calls are filtered on an architecture.
func filters(goarch string) bool { return architecture(goarch) != 0 }

// What filters are made of.
const (
	load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	anySet = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	answer = unix.BPF_RET | unix.BPF_K
	allow  = 0x7fff0000
	refuse = 0x00050000 // with an error number
	number = 0          // where that of the call is in what is filtered
)

// argument is where the low half of an argument is in what is filtered, on machines whose low half comes first.
func argument(index uint32) uint32 { return 16 + 8*index }

// bounded is a system call that is refused with some bits of an argument, if another one has one of some, too.
type bounded struct {
	call         uint32
	offset, bits uint32
	when, has    uint32 // 0, 0 for always
}

// The bits that are refused: those of a file that runs as its owner or its group, whoever starts it, which would last;
// and those for namespaces of one's own, in which a user has rights that reach more of the kernel.
const (
	lasting    = unix.S_ISUID | unix.S_ISGID
	namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	making = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY // without them the mode is no argument
)

// boundedCalls are the calls that some arguments are refused of.
func boundedCalls() []bounded {
	return append([]bounded{
		{call: unix.SYS_FCHMOD, offset: 1, bits: lasting},
		{call: unix.SYS_FCHMODAT, offset: 2, bits: lasting},
		{call: unix.SYS_FCHMODAT2, offset: 2, bits: lasting},
		{call: unix.SYS_MKNODAT, offset: 2, bits: lasting},
		{call: unix.SYS_OPENAT, offset: 3, bits: lasting, when: 2, has: making},
		{call: unix.SYS_UNSHARE, offset: 0, bits: namespaces | unix.CLONE_NEWTIME},
		{call: unix.SYS_CLONE, offset: 0, bits: namespaces},
	}, oldCalls()...)
}

// filter returns what refuses a call. It begins and ends with the call's number loaded.
func (b bounded) filter() []unix.SockFilter {
	body := []unix.SockFilter{
		{Code: load, K: argument(b.offset)},
		{Code: anySet, Jf: 1, K: b.bits},
		{Code: answer, K: refuse | uint32(unix.EPERM)},
		{Code: load, K: number},
	}
	if b.has != 0 {
		body = append([]unix.SockFilter{{Code: load, K: argument(b.when)}, {Code: anySet, Jf: 3, K: b.has}}, body...)
	}
	return append([]unix.SockFilter{{Code: equal, Jf: uint8(len(body)), K: b.call}},
		body...) //nolint:gosec // a handful
}

// filterProgram returns the filter as the kernel wants it. A call of another architecture than the program's is
// refused.
func filterProgram() ([]unix.SockFilter, error) {
	own := architecture(runtime.GOARCH)
	if own == 0 {
		return nil, errors.New("there is none for " + runtime.GOARCH)
	}
	const (
		arch         = 4 // where it is in what is filtered
		atLeast      = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		otherNumbers = 0x40000000 // those of x32
	)
	p := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, Jt: 1, K: own},
		{Code: answer, K: refuse | uint32(unix.EPERM)},
		{Code: load, K: number},
		{Code: atLeast, Jf: 1, K: otherNumbers},
		{Code: answer, K: refuse | uint32(unix.ENOSYS)},
	}
	for _, call := range []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_CLONE3, unix.SYS_OPENAT2, // what they are asked for is in memory, and programs have the older calls
	} {
		p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: call},
			unix.SockFilter{Code: answer, K: refuse | uint32(unix.ENOSYS)})
	}
	for _, call := range boundedCalls() {
		p = append(p, call.filter()...)
	}
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	p = append(
		p,
		unix.SockFilter{Code: equal, Jt: 1, K: unix.SYS_SOCKET},
		unix.SockFilter{Code: answer, K: allow},
		unix.SockFilter{Code: load, K: argument(0)},
	)
	for i, family := range families {
		p = append(p, unix.SockFilter{Code: equal, Jt: uint8(len(families) - i), K: family}) //nolint:gosec // a handful
	}
	return append(p, unix.SockFilter{Code: answer, K: refuse | uint32(unix.EAFNOSUPPORT)},
		unix.SockFilter{Code: answer, K: allow}), nil
}
