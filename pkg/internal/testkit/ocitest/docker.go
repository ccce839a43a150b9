package ocitest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// RequireDockerRegistry is the environment variable that, set to 1, makes a missing docker-registry an error.
const RequireDockerRegistry = "SKILLPM_REQUIRE_DOCKER_REGISTRY"

// DockerRegistry starts the docker-registry program (the distribution project's, as Debian packages it) with an empty
// directory. The test is skipped where the program is not installed.
func DockerRegistry(t testing.TB, o Options) *Server {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		if os.Getenv(RequireDockerRegistry) == "1" {
			t.Fatalf("docker-registry is not installed and %s=1", RequireDockerRegistry)
		}
		t.Skipf("docker-registry is not installed (Debian package docker-registry); %s=1 makes this an error",
			RequireDockerRegistry)
	}
	s := &Server{User: o.User, Password: o.Password}
	config := s.dockerRegistryConfig(t, o)
	cmd := exec.Command(program, "serve", config)
	cmd.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait()
	})
	s.Host = awaitAddress(t, logs, done)
	return s
}

var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// awaitAddress reads the log up to the line that has the address, and the rest in the background until it ends.
func awaitAddress(t testing.TB, logs io.Reader, done chan<- struct{}) string {
	t.Helper()
	lines := bufio.NewReader(logs)
	var seen strings.Builder
	for {
		line, err := lines.ReadString('\n')
		seen.WriteString(line)
		if m := listening.FindStringSubmatch(line); m != nil {
			go func() {
				defer close(done)
				_, _ = io.Copy(io.Discard, lines)
			}()
			return m[1]
		}
		if err != nil {
			close(done)
			t.Fatalf("docker-registry did not start:\n%s", seen.String())
		}
	}
}

// dockerRegistryConfig writes a configuration that listens on a free loopback port.
func (s *Server) dockerRegistryConfig(t testing.TB, o Options) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, "version: 0.1\nlog: {level: info}\n"+
		"storage:\n  filesystem: {rootdirectory: %q}\n  delete: {enabled: true}\n", filepath.Join(dir, "data"))
	b.WriteString("http:\n  addr: 127.0.0.1:0\n")
	if o.TLS {
		_, certFile, keyFile := certificate(t)
		s.CertFile = certFile
		fmt.Fprintf(&b, "  tls: {certificate: %q, key: %q}\n", certFile, keyFile)
	}
	if o.User != "" {
		hash, err := bcrypt.GenerateFromPassword([]byte(o.Password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "htpasswd")
		if err := os.WriteFile(path, []byte(o.User+":"+string(hash)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "auth:\n  htpasswd: {realm: test, path: %q}\n", path)
	}
	path := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
