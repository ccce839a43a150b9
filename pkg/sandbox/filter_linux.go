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

// filterProgram returns the filter as the kernel wants it. A call of another architecture than the program's is refused.
func filterProgram() ([]unix.SockFilter, error) {
	own := architecture(runtime.GOARCH)
	if own == 0 {
		return nil, errors.New("there is none for " + runtime.GOARCH)
	}
	const (
		number, arch, argument = 0, 4, 16 // where they are in what is filtered; the low half of the first argument
		load                   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal                  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast                = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer                 = unix.BPF_RET | unix.BPF_K
		allow                  = 0x7fff0000
		refuse                 = 0x00050000 // with an error number
		otherNumbers           = 0x40000000 // those of x32
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
	} {
		p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: answer, K: refuse | uint32(unix.ENOSYS)})
	}
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	p = append(
		p,
		unix.SockFilter{Code: equal, Jt: 1, K: unix.SYS_SOCKET},
		unix.SockFilter{Code: answer, K: allow},
		unix.SockFilter{Code: load, K: argument},
	)
	for i, family := range families {
		p = append(p, unix.SockFilter{Code: equal, Jt: uint8(len(families) - i), K: family}) //nolint:gosec // a handful
	}
	return append(p, unix.SockFilter{Code: answer, K: refuse | uint32(unix.EAFNOSUPPORT)}, unix.SockFilter{Code: answer, K: allow}), nil
}
