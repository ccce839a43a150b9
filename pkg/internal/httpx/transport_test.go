package httpx_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
)

// TestCertFile checks that SSL_CERT_FILE is used, also together with a file of the configuration. The variable is read
// once a process, so this test runs itself in another.
func TestCertFile(t *testing.T) {
	if address := os.Getenv("WIRE_TEST_ADDRESS"); address != "" {
		transport := httpx.NewTransport()
		if err := httpx.TrustFile(transport, os.Getenv("WIRE_TEST_OTHER")); err != nil {
			t.Fatal(err)
		}
		for _, one := range []*http.Transport{httpx.NewTransport(), transport} {
			if err := reach(t, one, address); err != nil {
				t.Error(err)
			}
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("Go heeds the variable on Linux and BSD")
	}
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.pem")
	if err := os.WriteFile(other, otherCertificate(t), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCertFile$")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+file, "WIRE_TEST_ADDRESS="+server.URL, "WIRE_TEST_OTHER="+other)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// otherCertificate is a certificate that no test server has.
func otherCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// reach sends a request to a server.
func reach(t *testing.T, transport *http.Transport, address string) error {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

// TestTrustFile checks that a certificate is trusted only if its file is configured.
func TestTrustFile(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	transport := httpx.NewTransport()
	if err := reach(t, transport, server.URL); err == nil {
		t.Error("it was trusted before")
	}
	if err := httpx.TrustFile(transport, file); err != nil {
		t.Fatal(err)
	}
	if err := reach(t, transport, server.URL); err != nil {
		t.Error(err)
	}
	if err := httpx.TrustFile(transport, filepath.Join(dir, "none")); diag.CodeOf(err) != diag.Invalid || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := httpx.TrustFile(transport, file); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a file without certificates: %v", err)
	}
}
