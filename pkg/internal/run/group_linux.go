package run

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// Adopt makes this process the parent of orphans among its descendants, so that processes of a command are found
// whatever they do. It is for a program that only runs a command, such as skillpm run. Other processes that it starts
// must stay in its session, which os/exec does by default; commands of this package may run.
//
// It also prevents commands from inheriting this process's open files.
func Adopt() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	ownFiles()
}

// closeOnExec marks all files except the standard streams in one system call, which Linux has since 5.11.
func closeOnExec() bool { return unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil }

// apart gives a command its own session and process group, so that it has no terminal to read from, stop at, or inject
// keystrokes into. The kernel ends the command if this process is killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// group is a command with all processes that it started.
type group struct {
	cmd    *exec.Cmd
	pid    int
	mark   []byte
	began  time.Time
	since  uint64    // start time of the command in clock ticks
	known  []process // processes that got a signal
	exited chan struct{}
}

// starting is locked for reading while a command is started, and for writing while processes are searched. Between fork
// and exec, a new process already has its own session and still has this process's environment, so that the search for
// another command's processes would take it for an orphan.
var starting sync.RWMutex

// leaders has the marks of the running commands by their process ids. Each leads a session.
var leaders sync.Map

func start(cmd *exec.Cmd, began time.Time) (*group, error) {
	own := cmd.Env[len(cmd.Env)-1]
	mark := []byte(own[strings.LastIndexAny(own, ":=")+1:])
	starting.RLock()
	err := startLimited(cmd)
	if err == nil {
		leaders.Store(cmd.Process.Pid, mark)
	}
	starting.RUnlock()
	if err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, pid: cmd.Process.Pid, mark: mark, began: began, exited: make(chan struct{})}
	if p, ok := readProcess(g.pid); ok {
		g.since = p.since
	}
	bug.Go(func() {
		defer close(g.exited)
		// Keep the process a zombie, so that no other process gets its id while its group is searched.
		for errors.Is(unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		}
	})
	return g, nil
}

// limiting guards this process's own limit while a command inherits another one.
var limiting sync.Mutex

// startLimited starts a command with a limit on its processes, so that this process can still start some. The kernel
// counts all processes and threads of the user, and none of root's.
func startLimited(cmd *exec.Cmd) error {
	var own unix.Rlimit
	line, _ := os.ReadFile("/proc/loadavg")
	_, threads, _ := strings.Cut(string(line), "/")
	threads, _, _ = strings.Cut(threads, " ")
	running, err := strconv.ParseUint(threads, 10, 32)
	most := running + uint64(sandbox.MaxProcesses()) //nolint:gosec // positive
	if err != nil || unix.Getrlimit(unix.RLIMIT_NPROC, &own) != nil || most >= own.Cur {
		return cmd.Start()
	}
	limiting.Lock()
	defer limiting.Unlock()
	_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: own.Max})
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NPROC, &own) }()
	return cmd.Start()
}

func (g *group) close() { leaders.Delete(g.pid) }

// reap returns how the command ended, nil if it has not.
func (g *group) reap() *os.ProcessState {
	select {
	case <-g.exited:
		_ = g.cmd.Wait() // the exit code is read from ProcessState
		return g.cmd.ProcessState
	default:
		return nil
	}
}

// end sends SIGTERM to the processes of the command, and SIGKILL after grace.
func (g *group) end(grace time.Duration) {
	limit := time.Now().Add(grace) //nolint:forbidigo // it is waited for in real time
	if g.signal(unix.SIGTERM) {
		wait(g.exited, grace)
		g.waitGone(limit)
	}
	g.sweep()
	wait(g.exited, patience)
}

// retire sends SIGTERM to the processes that the command left running, and SIGKILL after grace.
func (g *group) retire(grace time.Duration) {
	limit := time.Now().Add(grace) //nolint:forbidigo // it is waited for in real time
	graceful := g.signal(unix.SIGTERM)
	if len(g.known) == 0 {
		_ = unix.Kill(-g.pid, unix.SIGKILL) // in case /proc is not readable
		return
	}
	if graceful {
		g.waitGone(limit)
	}
	g.sweep()
}

