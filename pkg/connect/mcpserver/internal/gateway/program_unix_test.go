//go:build unix

package gateway_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/connect/mcpserver/internal/gateway"
)

// pipe is a pipe that a child process of a server has open.
type pipe struct {
	t              *testing.T
	path           string
	running, ended chan struct{}
}

func newPipe(t *testing.T) *pipe {
	t.Helper()
	p := &pipe{t: t, path: filepath.Join(t.TempDir(), "pipe"), running: make(chan struct{}), ended: make(chan struct{})}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.Open(p.path) // when somebody holds the other end
		if err != nil {
			return
		}
		defer f.Close()
		close(p.running)
		_, _ = io.Copy(io.Discard, f) // its end is what counts
		close(p.ended)
	}()
	return p
}

func (p *pipe) wait(what string, done chan struct{}) {
	p.t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		p.t.Fatalf("waited in vain for %s", what)
	}
}

// TestLeft checks that the child processes of a server end with it.
func TestLeft(t *testing.T) {
	p := newPipe(t)
	g, err := gateway.Open(gateway.Options{Upstreams: []gateway.Upstream{program(t, map[string]string{"GATEWAY_TEST_LEAVES": p.path})}, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	g.Start(t.Context())
	p.wait("what the server starts", p.running)
	g.Close()
	p.wait("its end", p.ended)
}

// TestKilled checks that the child processes of servers end even if this process is killed.
func TestKilled(t *testing.T) {
	p := newPipe(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(self)
	holder.Env = append(os.Environ(), "GATEWAY_TEST_SERVER=1", "GATEWAY_TEST_HOLDER=1", "GATEWAY_TEST_LEAVES="+p.path)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	p.wait("what the server starts", p.running)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // that it was killed is why
	p.wait("its end", p.ended)
}

// TestDir checks that a program starts in the gateway's directory, or in its own directory below that.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o700); err != nil {
		t.Fatal(err)
	}
	for own, want := range map[string]string{"": dir, "own": filepath.Join(dir, "own"), dir: dir} {
		out := filepath.Join(t.TempDir(), "where")
		g, err := gateway.Open(gateway.Options{Dir: dir, Environ: os.Environ(), Upstreams: []gateway.Upstream{
			{Name: "up", Command: []string{"sh", "-c", `pwd -P >"$0.new" && mv "$0.new" "$0"`, out}, Dir: own},
		}})
		if err != nil {
			t.Fatal(err)
		}
		g.Start(t.Context())
		eventually(t, "the program", func() bool { _, err := os.Stat(out); return err == nil })
		g.Close()
		want, err = filepath.EvalSymlinks(want)
		if data, readErr := os.ReadFile(out); err != nil || readErr != nil || string(data) != want+"\n" {
			t.Errorf("with %q it is started in %s, want %s (%v, %v)", own, data, want, err, readErr)
		}
	}
}
