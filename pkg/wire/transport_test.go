package wire_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/wire"
)

// TestTrustFile holds that a certificate is trusted once its file is named, and not before.
func TestTrustFile(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	ask := func(transport *http.Transport) error {
		t.Cleanup(transport.CloseIdleConnections)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	transport := wire.NewTransport()
	if err := ask(transport); err == nil {
		t.Error("it was trusted before")
	}
	if err := wire.TrustFile(transport, file); err != nil {
		t.Fatal(err)
	}
	if err := ask(transport); err != nil {
		t.Error(err)
	}
	if err := wire.TrustFile(transport, filepath.Join(dir, "none")); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := wire.TrustFile(transport, file); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a file without certificates: %v", err)
	}
}
