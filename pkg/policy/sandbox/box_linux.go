package sandbox

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// Box is a command to confine, or a confined one that runs.
type Box struct {
	Cmd *exec.Cmd // the helper, for the caller to start

	conn   *net.UnixConn
	theirs *os.File
	order  order
	rest   []byte  // what was read beyond the helper's first reply
	dir    string  // directory with the temporary files and the mount point of the root
	guards []guard // paths to restore at the end
	proxy  *proxy
	over   chan struct{}
	end    reply
}

// minABI is the required version of Landlock, the first that restricts truncation. portsABI is the first that restricts
// TCP, and scopedABI the first that restricts sockets and signals.
const (
	minABI    = 3
	portsABI  = 4
	scopedABI = 6
)

// Version returns this machine's version of Landlock, 0 for none.
func Version() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// check returns why a machine with this version of Landlock cannot enforce the rules.
func (r *Rules) check(abi int) error {
	switch {
	case !filters(runtime.GOARCH):
		return unavailable("skillpm does not have a system call filter for the processor architecture %s", runtime.GOARCH)
	case abi == 0:
		return unavailable("the kernel does not support Landlock, or Landlock is disabled")
	case abi < minABI:
		return unavailable("the kernel has Landlock version %d, but the sandbox requires version %d", abi, minABI)
	case r.Network.Any && abi < scopedABI:
		return unavailable("the kernel has Landlock version %d, "+
			"but the sandbox requires version %d for unrestricted network access", abi, scopedABI)
	}
	return nil
}

// New returns a Box for cmd, which supplies the program, arguments, environment, directory, and streams. Helper is the
// program that calls [Enter], with its first arguments.
func New(r *Rules, helper []string, cmd *exec.Cmd) (*Box, error) {
	if err := r.check(Version()); err != nil {
		return nil, err
	}
	if len(helper) == 0 {
		return nil, diag.Errorf(diag.Internal,
			"the sandbox helper is not configured")
	}
	visible, err := r.visible(cmd.Env, cmd.Path)
	if err != nil {
		return nil, err
	}
	b := &Box{
		over:  make(chan struct{}),
		order: order{Path: cmd.Path, Argv: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Network: networkNone},
	}
	b.order.Links, b.order.Paths = visible.order()
	if b.guards, err = newGuards(r.Write, r.Guarded); err != nil {
		b.Close()
		return nil, err
	}
	switch {
	case r.Network.Any:
		b.order.Network = networkAny
	case len(r.Network.Hosts) > 0:
		b.order.Network, b.proxy = networkProxy, newProxy(r.Network)
	}
	b.order.NoUnix = visible.sharesSockets()
	if b.dir, err = visible.makeTemp(lookup(cmd.Env, "TMPDIR")); err != nil {
		return nil, fmt.Errorf("cannot create a directory for temporary files: %w", err)
	}
	b.order.Temp, b.order.Root = filepath.Join(b.dir, "tmp"), filepath.Join(b.dir, "root")
	for _, dir := range []string{b.order.Temp, b.order.Root} {
		if err = os.Mkdir(dir, 0o700); err != nil {
			b.Close()
			return nil, err
		}
	}
	if err := b.connect(); err != nil {
		b.Close()
		return nil, err
	}
	b.Cmd = b.helper(helper, cmd)
	return b, nil
}

// connect creates the socket to the helper.
func (b *Box) connect() error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours := os.NewFile(uintptr(fds[0]), "sandbox")
	b.theirs = os.NewFile(uintptr(fds[1]), "sandbox")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	b.conn = conn.(*net.UnixConn)
	return nil
}

