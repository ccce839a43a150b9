package gateway

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/stdio"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/run"
)

// endLimit is how long a program may take to end after its input is closed, and again after it is asked to end.
const endLimit = 2 * time.Second

// program is a server that the gateway starts, and that speaks over its standard input and output.
type program struct {
	cmd    *exec.Cmd
	say    func(string) // gets output that is not a message
	wanted func(jsonrpc.Message) bool
	in     *os.File // our end of the program's input
	out    *os.File // our end of its output
	exited chan struct{}
	helper []string // of run.Supervise
	leave  func()   // stops the watch
	once   sync.Once
}

// Connect starts the program.
func (p *program) Connect(ctx context.Context) (mcp.Connection, error) {
	if err := p.start(); err != nil {
		return nil, p.startError(err)
	}
	t := &mcp.IOTransport{
		Reader: &output{messages(p.out, p.say, p.wanted), p}, Writer: p.in, MaxLineLength: 2 * stdio.MaxMessage,
	}
	return t.Connect(ctx)
}

func (p *program) start() error {
	its, isUpstreamTool, err := os.Pipe()
	if err != nil {
		return err
	}
	defer its.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return errors.Join(err, isUpstreamTool.Close())
	}
	defer writer.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.in, p.out = its, writer, isUpstreamTool, reader
	p.exited = make(chan struct{})
	end, err := run.Supervise(p.cmd, p.helper)
	if err != nil {
		return errors.Join(err, isUpstreamTool.Close(), reader.Close())
	}
	if end == nil {
		ownGroup(p.cmd)
	}
	started := make(chan error)
	bug.Go(func() {
		runtime.LockOSThread() // on Linux the program ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the exit status is not needed
			close(p.exited)
		}
	})
	if err := <-started; err != nil {
		if end != nil {
			end()
		}
		p.once.Do(func() {})
		return errors.Join(err, isUpstreamTool.Close(), reader.Close())
	}
	if p.leave = end; end == nil {
		p.leave = watch(p.cmd.Process.Pid)
	}
	return nil
}

// startError returns the error for a program that cannot be started.
func (p *program) startError(err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	} else if cause, ok := errors.AsType[*exec.Error](err); ok {
		err = cause.Err
	}
	return diag.Errorf(diag.Remote, "cannot start %s: %w", p.cmd.Args[0], err).
		WithHint("check the command; use a program on PATH, or its absolute path")
}

// close ends the program: it closes the input, then asks the program to end, and finally kills it with its children.
func (p *program) close() {
	p.once.Do(func() {
		_ = p.in.Close() // the program may have ended already
		if !p.over() && askGroup(p.cmd) == nil {
			p.over()
		}
		p.leave()
		p.over()
		endGroup(p.cmd)
		p.over()
		_ = p.out.Close() // a child may still hold the other end
	})
}

// over reports whether the program ends within endLimit.
func (p *program) over() bool {
	timer := time.NewTimer(endLimit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// output is a program's output. Closing it ends the program.
type output struct {
	io.Reader
	program *program
}

// Close ends the program.
func (o *output) Close() error {
	o.program.close()
	return nil
}
