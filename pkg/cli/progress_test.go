package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// watchedOutput is standard error. It closes seen when it receives a given text.
type watchedOutput struct {
	mu   sync.Mutex
	out  bytes.Buffer
	text string
	seen chan struct{}
	once sync.Once
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if strings.Contains(w.out.String(), w.text) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

func (w *watchedOutput) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// search searches an index on a server, and returns standard error. The test ends after the search.
func search(t *testing.T, url, await string, flags ...string) *watchedOutput {
	t.Helper()
	stderr := &watchedOutput{text: await, seen: make(chan struct{})}
	dir, home, done := t.TempDir(), t.TempDir(), make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		var out bytes.Buffer
		code := cli.Execute(t.Context(), environ.Environment{
			Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: stderr, Getenv: func(string) string { return "" },
			Dir: dir, Paths: scope.Paths{Home: home}, OS: runtime.GOOS, Now: time.Now, Version: "0.1.0",
		}, append([]string{"search", "deploy", "--registry", url}, flags...))
		fmt.Fprintf(stderr, "exit %d", code)
	}()
	return stderr
}

// TestProgressOfLog checks that a log shows the wait for a server before the server answers.
func TestProgressOfLog(t *testing.T) {
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	stderr := search(t, server.URL, "waiting for "+strings.TrimPrefix(server.URL, "http://")+" (2 s)")
	<-stderr.seen
	close(answer)
}

// TestRetryShown checks that a retry is shown with its reason and delay, and with -vv each request with its status, but
// nothing with --quiet.
func TestRetryShown(t *testing.T) {
	for _, flags := range [][]string{nil, {"-vv"}, {"--quiet"}} {
		var once sync.Once
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			status := http.StatusNotFound
			once.Do(func() {
				w.Header().Set("Retry-After", "1")
				status = http.StatusTooManyRequests
			})
			w.WriteHeader(status)
		}))
		stderr := search(t, server.URL, fmt.Sprintf("exit %d", diag.Invalid), flags...)
		select {
		case <-stderr.seen:
		case <-time.After(time.Minute):
			t.Fatalf("%q: it does not end:\n%s", flags, stderr)
		}
		server.Close()
		host := strings.TrimPrefix(server.URL, "http://")
		retry := "rate-limited by " + host + ", retrying in 1 s\n"
		if got := strings.Count(stderr.String(), retry); (got == 1) == (len(flags) > 0 && flags[0] == "--quiet") {
			t.Errorf("%q: %d times %q:\n%s", flags, got, retry, stderr)
		}
		request := ": 429 Too Many Requests in "
		if got := strings.Count(stderr.String(), request); (got == 1) != (len(flags) > 0 && flags[0] == "-vv") {
			t.Errorf("%q: %d times %q:\n%s", flags, got, request, stderr)
		}
	}
}
