package sandbox

import "golang.org/x/sys/unix"

// oldCalls are those of [boundedCalls] that only the oldest architectures have.
func oldCalls() []bounded {
	return []bounded{
		{call: unix.SYS_CHMOD, offset: 1, bits: lasting},
		{call: unix.SYS_CREAT, offset: 1, bits: lasting},
		{call: unix.SYS_MKNOD, offset: 1, bits: lasting},
		{call: unix.SYS_OPEN, offset: 2, bits: lasting, when: 1, has: making},
	}
}
