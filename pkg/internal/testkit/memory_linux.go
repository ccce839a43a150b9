package testkit

import "golang.org/x/sys/unix"

// memoryDir returns a directory in memory with room for every test, in which programs may be executed, "" if there is
// none. Containers often have only 64 MB there, and forbid to execute.
func memoryDir() string {
	const dir, room = "/dev/shm", 2 << 30 // bytes
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil || fs.Type != unix.TMPFS_MAGIC || fs.Flags&unix.ST_NOEXEC != 0 ||
		fs.Bavail*uint64(fs.Bsize) < room || unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}
