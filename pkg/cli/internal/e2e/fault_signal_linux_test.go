//go:build slow

package e2e

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// begun is a running program.
type begun struct {
	m        *machine
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

func (m *machine) begin(args ...string) *begun {
	m.tb.Helper()
	b := &begun{m: m, cmd: m.command(m.tb.Context(), args...)}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.err
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := b.cmd.Start(); err != nil {
		m.tb.Fatal(err)
	}
	return b
}

func (b *begun) end() ended {
	b.m.tb.Helper()
	_ = b.cmd.Wait()
	return ended{b.cmd.Args[1:], b.cmd.ProcessState.ExitCode(), b.out.String(), b.err.String()}
}

// stall never ends its answer to one kind of request: it reports each request, and waits until the client is gone. The
// answer has no length, because a wrong length is an integrity error.
func stall(wanted func(*http.Request) bool) (f meddle, come chan struct{}) {
	come = make(chan struct{}, 100)
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if !wanted(r) {
			return false
		}
		_ = http.NewResponseController(w).Flush()
		come <- struct{}{}
		<-r.Context().Done()
		return true
	}, come
}

// TestFaultSignal interrupts the program while it downloads from a slow registry or git server, and while it waits for
// another process: exactly the old state stays.
func TestFaultSignal(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	for _, tt := range []struct {
		name   string
		wanted func(*http.Request) bool
	}{
		{"layer", func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
		}},
		{"manifest", func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/2.0.0") }},
		{"refs", func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/info/refs") }},
		{"commit", func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-upload-pack") }},
		{"lock", nil},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(tt.name+" "+sig.String(), func(t *testing.T) {
				m := newMachine(t, w)
				before := m.firstVersions()
				var b *begun
				if tt.wanted == nil {
					lock := flock.New(filepath.Join(m.project, ".skillpm", "lock"))
					if err := lock.Lock(); err != nil {
						t.Fatal(err)
					}
					defer lock.Close()
					tries := opens(t, lock.Path())
					b = m.begin(w.update()...)
					await(t, "it waits", func() bool { return tries() >= 2 })
				} else {
					meddle, come := stall(tt.wanted)
					w.setMeddle(meddle)
					defer w.setMeddle(nil)
					b = m.begin(w.update()...)
					<-come
				}
				if err := b.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				m.check(b.end(), 130, []string{"interrupted"})
				same(t, "interrupted", m.tree(), before)
				m.leftNothing()
				w.setMeddle(nil)
				if tt.wanted != nil {
					m.checkHealed("interrupted", before, done)
					m.updated("interrupted", done)
					m.leftNothing()
				}
			})
		}
	}
}

// await polls until the condition is true.
func await(t testing.TB, what string, ask func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ask(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// opens returns a function that counts how often a file was opened.
func opens(t testing.TB, path string) func() int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err == nil {
		t.Cleanup(func() { unix.Close(fd) })
		_, err = unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
	}
	if err != nil {
		skipUnsupported(t, "it can't be seen here who opens %s: %v", path, err)
	}
	count := 0
	return func() int {
		buf := make([]byte, 100*unix.SizeofInotifyEvent) // of a file's own events none has a name
		n, err := unix.Read(fd, buf)
		if err == nil {
			count += n / unix.SizeofInotifyEvent
		}
		return count
	}
}
