package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// Enter is the main function of the helper: main calls it with os.Args before anything else, and exits with the code if
// helper is true. It returns after the command and all of its processes have ended.
func Enter(args []string) (code int, helper bool) {
	if len(args) < 2 || args[len(args)-1] != ChildCommand {
		return 0, false
	}
	const socket = 3
	if _, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || os.Getpid() != 1 {
		if len(args) > 2 {
			return 0, false // the argument is for another program
		}
		fmt.Fprintln(os.Stderr, "skillpm: error: only skillpm itself can run this command, to confine a script")
		return 2, true
	}
	// Privileges and filters belong to a thread, so this thread must start the command.
	runtime.LockOSThread()
	_ = unix.CloseRange(socket, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	f := os.NewFile(socket, "sandbox")
	conn, err := net.FileConn(f)
	_ = f.Close()
	if err != nil {
		return 1, true
	}
	h := &helperProcess{conn: conn.(*net.UnixConn), listener: -1}
	if err := json.NewDecoder(h.conn).Decode(&h.order); err != nil {
		return 1, true
	}
	return h.run(), true
}

// helperProcess is the running helper.
type helperProcess struct {
	conn     *net.UnixConn
	order    order
	listener int    // listening socket for the command's connections, -1 for none
	port     uint16 // its port
}

// run confines this process, runs the command, and returns its exit code.
func (h *helperProcess) run() int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals) // signals for the command must not end the helper
	bug.Go(func() { forward(signals) })
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		err = h.confine()
	}
	if err != nil {
		h.send(reply{Unavailable: err.Error()}, -1)
		return 1
	}
	pid, err := syscall.ForkExec(h.order.Path, h.order.Argv, &syscall.ProcAttr{
		Dir: h.order.Dir, Env: h.environment(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			errno = syscall.EIO
		}
		h.send(reply{Errno: int(errno)}, -1)
		return 1
	}
	h.send(reply{Started: true}, h.listener)
	for fd := range 3 {
		_ = unix.Dup2(int(null.Fd()), fd)
	}
	return h.reap(pid)
}

// forward sends SIGTERM to all other processes of the namespace when the helper gets one. One call reaches all of them,
// however fast they start others.
func forward(signals <-chan os.Signal) {
	for s := range signals {
		if s == unix.SIGTERM {
			_ = unix.Kill(-1, unix.SIGTERM)
		}
	}
}

// send sends a reply, optionally with a file.
func (h *helperProcess) send(r reply, fd int) {
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	_, _, _ = h.conn.WriteMsgUnix(append(text, '\n'), rights, nil) // if the other side is gone, nothing can receive it
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// reap waits until all processes have ended, and returns the command's exit code.
func (h *helperProcess) reap(command int) (code int) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return code
		case pid == command:
			end := reply{Ended: true, Code: status.ExitStatus()}
			if status.Signaled() {
				end.Code, end.Signal = 128+int(status.Signal()), unix.SignalName(status.Signal())
			}
			code = end.Code
			h.send(end, -1)
		}
	}
}

// environment returns the command's environment.
func (h *helperProcess) environment() []string {
	own := map[string]string{"TMPDIR": tempDir}
	if h.listener >= 0 {
		address := fmt.Sprintf("127.0.0.1:%d", h.port)
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
			own[name], own[strings.ToLower(name)] = "http://"+address, "http://"+address
		}
		own["ALL_PROXY"], own["all_proxy"] = "socks5h://"+address, "socks5h://"+address
	}
	env := slices.DeleteFunc(slices.Clone(h.order.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, ours := own[name]
		return ours || h.listener >= 0 && strings.EqualFold(name, "NO_PROXY")
	})
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}
