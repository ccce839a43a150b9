package gittest

import (
	"crypto/subtle"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Option changes how Serve serves.
type Option func(*server)

type server struct {
	tb         testing.TB
	user, pass string
	caFile     string
	strict     bool
	filter     bool
	push       bool
	wrap       func(http.Handler) http.Handler
}

// WithAuth makes every request need basic authentication.
func WithAuth(user, pass string) Option {
	return func(s *server) { s.user, s.pass = user, pass }
}

// WithTLS serves HTTPS with a certificate of the test's own, and writes the certificate to trust, in PEM, to caFile.
func WithTLS(caFile string) Option {
	return func(s *server) { s.caFile = caFile }
}

// WithHandler puts a handler between the network and git, behind the check of credentials: to observe requests, or to
// answer some of them differently.
func WithHandler(wrap func(git http.Handler) http.Handler) Option {
	return func(s *server) { s.wrap = wrap }
}

// WithoutAnyCommit makes the server refuse commits that no branch or tag is on, as git does unless told otherwise.
func WithoutAnyCommit() Option { return func(s *server) { s.strict = true } }

// WithFilter makes the server leave out what it is told to leave out, as the large forges do.
func WithFilter() Option { return func(s *server) { s.filter = true } }

// WithPush makes the server accept pushes from everybody who may read.
func WithPush() Option { return func(s *server) { s.push = true } }

// Serve serves the bare repositories below dir until the test ends and returns the server's URL. The repository in
// dir/o/r.git is at URL/o/r.git.
func Serve(tb testing.TB, dir string, options ...Option) string {
	tb.Helper()
	s := &server{tb: tb}
	for _, option := range options {
		option(s)
	}
	handler := s.backend(dir)
	if _, measured := tb.(*testing.B); !measured {
		handler = &memory{root: dir, git: handler, answers: make(map[string]*httptest.ResponseRecorder)}
	}
	if s.wrap != nil {
		handler = s.wrap(handler)
	}
	if s.user != "" || s.pass != "" {
		handler = s.authenticate(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	if s.caFile == "" {
		server.Start()
	} else {
		server.StartTLS()
		block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
		if err := os.WriteFile(s.caFile, pem.EncodeToMemory(block), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(server.Close)
	return server.URL
}

// backend returns git http-backend for the repositories in dir. Commits that no branch or tag is on are served by their
// id, as the large forges do, unless the server is strict.
func (s *server) backend(dir string) http.Handler {
	program, err := exec.Command(Git(s.tb), "--exec-path").Output()
	if err != nil {
		s.tb.Fatal(err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		s.tb.Fatal(err)
	}
	env := append(environ(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_COUNT=4",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1="+strconv.FormatBool(!s.strict),
		"GIT_CONFIG_KEY_2=uploadpack.allowFilter", "GIT_CONFIG_VALUE_2="+strconv.FormatBool(s.filter),
		"GIT_CONFIG_KEY_3=http.receivepack", "GIT_CONFIG_VALUE_3="+strconv.FormatBool(s.push))
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(program)), "git-http-backend"), // directly, to save a process
		Env:  env, InheritEnv: []string{"PATH"},
		Stderr: io.Discard,
	}
}

func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(user+":"+pass), []byte(s.user+":"+s.pass)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="gittest"`)
			http.Error(w, "who are you, "+r.Header.Get("Authorization")+"?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Git returns the path of git, or skips the test.
func Git(tb testing.TB) string {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("git for Windows does not come with http-backend")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		tb.Skip("git is not installed")
	}
	return git
}

// environ returns an environment for git that is free of the configuration of user and system.
func environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A U Thor", "GIT_COMMITTER_EMAIL=author@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
		"LC_ALL=C",
		// Otherwise git starts two processes after each command.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_TEST_FSYNC=0", // test data does not need to survive a power failure
	}
}
