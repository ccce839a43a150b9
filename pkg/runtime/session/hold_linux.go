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
	self, parent := os.Getpid(), os.Getppid()
	next := children(agentOf(self))
	for depth := 0; depth < maxShells && len(next) > 0; depth++ {
		var below []int
		for _, pid := range next {
			if !answersHook(pid) {
				continue
			}
			if pid != self && pid != parent {
				pids = append(pids, pid)
			}
			below = append(below, children(pid)...)
		}
		next = below
	}
	return pids
}

// maxShells is the maximum number of processes between an agent and skillpm, and one for skillpm.
const maxShells = 4

// children returns the child processes of a process.
func children(pid int) (pids []int) {
	names, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if len(names) == 0 { // the kernel does not list them
		all, _ := filepath.Glob("/proc/[1-9]*")
		for _, name := range all {
			if child, err := strconv.Atoi(filepath.Base(name)); err == nil && parentOf(child) == pid {
				pids = append(pids, child)
			}
		}
	}
	for _, name := range names {
		list, _ := os.ReadFile(name) // of a thread that may have ended
		for field := range strings.FieldsSeq(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
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
	for range maxShells {
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
