// Package ocitest starts OCI registries for tests: one in the test's own process, and Debian's docker-registry with
// users and TLS. It is for tests only.
package ocitest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/olareg/olareg"
	"github.com/olareg/olareg/config"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// Server is a running registry on a loopback address.
type Server struct {
	Host     string // host:port
	User     string // "" where anybody may do anything
	Password string
	CertFile string // the certificate to trust, PEM; "" where the server does not speak TLS

	Registry http.Handler // of an in-process registry, what answers

	mu       sync.Mutex
	requests []string
	meddle   func(http.ResponseWriter, *http.Request) bool
}

// Options are a registry's requirements for its clients.
type Options struct {
	TLS            bool
	User, Password string
}

// New starts an empty registry in this process, without TLS, that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	return start(t, config.Config{Storage: config.ConfigStorage{StoreType: config.StoreMem}})
}

// NewIn is [New] for a registry whose content is in a directory. It answers at most limit requests in a second, 0 for
// any number.
func NewIn(t testing.TB, dir string, limit int) *Server {
	t.Helper()
	return start(t, config.Config{
		Storage: config.ConfigStorage{StoreType: config.StoreDir, RootDir: dir},
		API:     config.ConfigAPI{RateLimit: limit},
	})
}

func start(t testing.TB, c config.Config) *Server {
	t.Helper()
	s, handler := inProcess(t, c)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	s.Host = strings.TrimPrefix(server.URL, "http://")
	return s
}

// NewTLS is [New] with TLS and a certificate that only the server's own clients trust.
func NewTLS(t testing.TB) *Server {
	t.Helper()
	s, handler := inProcess(t, config.Config{Storage: config.ConfigStorage{StoreType: config.StoreMem}})
	cert, certFile, _ := certificate(t)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.Host, s.CertFile = strings.TrimPrefix(server.URL, "https://"), certFile
	return s
}

func inProcess(t testing.TB, c config.Config) (*Server, http.Handler) {
	t.Helper()
	yes := true
	c.API.DeleteEnabled = &yes
	registry := olareg.New(c)
	t.Cleanup(func() { _ = registry.Close() })
	s := &Server{Registry: registry}
	return s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		meddle := s.meddle
		s.mu.Unlock()
		if meddle == nil || !meddle(w, r) {
			registry.ServeHTTP(w, r)
		}
	})
}

// Meddle has f see each request of an in-process registry first; the registry answers those for which f returns false.
func (s *Server) Meddle(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meddle = f
}

// Requests returns the requests to an in-process registry since the last call, as "GET /v2/…".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

// URL returns the address of a repository or prefix, as oci://host/path.
func (s *Server) URL(path string) string { return "oci://" + s.Host + "/" + path }

// Transport returns what connects to the server, trusting its certificate.
func (s *Server) Transport(t testing.TB) *http.Transport {
	t.Helper()
	transport := httpx.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	if s.CertFile == "" {
		return transport
	}
	pem, err := os.ReadFile(s.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("%s holds no certificate", s.CertFile)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport
}

// Client returns a client that reaches the server and has its credentials; it reads relative layouts below dir.
func (s *Server) Client(t testing.TB, dir string) *oci.Client {
	t.Helper()
	config := s.DockerConfig(t)
	c := oci.New(oci.Options{
		Base:      dir,
		Transport: s.Transport(t),
		Retries:   -1,
		Getenv: func(key string) string {
			if key == "DOCKER_CONFIG" {
				return config
			}
			return ""
		},
	})
	t.Cleanup(c.Close)
	return c
}

// DockerConfig returns a directory, as DOCKER_CONFIG names it, with the server's credentials and no others.
func (s *Server) DockerConfig(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	auths := map[string]any{}
	if s.User != "" {
		auths[s.Host] = map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte(s.User + ":" + s.Password))}
	}
	data, err := json.Marshal(map[string]any{"auths": auths})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
