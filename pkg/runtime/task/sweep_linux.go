package task

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepLimit bounds the search for processes that start others, or that do not die while the machine is overloaded.
const sweepLimit = 10 * time.Second

// sweep kills the processes that a task's command left running, which it finds by the task's id in their environment. A
// runner that was killed could not do it.
func sweep(id string) {
	ctx, stop := context.WithTimeout(context.Background(), sweepLimit)
	defer stop()
	mark := []byte("SKILLPM_TASK_ID=" + id)
	self := os.Getpid()
	for ctx.Err() == nil { // a process may start another during the search
		found, starting := false, false
		names, _ := filepath.Glob("/proc/[1-9]*/environ")
		for _, name := range names {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil || pid == self {
				continue
			}
			switch marked, empty := readEnvironment(name, mark); {
			case marked:
				found = kill(ctx, pid, name, mark) || found
			case empty:
				starting = starting || isStarting(pid)
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

// isStarting reports whether a process whose environment was read as empty has one: it is inside execve, or was when the
// environment was read. There the fields env_start and env_end of proc_pid_stat(5) are 0. Afterwards they differ, unless
// the environment really is empty. Zombies and kernel threads do not have an executable.
func isStarting(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	if _, err := os.Readlink(dir + "/exe"); err != nil {
		return false
	}
	stat, _ := os.ReadFile(dir + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // a program's name may contain spaces
	const envStart, envEnd = 50 - 3, 51 - 3                                   // fields after the name start at 3
	return len(fields) > envEnd && (fields[envEnd] == "0" || fields[envStart] != fields[envEnd])
}

// kill kills a process and waits for its exit, unless the id now belongs to another process. It reports whether the
// search must go on: it killed the process, or the process is inside execve.
func kill(ctx context.Context, pid int, environ string, mark []byte) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	switch marked, empty := readEnvironment(environ, mark); {
	case !marked:
		return empty && isStarting(pid)
	case unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil:
		return false
	}
	for ctx.Err() == nil {
		const wait = 100 // milliseconds
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, wait); n > 0 {
			break
		}
	}
	return true
}

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