// waitGone waits until the processes that got a signal have ended, or until limit.
func (g *group) waitGone(limit time.Time) {
	for _, p := range g.known {
		left := time.Until(limit)
		if left <= 0 {
			return
		}
		p.waitExit(left)
	}
}

// signal sends a signal to all processes of the command. It finds all of them before it signals the first, because the
// parents of orphans are unknown once a process has ended. The group is stopped meanwhile, so that it cannot grow. If
// there are too many to wait for, it leaves them stopped and returns false.
func (g *group) signal(s unix.Signal) bool {
	_ = unix.Kill(-g.pid, unix.SIGSTOP)
	if g.known = g.members(); len(g.known) > manyProcesses {
		return false
	}
	_ = unix.Kill(-g.pid, s)
	for _, p := range g.known {
		if p.group != g.pid {
			p.signal(s)
		}
	}
	_ = unix.Kill(-g.pid, unix.SIGCONT)
	return true
}

// manyProcesses is how many processes of a command are killed without a grace period, in which they could take all of
// the machine's time.
const manyProcesses = 256

// sweep kills the remaining processes until none is left. It stops all of them before it kills the first, so that none
// starts another or loses its parent during the search. One signal reaches the whole group, however fast it grows.
func (g *group) sweep() {
	for range 20 {
		_ = unix.Kill(-g.pid, unix.SIGSTOP)
		var all []process
		stopped := map[int]uint64{}
		for range 50 {
			found := slices.DeleteFunc(g.members(), func(p process) bool { return stopped[p.pid] == p.since })
			if len(found) == 0 {
				break
			}
			for _, p := range found {
				if stopped[p.pid] = p.since; p.group != g.pid {
					p.signal(unix.SIGSTOP)
				}
			}
			all = append(all, found...)
		}
		_ = unix.Kill(-g.pid, unix.SIGKILL)
		for _, p := range all {
			if p.group != g.pid {
				p.signal(unix.SIGKILL)
			}
		}
		if len(all) == 0 {
			return
		}
		limit := time.Now().Add(patience) //nolint:forbidigo // it is waited for in real time
		for _, p := range all {
			p.waitExit(max(0, time.Until(limit)))
			if p.parent == os.Getpid() && p.pid != g.pid {
				_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) // only this process can reap an adopted one
			}
		}
	}
}

// process identifies a process in /proc.
type process struct {
	pid, parent, group, session int
	since                       uint64
	dead                        bool
}

// members finds the living processes of the command.
func (g *group) members() []process {
	starting.Lock()
	defer starting.Unlock()
	self, adopts := os.Getpid(), adopting()
	session, _ := unix.Getsid(0)
	ours := map[int]bool{g.pid: true}
	var rest, found []process
	for _, pid := range g.candidates() {
		p, ok := readProcess(pid)
		if pid == self || !ok || p.since < g.since {
			continue
		}
		_, others := leaders.Load(p.session) // the environment of a just started command cannot be read yet
		adopted := adopts && p.parent == self && p.session != session && !others
		if p.session == g.pid || p.group == g.pid || g.marked(p, adopted) {
			ours[pid] = true
			found = append(found, p)
			continue
		}
		rest = append(rest, p)
	}
	for again := true; again; {
		again = false
		for i, p := range rest {
			if p.pid != 0 && ours[p.parent] {
				ours[p.pid], again = true, true
				found = append(found, p)
				rest[i].pid = 0
			}
		}
	}
	for _, p := range g.known {
		if now, ok := readProcess(p.pid); ok && now.is(p) && !slices.ContainsFunc(found, p.is) {
			found = append(found, now)
		}
	}
	return slices.DeleteFunc(found, func(p process) bool { return p.dead })
}

