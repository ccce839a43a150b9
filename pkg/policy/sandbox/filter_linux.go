package sandbox

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// architecture returns the number by which seccomp identifies an architecture, 0 if it is not supported.
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

// The instructions and results of filters.
const (
	load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	anySet = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	answer = unix.BPF_RET | unix.BPF_K
	allow  = 0x7fff0000
	refuse = 0x00050000 // plus an error number
	number = 0          // offset of the system call's number in seccomp_data
)

// argument returns the offset of the low half of an argument in seccomp_data on little-endian machines.
func argument(index uint32) uint32 { return 16 + 8*index }

// argumentFilter is a system call that is denied if an argument has some bits, optionally only if another argument has
// others.
type argumentFilter struct {
	call         uint32
	offset, bits uint32
	when, has    uint32 // 0, 0 for always
}

// The denied bits: setuid and setgid modes, whose files would keep their privileges after the sandbox; and namespace
// flags, because a user namespace has privileges that expose more of the kernel.
const (
	setIDBits      = unix.S_ISUID | unix.S_ISGID
	namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	createFlags = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY // otherwise the mode is not an argument
)

// argumentFilters returns the calls of which some arguments are denied.
func argumentFilters() []argumentFilter {
	return append([]argumentFilter{
		{call: unix.SYS_FCHMOD, offset: 1, bits: setIDBits},
		{call: unix.SYS_FCHMODAT, offset: 2, bits: setIDBits},
		{call: unix.SYS_FCHMODAT2, offset: 2, bits: setIDBits},
		{call: unix.SYS_MKNODAT, offset: 2, bits: setIDBits},
		{call: unix.SYS_OPENAT, offset: 3, bits: setIDBits, when: 2, has: createFlags},
		{call: unix.SYS_UNSHARE, offset: 0, bits: namespaceFlags | unix.CLONE_NEWTIME},
		{call: unix.SYS_CLONE, offset: 0, bits: namespaceFlags},
	}, oldCalls()...)
}

// filter returns the instructions that deny the call. They begin and end with the call's number loaded.
func (b argumentFilter) filter() []unix.SockFilter {
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

// filterProgram returns the complete filter. Calls of another architecture than the program's are denied. Without
// noUnix, commands may open Unix sockets.
func filterProgram(noUnix bool) ([]unix.SockFilter, error) {
	own := architecture(runtime.GOARCH)
	if own == 0 {
		return nil, errors.New("not available for " + runtime.GOARCH)
	}
	const (
		arch         = 4 // offset of the architecture in seccomp_data
		atLeast      = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		otherNumbers = 0x40000000 // numbers of x32
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
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_SYSLOG,
		unix.SYS_CLONE3, unix.SYS_OPENAT2, // their arguments are in memory, and programs fall back to older calls
	} {
		p = append(p, unix.SockFilter{Code: equal, Jf: 1, K: call},
			unix.SockFilter{Code: answer, K: refuse | uint32(unix.ENOSYS)})
	}
	for _, call := range argumentFilters() {
		p = append(p, call.filter()...)
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6}
	if !noUnix {
		families = append(families, unix.AF_UNIX)
	}
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