// helper returns the command that starts the helper. Its environment gets the last variable of the command's, by which
// package run finds a command's processes.
func (b *Box) helper(helper []string, cmd *exec.Cmd) *exec.Cmd {
	h := &exec.Cmd{
		Path: helper[0], Args: append(append([]string(nil), helper...), ChildCommand), Dir: "/",
		Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr, ExtraFiles: []*os.File{b.theirs},
		SysProcAttr: &syscall.SysProcAttr{},
	}
	h.Env = []string{"GOMAXPROCS=1", "GOGC=off"} // fewer threads to restrict
	if n := len(cmd.Env); n > 0 {
		h.Env = append(h.Env, cmd.Env[n-1])
	}
	attr := h.SysProcAttr
	if cmd.SysProcAttr != nil {
		*attr = *cmd.SysProcAttr
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	if b.order.Network != networkAny {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
	return h
}

// NotStarted returns the error to report if the helper could not be started.
func (b *Box) NotStarted(err error) error {
	for _, refused := range []error{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.ENOSYS} {
		if errors.Is(err, refused) {
			return unavailable("the system does not allow users to create namespaces: %s", err)
		}
	}
	return fmt.Errorf("cannot start the sandbox helper: %w", err)
}

// Begin sends the rules to the started helper, and waits at most for a duration until the command runs. The error is an
// [UnavailableError], a syscall.Errno if the program cannot be executed, or another error.
func (b *Box) Begin(most time.Duration) error {
	_ = b.theirs.Close()
	_ = b.conn.SetDeadline(time.Now().Add(most)) //nolint:forbidigo // another process is waited for in real time
	if err := gob.NewEncoder(b.conn).Encode(b.order); err != nil {
		return fmt.Errorf("the sandbox helper did not start the command: %s",
			err) //nolint:errorlint // its number is not that of the command
	}
	first, listener, err := b.first()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return diag.Errorf(diag.Internal, "the time limit expired before the command started").
			WithHint("raise the time limit")
	case err != nil:
		return fmt.Errorf("the sandbox helper did not start the command: %s",
			err) //nolint:errorlint // its number is not that of the command
	case first.Errno != 0:
		return syscall.Errno(first.Errno)
	case first.Failed != "":
		return diag.Errorf(diag.Denied, "the sandbox cannot open %s", first.Failed)
	case first.Unavailable != "":
		return unavailable("%s", first.Unavailable)
	}
	if b.proxy != nil {
		if err := b.proxy.serve(listener); err != nil {
			return fmt.Errorf("the sandbox helper did not send a socket: %s", err) //nolint:errorlint // as above
		}
	}
	_ = b.conn.SetDeadline(time.Time{})
	bug.Go(b.wait)
	return nil
}

// first reads the first reply, with the listening socket for the command's connections.
func (b *Box) first() (r reply, listener int, err error) {
	listener = -1
	var text []byte
	buffer, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for !bytes.Contains(text, []byte("\n")) && len(text) < 64<<10 {
		n, nr, _, _, err := b.conn.ReadMsgUnix(buffer, rights)
		if err != nil {
			return r, -1, err
		}
		if n == 0 {
			return r, -1, errors.New("the helper exited")
		}
		text = append(text, buffer[:n]...)
		if messages, err := unix.ParseSocketControlMessage(rights[:nr]); err == nil && len(messages) == 1 {
			if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
				listener = fds[0]
				unix.CloseOnExec(listener)
			}
		}
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	b.rest = rest
	return r, listener, json.Unmarshal(line, &r)
}

// wait reads how the command ended.
func (b *Box) wait() {
	defer close(b.over)
	var r reply
	if err := json.NewDecoder(io.MultiReader(bytes.NewReader(b.rest),
		io.LimitReader(b.conn, 4096))).Decode(&r); err == nil {
		b.end = r
	}
}

// Over returns a channel that is closed when the command has ended. Processes that it started may still run.
func (b *Box) Over() <-chan struct{} { return b.over }

// Ended returns how the command ended; ok is false if only the helper's end is known.
func (b *Box) Ended() (code int, signal string, ok bool) {
	select {
	case <-b.over:
		return b.end.Code, b.end.Signal, b.end.Ended
	default:
		return 0, "", false
	}
}

// Tidy restores the paths that the rules guard, and returns those that the command changed, and those that another
// program replaced meanwhile, so that the command could change them. The helper must have ended.
func (b *Box) Tidy() (changed, replaced []string) {
	for _, g := range b.guards {
		more, others := g.tidy()
		changed, replaced = append(changed, more...), append(replaced, others...)
	}
	return changed, replaced
}

// Refused returns network hosts that the command requested and may not reach, up to a limit.
func (b *Box) Refused() []string {
	if b.proxy == nil {
		return nil
	}
	b.proxy.mu.Lock()
	defer b.proxy.mu.Unlock()
	return slices.Clone(b.proxy.refused)
}

// Close releases all resources and removes the command's temporary files. The helper must have ended.
func (b *Box) Close() {
	for _, g := range b.guards {
		g.close()
	}
	if b.theirs != nil {
		_ = b.theirs.Close()
	}
	if b.conn != nil {
		_ = b.conn.Close()
	}
	if b.proxy != nil {
		b.proxy.close()
	}
	if b.dir != "" {
		remove(b.dir)
	}
}
