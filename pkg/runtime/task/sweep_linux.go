package task

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// sweep ends what a task's command left running: the processes with the task's id in their environment, which no other
// process has. A runner that is killed cannot do it.
func sweep(id string) {
	mark := []byte("SKILLPM_TASK_ID=" + id)
	self := os.Getpid()
	for range 20 { // a process may start another while it is looked for
		found := 0
		names, _ := filepath.Glob("/proc/[1-9]*/environ")
		for _, name := range names {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil || pid == self || !marked(name, mark) {
				continue
			}
			if kill(pid, name, mark) {
				found++
			}
		}
		if found == 0 {
			return
		}
	}
}

// kill ends a process, if the number still is that process's, and waits for it.
func kill(pid int, environ string, mark []byte) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	if !marked(environ, mark) || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return false
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, maxMissing)
	return true
}

// maxMissing is how long a process that was killed is waited for, in milliseconds.
const maxMissing = 100

func marked(environ string, mark []byte) bool {
	data, err := os.ReadFile(environ)
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(data, []byte{0}) {
		if bytes.Equal(v, mark) {
			return true
		}
	}
	return false
}

// holds reports whether a process has a file open.
func holds(pid int, path string) bool {
	want, err := os.Stat(path)
	if err != nil {
		return false
	}
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && os.SameFile(want, info) {
			return true
		}
	}
	return false
}
