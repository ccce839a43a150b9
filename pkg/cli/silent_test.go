package cli_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestSilentServer checks that a command with a known error does not wait for a silent server.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	contacted := make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		close(contacted)
		<-t.Context().Done()
		_ = conn.Close()
	}()
	dir, home := t.TempDir(), t.TempDir()
	manifest := "dependencies:\n  acme/nosuch: '*'\n  acme/silent: {git: 'http://" + listener.Addr().String() + "/acme/silent.git', tag: v1.0.0}\n"
	if err := os.WriteFile(filepath.Join(dir, "skillpm.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := make(chan diag.Code, 1)
	go func() {
		code <- cli.Execute(t.Context(), environ.Environment{
			Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" },
			Dir: dir, Paths: scope.Paths{Home: home}, OS: runtime.GOOS, Now: time.Now, Version: "0.1.0",
		}, []string{"install"})
	}()
	select {
	case got := <-code:
		if got != diag.NotFound {
			t.Errorf("exit %d, want %d\n%s", got, diag.NotFound, &out)
		}
	case <-time.After(30 * time.Second): // it would be minutes
		t.Fatal("it waits for a server that says nothing")
	}
	select {
	case <-contacted:
	default:
		t.Log("the server was not asked: the error was faster")
	}
}
