package task

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sweep kills the processes that a task's command left running, which it finds by the task's id in their environment. A
// runner that was killed could not do it.
func sweep(id string) {
	mark := []byte("SKILLPM_TASK_ID=" + id)
	self := os.Getpid()
	for range 20 { // a process may start another during the search
		found, starting := false, false
		names, _ := filepath.Glob("/proc/[1-9]*/environ")
		for _, name := range names {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil || pid == self {
				continue
			}
			switch marked, empty := readEnvironment(name, mark); {
			case marked:
				found = kill(pid, name, mark) || found
			case empty:
				starting = starting || isProgram(pid)
			}
		}
		if !found && !starting {
			return
		}
		if starting {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// isProgram reports whether a process runs a program; zombies and kernel threads do not. A process with an empty
// environment may be inside execve, which removes the old environment before it shows the new one.
func isProgram(pid int) bool {
	_, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil
}

// kill kills a process and waits for its exit, unless the id now belongs to another process.
func kill(pid int, environ string, mark []byte) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	marked, _ := readEnvironment(environ, mark)
	if !marked || unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return false
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, maxExit)
	return true
}

// maxExit is how long kill waits for a process to exit, in milliseconds.
const maxExit = 100

// readEnvironment reports whether a process has the mark in its environment, and whether its environment is empty.
func readEnvironment(file string, mark []byte) (marked, empty bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return false, false
	}
	for v := range bytes.SplitSeq(data, []byte{0}) {
		if bytes.Equal(v, mark) {
			return true, false
		}
	}
	return false, len(data) == 0
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