// is reports whether p and q are the same process; ids are reused, start times differ.
func (p process) is(q process) bool { return p.pid == q.pid && p.since == q.since }

// candidates returns the ids of processes that the command may have started: those after its own id if the ids cannot
// have wrapped around since, or else all.
func (g *group) candidates() []int {
	const lately, most = 100 * time.Millisecond, 512
	var pids []int
	if last := lastStarted(); time.Since(g.began) < lately && last >= g.pid && last-g.pid < most {
		for pid := g.pid; pid <= last; pid++ {
			pids = append(pids, pid)
		}
		return pids
	}
	return allProcesses()
}

// allProcesses returns the ids of all processes that this one sees.
func allProcesses() (pids []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // an incomplete list is better than none
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// lastStarted returns the last process id that the kernel assigned, 0 if unknown.
func lastStarted() int {
	line, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	last, _ := strconv.Atoi(string(bytes.TrimSpace(line[bytes.LastIndexByte(bytes.TrimSpace(line), ' ')+1:])))
	return last
}

// adopting reports whether orphans among this process's descendants become its children.
func adopting() bool {
	var on int32 // the kernel writes an int
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0)
	return err == nil && on != 0
}

// marked reports whether a process has the command's mark in its environment. For an adopted process it also returns
// true unless it has the mark of another running command, or of an independent process: it can change its environment.
func (g *group) marked(p process, adopted bool) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if errors.Is(err, fs.ErrPermission) || err == nil && len(data) == 0 {
		return adopted
	}
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(markName+"=")); ok {
			return bytes.Contains(value, g.mark) || adopted && !hasMark(value)
		}
	}
	return adopted
}

// hasMark reports whether a text contains the mark of a running command, or of an independent process.
func hasMark(value []byte) (found bool) {
	for _, marks := range []*sync.Map{&leaders, &independent} {
		marks.Range(func(_, mark any) bool {
			found = found || bytes.Contains(value, mark.([]byte))
			return !found
		})
	}
	return found
}

// readProcess reads /proc/PID/stat.
func readProcess(pid int) (p process, ok bool) {
	var buffer [1024]byte
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return p, false
	}
	n, err := unix.Read(fd, buffer[:])
	_ = unix.Close(fd)
	if err != nil {
		return p, false
	}
	return readStat(pid, buffer[:n])
}

// readStat parses a line of proc_pid_stat(5). The name of a process is in parentheses and can contain any character.
func readStat(pid int, line []byte) (p process, ok bool) {
	i := bytes.LastIndexByte(line, ')')
	if i < 0 {
		return p, false
	}
	const state, parent, group, session, since = 0, 1, 2, 3, 19
	f := bytes.Fields(line[i+1:])
	if len(f) <= since {
		return p, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(string(f[field]))
		return n
	}
	p = process{pid: pid, parent: number(parent), group: number(group), session: number(session)}
	p.since, _ = strconv.ParseUint(string(f[since]), 10, 64)
	p.dead = f[state][0] == 'Z' || f[state][0] == 'X'
	return p, true
}

// signal sends a signal unless the id now belongs to another process.
func (p process) signal(s unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := readProcess(p.pid); ok && now.is(p) {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// waitExit waits until the process has ended, at most for a duration.
func (p process) waitExit(most time.Duration) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := readProcess(p.pid); ok && now.is(p) {
		hasEnded(fd, max(0, most))
	}
}

// hasEnded waits for the process of a descriptor to end, at most for a duration, and reports whether it ended. A signal
// to this process, such as one of the Go scheduler, does not shorten the wait.
func hasEnded(pidfd int, most time.Duration) bool {
	const step = 100 * time.Millisecond
	limit := time.NewTimer(most)
	defer limit.Stop()
	for {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, int(min(most, step).Milliseconds())); n > 0 {
			return true
		}
		select {
		case <-limit.C:
			return false
		default: // the step is over, or a signal came
		}
	}
}
