package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// endProcesses kills the processes that a story leaves running, such as tasks, and waits for their end. Otherwise they
// would write into the story's directory during its deletion. A process belongs to the story if its command line or
// environment names the directory: it, and not that of a story whose name is longer.
func endProcesses(dir string) {
	named := regexp.MustCompile(regexp.QuoteMeta(dir) + `([^A-Za-z0-9_-]|$)`)
	for range 200 {
		found := false
		processes, _ := filepath.Glob("/proc/[0-9]*")
		for _, p := range processes {
			line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
			environment, _ := os.ReadFile(filepath.Join(p, "environ"))
			pid, err := strconv.Atoi(filepath.Base(p))
			if err == nil && pid != os.Getpid() && (named.Match(line) || named.Match(environment)) {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
