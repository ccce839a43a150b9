package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// siblings returns the other processes that this process's agent has started to answer hooks. A shell that has not
// started skillpm yet counts, too.
func siblings() (pids []int) {
	self := os.Getpid()
	agent := agentOf(self)
	names, _ := filepath.Glob("/proc/[1-9]*/cmdline")
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && pid != self && pid != os.Getppid() && answersHook(pid) && agentOf(pid) == agent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// answersHook reports whether the command line of a process is that of a hook.
func answersHook(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && bytes.Contains(line, []byte("skillpm")) && bytes.Contains(line, []byte("hook"))
}

// agentOf returns the process that has started a process, above the shells of hooks; 0 if it is unknown.
func agentOf(pid int) int {
	for range 4 {
		if pid = parentOf(pid); pid <= 1 || !answersHook(pid) {
			break
		}
	}
	return pid
}

// parentOf returns the parent of a process, the second field after the name in proc_pid_stat(5).
func parentOf(pid int) int {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
