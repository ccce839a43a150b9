package sandbox

import "golang.org/x/sys/unix"

// oldCalls are those of [argumentFilters] that only the oldest architectures have.
func oldCalls() []argumentFilter {
	return []argumentFilter{
		{call: unix.SYS_CHMOD, offset: 1, bits: setIDBits},
		{call: unix.SYS_CREAT, offset: 1, bits: setIDBits},
		{call: unix.SYS_MKNOD, offset: 1, bits: setIDBits},
		{call: unix.SYS_OPEN, offset: 2, bits: setIDBits, when: 1, has: createFlags},
	}
}
